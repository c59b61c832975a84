/* Many-body terms: energies of whole configurations that are not sums over pairs. */
#ifndef PLUGMC_TOTAL_H
#define PLUGMC_TOTAL_H

#include "plugmc/facets.h"
#include "plugmc/state.h"
#include "plugmc/view.h"

/* What a many-body term has to compute. All pointers are host memory, or all are device memory, as the view's
 * positions. Results are ADDED to the arrays. On a device the call returns without waiting. NULL: not requested.
 * Energies are in the potentials' unit of energy. */
typedef struct plugmc_total_request {
    uint32_t size;
    const plugmc_view *view;
    double *energy; /* [walkers], energy */
    /* Whoever asks for these is refused, at the start of a run, beside a term whose energy depends on positions and
     * that adds nothing. Where a term knows none it fails with a sentence. */
    double *forces; /* [walkers][particles][3], energy/length */
    double *virial; /* [walkers][3], energy: sum over particles of r_d f_d, over periodic images */
} plugmc_total_request;

/* An energy that is a sum over waves, for movers that evaluate it themselves:
 *
 *     U = constant + sum_k weight_k |S_k|^2,    S_k = sum_i z_i exp(2 pi i n_k.f_i)
 *
 * with the charges z and fractional coordinates f (plugmc_box.inverse) of the particles. When one particle moves,
 * S_k changes by z (exp(2 pi i n_k.f') - exp(2 pi i n_k.f)). */
typedef struct plugmc_waves {
    uint32_t size;
    int64_t count;
    const int32_t (*n)[3]; /* [count] */
    const double *weight;  /* [count] energy */
    double constant;       /* energy of a configuration */
} plugmc_waves;

/* How a potential treats molecules. */
enum {
    PLUGMC_MOLECULES_NONE, /* it does not know of any */
    /* It excludes pairs within a molecule; something else has to hold the molecule together. */
    PLUGMC_MOLECULES_LOOSE,
    PLUGMC_MOLECULES_BOUND /* it holds them together */
};

/* Particles that are inserted and removed at once, one or a group, at most PLUGMC_MOST_TOGETHER; with rigid molecules the
 * sites of one, at most PLUGMC_MOST_SITES. Removals come first, one after the other; each
 * time the last particle of the species takes the free number. Insertions follow, after the last of their species. */
typedef struct plugmc_insert_remove {
    uint32_t size;
    int32_t inserted, removed;
    const int32_t *species;      /* [inserted] */
    const double (*position)[3]; /* [inserted] length, in the box */
    const int32_t *particle;     /* [removed] */
} plugmc_insert_remove;

/* Since 2.1. Particles that are displaced at once: a group, or the sites of a rigid molecule; each of them once. */
typedef struct plugmc_displacements {
    uint32_t size;
    int32_t n;                   /* at most PLUGMC_MOST_DISPLACED */
    const int32_t *particle;     /* [n] */
    const double (*position)[3]; /* [n] length, in the box */
} plugmc_displacements;

/* Many-body term. It allocates memory and compiles in the potential's `prepare`. */
typedef struct plugmc_total {
    uint32_t size;
    int32_t on_device; /* 1: energy also accepts device memory */
    /* 1: added to the pair and field facets of the same potential (the reciprocal part of an Ewald sum). 0: the
     * whole energy, used instead of them. */
    int32_t beside_parts;
    /* Main thread; returns a code. */
    int (*energy)(void *instance, const plugmc_total_request *);
    /* Optional, host only: `change` adds the energy change of moving one particle to *change; `settle` then tells
     * whether the move was accepted. `start` is called before the first change, with the positions of all walkers
     * in host memory, and again after positions were changed in another way. */
    int (*start)(void *instance, const plugmc_view *);
    int (*change)(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change);
    int (*settle)(void *instance, int32_t walker, int accepted);
    /* Optional, after prepare: the energy as a sum over waves, if it is one. The caller has cleared *out and set
     * its size; arrays live as long as the instance. */
    int (*waves)(const void *instance, plugmc_waves *out);
    /* PLUGMC_CHANGED_*: changes that leave energy and virial the same; 0: each may change them. A potential whose
     * only facet is a many-body term that does not depend on positions works with every mover: movers skip it
     * (plugmc_follows_positions), and `energy` may be called with a view that has boxes and counts but no positions
     * (NULL). */
    uint32_t unchanged_by;
    /* Optional, after configure: PLUGMC_MOLECULES_*. */
    int32_t (*molecules)(const void *instance);
    /* PLUGMC_CHANGED_BOX: reads the boxes of the view. PLUGMC_CHANGED_COUNT: reads its counts. Without them no
     * mover of the run may change boxes or counts. */
    uint32_t follows;
    /* Energy in a box with these counts [species]: of a term that does not depend on positions, or of a sum over waves what does
     * not (plugmc_waves.constant). From many threads. Needed to follow counts, unless there is insert_remove. */
    double (*of_counts)(const void *instance, const plugmc_box *, const int64_t *count);
    /* As `change`, for insertions and removals; `settle` follows. Without it a term that depends on positions
     * cannot be used in runs where particle counts change. */
    int (*insert_remove)(void *instance, int32_t walker, const plugmc_insert_remove *,
                         double *change);
    /* Optional, once, after prepare: fills in the molecule [particles] of each particle, the same in all walkers:
     * numbers from 0, negative for none. For PLUGMC_STATE_MOLECULE and trajectories. */
    int (*molecule_of)(void *instance, int32_t *molecule);
    /* Since 2.1. Optional: as `change`, for several particles at once; `settle` follows. Without it they are moved one after
     * the other, and back if they are rejected. */
    int (*displace)(void *instance, int32_t walker, const plugmc_displacements *, double *change);
    /* Since 2.1. Optional, beside `waves`: their weights [count] (energy) in the box of a walker, where movers change boxes; n
     * stay. Without it such trial moves are made on the host. */
    int (*weights)(void *instance, const plugmc_box *, int32_t walker, double *weight);
    /* Since 2.1. Optional, after prepare: 1 if `energy` in device memory does nothing but launch, the same for the same request, as
     * long as boxes and counts stay: its launches can be part of a graph. */
    int32_t (*recordable)(const void *instance);
} plugmc_total;

/* Walkers that a many-body term has to evaluate: plugmc_view.walkers, or all if the program does not have it. */
static inline int32_t plugmc_walkers_of(const plugmc_view *view, const plugmc_system *system)
{
    return PLUGMC_HAS(view, walkers) && view->walkers > 0 ? view->walkers : system->walkers;
}

/* Whether the energy depends on positions. */
static inline int plugmc_follows_positions(const plugmc_total *total)
{
    return !(PLUGMC_HAS(total, unchanged_by) && total->unchanged_by & PLUGMC_CHANGED_POSITION);
}

#endif
