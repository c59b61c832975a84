/* The standard error of the mean of correlated numbers: one rule for series, arrays and derived
 * numbers. What it does and how well is in docs/statistics.md. */
#ifndef PLUGMC_BLOCKING_H
#define PLUGMC_BLOCKING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct block_error {
    double error;   /* standard error of the mean of all; NaN of fewer than 2 numbers */
    bool converged; /* false: the run is too short to know, and `error` is a lower bound */
} block_error;

/* Of x [n][walkers], averages over n consecutive blocks of equal length in each of independent
 * walkers. x has room for [n + 1][walkers] and is overwritten. With `blocks` the rule is the oldest one
 * instead: so many blocks a walker, made of neighbours of these and taken for independent; the error is
 * called a lower bound where their neighbours look correlated. */
block_error error_of_blocks(double *x, int64_t n, int64_t walkers, int64_t blocks);

#endif
