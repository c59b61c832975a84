/* plugmc/tally.h: what functions of variational parameters (plugmc/variational.h) call. Included after plugmc/potential.h. */
#ifndef PLUGMC_TALLY_H
#define PLUGMC_TALLY_H

/* What functions of variational parameters (plugmc/variational.h) add to: sums over pairs, or over electrons, of a term of
 * O_k = d ln |Psi| / dp_k and of what the kinetic energy asks of it. */
typedef struct plugmc_tally {
    /* Sums of O_k times `factor`, and of -1/2 lap_i O_k - drift_i . grad_i O_k over the electrons i; NULL: not
     * wanted. */
    double *values, *kinetic;
    int32_t stride; /* from one sum to the next */
    int32_t dimension;
    double factor;
    double drift_a[3], drift_b[3]; /* Re grad ln Psi by the place of a, and of b; 1/length */
} plugmc_tally;

PLUGMC_FN void plugmc_tally_add(const plugmc_tally *t, int32_t k, real value, real kinetic)
{
    if (t->values) t->values[k * t->stride] += t->factor * (double)value;
    if (t->kinetic) t->kinetic[k * t->stride] += (double)kinetic;
}

/* How both drifts go along the separation a - b; of one electron and a place, its own. */
PLUGMC_FN real plugmc_tally_along(const plugmc_tally *t, plugmc_separation s)
{
    return (real)((t->drift_a[0] - t->drift_b[0]) * (double)s.x +
                  (t->drift_a[1] - t->drift_b[1]) * (double)s.y +
                  (t->drift_a[2] - t->drift_b[2]) * (double)s.z);
}

/* A function of a distance r that `electrons` (1, 2) have in their Laplacian: its value, slope over r and
 * curvature; `along` is plugmc_tally_along. */
PLUGMC_FN void plugmc_tally_radial(const plugmc_tally *t, int32_t k, int32_t electrons, real along,
                                   real value, real slope, real curvature)
{
    const real laplacian = curvature + (real)(t->dimension - 1) * slope;
    plugmc_tally_add(t, k, value, -(real)electrons / 2 * laplacian - along * slope);
}
#endif
