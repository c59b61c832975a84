/* Coulomb energies of point charges, Hartree: with open boundaries 1/r, in a periodic cell of any
 * shape by the sums of P. P. Ewald, Ann. Phys. 369, 253 (1921), with a neutralising background.
 *
 * The periodic 1/r is v(r), the potential of a unit charge, its images and the background, of
 * average 0; a charge also feels its own images, xi = lim (v(r) - 1/r), the Madelung term:
 *
 *     v(r) = sum_R erfc(kappa |r + R|) / |r + R| + sum_{G != 0} w(G) cos G.r - pi / (kappa^2 V)
 *     w(G) = 4 pi / (V G^2) exp(-G^2 / (4 kappa^2))
 *     xi = sum_{R != 0} erfc(kappa R) / R + sum_{G != 0} w(G) - pi / (kappa^2 V) - 2 kappa /
 * sqrt(pi)
 */
#ifndef LOCAL_ENERGY_COULOMB_H
#define LOCAL_ENERGY_COULOMB_H

#include <plugmc/plugin.h>

typedef struct coulomb {
    const plugmc_box *box;
    int periodic;
    double kappa;          /* 1/length */
    double background;     /* pi / (kappa^2 V) */
    double xi;
    int64_t vectors;
    double (*vector)[3];   /* [vectors] R, 0 first, length */
    double cutoff_square;  /* of the sum over R */
    int32_t most[3];       /* largest index of a G in each direction */
    int64_t waves;
    int32_t (*index)[3];   /* [waves] G in reciprocal vectors, one of each pair G, -G */
    double *weight;        /* [waves] 2 w(G): both of the pair */
} coulomb;

/* For about `charges` charges: kappa is chosen so that both sums take as long. */
int coulomb_prepare(coulomb *, const plugmc_host *, int64_t charges);

/* The sum over R (all of 1/r with open boundaries) at a separation. */
double coulomb_near(const coulomb *, const double separation[3]);

/* Structure factors sum_i z_i exp(i G.r_i) of n charges (all 1 if z is NULL): re and im [waves] are
 * overwritten. */
void coulomb_factors(const coulomb *, int64_t n, const double *positions, const double *z,
                     double *re, double *im);
/* sum_G w(G) S_a(G) S_b(G)^*, G != 0. */
double coulomb_far(const coulomb *, const double *re_a, const double *im_a, const double *re_b,
                   const double *im_b);

/* Energy of n charges z (all -1 if NULL) with each other and their own images. Their structure
 * factors are left in re, im. */
double coulomb_self(const coulomb *, int64_t n, const double *positions, const double *z,
                    double *re, double *im);
#endif
