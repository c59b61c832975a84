/* plugmc/field.h: makes the field facet (plugmc_field). Include it after the one-body functions of a potential.
 *
 * PLUGMC_FIELD is the sum of the functions that the author has written; the default is ENERGY alone:
 *
 *     PLUGMC_FIELD_ENERGY      real field_energy(const parameters *p, plugmc_position r,
 *                                                plugmc_site a, int *outside)
 *                                  energy of particle a at r, in the potentials' unit of energy; sets
 *                                  *outside to 1 if r is forbidden
 *     PLUGMC_FIELD_DERIVATIVE  void field_derivative(const parameters *p, plugmc_position r,
 *                                                    plugmc_site a, real gradient[3],
 *                                                    real *laplacian)
 */
#ifndef PLUGMC_FIELD
#define PLUGMC_FIELD PLUGMC_FIELD_ENERGY
#endif

PLUGMC_FN real plugmc_field_term(const parameters *p, plugmc_position r, plugmc_site a,
                                 int *outside)
{
    return field_energy(p, r, a, outside);
}

PLUGMC_FN void plugmc_field_slopes(const parameters *p, plugmc_position r, plugmc_site a,
                                   real gradient[3], real *laplacian)
{
#if PLUGMC_FIELD & 2
    field_derivative(p, r, a, gradient, laplacian);
#else
    (void)p, (void)r, (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
#endif
}

#if PLUGMC_HOST
#include "plugmc/state.h" /* PLUGMC_CHANGED_BOX, which a field that belongs to the first box refuses */

static PLUGMC_TARGETS int64_t plugmc_field_energy(const void *instance,
                                                  const plugmc_particles *particles, double *energy)
{
    const parameters p = *(const parameters *)instance;
    const real *x = (const real *)particles->x, *y = (const real *)particles->y,
               *z = (const real *)particles->z, *charge = (const real *)particles->charge,
               *diameter = (const real *)particles->diameter;
    int64_t forbidden = 0;
    for (int64_t i = 0; i < particles->n; i++) {
        int outside = 0;
        plugmc_site a = {charge[i], diameter[i], particles->species[i]};
        plugmc_position r = {x[i], y[i], z[i]};
        *energy += (double)field_energy(&p, r, a, &outside);
        forbidden += outside != 0;
    }
    return forbidden;
}

#if PLUGMC_FIELD & PLUGMC_FIELD_DERIVATIVE
static int plugmc_field_derivatives(const void *instance, const plugmc_particle *particle,
                                    plugmc_derivatives *out)
{
    const parameters *p = (const parameters *)instance;
    plugmc_site a = {(real)particle->charge, (real)particle->diameter, particle->species};
    plugmc_position r = {(real)particle->x, (real)particle->y, (real)particle->z};
    real gradient[3], laplacian;
    int outside = 0;
    out->energy += (double)field_energy(p, r, a, &outside);
    field_derivative(p, r, a, gradient, &laplacian);
    for (int d = 0; d < 3; d++) out->gradient[d] += (double)gradient[d];
    out->laplacian += (double)laplacian;
    return outside != 0;
}
#define PLUGMC_FIELD_DERIVATIVES plugmc_field_derivatives
#else
#define PLUGMC_FIELD_DERIVATIVES NULL
#endif

static const plugmc_field plugmc_field_facet = {
    .size = sizeof(plugmc_field),
    .functions = PLUGMC_FIELD,
    .energy = plugmc_field_energy,
    .derivatives = PLUGMC_FIELD_DERIVATIVES,
};
#endif
