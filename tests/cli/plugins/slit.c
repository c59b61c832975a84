/* slit: particles stay between two walls across y. */
#include <plugmc/potential.h>

typedef struct parameters {
    real low, high;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a;
    if (r.y < p->low || r.y > p->high) *outside = 1;
    return 0;
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, low, NULL, -1e6, 1e6, "length", "where it begins"),
    PLUGMC_REAL_KEY(parameters, high, NULL, -1e6, 1e6, "length", "where it ends"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "slit", .summary = "two hard walls",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
