/* Expansions in determinants on a GPU: memory for all walkers, and the text of spin_table.cu, for movers that put kernels of
 * their own behind it. */
#ifndef PLUGMC_DEVICE_SUMS_H
#define PLUGMC_DEVICE_SUMS_H

#include "expansion.h"
#include "matrices.h"

typedef struct device_sums {
    const expansion *sum;
    sum_task task[2];            /* of both spins */
    device_pointer coefficients; /* [terms] */
    device_pointer imaginary;    /* [terms] or 0 */
    double *host_numbers;        /* [4][walkers] */
    int32_t walkers;
    int is_complex;
} device_sums;

/* complex_numbers.cu and draws.h have to stand in front of it, `own` comes behind; in memory of the host, NULL without. */
char *device_sums_text(const plugmc_host *, const char *own);

/* Memory; pitch: orbitals from one row of values to the next. */
int device_sums_prepare(device_sums *, const plugmc_host *, const expansion *, int32_t walkers,
                        int64_t pitch, int is_complex);

/* Coefficients as they are now. */
int device_sums_upload(device_sums *, const plugmc_host *);

/* ln |Psi|^2 of the determinants of walkers first ... first + n - 1 to ln [n], host memory; -INFINITY or NaN where it is
 * 0. Once the tables and weights of both spins are made. */
int device_sums_squares(device_sums *, const plugmc_host *, int32_t first, int32_t n, double *ln);

#endif
