/* Points and weights on the unit sphere, and in between. */
#ifndef LOCAL_ENERGY_QUADRATURE_H
#define LOCAL_ENERGY_QUADRATURE_H

#include <plugmc/plugin.h>

enum { QUADRATURE_6, QUADRATURE_12, QUADRATURE_26, MOST_POINTS = 26, MOST_RADII = 64 };

typedef struct quadrature {
    int points;
    double direction[MOST_POINTS][3], weight[MOST_POINTS]; /* weights add up to 1 */
} quadrature;

/* Exact for polynomials up to degree 3 (6 points, an octahedron), 5 (12, an icosahedron) and 7
 * (26). */
void quadrature_choose(quadrature *, int kind);

/* A random rotation from three random numbers in [0, 1): K. Shoemake's uniform quaternion. */
void random_rotation(const double u[3], double out[3][3]);

/* n nodes of Gauss and Legendre in (0, end), n up to MOST_RADII. */
void gauss_legendre(int n, double end, double *node, double *weight);

double legendre(int l, double x);
#endif
