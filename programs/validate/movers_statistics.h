/* Whether means of independent walkers agree with exact values. */
#ifndef PLUGMC_VALIDATE_MOVERS_STATISTICS_H
#define PLUGMC_VALIDATE_MOVERS_STATISTICS_H

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
} sums;

sums sums_new(int units, int dims);
void sums_free(sums *);

typedef struct comparison {
    /* -log10 of the probability of such a deviation or a larger one. INFINITY: impossible. */
    double minus_log_p;
    /* The number that deviates most: which one, its mean, error, and deviation in errors. */
    int worst;
    double mean, error, z;
} comparison;

/* The means of all units against `expected` [dims]: by Hotelling's T^2 of all numbers, and by the number that deviates
 * most, whose probability is multiplied by how many there are; the smaller of both, times two. Correlations in time do
 * not matter: means of units are independent, and their covariance is measured. */
comparison sums_compare(const sums *, const double *expected);

/* ln of the probability that Fisher's F with (a, b) degrees of freedom is larger. */
double log_tail_of_f(double f, double a, double b);
#endif
