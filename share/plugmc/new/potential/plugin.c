/* PLUGIN_NAME: a soft repulsion, u(r) = height (1 - r^2 / cutoff^2)^2 for r < cutoff, else 0.
 *
 * What is above `#if PLUGMC_HOST` is compiled for the CPU, in double and in float, and for the GPU. `p` are the
 * parameters, `s` is the separation of particles a and b, which have a charge, a diameter and a species. */
#include <plugmc/potential.h>

typedef struct parameters {
    real height; /* energy */
    real cutoff; /* length */
} parameters;

/* The distance from which on the energy is 0. */
PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    const real x = 1 - s.r2 / (p->cutoff * p->cutoff);
    return x > 0 ? p->height * x * x : (real)0;
}

/* u'(r) / r and u''(r), for forces and pressures. */
PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    const real square = p->cutoff * p->cutoff, x = 1 - s.r2 / square;
    const real factor = x > 0 ? -4 * p->height / square : (real)0;
    *first = factor * x;
    *second = factor * (x - 2 * s.r2 / square);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>

/* Farther than half of the box a particle would meet several images of another one. */
static int configure(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    return plugmc_check_cutoff(host, (double)p->cutoff);
}

/* Key, default (NULL: required), smallest and largest value, unit, meaning. */
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, "1", 0, 1e6, "energy", "energy at distance 0"),
    PLUGMC_REAL_KEY(parameters, cutoff, "1", 1e-6, 1e6, "length", "the energy is 0 from there on"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "PLUGIN_NAME", .summary = "soft repulsion of pairs",
              .reference = "", PLUGMC_KEYS(parameters, table), .configure = configure,
              .potential = &potential);
#endif
