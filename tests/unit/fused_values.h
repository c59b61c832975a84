/* What the kernel of fused_system.h must give for a pair of species, from the potentials' functions on the host. */
#ifndef FUSED_VALUES_H
#define FUSED_VALUES_H

#include "fused_system.h"

static inline double lj_energy(const lj_double *p, double r2)
{
    double q = p->sigma * p->sigma / r2;
    double s = pow(q, (double)p->power);
    return r2 < p->cutoff * p->cutoff ? 4 * p->epsilon * s * (s - 1) : 0;
}

static const double fused_at[6] = {0.9, -1.1, 0.6, 1.3, 0.8, -0.4}; /* to, from */
static const double fused_to = 0.81 + 1.21 + 0.36, fused_from = 1.69 + 0.64 + 0.16;

/* v [16]: of species a and b among `species`, with terms LJ, CORE, LJ, SMALL_CORE in three dimensions. */
static inline void assert_fused_values(const double *v, int in_double, int species, int a, int b)
{
    const plugmc_species *sa = &three_species[a], *sb = &three_species[b];
    const double tolerance = in_double ? 1e-14 : 2e-6, charges = sa->charge * sb->charge;
    const double energy = 2 * charges * lj_energy(&lj_of_double, fused_to);
    const double before = 2 * charges * lj_energy(&lj_of_double, fused_from);
    assert_close(v[0], energy, tolerance, 0);
    assert_close(v[1], energy - before, tolerance, tolerance * fabs(before));
    plugmc_particle pa = {.diameter = sa->diameter}, pb = {.diameter = sb->diameter};
    const double contact = in_double ? core_contact_double(&core_of_double, &pa, &pb)
                                     : core_contact_single(&core_of_single, &pa, &pb);
    /* to the last bit: hard particles have the same chain on CPU and GPU */
    assert_true(v[2] ==
                (in_double ? contact * contact : (double)((float)contact * (float)contact)));
    assert_close(v[3], 2 * 0.25 * 0.6, tolerance, 0);
    assert_true(v[4] == 0 && v[5] == sa->charge && v[6] == sb->diameter && v[7] == b);
    for (int d = 0; d < 3; d++) assert_close(v[8 + d], 1, tolerance, 0);
    assert_true(v[11] == 0 && v[12] == 2 * (2 + 10 + 200) && v[13] == 13);
    assert_true(v[14] == species && v[15] == 1);
}
#endif
