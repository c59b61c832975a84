/* soft: u(r) = height (1 - r^2 / cutoff^2)^2, where `prepare` halves the height: of the struct in double alone. It includes
 * plugmc/functions.h before plugmc/potential.h, which is no mistake. */
#include <plugmc/functions.h>
#include <plugmc/potential.h>

typedef struct parameters {
    real height, cutoff;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    real x = 1 - s.r2 / (p->cutoff * p->cutoff);
    return x > 0 ? p->height * x * x : (real)0;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int prepare(void *instance, const plugmc_host *host)
{
    (void)host;
    ((parameters *)instance)->height /= 2;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, NULL, -1e6, 1e6, "kT", "twice the energy at r = 0"),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 1e-6, 1e6, "length", "energy is 0 from there on"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "late_parameter", .summary = "soft repulsion",
              .reference = "", PLUGMC_KEYS(parameters, table), .prepare = prepare,
              .potential = &potential);
#endif
