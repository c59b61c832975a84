/* mistake: the Laplacian is always that of three dimensions */
/* a user would see: in two dimensions whatever uses the Laplacian is too large by a quarter;
 * averages of classical runs are right */
/* flat_trap: anharmonic trap, u = k s^2 with s = |r - c|^2, for two and three dimensions. */
#include <plugmc/potential.h>

typedef struct parameters {
    real k, x, y, z;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z, s = x * x + y * y + z * z;
    (void)a, (void)outside;
    return p->k * s * s;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z, s = x * x + y * y + z * z;
    (void)a;
    gradient[0] = 4 * p->k * s * x;
    gradient[1] = 4 * p->k * s * y;
    gradient[2] = 4 * p->k * s * z;
    *laplacian = 20 * p->k * s;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, k, "0.05", -1e9, 1e9, "kT/length^4", "stiffness"),
    PLUGMC_REAL_KEY(parameters, x, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, y, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, z, "0", -1e9, 1e9, "length", "centre"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "flat_trap", .summary = "quartic trap",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
