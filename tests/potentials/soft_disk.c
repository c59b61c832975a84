/* test_soft_disk: harmonic repulsion of finite range, for the tests.
 *
 * u(r) = strength q_a q_b (1 - r / cutoff)^2 for r < cutoff, with the charges q of the species.
 * The charge of the probe is given as its factor, so that this facet is tested too. With a
 * negative strength particles attract each other and crowd.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, cutoff;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a) { return p->strength * a.charge; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    real t = (real)1 - plugmc_sqrt(s.r2) / p->cutoff;
    return s.r2 < p->cutoff * p->cutoff ? b.charge * (t * t) : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_FACTOR)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "1", -1e6, 1e6, "kT", "energy at full overlap"),
    PLUGMC_REAL_KEY(parameters, cutoff, "1", 1e-6, 1e6, "length", "range"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "test_soft_disk",
              .summary = "harmonic repulsion of finite range", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
