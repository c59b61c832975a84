/* The state of a run as it was after some sweep, in memory: what a checkpoint writes, and what a run
 * goes back to when the sweeps after it are given up. It is taken before a stretch wherever that
 * costs next to nothing, so a run that is stopped loses no more than the stretch at hand. */
#ifndef PLUGMC_RUN_SNAPSHOT_H
#define PLUGMC_RUN_SNAPSHOT_H

#include "session/session.h"

/* The large part of one. Whoever writes a checkpoint holds it, and does not copy it, while the run takes another. */
typedef struct kept_state {
    double *positions; /* [walkers][particles][3], of the walkers here */
    blob *blobs;
    int blob_count;
    int holders; /* counted by the main thread alone */
} kept_state;

/* That of the present snapshot, until it is let go. */
kept_state *snapshot_hold(session *);
void snapshot_let_go(kept_state *); /* NULL: nothing */

/* Takes one of the state after `sweep` sweeps, `seconds` of this process. Exit code. On failure the
 * one before is still there. */
int snapshot_take(session *, uint64_t sweep, double seconds);
/* Whether it is time for one: the last one is a quarter of a second old or more, and 200 times as old as it took
 * to make. So half a per cent of the time goes into this at most. */
bool snapshot_is_due(const session *);
/* Samples and frames of later sweeps are forgotten. Derived numbers become invalid: they have
 * to be found again. Returns the sweep. */
uint64_t snapshot_go_back(session *);
/* Fills what a checkpoint writes besides samples: positions, counts, sweep, step, blobs; of the walkers here. */
void snapshot_publish(session *);
/* The first n frames of the trajectory are gone. */
void snapshot_frames_lost(session *, int64_t n);
void snapshot_free(session *);
#endif
