/* Averages, error bars and correlation times. No observable does its own. */
#ifndef PLUGMC_STATISTICS_H
#define PLUGMC_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The normalised autocorrelation function of a series [n][n_walkers],
 *
 *     C_k = <(x_i - m)(x_{i+k} - m)> / <(x_i - m)^2>,
 *
 * m the mean of all walkers, averages over i and walkers; and the integrated time 1/2 + sum_{k>0}
 * C_k. Lags go up to ten integrated times, where C has decayed into its noise, and at most to n /
 * 10. The first 64 follow one another; after that they are 2 apart up to 128, 4 up to 256 and so
 * on. */
typedef struct autocorrelation {
    int64_t count;
    int64_t *lag;  /* [count] samples, from 0 */
    double *value; /* [count] */
    double time;   /* integrated, samples */
} autocorrelation;

/* Non-zero: no memory. A series that does not vary, or has a sample that is not finite, has count
 * 0. */
int autocorrelation_make(autocorrelation *, const double *series, int64_t n, int n_walkers);
void autocorrelation_free(autocorrelation *);

/* Mean of a correlated series and its standard error (statistics/blocking.h). */
typedef struct estimate {
    double mean, error;
    double variance; /* of one sample */
    /* Integrated autocorrelation time, samples; at least 0.5, which is all that is known of independent samples:
     * it is less than their period. NaN of a series that does not vary. */
    double correlation_time;
    int64_t samples;
    bool converged; /* false: the run is too short, `error` is a lower bound */
} estimate;

/* Of a series [n][walkers], as records are kept; walkers are independent. *correlation is to be
 * freed. blocks, here and below: 0, or the rule for the error (error_of_blocks). Non-zero: no memory. */
int estimate_interleaved(const double *series, int64_t n, int walkers, int64_t blocks, estimate *,
                         autocorrelation *);

/* How many standard errors the mean of the second half is above that of the first; NaN where a half
 * is too short for its error. Without drift it is beyond +-4 less than once in a thousand series. */
double difference_of_halves(const double *series, int64_t n, int walkers);

/* Means of [length] numbers over [count][walkers] blocks of equal numbers of samples. */
typedef struct block_means {
    int64_t count, walkers, length;
    double *block; /* [count][walkers][length], and room for one more of each walker */
    double *mean;  /* [length], over all samples, those in no full block as well */
} block_means;

int block_means_init(block_means *, int64_t count, int64_t walkers, int64_t length);
/* Of `length` series [n][walkers] each, n > 0. Non-zero: no memory. */
int block_means_of_series(block_means *, const double *const *series, int64_t length, int64_t n,
                          int64_t walkers);
void block_means_free(block_means *);

/* Outputs from means; non-zero where the data do not suffice. */
typedef int (*derive_function)(void *argument, const double *means, double *outputs);

/* Value of a function of the means, and its error from leaving each block out; converged as above;
 * all [outputs]. Returns 0, or non-zero if there is no value; the error is NaN with fewer than 2
 * blocks, or where derive fails without one of them. */
int jackknife(const block_means *, derive_function, void *argument, int64_t outputs, int64_t blocks,
              double *value, double *error, bool *converged);

/* Averages of an array without keeping its samples: at most 2 B blocks of equal numbers of
 * samples, merged in pairs when they are full (B = 64). State is plain numbers, for checkpoints. */
typedef struct block_average {
    int64_t length;    /* of the array */
    int64_t per_block; /* samples a full block */
    int64_t blocks;    /* full blocks */
    int64_t in_last;   /* samples in the block being filled */
    double *sums;      /* [128 + 1][length]; row `blocks` is being filled */
} block_average;

int block_average_init(block_average *, int64_t length); /* non-zero: no memory */
void block_average_add(block_average *, const double *sample);
void block_average_free(block_average *);
/* Over all samples, [length]; NaN without any. */
void block_average_mean(const block_average *, double *mean);
/* mean [length] and standard error [length] from full blocks, NaN with fewer than 2. converged
 * [length] is false where the run is too short for the error bar, which is then a lower bound. */
void block_average_result(const block_average *, int64_t blocks, double *mean, double *error,
                          bool *converged);
/* Jackknife over the full blocks. */
int block_average_jackknife(const block_average *, derive_function, void *argument, int64_t outputs,
                            double *value, double *error, bool *converged);
#endif
