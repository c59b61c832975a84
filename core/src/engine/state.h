/* The state of all walkers of a run, as movers, observables and checkpoints use it.
 *
 * Each array may be on the host, on the device, or on both. It is copied only if the side that is needed is older than
 * the other one. So if movers and observables all run on the GPU, nothing is copied to the host. Each write gives an
 * array a new version. By these versions the core tells a mover what has changed since its last load. The core may write both
 * sides of an array at once (system/both_sides.h). */
#ifndef PLUGMC_RUN_STATE_H
#define PLUGMC_RUN_STATE_H

#include "plugmc/everything.h"
#include "engine/ladder.h"

enum { STATE_ARRAYS = PLUGMC_STATE_ORIENTATION + 1 };

typedef struct state_array {
    /* Bytes per walker. */
    size_t row;
    /* NULL until it is needed. */
    void *host;
    /* 0 until it is needed. */
    plugmc_device_pointer device;
    /* Which sides are current. Neither: the array is as the run begins. */
    int on_host, on_device;
    /* Number of writes. */
    uint64_t version;
} state_array;

typedef struct state {
    /* What plugins see. face.core points to this struct. */
    plugmc_state face;
    const plugmc_system *system;
    /* How many walkers of the run come before the first one of this process. */
    int32_t first;
    /* For the multipliers of rungs. */
    const ladder *ladder;
    /* For messages and memory. host->gpu is NULL on the CPU. */
    const plugmc_host *host;
    state_array arrays[STATE_ARRAYS];
    /* Called before an array is read, so that a newer one is stored first. Returns a PLUGMC_* code. */
    int (*fetch)(void *fetched_from, int what);
    void *fetched_from;
} state;

/* The state at the beginning of a run: boxes, counts and species are those of the system, walkers are on the rungs
 * of the ladder in turn, and positions are zero. Of `all` walkers of the run, the first `first` belong to other
 * processes. Memory for an array is allocated when it is needed. */
void state_begin(state *, const plugmc_system *, const ladder *, const plugmc_host *, int32_t first,
                 int32_t all);
void state_end(state *);

/* Positions [walkers][particles][3] on a side. `access` is PLUGMC_READ | PLUGMC_WRITE, as for plugmc_state.array.
 * NULL after a failure, which has been reported; its code is in *code. */
double *state_positions(state *, int side, int access, int *code);

/* Returns PLUGMC_CHANGED_* for each array that is newer than in `seen` [STATE_ARRAYS], and updates `seen`. */
uint32_t state_changes(const state *, uint64_t *seen);
#endif
