/* kept_well: a hard core in a well with a rim.
 *
 * u(r) = infinite below contact, -epsilon (1 - r^2 / range^2)^2 from there to `range`, 0 beyond. A
 * potential as it was written for version 2.0 of the interface: it is built with the headers kept here,
 * for ever.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real epsilon; /* kT */
    real range;   /* length */
    real over;    /* 1 / range^2 */
} parameters;

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p;
    return (real)0.5 * (a.diameter + b.diameter);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    const real x = 1 - s.r2 * p->over;
    return x > 0 ? -p->epsilon * x * x : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a, (void)b;
    const real x = 1 - s.r2 * p->over, inside = x > 0 ? p->epsilon : (real)0;
    *first = 4 * inside * x * p->over;
    *second = 4 * inside * p->over * (x - 2 * s.r2 * p->over);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    if (p->range < (real)1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "range = %g is below 1",
                          (double)p->range);
    p->over = 1 / (p->range * p->range);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, epsilon, "1", 0, 100, "kT", "depth at r = 0"),
    PLUGMC_REAL_KEY(parameters, range, "1.5", 0, 1e6, "length", "where the well ends"),
    PLUGMC_REAL_DERIVED(parameters, over, "1 / range^2"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "kept_well",
              .summary = "hard core in a well with a rim", .reference = "",
              .instance_size = sizeof(parameters), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .potential = &potential,
              .configure = configure);
#endif
