/* What goes through the points of a table: see interpolant.c. */
#ifndef PLUGMC_INTERPOLANT_H
#define PLUGMC_INTERPOLANT_H

#include "table_file.h"

/* u = c[0] + t (c[1] + t (c[2] + t c[3])) with t = (r - begin) * over in [0, 1]. */
typedef struct interval {
    double begin, over; /* length, 1/length */
    double c[4];        /* energy */
} interval;

/* Intervals, and bins of equal width over all of them, by which the interval of an r is found: it is
 * first[bin], or one of the next `most`. */
typedef struct interpolant {
    double begin, end, bins_per_length; /* length, length, 1/length */
    int32_t intervals, bins, most;
    interval *interval; /* [intervals] */
    int32_t *first;     /* [bins] */
} interpolant;

/* Slopes at the points, [rows]; 0: no memory. */
int monotone_slopes(const table_file *table, double *slope);

/* 0: no memory. Zeros at the end of the table are left out, so it may end before the table does. */
int interpolant_make(const table_file *table, interpolant *out);

void interpolant_free(interpolant *);

#endif
