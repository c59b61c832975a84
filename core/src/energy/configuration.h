/* One walker in the layout from which energies are computed on the CPU: arrays of coordinates, and cells as wide as
 * the reach of the short-ranged terms (cell_arrays.h).
 *
 * The rounding of a sum depends only on the configuration and on the move. It does not depend on the history or on the
 * number of threads. */
#ifndef PLUGMC_CONFIGURATION_H
#define PLUGMC_CONFIGURATION_H

#include <stdbool.h>

#include "energy/cell_arrays.h"
#include "plugmc/everything.h"

/* Particles in the layout of plugmc_particles. */
typedef struct particle_arrays {
    double *x, *y, *z, *charge, *diameter;
    int32_t *species;
    /* NULL: there are no bodies. */
    plugmc_orientation *orientation;
} particle_arrays;

typedef struct configuration {
    plugmc_box box;
    const plugmc_system *system;
    /* Capacity of the arrays. */
    int64_t n;
    /* [species]: particles present, as PLUGMC_STATE_COUNT. */
    int64_t *counts;
    /* Sum of these. */
    int64_t present;
    /* [n]: positions are wrapped into the box, and NaN in unused slots. */
    particle_arrays all;
    /* [n]: copies of the particles around a position. */
    particle_arrays near;
    /* As wide as the reach of the short-ranged terms. */
    cell_arrays cells;
    /* [n + CELL_LANES]: slots of the cells that are near a position. */
    int32_t *slots;
    /* [hidden_count] ascending: see configuration_hide. */
    const int64_t *hidden;
    int32_t hidden_count;
    /* A particle was not in the cell of its position: somebody has written to the positions. */
    bool overwritten;
    /* The cells could not be enlarged. */
    bool no_memory;
} configuration;

/* Allocates arrays for the particles of a run. Returns 0, or -1 without memory; call configuration_free in both
 * cases. */
int configuration_make(configuration *, const plugmc_system *, double reach);
void configuration_free(configuration *);
/* Puts particles at positions [n][3] in a box, which are wrapped. count [species] are the numbers of particles.
 * orientations [n] of bodies, else NULL. Returns 0, or -1 without memory. */
int configuration_fill(configuration *, const plugmc_box *, const int64_t *count,
                       const double *positions, const plugmc_orientation *orientations);
void configuration_set_counts(configuration *, const int64_t *count);
void configuration_move(configuration *, int64_t i, const double to[3]);
/* Orientation of particle i; NULL if there are no bodies. */
const plugmc_orientation *configuration_orientation(const configuration *, int64_t i);
void configuration_turn(configuration *, int64_t i, const plugmc_orientation *);
/* As PLUGMC_INSERTED and PLUGMC_REMOVED. There must be a free slot. Without bodies the orientation is NULL. */
void configuration_insert(configuration *, int32_t species, const double at[3],
                          const plugmc_orientation *);
void configuration_remove(configuration *, int64_t i);

/* Hides n particles: those around a position and ranges are without them until configuration_show. `sorted` [n] are
 * their indices in ascending order; the array has to stay as it is. */
void configuration_hide(configuration *, const int64_t *sorted, int32_t n);
void configuration_show(configuration *);

/* The particles within reach of a position `at`, or of `to` unless that is NULL, and perhaps some that are farther away.
 * Left out are i and j (-1: none), and all indices up to `after`. Empty without short-ranged terms. `at` and `to` must
 * be in adjacent cells. Valid until the next call. The orientations of bodies are then in near.orientation. */
plugmc_particles configuration_near(configuration *, int64_t i, int64_t j, int64_t after,
                                    const double at[3], const double *to);
bool configuration_is_step(const configuration *, const double at[3], const double to[3]);
void configuration_place(const configuration *, int64_t i, double at[3]);
/* A particle of a species at a position. */
plugmc_particle configuration_particle(const configuration *, int32_t species,
                                       const double place[3]);
/* Indices of the particles present, as ranges first ... end - 1. Left out are i and j (-1: none), all indices up to
 * `after`, and hidden particles. Returns the number of ranges; out [configuration_most_ranges]. */
typedef struct number_range {
    int64_t first, end;
} number_range;
int configuration_most_ranges(const configuration *);
int configuration_ranges(const configuration *, int64_t i, int64_t j, int64_t after,
                         number_range *out);
/* Whether a position is in the domain. */
int configuration_inside(const configuration *, const double place[3]);
/* Particles begin ... end - 1. */
plugmc_particles arrays_slice(const particle_arrays *, int64_t begin, int64_t end);
#endif
