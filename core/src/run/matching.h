/* Matching movers with potentials, with the box and with each other. */
#ifndef PLUGMC_RUN_MATCHING_H
#define PLUGMC_RUN_MATCHING_H

#include "run/simulation.h"

/* Reports every mover of the run that cannot work with what it meets; 0 or an exit code. */
int match(const simulation *);
/* Once movers are prepared: whether somebody draws from each reservoir. */
int match_reservoirs(const simulation *);
/* plugmc_mover.needs, of a mover for which the core computes energies with what that can. */
uint32_t needs_of(const plugmc_mover *);
#endif
