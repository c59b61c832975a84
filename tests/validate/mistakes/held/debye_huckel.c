/* mistake: the charge of particle a is in pair_factor and once more in pair_energy */
/* a user would see: only ions of valence 1 are right; divalent ions attract and repel twice as
 * strongly, signs are lost */
/* debye_huckel: u(r) = l_B q_a q_b exp(-kappa r) / r, hard cores of the ions apart. */
#include <plugmc/potential.h>

typedef struct parameters {
    real bjerrum, kappa, cutoff;
} parameters;

PLUGMC_FN real exponential(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_exp((float)x) : (real)exp((double)x);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p;
    return (real)0.5 * (a.diameter + b.diameter);
}

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a) { return p->bjerrum * a.charge; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    real r = plugmc_sqrt(s.r2);
    real u = a.charge * b.charge * exponential(-p->kappa * r) / r;
    return s.r2 < p->cutoff * p->cutoff ? u : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_FACTOR)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, bjerrum, "1", -1e9, 1e9, "length", "Bjerrum length"),
    PLUGMC_REAL_KEY(parameters, kappa, "1", -1e9, 1e9, "1/length", "inverse screening length"),
    PLUGMC_REAL_KEY(parameters, cutoff, "3.5", -1e9, 1e9, "length", "distance from which u is 0"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "debye_huckel",
              .summary = "screened charges with hard cores", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
