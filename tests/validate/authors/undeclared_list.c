/* soft: u(r) / kT = h_a h_b exp(-r^2 / width^2) for r < cutoff, else 0. */
#include <plugmc/potential.h>

typedef struct parameters {
    real height, width, cutoff;
    plugmc_list heights; /* [species] */
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real height = p->heights.values[a.species] * p->heights.values[b.species];
    real u = height * plugmc_exp(-s.r2 / (p->width * p->width));
    return s.r2 < p->cutoff * p->cutoff ? u : (real)0;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    real *heights = host->allocate(host->context, 2 * sizeof *heights);
    if (!heights) return PLUGMC_ERROR_MEMORY;
    heights[0] = p->height, heights[1] = 1;
    p->heights = (plugmc_list){.values = heights, .count = 2};
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, NULL, -1e6, 1e6, "kT", "energy at r = 0"),
    PLUGMC_REAL_KEY(parameters, width, "1", 1e-6, 1e6, "length", "of the Gaussian"),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 1e-6, 1e6, "length", "energy is 0 from there on"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "undeclared_list", .summary = "Gaussian repulsion",
              .reference = "Stillinger, J. Chem. Phys. 65, 3968 (1976)",
              .instance_size = sizeof(parameters), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .configure = configure,
              .potential = &potential);
#endif
