/* PLUGIN_NAME: weight along y, u = weight y, above a floor at y = 0 that particles may not touch.
 *
 * What is above `#if PLUGMC_HOST` is compiled for the CPU, in double and in float, and for the GPU. `p` are the
 * parameters, `r` is the position of particle a, which has a charge, a diameter and a species. */
#include <plugmc/potential.h>

typedef struct parameters {
    real weight; /* energy/length */
} parameters;

/* Sets *outside to 1 where the particle may not be. */
PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    if (r.y < (real)0.5 * a.diameter) *outside = 1;
    return p->weight * r.y;
}

/* Derivatives by the position, for forces; the Laplacian is for wave functions. */
PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)r, (void)a;
    gradient[0] = gradient[2] = *laplacian = 0;
    gradient[1] = p->weight;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
/* Key, default (NULL: required), smallest and largest value, unit, meaning. */
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, weight, "1", -1e6, 1e6, "energy/length", "of a particle"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "PLUGIN_NAME", .summary = "weight above a floor",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
