/* Changes of -ln p for movers that decide by themselves.
 *
 * Such a mover needs to know no potential. It proposes changes, gets the energy change of every term, decides, and
 * reports what it accepted. If trial moves are made one after the other, the core does all of this
 * (plugmc/proposal.h) and the mover only proposes. */
#ifndef PLUGMC_CHANGES_H
#define PLUGMC_CHANGES_H

#include "plugmc/mover.h"
#include "plugmc/state.h"
#include "plugmc/trial.h"

/* Since 2.1. Several positions and orientations of a molecule that comes or leaves, as plugmc_trial.trial_orientations
 * explains. Those of walker w are the ones of trial `number` of that walker (plugmc_draw_trial_position), and the selection
 * draws from PLUGMC_PURPOSE_ACCEPT, draw 1. plugmc_changes.delta is the change with which the selection is corrected for, while
 * plugmc_changes.change has the energies of the selected one. */
typedef struct plugmc_choices {
    uint32_t size;
    int32_t positions,
        orientations; /* orientations at each position; their product is at most PLUGMC_MOST_TRIAL_POSITIONS */
    plugmc_seed seed;
    uint64_t sweep;
    uint32_t number;
    /* Out, [walkers], of insertions: what was selected. plugmc_changes.position and orientation point to these arrays. */
    double (*position)[3]; /* length */
    plugmc_orientation *orientation;
} plugmc_choices;

/* Proposals of one kind: per_walker for each of `walkers` walkers, starting with walker `first`. All of them start
 * from the current configuration. Arrays are [walkers][per_walker], host memory. A negative `particle`, or for an
 * insertion a negative `species`, means no proposal: its change is 0 and it cannot be accepted. Boxes are proposed
 * for all walkers, one each. Many-body terms that depend on positions are evaluated one proposal after the other,
 * and once more for the accepted one. */
typedef struct plugmc_changes {
    uint32_t size;
    int32_t kind; /* PLUGMC_DISPLACED, ...: plugmc/trial.h */
    int32_t first, walkers;
    int64_t per_walker;
    const int32_t *particle, *other; /* see plugmc_trial */
    const double (*position)[3];     /* length; wrapped by the core */
    const struct plugmc_box *box;    /* PLUGMC_RESCALED */
    /* Out, [walkers][per_walker][terms]: energy of each term after the change minus before, in the order of
     * plugmc_system.terms; 0 for terms that are only measured. Undefined if the change is forbidden. */
    double *change;
    /* Out, [walkers][per_walker]: 1 if hard cores overlap or a particle is at a forbidden position. */
    int32_t *forbidden;
    /* Out, [walkers][per_walker], or NULL: change of -ln p, all multipliers included. */
    double *delta;
    const int32_t *species; /* PLUGMC_INSERTED, PLUGMC_IDENTITY */
    /* PLUGMC_RESCALED, out, [walkers], or NULL: number of centres that move with the box, the N of the factor V^N:
     * rigid molecules and particles in none of them. */
    int64_t *scaled;
    /* PLUGMC_GROUP_*: particles per group. position, species and particle are then [walkers][per_walker][group]. If
     * there is no particle of species s to remove, particle is -1 - s. No particle may be twice in a group that is
     * displaced; one with a negative number stays out of it. */
    int32_t group;
    /* Since 2.1. New orientations: of PLUGMC_DISPLACED, NULL: they stay. Required of particles that come, one each, if
     * there are bodies, and of molecules that come. PLUGMC_MOLECULE_INSERTED: `species` is the kind of molecule, `position`
     * that of the first site. PLUGMC_MOLECULE_REMOVED: `particle` is the first site. PLUGMC_MOLECULE_DISPLACED is of
     * trial moves only. */
    const plugmc_orientation *orientation;
    /* Since 2.1. PLUGMC_RESCALED. 1: `change` and `delta` are only handed on to `decide`, so they may be off by rounding that depends
     * on the history; `decide` makes fresh sums where that could matter, and corrects them. 0: they depend on the
     * configuration alone. */
    int32_t for_decision;
    /* Since 2.1. PLUGMC_MOLECULE_INSERTED and PLUGMC_MOLECULE_REMOVED, one proposal a walker. NULL: one position each. */
    const plugmc_choices *choices;
} plugmc_changes;

/* A decision on one proposed change per walker, for all walkers: plugmc_hamiltonian.decide. A walker's change is
 * accepted with probability min(1, exp(log_factor - delta)), delta being that of `changes`: if u is less than that,
 * where u = plugmc_uniform_double(word[0], word[1]) of plugmc_draw(seed, sweep, walker, number,
 * PLUGMC_PURPOSE_ACCEPT, 0). Forbidden changes are rejected. Two walkers that are partners are decided together:
 * their deltas and log factors are added, and the random number is that of the lower one. */
typedef struct plugmc_decision {
    uint32_t size;
    int32_t move; /* index in the mover's table: which counts; partners count as one trial */
    uint64_t sweep;
    uint32_t number;               /* of the trial in the sweep */
    const plugmc_changes *changes; /* of all walkers, filled in by `energies`, with `delta` */
    /* NULL, or changes of another kind in walkers where `changes` proposes nothing: e.g. a particle removed from
     * one walker and inserted in another. */
    const plugmc_changes *also;
    const double *log_factor; /* [walkers] or NULL: see plugmc_trial */
    const int32_t *partner;   /* [walkers] or NULL: partner of each walker, or the walker itself */
    int64_t *taken;           /* out, [walkers] 0: accepted, -1: rejected */
} plugmc_decision;

/* Energies and decisions by the core: an extension for movers without a driver. */
#define PLUGMC_HAMILTONIAN "plugmc.hamiltonian/1"
typedef struct plugmc_hamiltonian {
    uint32_t size;
    /* `energies` fills in the requested outputs. The caller then has to call `settle`, with the index of the
     * accepted proposal of each walker [walkers], -1 for none, before it asks for these walkers again. Both may be
     * called from several threads for different walkers, unless a sampled potential has a many-body term. They
     * return a code. */
    int (*energies)(plugmc_context *, const plugmc_changes *);
    int (*settle)(plugmc_context *, const plugmc_changes *, const int64_t *taken);
    /* What the multipliers of a walker multiply, in the same order: the current energy of each term, the volume,
     * the particle counts of each species. Valid until they change. */
    int (*energy)(plugmc_context *, int32_t walker, const double **out);
    /* `step`: current step of a move on the rung of a walker. `count`: records a trial move made with it, for
     * movers that ask for energies themselves; the core then keeps the counts. */
    double (*step)(plugmc_context *, int32_t move, int32_t walker);
    void (*count)(plugmc_context *, int32_t move, int32_t walker, int taken);
    /* Draws the random numbers, decides, counts and settles, including the weights of macrostates. Returns a code. */
    int (*decide)(plugmc_context *, const plugmc_decision *);
} plugmc_hamiltonian;

static inline const plugmc_hamiltonian *plugmc_hamiltonian_of(const plugmc_host *host)
{
    return (const plugmc_hamiltonian *)host->extension(host->context, PLUGMC_HAMILTONIAN);
}

/* ---- Rungs ------------------------------------------------------------------------------------- */

/* Swaps of rungs (parallel tempering): an extension for movers without a driver. */
#define PLUGMC_RUNGS "plugmc.rungs/1"
typedef struct plugmc_rungs {
    uint32_t size;
    /* All walkers [walkers], sorted by rung and within a rung by number; valid until rungs change. NULL on an error
     * that has been reported. For a mover with PLUGMC_GLOBAL_WALKERS these are the walkers of all processes
     * [plugmc_state.of_run], numbered through the run, and so are a and b below. Such a mover makes the same calls
     * in all processes, and returns an error of any of them at once. */
    const int32_t *(*by_rung)(plugmc_context *);
    /* exchange_delta: change of -ln p of both walkers together if they swap rungs, with everything that belongs to
     * a rung. exchange_rungs: swaps them. Configurations stay where they are. */
    int (*exchange_delta)(plugmc_context *, int32_t a, int32_t b, double *delta);
    int (*exchange_rungs)(plugmc_context *, int32_t a, int32_t b);
} plugmc_rungs;

static inline const plugmc_rungs *plugmc_rungs_of(const plugmc_host *host)
{
    return (const plugmc_rungs *)host->extension(host->context, PLUGMC_RUNGS);
}

#endif
