/* plugmc/observable.h: include it to write an observable. */
#ifndef PLUGMC_OBSERVABLE_H
#define PLUGMC_OBSERVABLE_H

#include "plugmc/plugin.h"
#include "plugmc/state.h"
#include "plugmc/view.h"

enum { PLUGMC_MOST_RANK = 4 };

/* A measured quantity: a scalar (rank 0) or an array whose last index runs fastest. The core averages its samples.
 * The core clears the struct and sets `size` before it calls `quantity`. A plugin sets single members, or calls one
 * of the two functions below. It never assigns the whole struct, which may be shorter on the other side. */
typedef struct plugmc_quantity {
    uint32_t size;
    int32_t rank;
    const char *name;
    const char *unit;                         /* "" if none */
    const char *doc;                          /* one line */
    int64_t shape[PLUGMC_MOST_RANK];          /* [rank], each at least 1 */
    const double *abscissa[PLUGMC_MOST_RANK]; /* [rank][shape] values along each axis, or NULL */
    const char *axis[PLUGMC_MOST_RANK];       /* [rank] name of each axis, e.g. "r" */
} plugmc_quantity;

/* Both return 1, so that `quantity` can return their result. */
static inline int plugmc_scalar(plugmc_quantity *out, const char *name, const char *unit,
                                const char *doc)
{
    out->rank = 0;
    out->name = name;
    out->unit = unit;
    out->doc = doc;
    return 1;
}

/* An array with one axis of n values. */
static inline int plugmc_array(plugmc_quantity *out, const char *name, const char *unit,
                               const char *doc, int64_t n, const char *axis, const double *abscissa)
{
    plugmc_scalar(out, name, unit, doc);
    out->rank = 1;
    out->shape[0] = n;
    out->axis[0] = axis;
    out->abscissa[0] = abscissa;
    return 1;
}

/* Number of values. */
static inline int64_t plugmc_quantity_length(const plugmc_quantity *q)
{
    int64_t length = 1;
    for (int32_t d = 0; d < q->rank; d++) length *= q->shape[d];
    return length;
}
/* A quantity that an observable can measure in some run, for the documentation. <word> in a name or unit stands for
 * something that parameters or the system determine: "<species>-<species>". */
typedef struct plugmc_listing {
    const char *name, *unit, *doc;
    int32_t array;   /* 1: more than one value */
    int32_t derived; /* 1: computed from averages */
} plugmc_listing;

/* What a sample depends on. `plugmc reweight` skips quantities that depend on more than the configuration. */
enum {
    PLUGMC_ON_CONFIGURATION = 0, /* on the configuration alone */
    PLUGMC_ON_MULTIPLIERS = 1,   /* also on 1/kT or couplings: a Boltzmann factor, a virial */
    PLUGMC_ON_HISTORY = 2        /* on the history of walkers, e.g. their previous rungs */
};

/* What an observable may ask many-body terms for, besides energies (plugmc_total_request). */
enum { PLUGMC_TOTAL_FORCES = 1, PLUGMC_TOTAL_VIRIAL = 2 };

/* A mover may also have this facet. It is then measured under its own section, with the key `period`, and once when
 * production begins. The core discards that first measurement, so `measure` may report what happened since the
 * previous one. */
typedef struct plugmc_observable {
    uint32_t size;
    int32_t on_device; /* 1: measure accepts views in device memory */
    /* Quantity number `index`, counted from 0; returns 0 after the last. Called after prepare. */
    int (*quantity)(void *instance, int index, plugmc_quantity *out);
    /* values [walkers][sum of lengths], host memory: the quantities one after another. All of them are to be
     * written; they are NaN before. */
    int (*measure)(void *instance, const plugmc_host *, const plugmc_view *, double *values);
    /* PLUGMC_CHANGED_*: what, besides positions, may differ from the beginning of the run, because the observable
     * reads boxes or counts from the view. It is refused together with a mover that changes anything else. */
    uint32_t follows;
    int32_t depends_on; /* PLUGMC_ON_* */
    /* 1: the positions of the view are to be written to the trajectory. An observable that measures nothing else
     * needs no `quantity` and `measure`. */
    int32_t writes_trajectory;
    /* Optional: numbers computed from averages, e.g. from a fit to g(r). The core estimates their errors with a
     * jackknife over blocks. `derived` works as `quantity`. `derive` reads means [sum of lengths] and writes [sum
     * of derived lengths]; it returns non-zero, without a message, if the data are not sufficient. */
    int (*derived)(void *instance, int index, plugmc_quantity *out);
    int (*derive)(void *instance, const double *means, double *out);
    /* Optional: if derive fails or returns NaN, what is missing and what would help. Printed once below the
     * results. One sentence without a full stop, in memory of the instance; NULL: nothing to say. */
    const char *(*lacking)(void *instance, const double *means);
    /* Optional: all that `quantity` and `derived` can return, for any parameters. The core refuses a quantity that
     * is not listed. */
    const plugmc_listing *listing;
    int32_t listing_count;
    uint32_t listing_size; /* sizeof(plugmc_listing): stride of the table */
    /* Since 2.1. PLUGMC_TOTAL_*: what it asks the many-body terms of the run for. At the start of a run the core refuses
     * a term whose energy depends on positions and that does not give it. */
    uint32_t of_totals;
} plugmc_observable;

/* For the descriptor: an observable. */
#define PLUGMC_OBSERVABLE_WITH(...)                                                                \
    .kind = PLUGMC_OBSERVABLE, .observable = &(const plugmc_observable)                            \
    {                                                                                              \
        .size = sizeof(plugmc_observable), .listing_size = sizeof(plugmc_listing), __VA_ARGS__     \
    }

/* ---- Extensions that an observable may offer ---------------------------------------------------- */

/* Asynchronous measurements, for observables with on_device. */
#define PLUGMC_MEASURES_LATER "plugmc.measures_later/1"
typedef struct plugmc_measures_later {
    uint32_t size;
    /* Launches the kernels and downloads (plugmc_gpu.download_later) of a measurement and does not wait. `measure`
     * is called once afterwards, perhaps when the next sweeps have been launched. Its view then has no positions
     * and no cells; the boxes are the same, as they do not change in such a run. */
    int (*launch)(void *instance, const plugmc_host *, const plugmc_view *);
    /* Optional, 1: of a view in device memory the observable reads only cells, boxes and counts, and of `order`
     * only the species. Particles within a cell may then be in any order, which must not change the result (integer
     * sums do not depend on it), and the view's positions may be NULL. A mover that can sort (PLUGMC_FILLS_CELLS)
     * then need not store positions. */
    int32_t reads_cells_alone;
} plugmc_measures_later;

/* Measurements shared by several processes that simulate one walker together. */
#define PLUGMC_MEASURES_SHARES "plugmc.measures_shares/1"
typedef struct plugmc_measures_shares {
    uint32_t size;
    /* Declares that `values` are sums over particles, so that each process can measure its share
     * (plugmc_view.share) and the core adds the shares up. Called before each measurement. Returns the distance
     * from its share up to which a process needs other particles, length; INFINITY: not possible here, each process
     * measures all particles. If the distance turns out to be too small, launch and measure return
     * PLUGMC_UNANSWERED, without a message, and are called again for all particles. A pair belongs to the process
     * of the particle that comes first in the cells. */
    double (*reach)(void *instance);
    /* Optional: replaces the sums, once they are those of all particles, by what follows from them. Called after
     * every `measure`, with its view. */
    void (*complete)(void *instance, const plugmc_view *, double *values);
} plugmc_measures_shares;

#endif
