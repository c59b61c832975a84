/* The comparison of means in plugmc validate: tails in closed form, and units whose means have a known T^2. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "movers_statistics.h"

static int failed;

static void expect(const char *what, double value, double exact)
{
    printf("%s: %.12g, exact %.12g\n", what, value, exact);
    if (!(fabs(value - exact) <= 1e-9 * (1 + fabs(exact)))) failed = printf("FAILED: %s\n", what);
}

/* A number in [0, 1): splitmix64. */
static double draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* 128 units that remain in one of 16 equally probable bins, so that each number is 0 or 1, or that look
 * at several bins. p below 10^-3 has at most that probability: 20 of 20,000, and more than 40 once in 10^4 times. */
static void expect_right(const char *what, int bins_of_unit)
{
    enum { UNITS = 128, BINS = 16, TIMES = 20000 };
    bool shares[BINS - 1];
    double exact[BINS - 1];
    uint64_t state = 1;
    int alarms = 0, rare = 0;
    for (int k = 0; k < BINS - 1; k++) shares[k] = true, exact[k] = 1.0 / BINS;
    for (int k = 0; k < TIMES; k++) {
        sums s = sums_new(UNITS, BINS - 1);
        s.shares = shares;
        for (int u = 0; u < UNITS; u++)
            for (int look = 0; look < bins_of_unit; look++) {
                double numbers[BINS] = {0};
                numbers[(int)(BINS * draw(&state))] = 1;
                sums_add(&s, u, numbers, 1);
            }
        const comparison c = sums_compare(&s, exact);
        alarms += c.minus_log_p > 3;
        rare += c.minus_log_p > 6;
        if (k == 0 && fabs(c.frozen - 1.0 / bins_of_unit) > 0.1)
            failed = printf("FAILED: %s: frozen is %g\n", what, c.frozen);
        sums_free(&s);
    }
    printf("%s: p < 10^-3 in %d of %d, p < 10^-6 in %d\n", what, alarms, TIMES, rare);
    if (alarms > 40 || rare > 0) failed = printf("FAILED: %s\n", what);
}

/* The share 0.2 of 128 units instead of 1/16 is found. */
static void expect_found(void)
{
    bool shares[1] = {true};
    sums s = sums_new(128, 1);
    s.shares = shares;
    for (int u = 0; u < 128; u++) sums_add(&s, u, (const double[1]){u % 5 == 0}, 1);
    const comparison c = sums_compare(&s, (const double[1]){0.0625});
    printf("a share of %.3g: p = 10^-%.2f\n", c.mean, c.minus_log_p);
    if (!(c.minus_log_p > 6)) failed = printf("FAILED: a share of 0.2 instead of 1/16\n");
    sums_free(&s);
}

int main(void)
{
    expect_right("units that remain in a bin", 1);
    expect_right("units with two bins each", 2);
    expect_right("units with ten bins each", 10);
    expect_found();
    /* of ten samples with p = 1/2 eight or more: 56 / 1024; four or fewer: 386 / 1024 */
    expect("binomial above", log_tail_of_binomial(0.8, 10, 0.5), log(56 / 1024.0));
    expect("binomial below", log_tail_of_binomial(0.4, 10, 0.5), log(386 / 1024.0));
    expect("binomial, none", log_tail_of_binomial(0, 128, 0.0625), 128 * log1p(-0.0625));
    /* two degrees of freedom above: (1 + 2 F / b)^(-b / 2); one and one: Cauchy's law */
    expect("F(2, 30) beyond 0.3", log_tail_of_f(0.3, 2, 30), -15 * log1p(0.02));
    expect("F(2, 30) beyond 50", log_tail_of_f(50, 2, 30), -15 * log1p(100 / 30.0));
    expect("F(2, 127) beyond 500", log_tail_of_f(500, 2, 127), -63.5 * log1p(1000 / 127.0));
    expect("F(1, 1) beyond 9", log_tail_of_f(9, 1, 1), log(1 - 2 / M_PI * atan(3)));
    /* four units at 1, 2, 3, 6: mean 3, error sqrt(14 / 12); expected 1: t = 2 / 1.0801 with 3 degrees of freedom, which
     * counts twice as T^2 and as the worst number */
    sums s = sums_new(4, 1);
    const double value[4] = {1, 2, 3, 6}, one[1] = {1}, t2 = 4 / (14 / 12.0);
    for (int u = 0; u < 4; u++) s.samples[u] = 2, s.sum[u] = 2 * value[u];
    const comparison c = sums_compare(&s, one);
    expect("deviation in errors", c.z, sqrt(t2));
    expect("-log10 p", c.minus_log_p, fmax(0, -(log_tail_of_f(t2, 1, 3) + log(2)) / log(10)));
    sums_free(&s);
    return failed != 0;
}
