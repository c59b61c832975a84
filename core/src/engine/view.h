/* Configurations as plugins see them (plugmc_view), with their cell lists. */
#ifndef PLUGMC_RUN_VIEW_H
#define PLUGMC_RUN_VIEW_H

#include <stdbool.h>

#include "gpu/gpu.h"
#include "plugmc/everything.h"

/* How many cell lists are kept for one configuration. */
enum { KEPT_CELLS = 4 };

/* Cell lists in host memory or in device memory. */
typedef struct cell_lists {
    plugmc_cells cells[KEPT_CELLS];
    double ranges[KEPT_CELLS];
    /* On a GPU: the number of the sort that made them. */
    uint64_t built[KEPT_CELLS];
    int count;
} cell_lists;

/* One configuration and its cell lists. Before use, all members after the first ones must be zero. */
typedef struct view_stage {
    const plugmc_system *system;
    gpu *gpu; /* NULL on the CPU */
    /* Of the mover that keeps running energies, and of the one that lends inverse matrices. NULL: there is none. */
    const plugmc_driver *driver;
    const plugmc_lends_inverses *lends;
    void *mover_instance;
    const plugmc_host *mover_host;
    /* The boxes are read from it. */
    const plugmc_state *state;
    /* Sorts the particles that it holds, if a view has no positions. `fill` is NULL if no mover does this. */
    cell_filler filler;
    /* For such a view: fetches the positions to the device after all. Returns a PLUGMC_* code. */
    int (*bring)(void *from, const double **positions);
    void *bring_from;
    /* Shortest edges [3] of the boxes in other processes. NULL: there are none. */
    const double *elsewhere;
    /* The share of this process. Zeroed: all particles are there. */
    plugmc_share share;
    /* Nobody asks for orientations, which would be copied to the host. */
    bool without_orientations;
    cell_lists here, there;
} view_stage;

/* *out is valid until view_clear. Returns a PLUGMC_* code. */
int view_of(view_stage *, const double *positions, int on_device, uint64_t sweep, plugmc_view *out);
/* Drops the cell lists, since the next view is of another configuration. */
void view_clear(view_stage *);
#endif
