/* What a change of a configuration does to the energy that is sampled. Part of plugmc/plugin.h.
 *
 * A mover that works with these knows no potential: it says what it would change, is told the change
 * of every term, decides, and says what it took. Where trial moves are made one after the other, the
 * core does all of this (plugmc_host.trials), and the mover only proposes. */
#ifndef PLUGMC_ENERGIES_H
#define PLUGMC_ENERGIES_H

#if !defined(__CUDACC_RTC__)
#include <stddef.h>
#include <stdint.h>
#endif

/* Kinds of change. */
enum {
    PLUGMC_DISPLACED, /* `particle` goes to `position` */
    PLUGMC_SWAPPED,   /* `particle` and `other` take each other's place */
    PLUGMC_RESCALED   /* the walker gets `box`; fractional coordinates stay */
};

/* Proposals of one kind: per_walker for each of `walkers` walkers from `first` on, all made to the
 * configuration as it is. With a total that positions change, and for boxes, it is one a walker. Arrays
 * are [walkers][per_walker], host memory. */
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
    double *growth;     /* out, [walkers][per_walker], or NULL: how much -ln p of the configuration
                           grows, all that multipliers multiply taken together */
} plugmc_changes;

/* A trial move of one walker as a mover proposes it. */
typedef struct plugmc_trial {
    uint32_t size;
    /* given */
    uint32_t walker; /* its global number, for plugmc_draw */
    uint64_t seed, sweep;
    uint32_t number; /* of the trial in the sweep, from plugmc_proposal.from */
    int32_t dimension;
    int64_t particles;
    const int64_t *first;    /* particles of species s: first[s] ... first[s + 1] - 1 */
    const double *x, *y, *z; /* [particles], length */
    double step;
    /* wanted; cleared before */
    int32_t kind; /* PLUGMC_DISPLACED or PLUGMC_SWAPPED */
    int32_t particle, other;
    double position[3]; /* length; wrapped by the core */
} plugmc_trial;

/* Trial moves, one after the other in each walker. A move is taken if -ln p does not grow, or with
 * probability exp(-its growth): u < that with u = plugmc_uniform_double(word[0], word[1]) of
 * plugmc_draw(seed, sweep, walker, number, PLUGMC_PURPOSE_ACCEPT, 0). What is forbidden is not. */
typedef struct plugmc_proposal {
    uint32_t size;
    int32_t move;   /* number of the kind of move in the mover's table: for counts and steps */
    int64_t trials; /* a walker and sweep */
    uint32_t
        from; /* number of the first of them: calls of one sweep that share numbers share draws */
    const void *parameters; /* of propose */
    /* Fills in a trial; 0: there is nothing to try, which counts as a trial that is rejected. Called
     * from several threads, for different walkers. */
    int (*propose)(const void *parameters, plugmc_trial *);
    /* Bytes of the parameters, where the mover carries `propose` as a text for a GPU too
     * (plugmc/proposal.h); 0: trials are made on the CPU. */
    size_t parameters_size;
} plugmc_proposal;

#endif
