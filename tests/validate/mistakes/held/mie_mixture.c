/* mistake: off by one row in the list of values per pair of species: index low n - low (low + 1)
 * / 2 + high - low */
/* a user would see: with two species pairs 2-2 get the value meant for 1-2, so energies of
 * mixtures are wrong */
/* mie_mixture: 14-7 potential; epsilon is given for the pairs 1-1, 1-2, ... 1-n, 2-2, ... */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list epsilon;
    real sigma, cutoff;
    int64_t kinds;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

/* Index of a pair of species in the list. */
PLUGMC_FN int32_t place_of(const parameters *p, int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return low * (int32_t)p->kinds - low * (low + 1) / 2 + high - low;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    real epsilon = p->epsilon.values[place_of(p, a.species, b.species)];
    real q = p->sigma / plugmc_sqrt(s.r2), q3 = q * q * q, q7 = q3 * q3 * q;
    return s.r2 < p->cutoff * p->cutoff ? 4 * epsilon * q7 * (q7 - 1) : (real)0;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    p->kinds = n;
    if (p->epsilon.count != n * (n + 1) / 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "epsilon: one value for each of %d pairs of species", n * (n + 1) / 2);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, -1e9, 1e9, "kT",
                    "depth, one value for each pair of species"),
    PLUGMC_REAL_KEY(parameters, sigma, "1", -1e9, 1e9, "length", "size"),
    PLUGMC_REAL_KEY(parameters, cutoff, "2.5", -1e9, 1e9, "length", "distance from which u is 0"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "mie_mixture",
              .summary = "14-7 potential for mixtures", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
