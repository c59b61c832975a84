/* What changes of a configuration do to the energy that is sampled, for movers that decide by themselves.
 *
 * A mover that works with these knows no potential: it says what it would change, is told the change
 * of every term, decides, and says what it took. Where trial moves are made one after the other, the
 * core does all of this (plugmc/proposal.h), and the mover only proposes. */
#ifndef PLUGMC_CHANGES_H
#define PLUGMC_CHANGES_H

#include "plugmc/mover.h"
#include "plugmc/state.h"
#include "plugmc/trial.h"

/* Proposals of one kind: per_walker for each of `walkers` walkers from `first` on, all made to the
 * configuration as it is. For boxes it is one a walker. A total that positions change is asked about one after the
 * other, and about what was taken once more. Arrays are [walkers][per_walker], host memory. Nothing is proposed where `particle` is below 0, or, for an
 * insertion, `species`: its change is 0, and it cannot be taken. */
typedef struct plugmc_changes {
    uint32_t size;
    int32_t kind;
    int32_t first, walkers;
    int64_t per_walker;
    const int32_t *particle, *other;
    const double (*position)[3]; /* length; wrapped by the core */
    const struct plugmc_box *box;
    double *change;     /* out, [walkers][per_walker][terms]: energy of each term after less before,
                            in the order of plugmc_system.terms, 0 of those only measured; of no
                            meaning where it is forbidden */
    int32_t *forbidden; /* out, [walkers][per_walker]: 1 where hard cores overlap or a particle is
                           where it may not be */
    double *delta;      /* out, [walkers][per_walker], or NULL: how much -ln p of the configuration
                           grows, all that multipliers multiply taken together */
    const int32_t *species; /* of PLUGMC_INSERTED and PLUGMC_IDENTITY */
    int64_t *scaled; /* out, [walkers], or NULL: of PLUGMC_RESCALED, how many centres go with the
                               box: the N of the weight V^N */
    int32_t group; /* of PLUGMC_GROUP_*: how many together. Then position, species and particle are
                               [walkers][per_walker][group]. Where nobody of species s can leave, particle
                               is -1 - s */
} plugmc_changes;

/* A decision about what was proposed to all walkers, one change each: plugmc_hamiltonian.decide. A walker's change is
 * taken with probability min(1, exp(log_factor - growth)), growth that of `changes`, by u < that with
 * u = plugmc_uniform_double(word[0], word[1]) of plugmc_draw(seed, sweep, walker, number,
 * PLUGMC_PURPOSE_ACCEPT, 0). What is forbidden is not. Two walkers that are partners are decided together:
 * their growths and factors are added, and the lower one draws. */
typedef struct plugmc_decision {
    uint32_t size;
    int32_t move; /* in the mover's table: whose counts; a decision of partners counts once */
    uint64_t sweep;
    uint32_t number;               /* of the trial */
    const plugmc_changes *changes; /* of all walkers, as `energies` has answered, with `growth` */
    const plugmc_changes
        *also; /* NULL, or changes of another kind in walkers where `changes` proposes
                                      nothing: somebody comes in here who has left there */
    const double *log_factor; /* [walkers], or NULL: see plugmc_trial */
    const int32_t *partner;   /* [walkers], or NULL: each one's partner, or itself */
    int64_t *taken;           /* out, [walkers]: 0 or -1 */
} plugmc_decision;

/* What the core answers, an extension that movers without a driver ask for. */
#define PLUGMC_HAMILTONIAN "plugmc.hamiltonian/1"
typedef struct plugmc_hamiltonian {
    uint32_t size;
    /* What changes of configurations do to the energy , . `energies` fills in what is wanted. Until `settle` is called with the
     * number of the proposal that was taken in each walker [walkers], -1 for none, these walkers are
     * asked nothing else. Both are called from several threads, for different walkers, unless a sampled
     * potential has a total. */
    int (*energies)(plugmc_context *, const plugmc_changes *);
    int (*settle)(plugmc_context *, const plugmc_changes *, const int64_t *taken);
    /* What the multipliers of a walker multiply, in their order: the energy of each term as it is, the
     * volume, how many particles there are of each species; valid until they change. */
    int (*energy)(plugmc_context *, int32_t walker, const double **out);
    /* The step of a kind of move on the rung of a walker, as it is tuned; and a trial move that was made
     * there, for movers that ask for energies themselves: counts are the core's then. */
    double (*step)(plugmc_context *, int32_t move, int32_t walker);
    void (*count)(plugmc_context *, int32_t move, int32_t walker, int taken);
    /* Draws, counts and settles , with the weights of macrostates. */
    int (*decide)(plugmc_context *, const plugmc_decision *);
} plugmc_hamiltonian;

static inline const plugmc_hamiltonian *plugmc_hamiltonian_of(const plugmc_host *host)
{
    return (const plugmc_hamiltonian *)host->extension(host->context, PLUGMC_HAMILTONIAN);
}

/* ---- Rungs ------------------------------------------------------------------------------------- */

/* Exchanges of rungs, likewise. */
#define PLUGMC_RUNGS "plugmc.rungs/1"
typedef struct plugmc_rungs {
    uint32_t size;
    /* All walkers [walkers]: those of rung 0 in the order of their numbers, those of rung 1, ...; valid until
     * rungs change. NULL: it failed, which has been said. For a mover with PLUGMC_GLOBAL_WALKERS these are the walkers
     * of all processes [plugmc_state.of_run], by their number in the run, and so are a and b below; it makes
     * the same calls in all of them, and returns what one of these returns at once. */
    const int32_t *(*by_rung)(plugmc_context *);
    /* For movers without `load` and `store`: how much -ln p of two walkers together grows if they take each other's
     * rung, with all that belongs to a rung; and they do. Configurations stay where they are. */
    int (*exchange_delta)(plugmc_context *, int32_t a, int32_t b, double *delta);
    int (*exchange_rungs)(plugmc_context *, int32_t a, int32_t b);
} plugmc_rungs;

static inline const plugmc_rungs *plugmc_rungs_of(const plugmc_host *host)
{
    return (const plugmc_rungs *)host->extension(host->context, PLUGMC_RUNGS);
}

#endif
