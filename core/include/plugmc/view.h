/* Configurations as observables and many-body terms see them. */
#ifndef PLUGMC_VIEW_H
#define PLUGMC_VIEW_H

#include "plugmc/plugin.h"

struct plugmc_inverses;

/* Cell list: particles sorted by cell, and within a cell by number. The boxes of all walkers have the same number
 * of cells. Cells are length[d] / count[d] wide, which is at least the requested range if count >= 3. Arrays are in
 * host or device memory, as those of the view. The last entry of `start` is the number of particles; entries of
 * `order` and `positions` behind it are undefined, not even NaN. */
typedef struct plugmc_cells {
    uint32_t size;
    int32_t count[3];        /* cells along each direction, at least 1 */
    int64_t cells;           /* product of count */
    const uint32_t *start;   /* [walkers][cells + 1] first entry of each cell */
    const uint32_t *order;   /* [walkers][particles] numbers of particles, sorted by cell */
    const double *positions; /* [walkers][particles][3] in that order, wrapped into the box */
    /* Input, 0 if not used: cells for any range up to this one will do, e.g. those made for another plugin. Only if
     * results do not depend on the cells to the last bit. */
    double most;
} plugmc_cells;

/* The configurations of all walkers. */
typedef struct plugmc_view {
    uint32_t size;
    uint64_t sweep;
    /* [walkers][particles][3], length; periodic coordinates wrapped into [0, length), z = 0 in two dimensions.
     * Device memory if the observable measures on the GPU, else host memory. */
    const double *positions;
    int32_t on_device;
    /* Makes cells at least `range` wide; built once per view and range. */
    int (*cells)(const struct plugmc_view *, double range, plugmc_cells *out);
    void *core;
    /* Energy of each walker [walkers], summed over sampled potentials, as the mover keeps it while it sweeps, in
     * the potentials' unit of energy. Host memory. NULL if the mover keeps none. */
    int (*running_energy)(const struct plugmc_view *, double *energy);
    const plugmc_box *box;        /* [walkers], host memory */
    const plugmc_box *device_box; /* as `box`, in device memory; if `on_device` */
    const int64_t *count;         /* [walkers][species] see PLUGMC_STATE_COUNT; host memory */
    /* Inverse matrices of a mover that keeps them for these positions (plugmc/wave.h); NULL: none. They are valid
     * until the callback returns. */
    int (*inverses)(const struct plugmc_view *, struct plugmc_inverses *out);
    /* The particles that this process has to measure, if several processes simulate one walker and the observable
     * has returned a finite reach (PLUGMC_MEASURES_SHARES). Other particles may be NaN and are then in no cell,
     * while `count` counts all. Otherwise all particles. Read it with plugmc_share_of. */
    plugmc_share share;
    /* Views for many-body terms: only the first `walkers` walkers are used; 0: all. Results for the others are
     * ignored, so a potential need not read this. See plugmc_walkers_of. */
    int32_t walkers;
    /* Since 2.1. [walkers][particles], host memory; NULL: there are no bodies. */
    const plugmc_orientation *orientations;
} plugmc_view;

/* plugmc_view.share, all particles if the program does not have it. */
static inline plugmc_share plugmc_share_of(const plugmc_view *view)
{
    return PLUGMC_HAS(view, share) ? view->share : (plugmc_share){0};
}

/* Copy of a view for code that changes its members. Members that the program does not have are 0. */
static inline plugmc_view plugmc_view_copy(const plugmc_view *view)
{
    plugmc_view copy = {.size = 0};
    const uint32_t size = view->size < (uint32_t)sizeof copy ? view->size : (uint32_t)sizeof copy;
    __builtin_memcpy(&copy, view, size);
    copy.size = size;
    return copy;
}

#endif
