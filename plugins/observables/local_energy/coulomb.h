/* Coulomb energies of point charges, Hartree: with open boundaries 1/r, in a periodic cell of any
 * shape by the sums of P. P. Ewald, Ann. Phys. 369, 253 (1921), with a neutralising background.
 *
 * The periodic 1/r is v(r), the potential of a unit charge, its images and the background, of
 * average 0; a charge also feels its own images, xi = lim (v(r) - 1/r), the Madelung term:
 *
 *     v(r) = sum_R erfc(kappa |r + R|) / |r + R| + sum_{G != 0} w(G) cos G.r - pi / (kappa^2 V)
 *     w(G) = 4 pi / (V G^2) exp(-G^2 / (4 kappa^2))
 *     xi = sum_{R != 0} erfc(kappa R) / R + sum_{G != 0} w(G) - pi / (kappa^2 V)
 *          - 2 kappa / sqrt(pi)
 */
#ifndef LOCAL_ENERGY_COULOMB_H
#define LOCAL_ENERGY_COULOMB_H

#include <plugmc/everything.h>

#include "formulas.h"

/* For about `charges` charges: kappa is chosen so that both sums take as long. */
int coulomb_prepare(coulomb *, const plugmc_host *, int64_t charges);

/* Structure factors sum_i z_i exp(i G.r_i) of n charges (all 1 if z is NULL): re and im [waves] are
 * overwritten. */
void coulomb_factors(const coulomb *, int64_t n, const double *positions, const double *z,
                     double *re, double *im);
/* sum_G w(G) S_a(G) S_b(G)^*, G != 0. */
double coulomb_far(const coulomb *, const double *re_a, const double *im_a, const double *re_b,
                   const double *im_b);

/* What an energy of charges has beside the sums over R and G: the background and the charges' own
 * images, of their sum and the sum of their squares. */
double coulomb_constant(const coulomb *, double total, double squares);

/* Energy of n charges z (all -1 if NULL) with each other and their own images. Their structure
 * factors are left in re, im. */
double coulomb_self(const coulomb *, int64_t n, const double *positions, const double *z,
                    double *re, double *im);
#endif
