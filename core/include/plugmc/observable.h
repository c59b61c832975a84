/* plugmc/observable.h: what an observable measures, and how. Observables include this header. */
#ifndef PLUGMC_OBSERVABLE_H
#define PLUGMC_OBSERVABLE_H

#include "plugmc/plugin.h"
#include "plugmc/state.h"
#include "plugmc/view.h"

enum { PLUGMC_MOST_RANK = 4 };

/* Something that is measured: a scalar (rank 0) or an array, whose last index runs fastest. Its
 * samples are averaged by the core, which clears it and sets its size before it asks; a plugin sets
 * members one by one or by the two functions below, and never assigns the whole struct, which may be
 * shorter on the other side. */
typedef struct plugmc_quantity {
    uint32_t size;
    int32_t rank;
    const char *name;
    const char *unit;                         /* "" if none */
    const char *doc;                          /* one line */
    int64_t shape[PLUGMC_MOST_RANK];          /* [rank], each at least 1 */
    const double *abscissa[PLUGMC_MOST_RANK]; /* [rank][shape]: values along each axis, or NULL */
    const char *axis[PLUGMC_MOST_RANK];       /* [rank]: what each axis is, e.g. "r" */
} plugmc_quantity;

/* Both return 1, so that `quantity` can return them. */
static inline int plugmc_scalar(plugmc_quantity *out, const char *name, const char *unit,
                                const char *doc)
{
    out->rank = 0;
    out->name = name;
    out->unit = unit;
    out->doc = doc;
    return 1;
}

/* One axis of n values. */
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

/* How many numbers it has. */
static inline int64_t plugmc_quantity_length(const plugmc_quantity *q)
{
    int64_t length = 1;
    for (int32_t d = 0; d < q->rank; d++) length *= q->shape[d];
    return length;
}
/* One line of what an observable can give in any run, for people who have no run yet. <word> in a
 * name or unit stands for what parameters or system put there: "<species>-<species>". */
typedef struct plugmc_listing {
    const char *name, *unit, *doc;
    int32_t array;   /* 1: more than one value */
    int32_t derived; /* 1: computed from averages */
} plugmc_listing;

/* What a sample depends on. `plugmc reweight` leaves out what depends on more than the configuration. */
enum {
    PLUGMC_ON_CONFIGURATION = 0, /* on the configuration alone */
    PLUGMC_ON_MULTIPLIERS = 1,   /* on 1/kT or couplings, too: a Boltzmann factor, a virial */
    PLUGMC_ON_HISTORY = 2        /* on the way of walkers, such as their rungs before */
};

/* A mover that has this facet, too, is measured under its own section, with the key `period`, and once when
 * production begins: that is thrown away, so that it may tell what has happened since it was asked last. */
typedef struct plugmc_observable {
    uint32_t size;
    int32_t on_device; /* 1: measure can take a view in device memory */
    /* What one measurement gives, number `index` from 0; returns 0 past the last. Called after
     * prepare. */
    int (*quantity)(void *instance, int index, plugmc_quantity *out);
    /* values [walkers][sum of lengths]: the quantities one after another. Always host memory. */
    int (*measure)(void *instance, const plugmc_host *, const plugmc_view *, double *values);
    /* PLUGMC_CHANGED_*: beside positions, what may not be as the run began: it takes the boxes, or the
     * counts, of the view. Refused beside a mover that changes something else. */
    uint32_t follows;
    int32_t depends_on; /* PLUGMC_ON_*: what a sample depends on */
    /* 1: the positions of this view belong into the trajectory. Who measures nothing beside needs no `quantity` and
     * `measure`. */
    int32_t writes_trajectory;
    /* Optional: numbers computed from averages, e.g. from a fit to g(r); the core finds their
     * errors by a jackknife over blocks. derived as quantity; derive gets the means
     * [sum of lengths] and writes [sum of derived lengths]; it fails without a message by
     * returning non-zero where the data do not suffice. */
    int (*derived)(void *instance, int index, plugmc_quantity *out);
    int (*derive)(void *instance, const double *means, double *out);
    /* Optional: what these means lack where derive fails or leaves numbers NaN, and what would help;
     * said once below the results. One sentence without a full stop, in memory of the instance;
     * NULL if there is nothing to say. */
    const char *(*lacking)(void *instance, const double *means);
    /* Optional: all that `quantity` and `derived` can give, whatever the parameters; the core
     * refuses what they give and is not here. */
    const plugmc_listing *listing;
    int32_t listing_count;
    uint32_t listing_size; /* sizeof(plugmc_listing), the stride of the table */
} plugmc_observable;

/* In a descriptor: what an observable is. */
#define PLUGMC_OBSERVABLE_WITH(...)                                                                \
    .kind = PLUGMC_OBSERVABLE, .observable = &(const plugmc_observable)                            \
    {                                                                                              \
        .size = sizeof(plugmc_observable), .listing_size = sizeof(plugmc_listing), __VA_ARGS__     \
    }

/* ---- Extensions that an observable may offer ---------------------------------------------------- */

/* Where on_device is 1: measurements that are launched and looked at later. */
#define PLUGMC_MEASURES_LATER "plugmc.measures_later/1"
typedef struct plugmc_measures_later {
    uint32_t size;
    /* Launches what a measurement of this view needs (plugmc_gpu.download_later
     * for its results) and does not wait. `measure` comes after it, once, perhaps when the sweeps
     * that follow are launched: then its view has no positions and no cells, and the boxes are those
     * that they were, since none changes in such a run. */
    int (*launch)(void *instance, const plugmc_host *, const plugmc_view *);
    /* Optional, 1: of a view in device memory it reads cells, boxes and counts alone, and of the order in cells the species; within
     * a cell particles may then be in any order, which may not change what it gives (sums of integers do not depend on
     * it), and the view's positions may be NULL. That saves a mover that can sort (PLUGMC_FILLS_CELLS) giving
     * them. */
    int32_t reads_cells_alone;
} plugmc_measures_later;

/* Measurements by several processes that have one walker together. */
#define PLUGMC_MEASURES_SHARES "plugmc.measures_shares/1"
typedef struct plugmc_measures_shares {
    uint32_t size;
    /* `values` are sums over particles, so that processes that have one walker together can measure a
     * share each (plugmc_view.share), which the core adds up. Returns how far from its share a process has to see
     * others, length; INFINITY: it cannot be done here, and each measures all. Asked before a measurement. Where
     * that was not far enough, launch and measure return PLUGMC_UNANSWERED, without a message, and are called again
     * for all particles. Pairs belong to the process of the one that comes first in cells. */
    double (*reach)(void *instance);
    /* Optional: what follows from these sums, once they are those of all particles, in their place. Called after
     * every `measure`, with its view. */
    void (*complete)(void *instance, const plugmc_view *, double *values);
} plugmc_measures_shares;

#endif
