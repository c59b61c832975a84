/* Averages, error bars and correlation times. No observable does its own. */
#ifndef PLUGMC_STATISTICS_H
#define PLUGMC_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mean of a correlated series and its standard error by blocking: H. Flyvbjerg, H. G. Petersen,
 * J. Chem. Phys. 91, 461 (1989). */
typedef struct estimate {
    double mean, error;
    double variance;         /* of one sample */
    double correlation_time; /* integrated autocorrelation time, in samples: (error^2 n / variance
                                ... ) / 2, at least 0.5 */
    int64_t samples;
    bool converged; /* false: no plateau, the run is too short for its error bar */
} estimate;

/* Of one series of n samples. Walkers of equal length: pass them one after another, they are
 * blocked apart and their means averaged. n_walkers series of n samples each. */
estimate estimate_series(const double *series, int64_t n, int n_walkers);

/* The same for a series [n][n_walkers], as records are kept. */
estimate estimate_interleaved(const double *series, int64_t n, int n_walkers);

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

/* Averages of an array without keeping its samples: at most 2 B blocks of equal numbers of
 * samples, merged in pairs when they are full (B = 64). State is plain numbers, for checkpoints. */
typedef struct block_average {
    int64_t length;     /* of the array */
    int64_t per_block;  /* samples a full block */
    int64_t blocks;     /* full blocks */
    int64_t in_last;    /* samples in the block being filled */
    double *sums;       /* [128 + 1][length]; row `blocks` is being filled */
} block_average;

int block_average_init(block_average *, int64_t length); /* non-zero: no memory */
void block_average_add(block_average *, const double *sample);
void block_average_free(block_average *);
/* Over all samples, [length]; NaN without any. */
void block_average_mean(const block_average *, double *mean);
/* mean [length] and standard error [length] from full blocks, NaN with fewer than 2. converged
 * [length] is false where the run is too short for the error bar, which is then a lower bound. */
void block_average_result(const block_average *, double *mean, double *error, bool *converged);
/* Jackknife over full blocks of a function of the means: value from all samples, error from
 * leaving each block out, converged as above, all [outputs]. `derive` returns non-zero where the
 * data do not suffice. Returns 0, or non-zero if there is no value; the error is NaN with fewer
 * than 2 blocks, or where derive fails without one of them. */
int block_average_jackknife(const block_average *, int (*derive)(void *, const double *, double *),
                            void *argument, int64_t outputs, double *value, double *error,
                            bool *converged);
#endif
