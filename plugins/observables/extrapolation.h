/* extrapolation: the value at contact of a g(r) that is known beyond it. */
#ifndef PLUGMC_EXTRAPOLATION_H
#define PLUGMC_EXTRAPOLATION_H

#include <stdint.h>

/* Weights by which data at x [n] give the value at `at` of their least-squares polynomial. In the
 * basis of polynomials orthogonal over these points the normal equations are diagonal, so nothing
 * is lost to rounding: G. E. Forsythe, J. Soc. Ind. Appl. Math. 5, 74 (1957). work: [3 n]. */
static void extrapolation_weights(const double *x, int64_t n, int64_t degree, double at,
                                  double *work, double *weight)
{
    double *t = work, *p = work + n, *before = work + 2 * n;
    const double centre = (x[0] + x[n - 1]) / 2, half = (x[n - 1] - x[0]) / 2;
    const double t_at = (at - centre) / half;
    double p_at = 1, before_at = 0, norm_before = 1;
    for (int64_t i = 0; i < n; i++) {
        t[i] = (x[i] - centre) / half;
        p[i] = 1;
        before[i] = weight[i] = 0;
    }
    for (int64_t k = 0; k <= degree; k++) {
        double norm = 0, shift = 0;
        for (int64_t i = 0; i < n; i++) {
            norm += p[i] * p[i];
            shift += t[i] * p[i] * p[i];
        }
        shift /= norm;
        double ratio = k > 0 ? norm / norm_before : 0;
        for (int64_t i = 0; i < n; i++) {
            weight[i] += p_at / norm * p[i];
            double next = (t[i] - shift) * p[i] - ratio * before[i];
            before[i] = p[i];
            p[i] = next;
        }
        double next_at = (t_at - shift) * p_at - ratio * before_at;
        before_at = p_at;
        p_at = next_at;
        norm_before = norm;
    }
}

#endif
