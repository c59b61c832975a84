/* One walker as energies are computed from it on the CPU: particles as arrays of numbers, in cells as
 * wide as the reach of the short-ranged terms.
 *
 * Within a cell particles stand in the order of their index, and cells are looked at in a fixed order.
 * So the rounding of a sum depends on the configuration alone: not on how it came about, and not on
 * the number of threads. */
#ifndef PLUGMC_CONFIGURATION_H
#define PLUGMC_CONFIGURATION_H

#include "plugmc/plugin.h"

/* Particles as plugmc_particles wants them. */
typedef struct particle_arrays {
    double *x, *y, *z, *charge, *diameter;
    int32_t *species;
} particle_arrays;

typedef struct configuration {
    plugmc_box box;
    int64_t n;
    particle_arrays all;  /* [n]; positions wrapped into the box */
    particle_arrays near; /* [n]: those around a place, copied */
    double reach;         /* of the short-ranged terms, length; 0: no cells */
    int32_t count[3];
    double width[3];     /* of a cell, length */
    int64_t cells, room; /* in use; that head has room for */
    int32_t *head;       /* [cells]: first particle of a cell, or -1 */
    int32_t *next;       /* [n]: next one of the cell, of larger index, or -1 */
} configuration;

/* Of the particles that a run begins with; 0, or -1 without memory (free it all the same). */
int configuration_make(configuration *, const plugmc_system *, double reach);
void configuration_free(configuration *);
/* Particles at positions [n][3] in a box; they are wrapped. 0, or -1 without memory. */
int configuration_fill(configuration *, const plugmc_box *, const double *positions);
void configuration_move(configuration *, int64_t i, const double to[3]);

/* Everyone but i and j (-1: nobody) in the cells around a place, of those with a larger index than
 * `after`; nobody without short-ranged terms. Valid until the next call. */
plugmc_particles configuration_near(configuration *, int64_t i, int64_t j, int64_t after,
                                    const double place[3]);
void configuration_place(const configuration *, int64_t i, double at[3]);
plugmc_particle configuration_particle(const configuration *, int64_t i, const double place[3]);
/* Is it a place in the domain? */
int configuration_inside(const configuration *, const double place[3]);
/* Particles begin ... end - 1. */
plugmc_particles arrays_slice(const particle_arrays *, int64_t begin, int64_t end);
#endif
