/* The comparison of means in plugmc validate: tails in closed form, and units whose means have a known T^2. */
#include <math.h>
#include <stdio.h>

#include "movers_statistics.h"

static int failed;

static void expect(const char *what, double value, double exact)
{
    printf("%s: %.12g, exact %.12g\n", what, value, exact);
    if (!(fabs(value - exact) <= 1e-9 * (1 + fabs(exact)))) failed = printf("FAILED: %s\n", what);
}

int main(void)
{
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
