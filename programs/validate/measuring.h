/* One observable under test, and its measurements. */
#ifndef PLUGMC_VALIDATE_MEASURING_H
#define PLUGMC_VALIDATE_MEASURING_H

#include "checks.h"

enum { MOST_QUANTITIES = 500 };

/* An observable under test, with the configuration that it measures. */
typedef struct subject {
    const target *target;
    stand *s;
    const plugmc_observable *observable;
    plugmc_quantity quantities[MOST_QUANTITIES];
    int count;
    int64_t width;
    const double *positions;
    /* Instead of those of the run, in the view. NULL: those of the run. */
    const plugmc_box *boxes;
    const int64_t *counts;
    /* Edges [3] of smaller boxes, so that fewer and larger cells are made. NULL: there are none. */
    const double *edges;
    /* File descriptor: positions, and what is measured there on the CPU, for the check on a GPU. */
    int reference;
} subject;

/* Why results are not compared. */
extern const char not_finite[];
/* Of a measurement that is repeated on a GPU. */
enum { SWEEP_OF_REFERENCE = 5 };

/* values [walkers][width], which are made NaN before. On the host, or on the device with what is there. Returns an exit
 * code. */
int measure(subject *, const double *positions, bool on_device, uint64_t sweep, double *values);
/* Asks for the quantities of a run again: count and width. 0 if there are none, or if one is invalid. */
int ask_again(subject *, findings *);
/* Whether all values [walkers][width] are finite. */
bool all_finite(const subject *, const double *values);
/* Which quantity, and which of its values (*at), is number k of a walker. */
const plugmc_quantity *quantity_at(const subject *, int64_t k, int64_t *at);

/* Checks of observables_moved.c: of a configuration that moves across the faces of the box, of particles of a species that
 * change places, of results that are always 0, of the box that a run begins with, and of what is remembered of each walker. */
int check_shifted(subject *, findings *);
int check_alike(subject *, findings *);
int check_zeros(subject *, findings *);
int check_other_box(subject *, findings *);
int check_histories(subject *, findings *);
/* Checks of observables_edges.c: rows that are reserved, a lattice, and hardly any particles. */
int check_reserved(subject *, findings *);
int check_on_lattice(subject *, findings *);
int check_sparse(subject *, findings *);
#endif
