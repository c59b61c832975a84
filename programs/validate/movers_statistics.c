/* See movers_statistics.h. */
#include "movers_statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/report.h"

sums sums_new(int units, int dims)
{
    const size_t n = (size_t)units;
    return (sums){.units = units,
                  .dims = dims,
                  .samples = checked(calloc(n, sizeof(double))),
                  .sum = checked(calloc(n * (size_t)dims + 1, sizeof(double)))};
}

void sums_free(sums *s)
{
    free(s->samples);
    free(s->sum);
    s->samples = s->sum = NULL;
}

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-14) break;
    }
    return h;
}

/* ln of the regularised incomplete beta function I_x(a, b). */
static double log_beta(double a, double b, double x)
{
    if (x <= 0) return -INFINITY;
    if (x >= 1) return 0;
    const double front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
    if (x < (a + 1) / (a + b + 2)) return front - log(a) + log(beta_fraction(a, b, x));
    return log1p(-exp(front - log(b)) * beta_fraction(b, a, 1 - x));
}

double log_tail_of_f(double f, double a, double b)
{
    return f > 0 ? log_beta(0.5 * b, 0.5 * a, b / (b + a * f)) : 0;
}

/* Of the means of units: their mean less what is expected, [dims], and the covariance of that mean, [dims][dims].
 * Returns how many units have samples. */
static int find_moments(const sums *s, const double *expected, double *mean, double *covariance)
{
    const int d = s->dims;
    int n = 0;
    for (int u = 0; u < s->units; u++) {
        if (!(s->samples[u] > 0)) continue;
        n++;
        for (int i = 0; i < d; i++) mean[i] += s->sum[u * d + i] / s->samples[u] - expected[i];
    }
    for (int i = 0; i < d; i++) mean[i] /= n;
    for (int u = 0; u < s->units; u++) {
        if (!(s->samples[u] > 0)) continue;
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++)
                covariance[i * d + j] +=
                    (s->sum[u * d + i] / s->samples[u] - expected[i] - mean[i]) *
                    (s->sum[u * d + j] / s->samples[u] - expected[j] - mean[j]) /
                    ((double)n * (n - 1));
    }
    return n;
}

/* mean^T covariance^-1 mean, by Cholesky's method in place. Numbers that follow from those before are left out. */
static double square_of(int d, double *mean, double *covariance, int *independent)
{
    double square = 0;
    *independent = 0;
    for (int i = 0; i < d; i++) {
        const double before = covariance[i * d + i];
        for (int j = 0; j <= i; j++) {
            double left = covariance[i * d + j];
            for (int k = 0; k < j; k++) left -= covariance[i * d + k] * covariance[j * d + k];
            if (j < i)
                covariance[i * d + j] =
                    covariance[j * d + j] > 0 ? left / covariance[j * d + j] : 0;
            else
                covariance[i * d + i] = left > 1e-9 * before ? sqrt(left) : 0;
        }
        if (!(covariance[i * d + i] > 0)) continue;
        double left = mean[i];
        for (int k = 0; k < i; k++) left -= covariance[i * d + k] * mean[k];
        mean[i] = left / covariance[i * d + i];
        square += mean[i] * mean[i];
        ++*independent;
    }
    return square;
}

comparison sums_compare(const sums *s, const double *expected)
{
    const size_t d = (size_t)s->dims;
    double *mean = checked(calloc(d + 1, sizeof *mean)),
           *covariance = checked(calloc(d * d + 1, sizeof *covariance));
    comparison c = {.z = 0};
    const int n = find_moments(s, expected, mean, covariance);
    for (int i = 0; i < s->dims; i++) {
        const double error = sqrt(covariance[(size_t)i * d + (size_t)i]);
        const double off = fabs(mean[i]) <= 1e-9 * (1 + fabs(expected[i])) ? 0 : mean[i];
        const double z = off == 0 ? 0 : off / error;
        if (i == 0 || !(fabs(z) <= fabs(c.z)))
            c = (comparison){.worst = i, .mean = expected[i] + mean[i], .error = error, .z = z};
    }
    int independent;
    const double square = square_of(s->dims, mean, covariance, &independent);
    const double p = independent;
    free(mean);
    free(covariance);
    if (!isfinite(c.z) || n <= s->dims + 1) {
        c.minus_log_p = INFINITY;
    } else if (independent > 0) {
        const double all = log_tail_of_f((n - p) / (p * (n - 1)) * square, p, n - p),
                     worst = log_tail_of_f(c.z * c.z, 1, n - 1) + log(p);
        c.minus_log_p = fmax(0, -(fmin(all, worst) + log(2)) / log(10));
    }
    return c;
}
