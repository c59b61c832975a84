/* mistake: energies are counted from sea level, so that in float all digits go into the constant */
/* a user would see: float and double energies differ: movers in single precision see a staircase
 * instead of a weight */
/* altitude: gravity in a laboratory at some altitude, u = weight (altitude + z). */
#include <plugmc/potential.h>

typedef struct parameters {
    real weight, altitude, top;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a;
    if (r.z > p->top) *outside = 1;
    return p->weight * (p->altitude + r.z);
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)r, (void)a;
    gradient[0] = gradient[1] = *laplacian = 0;
    gradient[2] = p->weight;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, weight, "0.5", -1e9, 1e9, "kT/length", "of a particle"),
    PLUGMC_REAL_KEY(parameters, altitude, "3e7", -1e9, 1e9, "length", "of the floor"),
    PLUGMC_REAL_KEY(parameters, top, "7.5", -1e9, 1e9, "length", "of the vessel"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "altitude", .summary = "weight of particles",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
