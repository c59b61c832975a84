/* Points and weights on the unit sphere, and in between. */
#ifndef LOCAL_ENERGY_QUADRATURE_H
#define LOCAL_ENERGY_QUADRATURE_H

#include <plugmc/everything.h>

#include "formulas.h"

enum { QUADRATURE_6, QUADRATURE_12, QUADRATURE_26 };

/* Exact for polynomials up to degree 3 (6 points, an octahedron), 5 (12, an icosahedron) and 7
 * (26). */
void quadrature_choose(quadrature *, int kind);

/* n nodes of Gauss and Legendre in (0, end), n up to MOST_RADII. */
void gauss_legendre(int n, double end, double *node, double *weight);
#endif
