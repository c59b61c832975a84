/* mistake: r^2 is compared with the cutoff instead of with its square */
/* a user would see: energies are too small: pairs between sqrt(cutoff) and cutoff do not interact
 * (for cutoff > 1) */
/* inverse_power: u(r) = epsilon (sigma / r)^6, purely repulsive. */
#include <plugmc/potential.h>

typedef struct parameters {
    real epsilon, sigma, cutoff;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    real q = p->sigma * p->sigma / s.r2;
    return s.r2 < p->cutoff ? p->epsilon * q * q * q : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    real q = p->sigma * p->sigma / s.r2, u = p->epsilon * q * q * q;
    u = s.r2 < p->cutoff ? u : (real)0;
    *first = -6 * u / s.r2;
    *second = 42 * u / s.r2;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, epsilon, "1", -1e9, 1e9, "kT", "energy at r = sigma"),
    PLUGMC_REAL_KEY(parameters, sigma, "1", -1e9, 1e9, "length", "size"),
    PLUGMC_REAL_KEY(parameters, cutoff, "3", -1e9, 1e9, "length", "distance from which u is 0"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "inverse_power",
              .summary = "repulsion with the sixth power of 1 / r", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
