/* plugmc/tail.h: what a pair energy would add beyond its cutoff in a homogeneous fluid.
 *
 * A potential offers it as an extension, PLUGMC_OFFERS({PLUGMC_TAIL, &tails}), of which another potential makes the
 * long-range correction of the whole configuration. */
#ifndef PLUGMC_TAIL_H
#define PLUGMC_TAIL_H

#include <math.h>

#include "plugmc/plugin.h"

#define PLUGMC_TAIL "tail/1"

typedef struct plugmc_tail {
    uint32_t size;
    /* (S / 2) times the integral of r^(D-1) v(r) from the cutoff to infinity, energy length^D, with D the dimension,
     * S r^(D-1) the surface of a sphere and v the energy of particles of species a and b without truncation. NAN if
     * energies are shifted within the cutoff, so that what is beyond belongs to another potential; INFINITY if the
     * integral does not converge. Called after configure, with the double precision instance. */
    double (*energy)(const void *instance, int32_t dimension, int32_t a, int32_t b);
} plugmc_tail;

/* S / 2: half the circumference of the unit circle, or half the surface of the unit sphere. */
static inline double plugmc_half_sphere(int32_t dimension)
{
    return (dimension == 2 ? 2 * M_PI : 4 * M_PI) / 2;
}

#endif
