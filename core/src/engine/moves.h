/* The kinds of trial moves of all movers: how many were made and accepted, and their steps. The records are in
 * engine->moves, mover after mover, where checkpoints and tables find them. */
#ifndef PLUGMC_RUN_MOVES_H
#define PLUGMC_RUN_MOVES_H

#include "engine/engine.h"

/* Makes the records, once the movers are prepared. All functions of type int here return 0 or an exit code. */
int moves_begin(engine *);
/* Adds the counts of the movers since the last call. */
int moves_refresh(engine *);
/* Resets the counts. */
int moves_clear(engine *);
/* Call it after steps and counts of a checkpoint were read. They include all that the movers have counted so far. */
int moves_take_up(engine *);

/* Limits a step to what makes sense for this move. */
double moves_possible(const plugmc_move *, const void *instance, const plugmc_box *, int32_t rung,
                      double step);
/* Steps [moves][rungs] to be passed to the mover's `sweep`. Valid until the next call. */
const double *moves_told(const engine *, mover_slot *);

/* The acceptance to which steps of this kind are tuned. 0: they are not tuned. */
double moves_target(const mover_slot *, int move);
bool moves_are_tuned(const engine *);
/* Tunes every step that has enough trial moves since the last time for an estimate of its acceptance. `last`: this
 * is the end of equilibration, so moves that have missed their target are reported. */
int moves_tune(engine *, bool last);
#endif
