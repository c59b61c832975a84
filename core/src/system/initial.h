/* Where initial states come from: one function a source, for initial.c. */
#ifndef PLUGMC_INITIAL_H
#define PLUGMC_INITIAL_H

#include "input/config.h"
#include "system/geometry.h"

enum { LATTICE_AUTO, LATTICE_SQUARE, LATTICE_TRIANGULAR, LATTICE_SC, LATTICE_FCC };

/* `n` sites [n][3] of a lattice in the box, as far apart as such a lattice allows; where it has
 * more sites, the vacancies are spread evenly. *nearest is the smallest distance between two
 * sites. The kind fits the dimension. EXIT_DONE or EXIT_MEMORY. */
int lattice_sites(const plugmc_box *, int kind, int64_t n, double *sites, double *nearest);

/* A random state of one walker without overlaps. */
typedef struct random_outcome {
    int code;         /* EXIT_DONE, EXIT_INPUT or EXIT_MEMORY */
    int64_t inserted; /* particles that found a place; fewer than N: insertion failed */
    double scale;     /* contact distances reached, over those wanted; below 1: compression
                            came to rest */
} random_outcome;
random_outcome random_state(const plugmc_system *, const contacts *, double random_fraction,
                            int64_t attempts, uint32_t walker, double *positions);

/* Takes the overlapping particles of one walker apart, by pushing; in parallel, and the same whatever
 * the number of threads. *apart: whether none is left; positions are wrapped into the box.
 * EXIT_DONE or EXIT_MEMORY. */
int relax(const plugmc_system *, const contacts *, double *positions, int *apart);

/* Whether particles may feel others far away: with a charge, or a potential without range. Their
 * numbers are then not to follow their positions: a mover that takes them by their numbers, all on
 * one side first, drives a current through the system, and a sphere of 131,072 ions takes 300
 * sweeps to spread again instead of 20. */
int long_ranged(const plugmc_system *);

/* A frame of a file, see initial_state. */
int state_from_file(const config *, const plugmc_system *, int32_t first, double *positions,
                    plugmc_box *boxes, report *);

#endif
