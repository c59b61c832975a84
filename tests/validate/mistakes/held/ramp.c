/* mistake: a static counter of calls makes the field stronger from call to call */
/* a user would see: energies depend on how often and by whom they are asked for: no stationary
 * distribution, chains differ with threads */
/* ramp: an external field along x that is switched on slowly, so that particles do not get stuck. */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, length, calls;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    static real called = 0;
    called += 1;
    real on = called < p->calls ? called / p->calls : (real)1;
    real x = r.x / p->length;
    (void)a, (void)outside;
    return on * p->strength * x * (1 - x);
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "4", -1e9, 1e9, "kT", "of the field"),
    PLUGMC_REAL_KEY(parameters, length, "8", -1e9, 1e9, "length", "period along x"),
    PLUGMC_REAL_KEY(parameters, calls, "1e6", -1e9, 1e9, "", "evaluations until it is fully on"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "ramp",
              .summary = "field that is switched on slowly", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
