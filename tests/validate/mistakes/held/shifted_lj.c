/* mistake: pair_change returns from - to instead of to - from */
/* a user would see: particles climb the potential: total energies grow until pairs overlap as far
 * as possible */
/* shifted_lj: Lennard-Jones, cut and shifted; the two energies of a move share the shift. */
#include <plugmc/potential.h>

typedef struct parameters {
    real epsilon, sigma, cutoff, shift;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    real q = p->sigma * p->sigma / s.r2, q3 = q * q * q;
    return s.r2 < p->cutoff * p->cutoff ? 4 * p->epsilon * q3 * (q3 - 1) - p->shift : (real)0;
}

PLUGMC_FN real pair_change(const parameters *p, plugmc_separation from, plugmc_separation to,
                           plugmc_site a, plugmc_site b)
{
    return pair_energy(p, from, a, b) - pair_energy(p, to, a, b);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CHANGE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const double q3 = pow((double)p->sigma / (double)p->cutoff, 6);
    (void)host;
    p->shift = (real)(4 * (double)p->epsilon * q3 * (q3 - 1));
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, epsilon, "1", -1e9, 1e9, "kT", "depth"),
    PLUGMC_REAL_KEY(parameters, sigma, "1", -1e9, 1e9, "length", "size"),
    PLUGMC_REAL_KEY(parameters, cutoff, "2.5", -1e9, 1e9, "length", "distance from which u is 0"),
    PLUGMC_REAL_DERIVED(parameters, shift, "v at the cutoff"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "shifted_lj",
              .summary = "Lennard-Jones, cut and shifted", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
