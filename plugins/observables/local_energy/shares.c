/* A local energy dealt out to the electrons and ions of a walker, for densities of energy in space: a kinetic energy belongs
 * to its electron, and half of an interaction to each of the two that interact. With the Ewald sums of coulomb.h the potential
 * energy of charge z_i is
 *
 *     1/2 z_i [sum_j z_j v(r_i - r_j) + z_i xi],
 *
 * its own images and the background included; the sum over i is the energy. */
#include "local_energy.h"

void share_pair(const local_energy *le, sample *s, int64_t electron, int32_t ion, double energy)
{
    if (!s->shares) return;
    s->shares[2 * electron + 1] += 0.5 * energy;
    s->shares[2 * (le->system->particles + ion) + 1] += 0.5 * energy;
}

/* The sum over near images of charge z at r with n others; skip: itself, or -1. */
static double near_sum(const coulomb *c, const double r[3], int64_t n, const double *positions,
                       const double *z, int64_t skip)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        const double *q = positions + 3 * j, d[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
        if (j != skip) sum += (z ? z[j] : 1) * coulomb_near(c, d);
    }
    return sum;
}

/* z_i sum over G of charge z_i at r with those whose structure factors are re, im [waves]; `own` [2][waves] is overwritten. */
static double far_sum(const coulomb *c, const double r[3], double z, const double *re,
                      const double *im, double *own)
{
    coulomb_factors(c, 1, r, &z, own, own + c->waves);
    return coulomb_far(c, own, own + c->waves, re, im);
}

/* Electrons among themselves, and ions. `total` is the charge of all of them. */
static void share_own(const coulomb *c, int64_t n, const double *positions, const double *z,
                      double total, const double *re, const double *im, double *own, double *shares)
{
    for (int64_t i = 0; i < n; i++) {
        const double charge = z ? z[i] : 1, *r = positions + 3 * i;
        double sum = charge * near_sum(c, r, n, positions, z, i);
        sum += far_sum(c, r, charge, re, im, own);
        /* the constant of i: that of all charges is quadratic in their sum, of which i has its part */
        sum += 2 * coulomb_constant(c, 0, charge * charge) - c->background * total * charge;
        shares[2 * i + 1] += 0.5 * sum;
    }
}

/* Electron e with all ions, and ion i with all electrons; what depends on both is in the loop of the electrons. */
static void share_attraction(const local_energy *le, const double *positions, sample *s,
                             double *own)
{
    const coulomb *c = &le->sums;
    const int64_t n = le->system->particles, waves = c->waves;
    double total = 0;
    for (int32_t i = 0; i < le->ions.count; i++) total += le->v.charge[i];
    for (int64_t e = 0; e < n; e++) {
        const double *r = positions + 3 * e;
        for (int64_t k = 0; k < le->v.centres; k++)
            share_pair(le, s, e, le->v.ion_of[k], short_ranged(&le->v, k, r));
        for (int32_t i = 0; i < le->ions.count; i++) {
            const double *q = le->v.position[i], d[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
            share_pair(le, s, e, i, -le->v.charge[i] * coulomb_near(c, d));
        }
        s->shares[2 * e + 1] -= 0.5 * (far_sum(c, r, 1, le->ion_wave, le->ion_wave + waves, own) -
                                       c->background * total);
    }
    for (int32_t i = 0; i < le->ions.count; i++) {
        const double z = le->v.charge[i];
        s->shares[2 * (n + i) + 1] -=
            0.5 * (far_sum(c, le->v.position[i], z, s->wave, s->wave + waves, own) -
                   c->background * (double)n * z);
    }
}

void share_coulomb(const local_energy *le, const double *positions, sample *s)
{
    const coulomb *c = &le->sums;
    const int64_t n = le->system->particles, waves = c->waves;
    double *own = s->own_wave, *of_ions = s->shares + 2 * n, total = 0;
    if (le->set.electron_electron)
        share_own(c, n, positions, NULL, (double)n, s->wave, s->wave + waves, own, s->shares);
    if (le->set.electron_ion && le->has_ions) share_attraction(le, positions, s, own);
    if (!le->set.ion_ion || !le->has_ions) return;
    for (int32_t i = 0; i < le->ions.count; i++) total += le->v.charge[i];
    share_own(c, le->ions.count, &le->v.position[0][0], le->v.charge, total, le->ion_wave,
              le->ion_wave + waves, own, of_ions);
}
