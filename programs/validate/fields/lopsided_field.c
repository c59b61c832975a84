/* lopsided_field: U = strength sum_d t^2 (1 - t)^2 (t - 0.4), t the fraction of the edge of a square or cube along d.
 *
 * A smooth periodic field with one valley and one hill, which no reflection leaves as it is: steps that rather go to
 * one side show in it. Its law is a product over the axes (laws.c, "field"). */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, edge; /* edge: derived, length */
    int64_t axes;        /* derived: dimension */
} parameters;

PLUGMC_FN real along(const parameters *p, real x)
{
    const real t = x / p->edge, q = t * (1 - t);
    return p->strength * q * q * (t - (real)0.4);
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a, (void)outside;
    return along(p, r.x) + along(p, r.y) + (p->axes == 3 ? along(p, r.z) : (real)0);
}

PLUGMC_FN void slope_along(const parameters *p, real x, real *first, real *second)
{
    const real t = x / p->edge, q = t * (1 - t), c = t - (real)0.4, slope = 2 * q * (1 - 2 * t);
    *first = p->strength / p->edge * (slope * c + q * q);
    *second += p->strength / (p->edge * p->edge) * (2 * (1 - 6 * q) * c + 2 * slope);
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    *laplacian = gradient[2] = 0;
    slope_along(p, r.x, &gradient[0], laplacian);
    slope_along(p, r.y, &gradient[1], laplacian);
    if (p->axes == 3) slope_along(p, r.z, &gradient[2], laplacian);
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the field needs a periodic square or cube");
    p->edge = (real)box->length[0];
    p->axes = box->dimension;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "100", -1e6, 1e6, "kT",
                    "of the field; its hill is 0.011 of it high and its valley 0.005 deep"),
    PLUGMC_REAL_DERIVED(parameters, edge, "edge of the box"),
    PLUGMC_INTEGER_DERIVED(parameters, axes, "dimension of the box"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "lopsided_field",
              .summary = "a smooth field for plugmc validate, with one valley and one hill",
              .reference = "", PLUGMC_KEYS(parameters, table), .configure = configure,
              .potential = &potential);
#endif
