/* Energies of whole configurations: the facet of a potential that is no sum over pairs. */
#ifndef PLUGMC_TOTAL_H
#define PLUGMC_TOTAL_H

#include "plugmc/facets.h"
#include "plugmc/state.h"
#include "plugmc/view.h"

/* What is asked of a total facet. All pointers are host memory, or all device memory, as the view's
 * positions; what is found is ADDED to what is there. On a device the call returns without waiting.
 * NULL: not wanted. */
typedef struct plugmc_total_request {
    uint32_t size;
    const plugmc_view *view;
    double *energy; /* [walkers], kT */
    double *forces; /* [walkers][particles][3], kT/length */
    double *virial; /* [walkers][3], kT: sum over particles of r_d f_d, by the periodic images */
} plugmc_total_request;

/* An energy that is a sum over waves, in kT, for movers that sum them by themselves:
 *
 *     U = constant + sum_k weight_k |S_k|^2,    S_k = sum_i z_i exp(2 pi i n_k.f_i)
 *
 * with the charges z and the fractional coordinates f (plugmc_box.inverse) of the particles. When
 * one particle moves, S_k changes by z (exp(2 pi i n_k.f') - exp(2 pi i n_k.f)). */
typedef struct plugmc_waves {
    uint32_t size;
    int64_t count;
    const int32_t (*n)[3]; /* [count] */
    const double *weight;  /* [count] kT */
    double constant;       /* kT, of a configuration */
} plugmc_waves;

/* What a potential has to do with molecules. */
enum {
    PLUGMC_MOLECULES_NONE,  /* it knows of none */
    PLUGMC_MOLECULES_LOOSE, /* it leaves out pairs within a molecule, which something else has to
                               hold together */
    PLUGMC_MOLECULES_BOUND  /* it holds them together */
};

/* Particles that come and leave at once, one or a group. Those who leave go first, one after the other, and
 * each time the last one of the species takes the number; then the others come, behind the last of their
 * species. */
typedef struct plugmc_insert_remove {
    uint32_t size;
    int32_t inserted, removed;
    const int32_t *species;      /* [comes] */
    const double (*position)[3]; /* [comes], length, in the box */
    const int32_t *particle;     /* [leaves] */
} plugmc_insert_remove;

/* Energy of whole configurations. The potential's own `prepare` takes memory and compiles. */
typedef struct plugmc_total {
    uint32_t size;
    int32_t on_device;    /* 1: can also take device memory */
    int32_t beside_parts; /* 1: to be added to the pair and field facets of the same potential (the
                             reciprocal part of an Ewald sum); 0: it is the whole, instead of them */
    int (*energy)(void *instance, const plugmc_total_request *);
    /* Optional, host only: the change when one particle moves; then settle with accepted or not.
     * start is called once before, with all walkers' positions on the host, and after positions
     * changed by other means. change adds to *change. */
    int (*start)(void *instance, const plugmc_view *);
    int (*change)(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change);
    int (*settle)(void *instance, int32_t walker, int accepted);
    /* Optional, after prepare: the energy as a sum over waves, where it is one. The caller has
     * cleared *out and set its size; arrays live as long as the instance. */
    int (*waves)(const void *instance, plugmc_waves *out);
    /* Changes that leave energy and virial as they are, as bits PLUGMC_CHANGED_*; 0: each may change
     * them. A total that positions do not change, of a potential without other facets, goes with
     * every mover: movers leave it out (plugmc_follows_positions), and `energy` may be asked of a
     * view that has boxes and no positions (NULL). */
    uint32_t unchanged_by;
    /* Optional, after configure: PLUGMC_MOLECULES_*. */
    int32_t (*molecules)(const void *instance);
    /* PLUGMC_CHANGED_BOX: it takes the boxes of a view. PLUGMC_CHANGED_COUNT: its counts. Else no mover of
     * the run may change them. */
    uint32_t follows;
    /* The energy of a total that positions do not change, in a box with these counts [species]; from many
     * threads. It is asked for, too, where it follows counts. */
    double (*of_counts)(const void *instance, const plugmc_box *, const int64_t *count);
    /* As `change`, when particles come and leave; settle follows. Without it a total that positions change
     * cannot be where numbers of particles change. */
    int (*insert_remove)(void *instance, int32_t walker, const plugmc_insert_remove *,
                         double *change);
    /* Optional, once, after prepare: the molecule [particles] of each particle of any walker, numbers from 0 up, or
     * less than 0: none; for PLUGMC_STATE_MOLECULE and trajectories. */
    int (*molecule_of)(void *instance, int32_t *molecule);
} plugmc_total;

/* Walkers that a total facet is asked about: plugmc_view.walkers, of a program that knows it. */
static inline int32_t plugmc_walkers_of(const plugmc_view *view, const plugmc_system *system)
{
    return PLUGMC_HAS(view, walkers) && view->walkers > 0 ? view->walkers : system->walkers;
}

/* Whether moves of particles change the energy of a total facet. */
static inline int plugmc_follows_positions(const plugmc_total *total)
{
    return !(PLUGMC_HAS(total, unchanged_by) && total->unchanged_by & PLUGMC_CHANGED_POSITION);
}

#endif
