/* The configuration of a run: what every walker is, for movers, observables and checkpoints alike.
 *
 * Each array may lie on the host, on the device, or on both. It is copied only when the side that is
 * asked for is older than the other, so a run whose mover and observables are all on the GPU never
 * sees the host. Every writing gives an array a new version; by these the core tells a mover what has
 * changed since it last looked. */
#ifndef PLUGMC_RUN_STATE_H
#define PLUGMC_RUN_STATE_H

#include "plugmc/everything.h"
#include "engine/ladder.h"

enum { STATE_ARRAYS = PLUGMC_STATE_WEIGHT + 1 };

typedef struct state_array {
    size_t row;                   /* bytes a walker */
    void *host;                   /* NULL until it is asked for */
    plugmc_device_pointer device; /* 0 until it is asked for */
    int on_host, on_device;       /* which sides hold what it is now; neither: as the run begins */
    uint64_t version;             /* counts writings */
} state_array;

typedef struct state {
    plugmc_state face; /* what plugins see; face.core is this struct */
    const plugmc_system *system;
    int32_t first;           /* walkers of the run before the first one here */
    const ladder *ladder;    /* multipliers of rungs */
    const plugmc_host *host; /* whose messages and memory; host->gpu is NULL on the CPU */
    state_array arrays[STATE_ARRAYS];
    /* Called before an array is read: whoever holds a newer one gives it back. A PLUGMC_* code. */
    int (*fetch)(void *fetched_from, int what);
    void *fetched_from;
} state;

/* As the run begins: boxes, counts and species are those of the system, walkers stand on the
 * rungs of the ladder in turn, positions are zero. `first` of `all` walkers of the run belong to processes before
 * this one. Memory is
 * taken when an array is asked for. */
void state_begin(state *, const plugmc_system *, const ladder *, const plugmc_host *, int32_t first,
                 int32_t all);
void state_end(state *);

/* Positions [walkers][particles][3] on a side, PLUGMC_READ | PLUGMC_WRITE as of plugmc_state.array;
 * NULL after a failure, which is reported and whose code is in *code. */
double *state_positions(state *, int side, int access, int *code);

/* PLUGMC_CHANGED_* of what is newer than `seen` [STATE_ARRAYS], and `seen` brought up to date. */
uint32_t state_changes(const state *, uint64_t *seen);
#endif
