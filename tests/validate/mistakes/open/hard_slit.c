/* mistake: the wall keeps centres a diameter away instead of half a diameter */
/* a user would see: the accessible slit is one diameter too narrow: density at the walls and
 * pressure are too high */
/* hard_slit: two hard walls, at z = 0 and at z = height, which particles may touch but not enter. */
#include <plugmc/potential.h>

typedef struct parameters {
    real height, weight;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real radius = a.diameter;
    if (r.z < radius || r.z > p->height - radius) *outside = 1;
    return p->weight * r.z;
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, "8", -1e9, 1e9, "length", "distance of the walls"),
    PLUGMC_REAL_KEY(parameters, weight, "0.5", -1e9, 1e9, "kT/length", "of a particle"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "hard_slit",
              .summary = "particles with weight between two hard walls", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
