/* The part of an Ewald sum that runs over waves, in double precision. */
#ifndef PLUGMC_EWALD_SUM_H
#define PLUGMC_EWALD_SUM_H

#include <plugmc/everything.h>

typedef struct ewald_sum ewald_sum;

/* Which waves k = 2 pi sum_d n_d b_d are summed, b the reciprocal lattice: those with
 * |k| <= cutoff, and if k_max > 0 with |n_d| <= k_max and n.n <= n_square (0: any), too. */
typedef struct ewald_waves {
    double
        cutoff; /* 1/length: k_cutoff; if that is 0 INFINITY with k_max, else from the tolerance */
    int64_t k_max, n_square;
    double k_cutoff; /* as given */
    double wanted;   /* error of the forces, in boxes that have changed */
    int follow; /* the waves follow from the tolerance, and so from the key `growth` where boxes change */
} ewald_waves;

/* Takes memory for all walkers; `alpha` in 1/length. */
int ewald_sum_prepare(const plugmc_host *, double bjerrum_length, double alpha, const ewald_waves *,
                      ewald_sum **out);
/* The callbacks of a total facet and of the descriptor. */
int ewald_sum_energy(ewald_sum *, const plugmc_total_request *);
int ewald_sum_recordable(const ewald_sum *); /* see plugmc_total */
/* Of the kernels, in memory of the host; returns the code. */
int ewald_sum_gpu_source(const plugmc_host *, plugmc_gpu_source *out);
int ewald_sum_start(ewald_sum *, const plugmc_view *);
int ewald_sum_change(ewald_sum *, int32_t walker, int64_t particle, const double position[3],
                     double *change);
int ewald_sum_displace(ewald_sum *, int32_t walker, const plugmc_displacements *, double *change);
int ewald_sum_insert_remove(ewald_sum *, int32_t walker, const plugmc_insert_remove *,
                            double *change);
int ewald_sum_settle(ewald_sum *, int32_t walker, int accepted);
int ewald_sum_archive(ewald_sum *, plugmc_archive *);
int ewald_sum_waves(const ewald_sum *, plugmc_waves *out);
int ewald_sum_weights(ewald_sum *, const plugmc_box *, int32_t walker, double *weight);
double ewald_sum_of_counts(const ewald_sum *, const plugmc_box *, const int64_t *count);

#endif
