/* A run's state between movers, other plugins and the output file. Resuming is
 * simulation_resume in run/simulation.h. */
#ifndef PLUGMC_CHECKPOINTING_H
#define PLUGMC_CHECKPOINTING_H

#include "run/simulation.h"

/* What all plugins archive. malloc'ed. */
int checkpoint_blobs(simulation *, blob **, int *count);
void checkpoint_free_blobs(blob *, int count);
/* Of a file that was read to look at its results: the mover that weighs macrostates takes up its weights, on which what
 * it derives hangs. An exit code. */
int checkpoint_weights(simulation *);
/* Writes the output file and the table of scalars as of the last snapshot (run/snapshot.h); `last`:
 * there will be no other try. */
int checkpoint_snapshot(simulation *, bool last);
/* Writes the output file and the table of scalars as they are after `sweep` sweeps, of which those
 * of this process took `seconds` of wall time. */
int checkpoint(simulation *, uint64_t sweep, double seconds);
/* The same when the run ends or is stopped. What the table of results needs is there afterwards,
 * whatever could be written. */
int checkpoint_last(simulation *, uint64_t sweep, double seconds);
/* ... when the sweeps after the last snapshot were given up, and snapshot_go_back was called. */
int checkpoint_given_up(simulation *);
#endif
