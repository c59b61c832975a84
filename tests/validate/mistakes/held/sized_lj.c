/* mistake: pair_range is computed from the first species only, although larger species reach
 * farther */
/* a user would see: movers with cells miss pairs of large particles; energies of checkerboard and
 * serial differ */
/* sized_lj: Lennard-Jones between particles of any diameter, sigma = mean diameter, cut at 2.5 sigma. */
#include <plugmc/potential.h>

typedef struct parameters {
    real epsilon, range;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    real sigma = (real)0.5 * (a.diameter + b.diameter), cutoff = (real)2.5 * sigma;
    real q = sigma * sigma / s.r2, q3 = q * q * q;
    return s.r2 < cutoff * cutoff ? 4 * p->epsilon * q3 * (q3 - 1) : (real)0;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    p->range = (real)(2.5 * plugmc_species_at(host->system, 0)->diameter);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, epsilon, "0.5", -1e9, 1e9, "kT", "depth"),
    PLUGMC_REAL_DERIVED(parameters, range, "2.5 diameters"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "sized_lj",
              .summary = "Lennard-Jones with the diameters of the species", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
