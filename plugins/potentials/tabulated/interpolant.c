/* The monotone piecewise cubic of a table: between two neighbouring points it rises if the second one
 * is higher, falls if it is lower, and is constant if they are equal. It has a continuous derivative.
 *
 * A cubic between two points is given by the slopes there. They begin as those of the cubic spline
 * through all points, whose error goes with the fourth power of the spacing and whose second
 * derivative is continuous, and are made smaller where the cubic would not be monotone: F. N. Fritsch,
 * R. E. Carlson, SIAM J. Numer. Anal. 17, 238 (1980), section 4, the circle of radius 3. At the
 * highest and lowest points of the data they are 0.
 *
 * The points stay where they are. New ones on an equidistant grid would be missed by the cubic
 * between them, unless the old grid is equidistant, and then nothing is gained: bins of one interval
 * each find it at once. On other grids a bin is a quarter as wide as the mean interval, and the search
 * goes on among the points in it.
 */
#include "interpolant.h"

#include <stdlib.h>

/* ---- Slopes ---------------------------------------------------------------------------------- */

/* Of the cubic spline without a knot at the second and the last but one point; `upper` is scratch,
 * [n]. Rows of the tridiagonal equations are eliminated as they are made; all pivots are positive. */
static void spline_slopes(int32_t n, const double *r, const double *u, double *m, double *upper)
{
    const double h0 = r[1] - r[0], h1 = r[2] - r[1];
    const double d0 = (u[1] - u[0]) / h0, d1 = (u[2] - u[1]) / h1;
    if (n == 3) { /* the parabola */
        m[0] = d0 - h0 * (d1 - d0) / (h0 + h1);
        m[1] = (h1 * d0 + h0 * d1) / (h0 + h1);
        m[2] = d1 + h1 * (d1 - d0) / (h0 + h1);
        return;
    }
    upper[0] = (h0 + h1) / h1;
    m[0] = ((h0 + 2 * (h0 + h1)) * h1 * d0 + h0 * h0 * d1) / ((h0 + h1) * h1);
    double g = 0, h = 0, dg = 0, dh = 0; /* widths and steepness to the left and right of point i */
    for (int32_t i = 1; i < n - 1; i++) {
        g = r[i] - r[i - 1], h = r[i + 1] - r[i];
        dg = (u[i] - u[i - 1]) / g, dh = (u[i + 1] - u[i]) / h;
        const double pivot = 2 * (g + h) - h * upper[i - 1];
        upper[i] = g / pivot;
        m[i] = (3 * (h * dg + g * dh) - h * m[i - 1]) / pivot;
    }
    const double right = ((h + 2 * (g + h)) * g * dh + h * h * dg) / (g + h);
    m[n - 1] = (right - (g + h) * m[n - 2]) / (g - (g + h) * upper[n - 2]);
    for (int32_t i = n - 2; i >= 0; i--) m[i] -= upper[i] * m[i + 1];
}

/* The slopes of an interval lie in the circle of radius 3 around 0, in units of its own steepness. */
static void limit(double steepness, double *left, double *right)
{
    const double a = *left / steepness, b = *right / steepness, square = a * a + b * b;
    if (steepness == 0) {
        *left = *right = 0;
    } else if (!(square <= 9)) {
        *left *= 3 / sqrt(square);
        *right *= 3 / sqrt(square);
    }
}

static int same_sign(double a, double b) { return (a > 0 && b > 0) || (a < 0 && b < 0); }

int monotone_slopes(const table_file *t, double *slope)
{
    const int32_t n = t->rows;
    double *steepness = malloc((size_t)n * sizeof *steepness);
    if (!steepness) return 0;
    if (n > 2) spline_slopes(n, t->r, t->u, slope, steepness);
    for (int32_t i = 0; i < n - 1; i++)
        steepness[i] = (t->u[i + 1] - t->u[i]) / (t->r[i + 1] - t->r[i]);
    if (n == 2) slope[0] = slope[1] = steepness[0];
    for (int32_t i = 0; i < n; i++)
        if ((i > 0 && !same_sign(slope[i], steepness[i - 1])) ||
            (i < n - 1 && !same_sign(slope[i], steepness[i])))
            slope[i] = 0;
    for (int32_t i = 0; i < n - 1; i++) limit(steepness[i], &slope[i], &slope[i + 1]);
    free(steepness);
    return 1;
}

/* ---- Bins ------------------------------------------------------------------------------------ */

/* Fills `first`, and finds how many points come behind the beginning of a bin before it ends. What
 * is off by rounding alone counts as the beginning itself. */
static void fill_bins(interpolant *p, int32_t bins)
{
    const double width = (p->end - p->begin) / bins, slack = 1e-9 * width;
    int32_t i = 0;
    p->bins = bins;
    p->bins_per_length = 1 / width;
    p->most = 0;
    for (int32_t k = 0; k < bins; k++) {
        while (i + 1 < p->intervals && p->interval[i + 1].begin <= p->begin + k * width + slack)
            i++;
        p->first[k] = i;
        int32_t last = i;
        while (last + 1 < p->intervals &&
               p->interval[last + 1].begin < p->begin + (k + 1) * width - slack)
            last++;
        if (last - i > p->most) p->most = last - i;
    }
}

/* ---- Both ------------------------------------------------------------------------------------ */

static interval between(const table_file *t, const double *slope, int32_t i)
{
    const double h = t->r[i + 1] - t->r[i], step = t->u[i + 1] - t->u[i];
    const double left = h * slope[i], right = h * slope[i + 1];
    return (interval){
        t->r[i], 1 / h, {t->u[i], left, 3 * step - 2 * left - right, left + right - 2 * step}};
}

int interpolant_make(const table_file *t, interpolant *out)
{
    enum { FINER = 4 };
    int32_t rows = t->rows;
    while (rows > 2 && t->u[rows - 1] == 0 && t->u[rows - 2] == 0) rows--;
    const size_t n = (size_t)rows - 1;
    double *slope = malloc((size_t)t->rows * sizeof *slope);
    *out = (interpolant){.begin = t->r[0], .end = t->r[n], .intervals = (int32_t)n};
    out->interval = malloc(n * sizeof *out->interval);
    out->first = malloc(FINER * n * sizeof *out->first);
    const int good = slope && out->interval && out->first && monotone_slopes(t, slope);
    for (int32_t i = 0; i < (int32_t)n && good; i++) out->interval[i] = between(t, slope, i);
    if (good) fill_bins(out, (int32_t)n);
    if (good && out->most) fill_bins(out, FINER * (int32_t)n);
    free(slope);
    if (!good) interpolant_free(out);
    return good;
}

void interpolant_free(interpolant *p)
{
    free(p->interval);
    free(p->first);
    *p = (interpolant){0};
}
