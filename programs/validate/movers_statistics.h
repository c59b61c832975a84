/* Whether means of independent walkers agree with exact values. */
#ifndef PLUGMC_VALIDATE_MOVERS_STATISTICS_H
#define PLUGMC_VALIDATE_MOVERS_STATISTICS_H

#include <stdbool.h>

/* The false-alarm rate of one test is 10^-6. A plugin is put to at most MOST_TESTS tests, so a right one fails in fewer
 * than 10^-4 of all choices of seeds. */
enum { LIMIT_LOG_P = 6, MOST_TESTS = 100 };

/* Sums of `dims` numbers for each independent unit: a walker, or a block of sweeps. */
typedef struct sums {
    int units, dims;
    /* [units] samples in it. */
    double *samples;
    /* [units][dims] */
    double *sum;
    /* [dims] Of single looks at a unit (sums_add): sum of their values, and of the squares; how many. */
    double *once, *square;
    double looks;
    /* [dims] Whether a number is a share of samples, as those in a bin are: each sample adds 0 or 1. NULL: none is. Not
     * owned. */
    const bool *shares;
} sums;

sums sums_new(int units, int dims);
void sums_free(sums *);
/* One look at a unit: `samples` of them, which add numbers [dims]. */
void sums_add(sums *, int unit, const double *numbers, double samples);

typedef struct comparison {
    /* -log10 of the probability of such a deviation or a larger one. INFINITY: impossible. */
    double minus_log_p;
    /* The number that deviates most: which one, its mean, error, and deviation in errors. */
    int worst;
    double mean, error, z;
    /* Variance of the means of units over that of single looks, the mean of all numbers: 1 if no unit has changed, 0
     * without looks (sums_add). Its inverse is how many independent looks at a unit there were. */
    double frozen;
    /* The same of the number for which it is largest: 1 if there are states that no unit leaves. */
    double most_frozen;
} comparison;

/* The means of all units against `expected` [dims]: by Hotelling's T^2 of all numbers, and by the number that deviates
 * most, whose probability is multiplied by how many there are; the smaller of both, times two. Correlations in time do
 * not matter: means of units are independent, and their covariance is measured.
 *
 * Of shares the measured variance s^2 tells how many independent samples there were, m(1 - m) / s^2 with the measured
 * share m. The variance is then that of so many samples with the expected share, and the probability of the worst number
 * is at least that of the binomial law; T^2 is left out where fewer than 50 of them are expected in a bin. So units that
 * remain in one bin, each 0 or 1, are compared rightly, too: by the measured variance a bin with one unit instead of
 * eight would be 7 errors away, and an empty one infinitely many. */
comparison sums_compare(const sums *, const double *expected);

/* "+3.1 errors", or "far outside of its error" if there are more than a thousand. */
typedef struct deviation_words {
    char text[40];
} deviation_words;
deviation_words deviation_of(double z);

/* ln of the probability that Fisher's F with (a, b) degrees of freedom is larger. */
double log_tail_of_f(double f, double a, double b);
/* ln of the probability that n samples, which need be no integer, have a share of at least `share`, or at most that if
 * it is below the expected one, p. */
double log_tail_of_binomial(double share, double n, double p);
#endif
