/* Kinds of trial moves of all movers: how many were made and accepted, how large they are. What is
 * known of them is in engine->moves, mover after mover, so that checkpoints and tables have it. */
#ifndef PLUGMC_RUN_MOVES_H
#define PLUGMC_RUN_MOVES_H

#include "engine/engine.h"

/* Makes the records, once the movers are prepared; 0 or an exit code, as for all. */
int moves_begin(engine *);
/* Adds what the movers have counted since the last call. */
int moves_refresh(engine *);
/* Counts begin anew. */
int moves_clear(engine *);
/* After steps and counts of a checkpoint were read: what movers have counted by then is in these. */
int moves_take_up(engine *);

/* How much of a step makes sense. */
double moves_possible(const plugmc_move *, const void *instance, const plugmc_box *, int32_t rung,
                      double step);
/* Steps of a mover [moves][rungs], to be told to its `sweep`; until the next call. */
const double *moves_told(const engine *, moving *);

/* The acceptance that steps of this kind are tuned to, 0: they are not tuned. */
double moves_target(const moving *, int move);
bool moves_are_tuned(const engine *);
/* Tunes every step whose trial moves since the last time are enough to tell the acceptance. `last`:
 * at the end of equilibration, where what missed its target is said. */
int moves_tune(engine *, bool last);
#endif
