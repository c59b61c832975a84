/* well: a hard core in a well of constant depth.
 *
 * u(r) = infinite below contact, -epsilon from there to `range`, 0 beyond: the simplest fluid with
 * a gas and a liquid; R. W. Zwanzig, J. Chem. Phys. 22, 1420 (1954). Contact is the mean of the
 * diameters. Written and built as by somebody who has nothing but an installed plugmc.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real epsilon; /* kT */
    real range;   /* length */
} parameters;

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p;
    return (real)0.5 * (a.diameter + b.diameter);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    return s.r2 < p->range * p->range ? -p->epsilon : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_ENERGY)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, epsilon, "1", 0, 100, "kT", "depth of the well"),
    PLUGMC_REAL_KEY(parameters, range, "1.5", 0, 1e6, "length", "distance at which the well ends"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "well", .summary = "hard core in a square well",
              .reference = "Zwanzig, J. Chem. Phys. 22, 1420 (1954)",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
