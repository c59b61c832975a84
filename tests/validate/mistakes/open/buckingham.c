/* mistake: the energy is shifted but not set to 0 beyond the cutoff */
/* a user would see: movers with cells and movers that look at all pairs give different energies;
 * the energy beyond the cutoff is not 0 */
/* buckingham: exp-6, u(r) = a exp(-b r) - c / r^6 - shift, forbidden below `core`. */
#include <plugmc/potential.h>

typedef struct parameters {
    real a, b, c, core, cutoff, shift;
} parameters;

PLUGMC_FN real exponential(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_exp((float)x) : (real)exp((double)x);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    return p->core;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    real r = plugmc_sqrt(s.r2);
    return p->a * exponential(-p->b * r) - p->c / (s.r2 * s.r2 * s.r2) - p->shift;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    (void)host;
    p->shift = p->a * exponential(-p->b * p->cutoff) - p->c / (real)pow((double)p->cutoff, 6);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, a, "2000", -1e9, 1e9, "kT", "strength of the repulsion"),
    PLUGMC_REAL_KEY(parameters, b, "7", -1e9, 1e9, "1/length", "its inverse range"),
    PLUGMC_REAL_KEY(parameters, c, "3", -1e9, 1e9, "kT length^6", "strength of the dispersion"),
    PLUGMC_REAL_KEY(parameters, core, "0.7", -1e9, 1e9, "length",
                    "distance below which pairs are forbidden"),
    PLUGMC_REAL_KEY(parameters, cutoff, "2", -1e9, 1e9, "length", "distance from which u is 0"),
    PLUGMC_REAL_DERIVED(parameters, shift, "u at the cutoff"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "buckingham",
              .summary = "exponential repulsion and dispersion", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
