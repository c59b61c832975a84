/* Movers: what they can work with, what they change and follow, and their sweeps. */
#ifndef PLUGMC_MOVER_H
#define PLUGMC_MOVER_H

#include "plugmc/plugin.h"
#include "plugmc/state.h"

/* Which facets and systems a mover can work with. Bits 16 to 23 are for restrictions to come: a program that
 * does not know one refuses the mover. Bits 24 to 31 are for abilities to come, which it passes over. */
enum {
    PLUGMC_USES_PAIR = 1,
    PLUGMC_USES_FIELD = 2,
    PLUGMC_USES_TOTAL = 4,
    PLUGMC_USES_ORBITALS = 8,
    PLUGMC_NEEDS_FINITE_RANGE = 16,
    PLUGMC_NEEDS_PERIODIC = 32,
    PLUGMC_RUNS_ON_CPU = 64,
    PLUGMC_RUNS_ON_GPU = 128,
    PLUGMC_NEEDS_RECTANGULAR = 256, /* no oblique box */
    PLUGMC_NEEDS_FORCES = 512,      /* derivatives of every pair and field, forces of every total;
                                       no hard cores */
    PLUGMC_KEEPS_MOLECULES = 1024,  /* the particles of a molecule are moved together */
    PLUGMC_DECOMPOSES_DOMAIN =
        1 << 25, /* one system over several processes (plugmc/domain_decomposition.h) */
    PLUGMC_GLOBAL_WALKERS = 1 << 26, /* ties walkers by what it knows of those of all processes */
    PLUGMC_USES_POSITIONS = 1 << 27  /* takes pairs with PLUGMC_PAIR_POSITIONS */
};

/* A kind of trial move. The core keeps and reports its counts. If the move has a step, the core has that too: it
 * tunes it on each rung during equilibration, saves it, and tells it to `sweep`. */
typedef struct plugmc_move {
    const char *name;      /* a word: "displacement" */
    const char *doc;       /* one line */
    const char *step_unit; /* of its step, e.g. "length"; NULL: it has none */
    const char *step_key;  /* parameter (real) with which the step begins */
    const char
        *target_key; /* parameter (real): acceptance to tune it to, 0: not at all; NULL: never */
    double
        largest; /* largest step that makes sense; 0: for a length half of the longest edge of the box */
    /* Optional: how much of this step the mover can make on a rung, beside `most`. */
    double (*limit)(const void *instance, int32_t rung, double step);
} plugmc_move;

/* Numbers of trial moves since the counters were last cleared. */
typedef struct plugmc_counts {
    uint64_t trials, accepted;
} plugmc_counts;

/* The one of a mover of single particles, whose section has `step` and `target_acceptance`. */
#define PLUGMC_DISPLACEMENT                                                                        \
    {                                                                                              \
        .name = "displacement", .doc = "one particle goes elsewhere", .step_unit = "length",       \
        .step_key = "step", .target_key = "target_acceptance"                                      \
    }

/* What `sweep` is asked to do. */
typedef struct plugmc_sweeps {
    uint32_t size;
    uint64_t first, n;  /* sweeps first ... first + n - 1 of every walker */
    const double *step; /* [moves][rungs] of the mover; 0 of moves without */
} plugmc_sweeps;

/* How fast trial moves are on processors. */
typedef struct plugmc_speed {
    uint32_t size;
    double seconds; /* from one trial move to the next, with all threads of the system */
    double trials;  /* of a sweep of all walkers */
} plugmc_speed;

typedef struct plugmc_mover {
    uint32_t size;
    uint32_t needs; /* PLUGMC_USES_* | PLUGMC_NEEDS_* | PLUGMC_RUNS_ON_* */
    /* PLUGMC_CHANGED_*: what it changes, and what it can follow when another mover of the run has
     * changed it. What nobody changes is as the run began (plugmc_system). */
    uint32_t changes, follows;
    int (*sweep)(void *instance, const plugmc_host *, const plugmc_sweeps *);
    /* The kinds of trial move that it makes; none of a mover that only changes weights. */
    const plugmc_move *moves;
    int32_t move_count;
    uint32_t move_size; /* sizeof(plugmc_move), the stride of the table */
    /* 1: what it decides ties walkers to each other, so that they are no independent samples. */
    int32_t couples;
    /* Walkers that have to be in one process, in the order of their numbers, where several processes share them:
     * 2 of a mover that pairs 0 with 1, 2 with 3, ...; 0: any. */
    int32_t together;
    /* Counts since `clear` that the mover keeps itself, all walkers: out [moves][rungs]. Those of plugmc_host.trials and
     * of decisions are the core's. */
    int (*counts)(void *instance, const plugmc_host *, plugmc_counts *out, int clear);
    /* Of movers that keep a configuration of their own. One without it proposes trial moves or asks the core for energies
     * (plugmc/proposal.h, plugmc/changes.h): it works with every pair, field and total, whatever `needs` says, and
     * follows new places, boxes, multipliers and rungs; other changes if `follows` names them. */
    const struct plugmc_driver *driver;
    /* Optional: for which systems it is the mover to take. One line for people who choose among movers; it goes on
     * from "good for ". */
    const char *good_for;
    /* Optional: names of other movers, with blanks between, that make the same kind of trial moves. Before a long run
     * the core asks each for its speed, and says so if one is several times faster. */
    const char *same_moves;
    /* Optional: how fast it is for this system without a GPU, by a formula that fits what was measured. A factor of
     * two is good enough. The instance has its keys and nothing else: it need not have been configured. The caller
     * has set out->size. PLUGMC_UNANSWERED: it is not known. */
    int (*speed)(const void *instance, const plugmc_system *, plugmc_speed *out);
} plugmc_mover;

struct plugmc_trial; /* plugmc/trial.h */

/* Trial moves, one after the other in each walker. A move is taken if its growth, that of -ln p less
 * log_factor, is not above 0, or with probability exp(-growth): u < that with
 * u = plugmc_uniform_double(word[0], word[1]) of
 * plugmc_draw(seed, sweep, walker, number, PLUGMC_PURPOSE_ACCEPT, 0). What is forbidden is not. */
typedef struct plugmc_proposal {
    uint32_t size;
    int32_t move;   /* number of the kind of move in the mover's table: for counts and steps */
    int64_t trials; /* a walker and sweep; 0: as many as it has particles when the sweep begins */
    uint32_t
        from; /* number of the first of them: calls of one sweep that share numbers share draws */
    const void *parameters; /* of propose */
    /* Fills in a trial; 0: there is nothing to try, which counts as a trial that is rejected. Called
     * from several threads, for different walkers. */
    int (*propose)(const void *parameters, struct plugmc_trial *);
    /* Bytes of the parameters, where the mover carries `propose` as a GPU source too
     * (plugmc/proposal.h); 0: trials are made on the CPU. */
    size_t parameters_size;
    /* Most places of a trial (plugmc_trial.trial_positions). Above 1 the mover's text has to define PLUGMC_TRIAL_POSITIONS. */
    int32_t trial_positions;
    /* Most particles of a group (PLUGMC_GROUP_*). Above 0 the mover's text has to define PLUGMC_GROUPS. */
    int32_t together;
} plugmc_proposal;

/* In a descriptor: what a mover is, with a table of moves. */
#define PLUGMC_MOVER_WITH(table_of_moves, ...)                                                     \
    .kind = PLUGMC_MOVER, .mover = &(const plugmc_mover)                                           \
    {                                                                                              \
        .size = sizeof(plugmc_mover), .moves = table_of_moves,                                     \
        .move_count = PLUGMC_COUNT(table_of_moves), .move_size = sizeof(plugmc_move), __VA_ARGS__  \
    }

#endif
