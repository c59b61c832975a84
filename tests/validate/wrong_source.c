/* wrong_source: a pair that is right on the CPU, and whose source is no CUDA C++: it calls a function of <math.h> that
 * only the C library has. */
#include <math.h>

#include <plugmc/potential.h>

typedef struct parameters {
    real height, cutoff;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    const real r = plugmc_sqrt(s.r2), edge = (real)(s.r2 < p->cutoff * p->cutoff);
    return edge * p->height * (real)((double)(p->cutoff - r) * M_2_PI);
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, "1", -1e6, 1e6, "kT", "slope"),
    PLUGMC_REAL_KEY(parameters, cutoff, "1.9", 1e-6, 1e6, "length", "energy is 0 from there on"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "wrong_source", .summary = "a linear repulsion",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
