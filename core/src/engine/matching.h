/* Checks that movers can work with the potentials, with the box and with each other. */
#ifndef PLUGMC_RUN_MATCHING_H
#define PLUGMC_RUN_MATCHING_H

#include "engine/engine.h"

/* Reports every mover of the run that cannot. Returns 0 or an exit code. */
int match(const engine *);
/* Once movers are prepared: checks that a mover uses each reservoir. */
int match_reservoirs(const engine *);
/* plugmc_mover.needs. If the core computes energies for the mover, what the core can do is included. */
uint32_t needs_of(const plugmc_mover *);
/* Whether a mover in the search path could displace the particles of this run. Only potentials and the box are
 * considered. */
bool mover_fits(const engine *, const plugmc_mover *);
/* Whether a mover can follow the ladder, and what the movers of the run other than `but` change. */
bool mover_follows(const engine *, const plugmc_mover *, const mover_slot *but);
#endif
