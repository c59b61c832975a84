/* plugmc/tally.h: functions that the author's functions of variational parameters (plugmc/variational.h) call.
 * Include it after plugmc/potential.h. */
#ifndef PLUGMC_TALLY_H
#define PLUGMC_TALLY_H

/* Accumulates, over pairs or over electrons, contributions to O_k = d ln |Psi| / dp_k and to its part in the
 * kinetic energy. */
typedef struct plugmc_tally {
    /* Sums of `factor` times O_k, and of -1/2 lap_i O_k - drift_i . grad_i O_k over electrons i. NULL: not
     * requested. */
    double *values, *kinetic;
    int32_t stride; /* distance between the sums k and k + 1 */
    int32_t dimension;
    double factor;
    /* Re grad ln Psi with respect to the positions of a and b; 1/length. */
    double drift_a[3], drift_b[3];
} plugmc_tally;

PLUGMC_FN void plugmc_tally_add(const plugmc_tally *t, int32_t k, real value, real kinetic)
{
    if (t->values) t->values[k * t->stride] += t->factor * (double)value;
    if (t->kinetic) t->kinetic[k * t->stride] += (double)kinetic;
}

/* (drift of a - drift of b) . (a - b). For one electron and a fixed position, drift_b is 0. */
PLUGMC_FN real plugmc_tally_along(const plugmc_tally *t, plugmc_separation s)
{
    return (real)((t->drift_a[0] - t->drift_b[0]) * (double)s.x +
                  (t->drift_a[1] - t->drift_b[1]) * (double)s.y +
                  (t->drift_a[2] - t->drift_b[2]) * (double)s.z);
}

/* Adds a function of a distance r with its value, slope (du/dr) / r and curvature d2u/dr2. `electrons` is the
 * number of electrons (1 or 2) whose Laplacians contain it; `along` is that of plugmc_tally_along. */
PLUGMC_FN void plugmc_tally_radial(const plugmc_tally *t, int32_t k, int32_t electrons, real along,
                                   real value, real slope, real curvature)
{
    const real laplacian = curvature + (real)(t->dimension - 1) * slope;
    plugmc_tally_add(t, k, value, -(real)electrons / 2 * laplacian - along * slope);
}
#endif
