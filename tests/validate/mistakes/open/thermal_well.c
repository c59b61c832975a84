/* mistake: configure divides the depth by k_B T, which the core does as well */
/* a user would see: with [run] temperature = 2 the well acts with a quarter of its depth over kT
 * instead of half */
/* thermal_well: a smooth attractive well, u(r) = -depth (1 - r^2 / width^2)^2 for r < width. */
#include <plugmc/potential.h>

typedef struct parameters {
    real depth, width, over_kt;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->width; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    real y = 1 - s.r2 / (p->width * p->width);
    return y > 0 ? -p->over_kt * y * y : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    real w2 = p->width * p->width, y = 1 - s.r2 / w2;
    *first = y > 0 ? 4 * p->over_kt * y / w2 : (real)0;
    *second = y > 0 ? 4 * p->over_kt / w2 * (y - 2 * s.r2 / w2) : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    p->over_kt = p->depth / (real)host->system->temperature;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, depth, "1", -1e9, 1e9, "energy", "depth of the well"),
    PLUGMC_REAL_KEY(parameters, width, "1.5", -1e9, 1e9, "length", "distance from which u is 0"),
    PLUGMC_REAL_DERIVED(parameters, over_kt, "depth / kT"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "thermal_well",
              .summary = "smooth attraction between penetrable particles", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
