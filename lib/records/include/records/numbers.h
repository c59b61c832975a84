/* Scalar results of runs: means and derived results. */
#ifndef PLUGMC_NUMBERS_H
#define PLUGMC_NUMBERS_H

#include "archive/output.h"

typedef struct number {
    /* `unit` may be "". */
    const char *observable, *name, *unit;
    /* NaN: none. */
    double value, error;
    /* false: the error is a lower bound. */
    bool converged;
    /* In sweeps. NaN for derived results and for constants. */
    double correlation_time;
    /* Samples are independent, so correlation_time is an upper bound. */
    bool time_is_bound;
    /* 0 for derived results. */
    int64_t samples;
} number;

/* All scalar results, in the order of the table. The caller frees the array. */
number *numbers_of(const output_data *, int *count);
/* The result with the same name as `like`, or NULL. */
const number *number_like(const number *all, int count, const number *like);
#endif
