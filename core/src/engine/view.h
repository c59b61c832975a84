/* Configurations as plugins see them (plugmc_view), with the cell lists made for them. */
#ifndef PLUGMC_RUN_VIEW_H
#define PLUGMC_RUN_VIEW_H

#include "gpu/gpu.h"
#include "plugmc/everything.h"

enum { KEPT_CELLS = 4 }; /* cell lists kept for one configuration */

/* Those in host or in device memory. */
typedef struct cell_lists {
    plugmc_cells cells[KEPT_CELLS];
    double ranges[KEPT_CELLS];
    uint64_t built[KEPT_CELLS]; /* on a GPU: which of its sorts that was */
    int count;
} cell_lists;

/* One configuration and its cell lists; zeroed but for the first members before use. */
typedef struct view_stage {
    const plugmc_system *system;
    gpu *gpu; /* NULL on the CPU */
    /* Of the mover that has running energies, and of the one that lends matrices; NULL: there is none. */
    const plugmc_driver *driver;
    const plugmc_lends_inverses *lends;
    void *mover_instance;
    const plugmc_host *mover_host;
    const plugmc_state *state; /* of the boxes */
    cell_filler
        filler; /* sorts what it holds where a view has no positions; `fill` NULL: nobody does */
    /* Then: positions on the device after all. A PLUGMC_* code. */
    int (*bring)(void *from, const double **positions);
    void *bring_from;
    const double
        *elsewhere;     /* shortest edges [3] of boxes in other processes; NULL: there are none */
    plugmc_share share; /* of this process; zeroed: all particles are there */
    cell_lists here, there;
} view_stage;

/* *out stays valid until the stage is cleared. PLUGMC_* code. */
int view_of(view_stage *, const double *positions, int on_device, uint64_t sweep, plugmc_view *out);
/* Forgets the cell lists: the next view is of another configuration. */
void view_clear(view_stage *);
#endif
