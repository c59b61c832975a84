/* What runs have found that is a number: means and derived numbers alike. */
#ifndef PLUGMC_NUMBERS_H
#define PLUGMC_NUMBERS_H

#include "archive/output.h"

typedef struct number {
    const char *observable, *name, *unit; /* unit may be "" */
    double value, error;                  /* NaN: none */
    bool converged;                       /* false: the error is a lower bound */
    double correlation_time;              /* sweeps; NaN of derived numbers and of constants */
    bool time_is_bound;                   /* samples are independent: the time is less than that */
    int64_t samples;                      /* 0 of derived numbers */
} number;

/* In the order of the table; to be freed. */
number *numbers_of(const output_data *, int *count);
/* The one that is called like this, or NULL. */
const number *number_like(const number *all, int count, const number *like);
#endif
