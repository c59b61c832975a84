/* A run's state between movers, other plugins and the output file. Resuming is
 * session_resume in session/session.h. */
#ifndef PLUGMC_CHECKPOINTING_H
#define PLUGMC_CHECKPOINTING_H

#include "session/session.h"

/* Writes the output file and the table of scalars as of the last snapshot (session/snapshot.h); `last`:
 * there will be no other try. */
int checkpoint_snapshot(session *, bool last);
/* Writes the output file and the table of scalars as they are after `sweep` sweeps, of which those
 * of this process took `seconds` of wall time. */
int checkpoint(session *, uint64_t sweep, double seconds);
/* The same when the run ends or is stopped. What the table of results needs is there afterwards,
 * whatever could be written. */
int checkpoint_last(session *, uint64_t sweep, double seconds);
/* ... when the sweeps after the last snapshot were given up, and snapshot_go_back was called. */
int checkpoint_given_up(session *);
#endif
