/* endless: 1/r without a cutoff, which movers that need a finite range cannot take. */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength;
} parameters;

PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    return PLUGMC_NO_RANGE;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    return p->strength / plugmc_sqrt(s.r2);
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "1", -1e6, 1e6, "kT length", "of the repulsion"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "endless", .summary = "1/r without a cutoff",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
