/* What the samples of a run say so far: found once, then printed and written. */
#ifndef PLUGMC_AVERAGES_H
#define PLUGMC_AVERAGES_H

#include "output/output.h"

/* Fills `found` of all quantities and data->slowest, whose correlation time decides together with
 * the rule of run/blocking.h which error bars are lower bounds. Non-zero: no memory. */
int averages_find(output_data *data);

/* Mean and error of a scalar so far, by the same blocks; without its correlation time, which takes longer.
 * Without memory, or without samples: no samples. */
void averages_so_far(const quantity_record *, bool joined, estimate *);

/* How long the run is for the slowest of its quantities: whether error bars of others can be
 * believed, and the factor by which they are to be larger. Arrays and what is derived from them
 * (by_walker) are averaged over walkers before they are blocked, and have the length of one walker. */
typedef struct run_length {
    bool enough;
    double widening;
} run_length;

run_length averages_run_length(const output_data *data, bool by_walker);

/* Frees `found` of a quantity. */
/* Means over walkers of a scalar [samples]; malloc'ed, NULL without memory. */
double *averages_over_walkers(const quantity_record *);
void averages_free(quantity_record *);

#endif
