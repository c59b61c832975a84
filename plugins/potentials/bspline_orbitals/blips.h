/* Cubic B-splines on a periodic grid ("blips"): from plane waves, and their norm. */
#ifndef BLIPS_H
#define BLIPS_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

/* Blip grid for plane waves with indices up to extent: at least `multiplicity` times as fine as the
 * waves need, and a product of 2, 3 and 5. */
void blip_grid(const int32_t extent[3], double multiplicity, int32_t grid[3]);

/* How many times finer the grid is than waves with indices up to extent need: the smallest of the
 * three directions. */
double blip_multiplicity(const int32_t extent[3], const int32_t grid[3]);

/* Numbers (double complex) that blips_from_waves needs beside its arguments. */
size_t blip_scratch(const int32_t extent[3], const int32_t grid[3]);

/* waves [2 extent 0 + 1][2 extent 1 + 1][2 extent 2 + 1], blips [grid 0][grid 1][grid 2]. */
void blips_from_waves(const int32_t extent[3], const double complex *waves, const int32_t grid[3],
                      double complex *blips, double complex *scratch, int threads);

/* Mean of |u|^2 over the cell, exactly; scratch [2][grid 0][grid 1][grid 2]. */
double blip_norm(const int32_t grid[3], const double complex *blips, double complex *scratch,
                 int threads);
#endif
