/* mistake: the middle of the box is half of its edges, as if it were rectangular */
/* a user would see: in an oblique box the trap is beside the middle, and cut off by a face */
/* corner_trap: a harmonic trap in the middle of the box, u = k |r - middle|^2 / 2. */
#include <plugmc/potential.h>

typedef struct parameters {
    real k, x, y, z;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    const real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z;
    (void)a, (void)outside;
    return (real)0.5 * p->k * (x * x + y * y + z * z);
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const plugmc_box *box = &host->system->box;
    if (host->system->changes & PLUGMC_CHANGED_BOX)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "the trap is for boxes that stay");
    p->x = (real)(box->length[0] / 2);
    p->y = (real)(box->length[1] / 2);
    p->z = box->dimension == 3 ? (real)(box->length[2] / 2) : (real)0;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, k, "5", 0, 1e9, "energy/length^2", "stiffness"),
    PLUGMC_REAL_DERIVED(parameters, x, "middle of the box"),
    PLUGMC_REAL_DERIVED(parameters, y, "middle of the box"),
    PLUGMC_REAL_DERIVED(parameters, z, "middle of the box"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "corner_trap", .summary = "harmonic trap",
              .reference = "", PLUGMC_KEYS(parameters, table), .configure = configure,
              .potential = &potential);
#endif
