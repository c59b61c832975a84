/* plugmc/field.h: included after the one-body function of a potential, makes the field facet.
 *
 *     PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a,
 *                                 int *outside)
 *         energy over kT of particle a at r; *outside is set to 1 where it may not be at all
 */
PLUGMC_FN real plugmc_field_term(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    return field_energy(p, r, a, outside);
}

#if PLUGMC_HOST
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

static const plugmc_field plugmc_field_facet = {.size = sizeof(plugmc_field),
                                                .energy = plugmc_field_energy};
#endif
