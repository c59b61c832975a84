/* test_edge: a field that is not a number, or infinite, beyond a plane, for the tests; 0 for x < edge. */
#include <plugmc/potential.h>

typedef struct parameters {
    real edge;
    int32_t beyond;
} parameters;

PLUGMC_FN real at_place(const parameters *p, real x)
{
    if (x < p->edge) return (real)0;
    return p->beyond ? PLUGMC_NO_RANGE : (x - x) / (x - x);
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a, (void)outside;
    return at_place(p, r.x);
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[1] = gradient[2] = *laplacian = 0;
    gradient[0] = at_place(p, r.x);
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, edge, "1", -1e6, 1e6, "length", "beyond it there is no number"),
    PLUGMC_CHOICE_KEY(parameters, beyond, "nan", "nan|infinity", "energy and force there"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "test_edge",
              .summary = "a field that is not a number", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
