/* mistake: the list of weights is indexed by species although one value for all is allowed */
/* a user would see: with one value every species but the first reads beyond the list: weights are
 * random numbers */
/* sedimentation: weight along z, one value for all species or one for each, above a soft floor. */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list weight;
    real floor;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)outside;
    real depth = r.z < p->floor ? p->floor - r.z : (real)0;
    return p->weight.values[a.species] * r.z + 10 * depth * depth;
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    if (p->weight.count != 1 && p->weight.count != host->system->species_count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "weight: one value or one a species");
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, weight, 0, "1", -1e9, 1e9, "kT/length",
                    "one value, or one for each species"),
    PLUGMC_REAL_KEY(parameters, floor, "0.5", -1e9, 1e9, "length", "height of the floor"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "sedimentation",
              .summary = "weight above a soft floor", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
