/* g(r) near contact, and the pressure from its value there.
 *
 * Section 4 of J. A. Anderson, E. Jankowski, T. L. Grubb, M. Engel, S. C. Glotzer, J. Comput. Phys. 254, 27 (2013). A
 * histogram of pair distances in (s, s (1 + fit_range)] gives g at points R_i (eqs. 5 and 6, and the same in three
 * dimensions); a polynomial through it is extrapolated to s and put into eq. 4. Its error bar is wider than that
 * of the rifts by a factor of 3.5 (disks at 0.65) to 7 (spheres): it is there to be compared with.
 *
 * The first bin is left out: a mover that decides in single precision keeps particles apart by some
 * 1e-7 more than contact (checkerboard: 1.0(2) 10^-7 measured), so a thousandth of the pairs of that
 * bin is missing, and it would have the largest weight, a sixth. The pressure came out too low by
 * 1.5e-4 of itself. */
#ifndef PLUGMC_CONTACT_FIT_H
#define PLUGMC_CONTACT_FIT_H

#include <plugmc/everything.h>

typedef struct contact_fit {
    int32_t dimension;
    int32_t bins; /* 0 without a fit */
    double particles;
    double contact;   /* s */
    double *radius;   /* [bins]: R_i, length */
    double *g_factor; /* [bins]: g(R_i) of one pair of particles in bin i */
    double *weight;   /* [bins]: g at contact is the sum of weight[i] g(R_i), i > 0 */
} contact_fit;

/* Bins up to `range` in a volume, whose numbers and those above are set, and a polynomial of a degree. */
int prepare_fit(contact_fit *, const plugmc_host *, double range, double volume, int64_t degree);
/* Eq. 4, from g near contact [bins]. */
double fitted_pressure(const contact_fit *, const double *g, double volume);

#endif
