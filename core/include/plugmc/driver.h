/* plugmc/driver.h: movers that keep a configuration of their own, in their own layout, on the CPU or on a GPU. */
#ifndef PLUGMC_DRIVER_H
#define PLUGMC_DRIVER_H

#include "plugmc/archive.h"
#include "plugmc/changes.h"
#include "plugmc/gpu.h"
#include "plugmc/total.h"

typedef struct plugmc_driver {
    uint32_t size;
    /* Takes the configuration to sweep it. `changed`, PLUGMC_CHANGED_*, is what is not as this mover
     * gave it last; at first everything is. What it builds from that must follow from the state and
     * from what the mover archives alone, so that it does not matter when it is built. */
    int (*load)(void *instance, const plugmc_host *, const plugmc_state *, uint32_t changed);
    /* Writes what it changes into the state, on the side where it is. It keeps its own layout: if
     * nobody else changes anything, it goes on sweeping without another take. */
    int (*store)(void *instance, const plugmc_host *, const plugmc_state *);
    /* Optional: energy over kT of each walker [walkers], as it is kept while sweeping: of all sampled
     * potentials but those that positions do not change, which the core adds. */
    int (*running_energy)(void *instance, const plugmc_host *, double *energy);
    /* Optional: answers PLUGMC_RESCALED from what it has taken, so that this need not be given back and
     * taken again for another box. It is asked where hard cores alone are sampled. With `taken` NULL it
     * fills in changes->forbidden, or returns PLUGMC_UNANSWERED, then the core does all of it. After
     * PLUGMC_OK it is called again with the same changes and with `taken` [walkers], 0 or -1: walkers
     * with 0 have changes->box from now on, and fractional coordinates stay. A mover that has it may be
     * asked to give long after it swept. */
    int (*rescale)(void *instance, const plugmc_host *, const plugmc_changes *,
                   const int64_t *taken);
} plugmc_driver;

/* Copies the steps of move 0 [rungs] where they are others than a driver has kept; 1: they are. */
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

/* Inverse matrices for whoever measures wave functions. */
#define PLUGMC_LENDS_INVERSES "plugmc.lends_inverses/1"
struct plugmc_inverses; /* plugmc/wave.h */
typedef struct plugmc_lends_inverses {
    uint32_t size;
    /* Lends the inverse matrices of all walkers as they belong to the positions that it has given
     * last. The caller has set out->size and cleared the rest; where there are none, `inverse` stays NULL. */
    int (*inverses)(void *instance, const plugmc_host *, struct plugmc_inverses *out);
} plugmc_lends_inverses;

/* Cells on a GPU for whoever measures in cells. */
#define PLUGMC_FILLS_CELLS "plugmc.fills_cells/1"
/* Cells on a GPU, of a periodic rectangular box, to be filled by a mover. Pointers are device memory; cells are those of
 * plugmc_cells. */
typedef struct plugmc_cell_filling {
    uint32_t size;
    int32_t placing;       /* 0: particles are to be counted, 1: to be placed */
    int32_t count[3];      /* cells in each direction */
    const plugmc_box *box; /* [walkers] */
    uint32_t
        *start; /* [walkers][cells + 1]; counting: 0, becomes the number in each cell; placing: the
                              first entry of each */
    /* Placing. Within a cell particles are in any order. `order` is read for species alone, so any particle of the
     * species may stand there. */
    uint32_t *order;   /* [walkers][particles] */
    double *positions; /* [walkers][particles][3] */
} plugmc_cell_filling;

typedef struct plugmc_fills_cells {
    uint32_t size;
    /* Sorts the particles of all walkers, as it holds them, into cells that somebody wants, so that
     * it need not give positions which would then be sorted. It is called to count, then to place
     * (plugmc_cell_filling), and changes nothing by that. It may return PLUGMC_UNANSWERED when it is to count: then it is
     * asked to give. Positions are to the bit those that it would give. */
    int (*fill_cells)(void *instance, const plugmc_host *, const plugmc_cell_filling *);
} plugmc_fills_cells;

/* With PLUGMC_DECOMPOSES_DOMAIN: shares for whoever measures in shares. */
#define PLUGMC_GIVES_SHARES "plugmc.gives_shares/1"
typedef struct plugmc_gives_shares {
    uint32_t size;
    /* What this process needs to measure its share, into positions [particles][3] of
     * its one walker, in device memory where there is a GPU: those of its share, and of all others that are at most
     * `reach` (length) from it along the axis of the share; NaN for the rest. Made by all processes alike, while
     * the state would be what `store` gives; it changes nothing. */
    int (*give_share)(void *instance, const plugmc_host *, double reach, double *positions,
                      plugmc_share *share);
} plugmc_gives_shares;

#endif
