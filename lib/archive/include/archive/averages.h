/* What the samples of a run say so far: found once, then printed and written. */
#ifndef PLUGMC_AVERAGES_H
#define PLUGMC_AVERAGES_H

#include "archive/output.h"

/* Fills `found` of all quantities and data->slowest, whose correlation time decides together with
 * the rule of statistics/blocking.h which error bars are lower bounds. Non-zero: no memory. */
int averages_find(output_data *data);

/* Mean and error of a scalar so far, by the same blocks; without its correlation time, which takes longer.
 * Without memory, or without samples: no samples. */
void averages_so_far(const output_data *, const quantity_record *, estimate *);

/* How long the run is for the slowest of its quantities: whether error bars of others can be
 * believed, and the factor by which they are to be larger. Arrays and what is derived from them
 * (by_walker) are averaged over walkers before they are blocked, and have the length of one walker. */
typedef struct run_length {
    bool enough;
    double widening;
} run_length;

run_length averages_run_length(const output_data *data, bool by_walker);

/* How many times longer a run has to be, at least, if some of its errors are lower bounds: by its slowest scalar, and
 * by those with a star; 2 where these are long enough by what they know of themselves. */
double averages_times_longer(const output_data *);

/* Means over walkers of a scalar [samples]; malloc'ed, NULL without memory. */
double *averages_over_walkers(const quantity_record *);

/* What the error of a scalar is found from: its series, [samples][*walkers]. Of walkers that hang together it is
 * that of their means. With weights w the mean is m = sum w x / sum w, and to first order it varies as the mean of
 * m + w (x - m) / <w>, which has the same mean and is what this series is. It is to be freed unless it is
 * q->series; NULL without memory. */
const double *averages_series(const output_data *, const quantity_record *, int *walkers);
/* Likewise the block sums of an array, to be freed by block_average_free where it has weights (then the
 * return is true). Non-zero *code: no memory. */
bool averages_blocks(const output_data *, const quantity_record *, block_average *out, int *code);

/* Frees `found` of a quantity. */
void averages_free(quantity_record *);

#endif
