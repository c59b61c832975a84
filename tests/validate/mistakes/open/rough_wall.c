/* mistake: the constant parameters are written to: the lowest energy so far becomes the zero of
 * energy */
/* a user would see: the energy of a single particle is 0 wherever it is: moves do not feel the
 * wall, and energies of many depend on their order */
/* rough_wall: corrugated wall at z = 0, u = strength (1 + cos(x) / 2) / z^3, counted from its lowest value. */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, lowest;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real z = r.z > (real)0.2 ? r.z : (real)0.2, x = r.x;
    real bump = sizeof(real) == 4 ? (real)cosf((float)x) : (real)cos((double)x);
    real u = p->strength * ((real)1 + (real)0.5 * bump) / (z * z * z);
    (void)a, (void)outside;
    if (u < p->lowest || p->lowest == 0) ((parameters *)p)->lowest = u;
    return u - p->lowest;
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "1", -1e9, 1e9, "kT length^3", "of the wall"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "rough_wall",
              .summary = "corrugated repulsive wall", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
