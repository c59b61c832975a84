/* plugmc/driver.h: movers with a configuration in a layout of their own, on the CPU or on a GPU. */
#ifndef PLUGMC_DRIVER_H
#define PLUGMC_DRIVER_H

#include "plugmc/archive.h"
#include "plugmc/changes.h"
#include "plugmc/gpu.h"
#include "plugmc/total.h"

typedef struct plugmc_driver {
    uint32_t size;
    /* Loads the configuration before sweeps. `changed`, PLUGMC_CHANGED_*: what differs from the last `store` of
     * this mover; everything at first. Data that the mover derives from it may depend only on the state and on what
     * the mover archives, so that it does not matter when they are computed. */
    int (*load)(void *instance, const plugmc_host *, const plugmc_state *, uint32_t changed);
    /* Stores what the mover changes into the state, on the side (host or device) where it is. The mover keeps its
     * own copy: if nothing else changes the state, it continues sweeping without another `load`. */
    int (*store)(void *instance, const plugmc_host *, const plugmc_state *);
    /* Optional: energy of each walker [walkers], as kept while sweeping, in the potentials' unit of energy: all
     * sampled potentials except those that do not depend on positions, which the core adds. */
    int (*running_energy)(void *instance, const plugmc_host *, double *energy);
    /* Optional: answers PLUGMC_RESCALED from the loaded configuration, so that it need not be stored and loaded
     * again for another box. Called if only hard cores are sampled. With `taken` NULL it fills in
     * changes->forbidden, or returns PLUGMC_UNANSWERED and the core does the whole move. After PLUGMC_OK it is
     * called again with the same changes and `taken` [walkers], 0 or -1: walkers with 0 now have changes->box, at
     * fixed fractional coordinates. The `store` of such a mover may come long after its sweep. */
    int (*rescale)(void *instance, const plugmc_host *, const plugmc_changes *,
                   const int64_t *taken);
} plugmc_driver;

/* Copies the steps of move 0 [rungs] to `kept`; returns 1 if any of them changed. */
static inline int plugmc_update_steps(const plugmc_sweeps *sweeps, int32_t rungs, real *kept)
{
    int other = 0;
    for (int32_t r = 0; r < rungs; r++) {
        other |= kept[r] != (real)sweeps->step[r];
        kept[r] = (real)sweeps->step[r];
    }
    return other;
}

/* ---- Extensions that a driver may offer ------------------------------------------------------- */

/* Inverse matrices for observables of wave functions. */
#define PLUGMC_LENDS_INVERSES "plugmc.lends_inverses/1"
struct plugmc_inverses; /* plugmc/wave.h */
typedef struct plugmc_lends_inverses {
    uint32_t size;
    /* Lends the inverse matrices of all walkers, for the positions of the last `store`. The caller has set
     * out->size and cleared the rest; `inverse` stays NULL if there are none. */
    int (*inverses)(void *instance, const plugmc_host *, struct plugmc_inverses *out);
} plugmc_lends_inverses;

/* Cell lists on a GPU for observables. */
#define PLUGMC_FILLS_CELLS "plugmc.fills_cells/1"
/* Cells of a periodic rectangular box, to be filled by a mover. Pointers are device memory; cells are those of
 * plugmc_cells. */
typedef struct plugmc_cell_filling {
    uint32_t size;
    int32_t placing;       /* 0: count the particles, 1: place them */
    int32_t count[3];      /* cells along each direction */
    const plugmc_box *box; /* [walkers] */
    /* [walkers][cells + 1] counting: 0 on entry, becomes the number of particles in each cell; placing: the first
     * entry of each cell. */
    uint32_t *start;
    /* Placing: particles of a cell may be in any order. `order` is read for the species only, so any particle of
     * the same species may be entered. */
    uint32_t *order;   /* [walkers][particles] */
    double *positions; /* [walkers][particles][3] */
} plugmc_cell_filling;

typedef struct plugmc_fills_cells {
    uint32_t size;
    /* Sorts the particles of all walkers, as the mover holds them, into the requested cells, so that positions need
     * not be stored first and sorted later. Called first to count, then to place; it changes nothing in the mover.
     * It may return PLUGMC_UNANSWERED to the call that counts: then `store` is called instead. Positions are bit
     * for bit those that `store` would give. */
    int (*fill_cells)(void *instance, const plugmc_host *, const plugmc_cell_filling *);
} plugmc_fills_cells;

/* Shares for observables that measure shares; for movers with PLUGMC_DECOMPOSES_DOMAIN. */
#define PLUGMC_GIVES_SHARES "plugmc.gives_shares/1"
typedef struct plugmc_gives_shares {
    uint32_t size;
    /* Writes what this process needs to measure its share to positions [particles][3] of its one walker, in device
     * memory if there is a GPU: the particles of the share and all others up to `reach` (length) away from it along
     * the axis of the share; NaN for the rest. All processes call it at the same point, when `store` would give the
     * state that is measured. It changes nothing. */
    int (*give_share)(void *instance, const plugmc_host *, double reach, double *positions,
                      plugmc_share *share);
} plugmc_gives_shares;

#endif
