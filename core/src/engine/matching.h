/* Checks that movers can work with the potentials, with the box and with each other. */
#ifndef PLUGMC_RUN_MATCHING_H
#define PLUGMC_RUN_MATCHING_H

#include "engine/engine.h"

/* Reports every mover of the run that cannot. Returns 0 or an exit code. */
int match(const engine *);
/* Once movers are prepared: checks that a mover uses each reservoir. */
int match_reservoirs(const engine *);
#endif
