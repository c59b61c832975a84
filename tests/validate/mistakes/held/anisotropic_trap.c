/* mistake: the factor 1/2 is missing in the energy, while the gradient is that of k x^2 / 2 */
/* a user would see: particles sit in a trap twice as stiff as the user asked for; forces do not
 * fit the energy */
/* anisotropic_trap: springs of different stiffness along x and y, u = (kx x^2 + ky y^2) / 2. */
#include <plugmc/potential.h>

typedef struct parameters {
    real kx, ky, x, y;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real x = r.x - p->x, y = r.y - p->y;
    (void)a, (void)outside;
    return p->kx * x * x + p->ky * y * y;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[0] = p->kx * (r.x - p->x);
    gradient[1] = p->ky * (r.y - p->y);
    gradient[2] = 0;
    *laplacian = p->kx + p->ky;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, kx, "1", -1e9, 1e9, "kT/length^2", "stiffness along x"),
    PLUGMC_REAL_KEY(parameters, ky, "3", -1e9, 1e9, "kT/length^2", "stiffness along y"),
    PLUGMC_REAL_KEY(parameters, x, "4", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, y, "4", -1e9, 1e9, "length", "centre"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "anisotropic_trap",
              .summary = "trap with two stiffnesses", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
