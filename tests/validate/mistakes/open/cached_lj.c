/* mistake: the last energy is remembered in static variables, keyed by r^2 alone: shared by
 * threads, instances and species */
/* a user would see: a pair at the same distance as the last one gets the energy of another pair
 * of species; results change from run to run with threads */
/* cached_lj: Lennard-Jones with one depth for each species; the same separation is asked for again and
 * again, so the last result is kept. */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list epsilon;
    real sigma, cutoff;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    static real last_square = -1, last_energy;
    if (s.r2 != last_square) {
        real epsilon = plugmc_sqrt(p->epsilon.values[a.species] * p->epsilon.values[b.species]);
        real q = p->sigma * p->sigma / s.r2, q3 = q * q * q;
        last_square = s.r2;
        last_energy = s.r2 < p->cutoff * p->cutoff ? 4 * epsilon * q3 * (q3 - 1) : (real)0;
    }
    return last_energy;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    return p->epsilon.count == host->system->species_count
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_INPUT, "epsilon: one value per species");
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, -1e9, 1e9, "kT",
                    "depth, one value for each species"),
    PLUGMC_REAL_KEY(parameters, sigma, "1", -1e9, 1e9, "length", "size"),
    PLUGMC_REAL_KEY(parameters, cutoff, "2.5", -1e9, 1e9, "length", "distance from which u is 0"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "cached_lj",
              .summary = "Lennard-Jones, Berthelot rule for depths", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
