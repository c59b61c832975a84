/* One walker as energies are computed from it on the CPU: particles as arrays of numbers, in cells as
 * wide as the reach of the short-ranged terms.
 *
 * Within a cell particles stand in the order of their index, and cells are looked at in a fixed order.
 * So the rounding of a sum depends on the configuration alone: not on how it came about, and not on
 * the number of threads. */
#ifndef PLUGMC_CONFIGURATION_H
#define PLUGMC_CONFIGURATION_H

#include "plugmc/everything.h"

/* Particles as plugmc_particles wants them. */
typedef struct particle_arrays {
    double *x, *y, *z, *charge, *diameter;
    int32_t *species;
} particle_arrays;

typedef struct configuration {
    plugmc_box box;
    const plugmc_system *system;
    int64_t n;            /* that there is room for */
    int64_t *counts;      /* [species] that are there: see PLUGMC_STATE_COUNT */
    int64_t present;      /* sum of these */
    particle_arrays all;  /* [n]; positions wrapped into the box, NaN where there is nobody */
    particle_arrays near; /* [n]: those around a place, copied */
    double reach;         /* of the short-ranged terms, length; 0: no cells */
    int32_t count[3];
    double width[3];     /* of a cell, length */
    int64_t cells, room; /* in use; that head has room for */
    int32_t *head;       /* [cells]: first particle of a cell, or -1 */
    int32_t *next;       /* [n]: next one of the cell, of larger index, or -1 */
} configuration;

/* With room for the particles of a run; 0, or -1 without memory (free it all the same). */
int configuration_make(configuration *, const plugmc_system *, double reach);
void configuration_free(configuration *);
/* Particles at positions [n][3] in a box, as many as count [species] says; they are wrapped. 0, or -1
 * without memory. */
int configuration_fill(configuration *, const plugmc_box *, const int64_t *count,
                       const double *positions);
void configuration_set_counts(configuration *, const int64_t *count);
void configuration_move(configuration *, int64_t i, const double to[3]);
/* As PLUGMC_INSERTED and PLUGMC_REMOVED say; there must be room. */
void configuration_insert(configuration *, int32_t species, const double at[3]);
void configuration_remove(configuration *, int64_t i);

/* Everyone but i and j (-1: nobody) in the cells around a place, of those with a larger index than
 * `after`; nobody without short-ranged terms. Valid until the next call. */
plugmc_particles configuration_near(configuration *, int64_t i, int64_t j, int64_t after,
                                    const double place[3]);
void configuration_place(const configuration *, int64_t i, double at[3]);
/* One of a species at a place. */
plugmc_particle configuration_particle(const configuration *, int32_t species,
                                       const double place[3]);
/* Numbers of the particles that are there: first ... end - 1, range by range, all but i and j (-1:
 * nobody) and those up to `after`. Returns how many ranges there are; out [species + 2]. */
typedef struct number_range {
    int64_t first, end;
} number_range;
int configuration_ranges(const configuration *, int64_t i, int64_t j, int64_t after,
                         number_range *out);
/* Is it a place in the domain? */
int configuration_inside(const configuration *, const double place[3]);
/* Particles begin ... end - 1. */
plugmc_particles arrays_slice(const particle_arrays *, int64_t begin, int64_t end);
#endif
