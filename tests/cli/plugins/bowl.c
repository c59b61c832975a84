/* bowl: U = stiffness r^2 / 2 of each particle, r from `centre` in x and y. What it does is known: in two
 * dimensions the energies of n particles have the density of states U^(n - 1). */
#include <plugmc/potential.h>

typedef struct parameters {
    real centre, stiffness;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a, (void)outside;
    real x = r.x - p->centre, y = r.y - p->centre;
    return (real)0.5 * p->stiffness * (x * x + y * y);
}

#define PLUGMC_FIELD PLUGMC_FIELD_ENERGY
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, centre, "0", -1e6, 1e6, "length", "place of the lowest point"),
    PLUGMC_REAL_KEY(parameters, stiffness, "1", 0, 1e6, "kT/length^2", "of the bowl"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "bowl", .summary = "holds particles near a point",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
