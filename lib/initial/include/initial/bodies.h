/* Initial states of particles that have orientations (plugmc/body.h). */
#ifndef PLUGMC_INITIAL_BODIES_H
#define PLUGMC_INITIAL_BODIES_H

#include "initial/initial.h"

/* As random_state, with orientations [particles]: bodies grow, and orientations are random. random_fraction is that of the
 * spheres around the bodies when they are inserted. */
random_outcome random_bodies(const plugmc_system *, double random_fraction, int64_t attempts,
                             uint32_t walker, double *positions, plugmc_orientation *orientations);
/* Finds the first pair of bodies of a walker that overlap, by all sampled terms. 1: pair[0] and pair[1] do; 0: none do;
 * -1: without memory. */
int find_bodies_overlap(const plugmc_system *, const double *positions,
                        const plugmc_orientation *orientations, int64_t pair[2]);
#endif
