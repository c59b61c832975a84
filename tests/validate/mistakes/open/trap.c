/* mistake: field_derivative gives the force instead of the gradient (wrong sign) */
/* a user would see: energies are right; hmc drives particles out of the trap and accepts next to
 * nothing */
/* trap: harmonic trap around the middle of the box, u = k |r - c|^2 / 2. */
#include <plugmc/potential.h>

typedef struct parameters {
    real k, x, y, z;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z;
    (void)a, (void)outside;
    return (real)0.5 * p->k * (x * x + y * y + z * z);
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[0] = -p->k * (r.x - p->x);
    gradient[1] = -p->k * (r.y - p->y);
    gradient[2] = -p->k * (r.z - p->z);
    *laplacian = 3 * p->k;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, k, "1", -1e9, 1e9, "kT/length^2", "stiffness"),
    PLUGMC_REAL_KEY(parameters, x, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, y, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, z, "4", -1e9, 1e9, "length", "centre"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "trap", .summary = "harmonic trap", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
