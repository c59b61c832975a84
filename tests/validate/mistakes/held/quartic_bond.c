/* mistake: a difference of large squares is kept in a float in both precisions */
/* a user would see: energies have steps of 0.01 kT and more: serial in double precision is no
 * better than float, and derivatives do not match */
/* quartic_bond: u(r) = k (r^2 - length^2)^2, ions of a large molecule, lengths in pm. */
#include <plugmc/potential.h>

typedef struct parameters {
    real k, length, cutoff;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN float excess(const parameters *p, real r2)
{
    return (float)r2 - (float)(p->length * p->length);
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    float d = excess(p, s.r2);
    return s.r2 < p->cutoff * p->cutoff ? p->k * d * d : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    float d = excess(p, s.r2);
    real inside = s.r2 < p->cutoff * p->cutoff ? (real)1 : (real)0;
    *first = inside * 4 * p->k * d;
    *second = inside * (4 * p->k * d + 8 * p->k * s.r2);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, k, "2e-3", -1e9, 1e9, "kT/length^4", "stiffness"),
    PLUGMC_REAL_KEY(parameters, length, "1200", -1e9, 1e9, "length", "length of the bond"),
    PLUGMC_REAL_KEY(parameters, cutoff, "2000", -1e9, 1e9, "length", "distance from which u is 0"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "quartic_bond",
              .summary = "quartic spring between all particles", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
