/* Passes the configuration between the core's state and the movers of a run, one after the other. A mover with a
 * configuration of its own loads the state before it sweeps, and stores its configuration when another mover or an
 * observable needs it. */
#ifndef PLUGMC_SYNC_H
#define PLUGMC_SYNC_H

#include "engine/engine.h"

/* Call it once the state exists. From then on a read of the state first makes the mover with a newer configuration
 * store it. */
void sync_begin(engine *);
/* Lets a mover load the configuration, unless it is still as this mover stored it last. Another mover that may hold a
 * newer configuration stores it first. Returns an exit code. */
int sync_load(engine *, mover_slot *);
/* At the start of a run every mover loads the configuration once. The first mover is the last to do so. */
int sync_load_all(engine *);
/* When a run is resumed: every mover loads the configuration of the checkpoint, and none stores its own. */
int sync_load_checkpoint(engine *);
/* Afterwards, once the mover has read what it archived. `changed` (PLUGMC_CHANGED_*): what it did not hold of the
 * state. */
void sync_resumed(engine *, mover_slot *, uint32_t changed);
/* Call it after a mover without a configuration of its own has swept. Its boxes are written to the state, where other
 * movers read them. What the mover itself wrote to the state, for example rungs, is loaded. */
int sync_swept(engine *, mover_slot *);
/* In what the configuration of a mover differs from the state (PLUGMC_CHANGED_*). The mover loads that before it sweeps
 * again. */
uint32_t sync_changes(const engine *, const mover_slot *);
/* Stores the newest configuration in the state, if a mover or the Hamiltonian holds it. Returns a PLUGMC_* code. */
int sync_store(engine *);
/* Current positions [walkers][particles][3] on a side, for reading. The mover stores them first. Returns an exit
 * code. */
int sync_positions(engine *, int side, const double **out);
/* Collective, for processes that sweep one walker by domain decomposition (PLUGMC_GIVES_SHARES). Gives the positions
 * that each process needs to measure its share of the particles: the share itself, and particles up to `reach` (length)
 * from it. Other positions are NaN. They are on the side where the run sweeps.
 * *out is NULL if the configuration cannot be had in shares. Returns an exit code. */
int sync_share(engine *, double reach, const double **out, plugmc_share *);
/* Current boxes [walkers]. Returns an exit code. */
int sync_boxes(engine *, const plugmc_box **out);
/* Positions on the host. Before the first function returns, a newer configuration is stored. With the second
 * function the core overwrites all positions, so no mover is asked. Both return exit codes. */
int sync_read(engine *, const double **out);
int sync_write(engine *, double **out);
#endif
