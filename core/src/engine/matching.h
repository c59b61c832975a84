/* Matching movers with potentials, with the box and with each other. */
#ifndef PLUGMC_RUN_MATCHING_H
#define PLUGMC_RUN_MATCHING_H

#include "engine/engine.h"

/* Reports every mover of the run that cannot work with what it meets; 0 or an exit code. */
int match(const engine *);
/* Once movers are prepared: whether somebody draws from each reservoir. */
int match_reservoirs(const engine *);
/* plugmc_mover.needs, of a mover for which the core computes energies with what that can. */
uint32_t needs_of(const plugmc_mover *);
/* Whether a mover in the search path could displace the particles of this run, as far as potentials and the box go. */
bool mover_fits(const engine *, const plugmc_mover *);
/* Whether a mover follows what movers of the run other than `but` change, and the ladder. */
bool mover_follows(const engine *, const plugmc_mover *, const moving *but);
#endif
