/* Quadratures on the sphere (A. H. Stroud, Approximate Calculation of Multiple Integrals, 1971;
 * L. Mitas, E. L. Shirley, D. M. Ceperley, J. Chem. Phys. 95, 3467 (1991)) and on a line. */
#include "quadrature.h"

#include <math.h>

/* All sign changes and cyclic permutations of (x, y, z) that differ. */
static void add_orbit(quadrature *q, const double p[3], double weight)
{
    for (int turn = 0; turn < 3; turn++)
        for (int signs = 0; signs < 8; signs++) {
            double r[3], norm = 0;
            int known = 0;
            for (int d = 0; d < 3; d++) {
                r[d] = (signs >> d & 1 ? -1 : 1) * p[(d + turn) % 3];
                norm += r[d] * r[d];
            }
            for (int k = 0; k < q->points && !known; k++) {
                double product = 0;
                for (int d = 0; d < 3; d++) product += r[d] * q->direction[k][d];
                known = product > (1 - 1e-9) * sqrt(norm);
            }
            if (known) continue;
            for (int d = 0; d < 3; d++) q->direction[q->points][d] = r[d] / sqrt(norm);
            q->weight[q->points++] = weight;
        }
}

void quadrature_choose(quadrature *q, int kind)
{
    const double golden = 0.5 * (1 + sqrt(5.0));
    *q = (quadrature){0};
    if (kind == QUADRATURE_6) add_orbit(q, (double[]){1, 0, 0}, 1.0 / 6);
    if (kind == QUADRATURE_12) add_orbit(q, (double[]){0, 1, golden}, 1.0 / 12);
    if (kind == QUADRATURE_26) {
        add_orbit(q, (double[]){1, 0, 0}, 1.0 / 21);
        add_orbit(q, (double[]){1, 1, 0}, 4.0 / 105);
        add_orbit(q, (double[]){1, 1, 1}, 27.0 / 840);
    }
}

/* P_n(x), and its derivative. */
static double legendre_slope(int n, double x, double *slope)
{
    double p = 1, before = 0;
    for (int k = 1; k <= n; k++) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = p;
        p = next;
    }
    *slope = n * (x * p - before) / (x * x - 1);
    return p;
}

void gauss_legendre(int n, double end, double *node, double *weight)
{
    for (int i = 0; i < n; i++) {
        double x = cos(M_PI * (i + 0.75) / (n + 0.5)), slope;
        for (int step = 0; step < 50; step++) {
            const double shift = legendre_slope(n, x, &slope) / slope;
            x -= shift;
            if (fabs(shift) < 1e-15) break;
        }
        legendre_slope(n, x, &slope);
        node[i] = 0.5 * end * (1 - x);
        weight[i] = end / ((1 - x * x) * slope * slope);
    }
}
