/* mistake: the position of the plane is half of the initial edge of the box, while a mover
 * changes boxes */
/* a user would see: at constant pressure the plane is not in the middle of the box any more, and
 * moves relative to the particles */
/* middle_plane: particles are drawn to the plane in the middle of the box, u = k (z - L_z / 2)^2 / 2. */
#include <plugmc/potential.h>

typedef struct parameters {
    real k, middle;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real z = r.z - p->middle;
    (void)a, (void)outside;
    return (real)0.5 * p->k * z * z;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[0] = gradient[1] = 0;
    gradient[2] = p->k * (r.z - p->middle);
    *laplacian = p->k;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    ((parameters *)instance)->middle = (real)(host->system->box.length[2] / 2);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, k, "1", -1e9, 1e9, "kT/length^2", "stiffness"),
    PLUGMC_REAL_DERIVED(parameters, middle, "half the edge along z"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "middle_plane",
              .summary = "attractive plane in the middle", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
