/* Oblique boxes: lattice vectors may be too skewed for nearest images to be found. */
#ifndef SKEW_H
#define SKEW_H

#include <stdbool.h>

#include <plugmc/plugin.h>

/* Whether plugmc_nearest_oblique finds the nearest image of every pair. */
bool finds_nearest_images(const plugmc_box *);
/* Replaces lattice vectors by the shortest ones of the same lattice (Minkowski reduction). Right-handed vectors stay
 * right-handed. */
void reduce_vectors(double v[3][3]);
#endif
