/* mistake: the sign of du/dr is wrong in pair_derivative */
/* a user would see: energies are right, the virial pressure has the wrong sign of its excess and
 * hmc rejects almost everything */
/* morse: u(r) = depth ((1 - exp(-a (r - r0)))^2 - 1), cut off. P. M. Morse, Phys. Rev. 34, 57 (1929). */
#include <plugmc/potential.h>

typedef struct parameters {
    real depth, a, r0, cutoff;
} parameters;

PLUGMC_FN real exponential(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_exp((float)x) : (real)exp((double)x);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    real e = exponential(-p->a * (plugmc_sqrt(s.r2) - p->r0));
    return s.r2 < p->cutoff * p->cutoff ? p->depth * e * (e - 2) : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    real r = plugmc_sqrt(s.r2), e = exponential(-p->a * (r - p->r0));
    real inside = s.r2 < p->cutoff * p->cutoff ? (real)1 : (real)0;
    *first = inside * 2 * p->depth * p->a * e * (e - 1) / r;
    *second = inside * 2 * p->depth * p->a * p->a * e * (2 * e - 1);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, depth, NULL, -1e9, 1e9, "kT", "depth of the well"),
    PLUGMC_REAL_KEY(parameters, a, "3", -1e9, 1e9, "1/length", "inverse width"),
    PLUGMC_REAL_KEY(parameters, r0, "1.1", -1e9, 1e9, "length", "position of the minimum"),
    PLUGMC_REAL_KEY(parameters, cutoff, "2.5", -1e9, 1e9, "length", "distance from which u is 0"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "morse", .summary = "Morse potential, cut off",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
