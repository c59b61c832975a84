/* The movers of a run borrow the configuration from the core, one after the other. */
#ifndef PLUGMC_BORROWING_H
#define PLUGMC_BORROWING_H

#include "engine/engine.h"

/* Once the state is there: it asks whoever is ahead of it. */
void borrowing_begin(engine *);
/* Lets a mover take the configuration, if it is not as this mover gave it last; another that may hold
 * a newer one gives it back first. An exit code. */
int borrowing_take(engine *, moving *);
/* At the start of a run every mover takes it once, the first one last. */
int borrowing_take_all(engine *);
/* When a run is resumed: every mover takes what the checkpoint had, and none gives it back. */
int borrowing_take_up(engine *);
/* Then, once it has read what it archived: what of the state it did not hold, PLUGMC_CHANGED_*. */
void borrowing_resume(engine *, moving *, uint32_t changed);
/* A mover without a configuration of its own has swept. Its boxes are written: others read them in the
 * state. What it wrote there itself, rungs for example, is taken. */
int borrowing_swept(engine *, moving *);
/* What the mover does not hold as the state is, PLUGMC_CHANGED_*; it takes that before it sweeps again. */
uint32_t borrowing_changes(const engine *, const moving *);
/* Lets whoever is ahead of the state give the configuration back. A PLUGMC_* code. */
int borrowing_give(engine *);
/* Positions [walkers][particles][3] as they are now, on a side, for reading: the mover gives them back
 * first. An exit code. */
int borrowing_positions(engine *, int side, const double **out);
/* All processes that have one walker: positions that each needs to measure its share of the particles, and those up to
 * `reach` (length) from it, where the run sweeps; others are NaN (PLUGMC_GIVES_SHARES). *out NULL: the configuration
 * cannot be had in shares. An exit code. */
int borrowing_share(engine *, double reach, const double **out, plugmc_share *);
/* Boxes [walkers] as they are now. An exit code. */
int borrowing_boxes_of(engine *, const plugmc_box **out);
/* Those on the host, without asking a mover; all of them are for the core to write. Exit codes. */
int borrowing_read(engine *, const double **out);
int borrowing_write(engine *, double **out);
#endif
