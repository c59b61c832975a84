/* mistake: u'' lacks the term -u/width^2: the second derivative forgets that of the inner r */
/* a user would see: energies and pressures are right, but whatever uses second derivatives (local
 * energies) is off */
/* gaussian_core: u(r) = height exp(-r^2 / (2 width^2)). F. H. Stillinger, J. Chem. Phys. 65, 3968 (1976). */
#include <plugmc/potential.h>

typedef struct parameters {
    real height, width, cutoff;
} parameters;

PLUGMC_FN real exponential(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_exp((float)x) : (real)exp((double)x);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real bell(const parameters *p, real r2)
{
    real u = p->height * exponential(-r2 / (2 * p->width * p->width));
    return r2 < p->cutoff * p->cutoff ? u : (real)0;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    return bell(p, s.r2);
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    real over = 1 / (p->width * p->width), u = bell(p, s.r2);
    *first = -u * over;
    *second = u * over * over * s.r2;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, "3", -1e9, 1e9, "kT", "energy at r = 0"),
    PLUGMC_REAL_KEY(parameters, width, "0.5", -1e9, 1e9, "length", "standard deviation"),
    PLUGMC_REAL_KEY(parameters, cutoff, "3", -1e9, 1e9, "length", "distance from which u is 0"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "gaussian_core",
              .summary = "soft Gaussian repulsion", .reference = "", PLUGMC_KEYS(parameters, table),
              .potential = &potential);
#endif
