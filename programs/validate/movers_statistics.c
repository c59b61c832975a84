/* See movers_statistics.h. */
#include "movers_statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"

sums sums_new(int units, int dims)
{
    const size_t n = (size_t)units;
    return (sums){.units = units,
                  .dims = dims,
                  .samples = checked(calloc(n, sizeof(double))),
                  .sum = checked(calloc(n * (size_t)dims + 1, sizeof(double))),
                  .once = checked(calloc((size_t)dims + 1, sizeof(double))),
                  .square = checked(calloc((size_t)dims + 1, sizeof(double)))};
}

void sums_free(sums *s)
{
    free(s->samples);
    free(s->sum);
    free(s->once);
    free(s->square);
    s->samples = s->sum = s->once = s->square = NULL;
}

void sums_add(sums *s, int unit, const double *numbers, double samples)
{
    if (!(samples > 0)) return;
    s->samples[unit] += samples;
    s->looks += 1;
    for (int i = 0; i < s->dims; i++) {
        const double value = numbers[i] / samples;
        s->sum[unit * s->dims + i] += numbers[i];
        s->once[i] += value;
        s->square[i] += value * value;
    }
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

double log_tail_of_binomial(double share, double n, double p)
{
    const double x = share * n;
    if (share == p) return 0;
    return share > p ? log_beta(x, n - x + 1, p) : log_beta(n - x, x + 1, 1 - p);
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

/* Variance of means of units over that of single looks: the mean of all numbers that are not always the same, and *most. */
static double frozen_part(const sums *s, const double *covariance, int n, double *most)
{
    double sum = 0;
    int numbers = 0;
    for (int i = 0; i < s->dims && s->looks > 0; i++) {
        const double mean = s->once[i] / s->looks, variance = s->square[i] / s->looks - mean * mean;
        if (!(variance > 1e-9 * (s->square[i] / s->looks))) continue;
        const double part = n * covariance[i * s->dims + i] / variance;
        *most = fmax(*most, part);
        sum += part;
        numbers++;
    }
    return numbers ? sum / numbers : 0;
}

/* The variance of a share becomes that of as many samples with the expected share. `samples` [dims]: how many; 0: it is
 * no share, or nothing is known. */
static void expect_shares(const sums *s, const double *expected, const double *mean,
                          double *covariance, double *samples)
{
    const int d = s->dims;
    double single = 0, of_means = 0;
    for (int i = 0; i < d; i++) {
        const double share = expected[i] + mean[i];
        samples[i] = 0;
        if (!s->shares || !s->shares[i] || !(expected[i] > 0 && expected[i] < 1)) continue;
        if (!(share > 0 && share < 1) || !(covariance[i * d + i] > 0)) continue;
        single += share * (1 - share);
        of_means += covariance[i * d + i];
        samples[i] = share * (1 - share) / covariance[i * d + i];
        covariance[i * d + i] *= expected[i] * (1 - expected[i]) / (share * (1 - share));
    }
    /* Of a bin that no unit has been in, or all, the others know how many samples there were. */
    for (int i = 0; i < d && of_means > 0; i++)
        if (s->shares[i] && covariance[i * d + i] <= 0) {
            samples[i] = single / of_means;
            covariance[i * d + i] = expected[i] * (1 - expected[i]) / samples[i];
        }
}

/* ln of the probability of the worst number. */
static double log_tail_of_worst(const comparison *c, int n, double expected, double samples)
{
    const double tail = log_tail_of_f(c->z * c->z, 1, n - 1);
    if (!(samples > 0)) return tail;
    const double share = fmin(1, fmax(0, c->mean)),
                 binomial = log(2) + log_tail_of_binomial(share, samples, expected);
    return fmin(0, fmax(tail, binomial));
}

/* ln of the probability of Hotelling's T^2; how many numbers do not follow from others. */
static double log_tail_of_all(int dims, int n, const double *mean, const double *covariance,
                              int *independent)
{
    const size_t d = (size_t)dims;
    double *m = checked(malloc((d * d + d + 1) * sizeof *m)), *c = m + d;
    memcpy(m, mean, d * sizeof *m);
    memcpy(c, covariance, d * d * sizeof *c);
    const double square = square_of(dims, m, c, independent), p = *independent;
    free(m);
    return p > 0 && n > p ? log_tail_of_f((n - p) / (p * (n - 1)) * square, p, n - p) : 0;
}

/* With fewer independent samples in a bin its share is no normal variable far from its mean, and T^2 is left out. */
enum { FEW = 50 };

comparison sums_compare(const sums *s, const double *expected)
{
    const size_t d = (size_t)s->dims;
    double *mean = checked(calloc(2 * d + 1, sizeof *mean)), *samples = mean + d,
           *covariance = checked(calloc(d * d + 1, sizeof *covariance));
    comparison c = {.z = 0};
    int independent;
    const int n = find_moments(s, expected, mean, covariance);
    c.frozen = frozen_part(s, covariance, n, &c.most_frozen);
    double all = log_tail_of_all(s->dims, n, mean, covariance, &independent);
    expect_shares(s, expected, mean, covariance, samples);
    for (int i = 0; i < s->dims; i++) {
        const double error = sqrt(covariance[(size_t)i * d + (size_t)i]);
        const double off = fabs(mean[i]) <= 1e-9 * (1 + fabs(expected[i])) ? 0 : mean[i];
        const double z = off == 0 ? 0 : off / error;
        if (i > 0 && fabs(z) <= fabs(c.z)) continue;
        c.worst = i, c.mean = expected[i] + mean[i], c.error = error, c.z = z;
    }
    const double worst =
        s->dims > 0 ? log_tail_of_worst(&c, n, expected[c.worst], samples[c.worst]) : 0;
    for (int i = 0; i < s->dims; i++)
        if (samples[i] > 0 && samples[i] * expected[i] < FEW) all = 0;
    free(mean);
    free(covariance);
    if (!isfinite(c.z) || n <= s->dims + 1)
        c.minus_log_p = INFINITY;
    else if (independent > 0)
        c.minus_log_p = fmax(0, -(fmin(all, worst + log(independent)) + log(2)) / log(10));
    return c;
}

deviation_words deviation_of(double z)
{
    deviation_words words;
    if (fabs(z) <= 1000)
        snprintf(words.text, sizeof words.text, "%+.1f errors", z);
    else
        snprintf(words.text, sizeof words.text, "far outside of its error");
    return words;
}
