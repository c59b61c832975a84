/* double_well: U = (t^2 - 1)^2 along x, t the distance from `centre`: what an exchange finds there is
 * known by quadrature. */
#include <plugmc/potential.h>

typedef struct parameters {
    real centre;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a, (void)outside;
    real t = r.x - p->centre, u = t * t - 1;
    return u * u;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    real t = r.x - p->centre;
    gradient[0] = 4 * t * (t * t - 1);
    gradient[1] = gradient[2] = 0;
    *laplacian = 12 * t * t - 4;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, centre, "0", -1e6, 1e6, "length", "place between the wells"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "double_well", .summary = "two wells side by side",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
