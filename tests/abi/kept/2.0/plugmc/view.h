/* Configurations as observables and totals are shown them. */
#ifndef PLUGMC_VIEW_H
#define PLUGMC_VIEW_H

#include "plugmc/plugin.h"

struct plugmc_inverses;

/* Particles sorted by cell, for observables and movers that look for neighbours. Within a cell
 * particles are in order of their index. Boxes of all walkers are cut into as many cells; they are
 * length[d] / count[d] wide, at least the range asked for where count >= 3. Pointers are host or device
 * memory, as the view's. The last number of `start` is how many are there: what lies behind them in `order` and
 * `positions` is of no meaning, not even NaN. */
typedef struct plugmc_cells {
    uint32_t size;
    int32_t count[3];        /* cells in each direction, at least 1 */
    int64_t cells;           /* product of count */
    const uint32_t *start;   /* [walkers][cells + 1]: first entry of each cell */
    const uint32_t *order;   /* [walkers][particles]: particle index, sorted by cell */
    const double *positions; /* [walkers][particles][3], in that order, wrapped into the box */
    /* To be set before cells are asked for, 0 if not: cells for any range up to this one do as well, as those that
     * somebody else has asked for. Only where results are the same numbers whatever the cells are. */
    double most;
} plugmc_cells;

/* A configuration as observables see it. */
typedef struct plugmc_view {
    uint32_t size;
    uint64_t sweep;
    /* [walkers][particles][3], length, periodic ones wrapped into [0, length); z = 0 in two
     * dimensions. Device memory if the observable measures on the GPU, host memory else. */
    const double *positions;
    int32_t on_device;
    /* Sorted by cells at least `range` wide; built once a view and range. */
    int (*cells)(const struct plugmc_view *, double range, plugmc_cells *out);
    void *core;
    /* Energy over kT of each walker [walkers] as the mover keeps it while it sweeps, all sampled
     * potentials; NULL if the mover keeps none. Host memory. */
    int (*running_energy)(const struct plugmc_view *, double *energy);
    const plugmc_box *box;        /* [walkers], host memory */
    const plugmc_box *device_box; /* the same in device memory, if `on_device` */
    const int64_t *count;         /* [walkers][species]: see PLUGMC_STATE_COUNT; host memory */
    /* Inverse matrices of a mover that keeps them for these positions (plugmc/wave.h); NULL: there are none.
     * They are valid until the callback returns. */
    int (*inverses)(const struct plugmc_view *, struct plugmc_inverses *out);
    /* Which particles are yours to measure, where several processes have this walker and the observable has said how
     * far it reaches (PLUGMC_MEASURES_SHARES): others may be at NaN, as nobody, and are then in no cell, while
     * `count` is of all. Else all are yours. See plugmc_share_of. */
    plugmc_share share;
    /* Of a view that a potential's total facet is asked about: only the first so many walkers are meant; 0: all. What is
     * said of the others is not used, so that a potential need not know this. See plugmc_walkers_of. */
    int32_t walkers;
} plugmc_view;

/* plugmc_view.share, of a program that knows it. */
static inline plugmc_share plugmc_share_of(const plugmc_view *view)
{
    return PLUGMC_HAS(view, share) ? view->share : (plugmc_share){0};
}

/* For whoever changes members of a view: as much as there is of it. What is not there is 0. */
static inline plugmc_view plugmc_view_copy(const plugmc_view *view)
{
    plugmc_view copy = {.size = 0};
    const uint32_t size = view->size < (uint32_t)sizeof copy ? view->size : (uint32_t)sizeof copy;
    __builtin_memcpy(&copy, view, size);
    copy.size = size;
    return copy;
}

#endif
