/* mistake: outside of the lens the root of a negative number is returned instead of *outside = 1 */
/* a user would see: NaN energies end the run as soon as a trial move leaves the lens */
/* lens: particles are confined to a round cavity, u = -strength sqrt(1 - rho^2 / R^2) inside of it. */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, radius, x, y, z;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z;
    real inside = 1 - (x * x + y * y + z * z) / (p->radius * p->radius);
    (void)a, (void)outside;
    return -p->strength * plugmc_sqrt(inside);
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z, R2 = p->radius * p->radius;
    real s = x * x + y * y + z * z, root = plugmc_sqrt(1 - s / R2);
    real slope = p->strength / (R2 * root);
    (void)a;
    gradient[0] = slope * x;
    gradient[1] = slope * y;
    gradient[2] = slope * z;
    *laplacian = slope * (3 + s / (R2 * root * root));
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "5", -1e9, 1e9, "kT", "energy at the centre"),
    PLUGMC_REAL_KEY(parameters, radius, "7.5", -1e9, 1e9, "length", "of the cavity"),
    PLUGMC_REAL_KEY(parameters, x, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, y, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, z, "4", -1e9, 1e9, "length", "centre"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "lens", .summary = "round cavity with a soft edge",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
