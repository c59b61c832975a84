/* Movers: the systems they can work with, what they change, and their sweeps. */
#ifndef PLUGMC_MOVER_H
#define PLUGMC_MOVER_H

#include "plugmc/plugin.h"
#include "plugmc/state.h"

/* Facets and systems that a mover can work with. Bits 16 to 23 are reserved for restrictions: a program that does
 * not know one of them refuses the mover. Bits 24 to 31 are reserved for abilities: a program ignores those it does
 * not know. */
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
    /* Derivatives of every pair and field, forces of every many-body term; no hard cores. */
    PLUGMC_NEEDS_FORCES = 512,
    PLUGMC_KEEPS_MOLECULES = 1024, /* moves the particles of a molecule together */
    /* Domain decomposition: one system over several processes (plugmc/domain_decomposition.h). */
    PLUGMC_DECOMPOSES_DOMAIN = 1 << 25,
    /* Couples walkers of all processes (plugmc_rungs). */
    PLUGMC_GLOBAL_WALKERS = 1 << 26,
    /* Since 2.1. Fit for runs with rigid molecules (plugmc/molecule.h): it displaces particles only if plugmc_trial
     * shows them, and molecules only by PLUGMC_MOLECULE_DISPLACED; or it displaces nobody. Or it is a driver that
     * changes PLUGMC_CHANGED_ORIENTATION, too: it then moves whole molecules, and stores their sites where
     * plugmc_place_site puts them; or it moves particles in no molecule alone. */
    PLUGMC_KEEPS_RIGID = 1 << 24,
    PLUGMC_USES_POSITIONS = 1 << 27, /* accepts pairs with PLUGMC_PAIR_POSITIONS */
    PLUGMC_USES_BODY =
        1 << 28 /* accepts bodies (plugmc/body.h), whose orientations stay or follow */
};

/* A kind of trial move. The core keeps and reports its counts. If the move has a step, the core also keeps the
 * step: it tunes it on each rung during equilibration, saves it in the checkpoint and passes it to `sweep`. */
typedef struct plugmc_move {
    const char *name;      /* one word: "displacement" */
    const char *doc;       /* one line */
    const char *step_unit; /* unit of the step, e.g. "length"; NULL: no step */
    const char *step_key;  /* parameter (real): initial step */
    /* Parameter (real): the acceptance that the step is tuned to, 0: not tuned. NULL: never tuned. */
    const char *target_key;
    /* Largest sensible step. 0: half of the longest box edge if the unit is "length", else unlimited. */
    double largest;
    /* Optional: returns the largest step up to `step` that the mover can make on a rung, in addition to `largest`. */
    double (*limit)(const void *instance, int32_t rung, double step);
} plugmc_move;

/* Trial moves since the counters were last cleared. */
typedef struct plugmc_counts {
    uint64_t trials, accepted;
} plugmc_counts;

/* The move of a mover of single particles whose section has `step` and `target_acceptance`. */
#define PLUGMC_DISPLACEMENT                                                                        \
    {                                                                                              \
        .name = "displacement", .doc = "one particle goes elsewhere", .step_unit = "length",       \
        .step_key = "step", .target_key = "target_acceptance"                                      \
    }

/* What `sweep` has to do. */
typedef struct plugmc_sweeps {
    uint32_t size;
    uint64_t first, n;  /* sweeps first ... first + n - 1 of every walker */
    const double *step; /* [moves][rungs]; 0 for moves without a step */
} plugmc_sweeps;

/* Speed of trial moves. */
typedef struct plugmc_speed {
    uint32_t size;
    /* Time per trial move on the CPU, with all threads of the system. 0: unknown. */
    double seconds;
    double trials; /* per sweep, of all walkers together */
    /* Time per trial move on one GPU. 0: unknown; of a mover without a driver the core knows it. Since 2.1: fill it in
     * if PLUGMC_HAS(out, gpu_seconds). */
    double gpu_seconds;
} plugmc_speed;

typedef struct plugmc_mover {
    uint32_t size;
    uint32_t needs; /* PLUGMC_USES_* | PLUGMC_NEEDS_* | PLUGMC_RUNS_ON_* */
    /* PLUGMC_CHANGED_*: what the mover changes, and changes by other movers that it can follow. Everything that no
     * mover changes stays as in plugmc_system. */
    uint32_t changes, follows;
    /* Makes these sweeps. Returns a code; PLUGMC_STOPPED after host->stopping has returned 1. */
    int (*sweep)(void *instance, const plugmc_host *, const plugmc_sweeps *);
    /* Kinds of trial move; none for a mover that only changes weights. */
    const plugmc_move *moves;
    int32_t move_count;
    uint32_t move_size; /* sizeof(plugmc_move): stride of the table */
    int32_t couples;    /* 1: couples walkers, so their samples are correlated */
    /* Walkers that have to be in one process if several processes share the walkers, by number: 2 for a mover that
     * pairs 0 with 1, 2 with 3, ...; 0: any. */
    int32_t together;
    /* Trial moves of all walkers since `clear`, for moves that the mover counts itself: out [moves][rungs]. The
     * core counts those of plugmc_host.trials and of decisions. */
    int (*counts)(void *instance, const plugmc_host *, plugmc_counts *out, int clear);
    /* For movers with a configuration of their own (plugmc/driver.h). Without it a mover proposes trial moves or
     * asks the core for energies (plugmc/proposal.h, plugmc/changes.h). It then works with every pair, field and
     * many-body term, whatever `needs` says, and follows changes of positions, boxes, multipliers and rungs; other
     * changes if `follows` names them. */
    const struct plugmc_driver *driver;
    /* Optional: the systems for which to choose this mover, for users who choose among movers. One line that
     * continues "good for ". */
    const char *good_for;
    /* Optional: names, separated by blanks, of other movers that make the same kind of trial moves. Before a long
     * run the core asks each of them for its speed and reports it if one is several times faster. A mover with this,
     * with `speed` and with the one move PLUGMC_DISPLACEMENT is one that [mover auto] may choose. */
    const char *same_moves;
    /* Optional: estimated speed for this system, by a formula fitted to measurements; a factor of two is good enough.
     * It must depend on its arguments alone, since [mover auto] and with it the chain may depend on it. The instance has
     * its parameters but need not have been configured. The caller has set out->size and cleared the rest.
     * PLUGMC_UNANSWERED: unknown. */
    int (*speed)(const void *instance, const plugmc_system *, plugmc_speed *out);
} plugmc_mover;

struct plugmc_trial; /* plugmc/trial.h */

/* Trial moves, made one after the other in each walker. With delta = (change of -ln p) - log_factor, a move is
 * accepted if delta <= 0, else with probability exp(-delta): if u < exp(-delta), where u =
 * plugmc_uniform_double(word[0], word[1]) of plugmc_draw(seed, sweep, walker, number, PLUGMC_PURPOSE_ACCEPT, 0).
 * Forbidden moves are rejected. */
typedef struct plugmc_proposal {
    uint32_t size;
    int32_t move; /* index of the move in the mover's table: for counts and steps */
    /* Per walker and sweep; 0: the number of particles when the sweep begins, in runs with rigid molecules of those that
     * are in none. */
    int64_t trials;
    /* Number of the first trial. Two calls in one sweep that share numbers also share random numbers. */
    uint32_t from;
    const void *parameters; /* first argument of propose */
    /* Fills in a trial and returns 1; returns 0 if there is nothing to propose, which counts as a rejected trial.
     * Called from several threads, for different walkers. */
    int (*propose)(const void *parameters, struct plugmc_trial *);
    /* sizeof the parameters if the mover also embeds `propose` as GPU source (plugmc/proposal.h). 0: trials are
     * made on the CPU. */
    size_t parameters_size;
    /* Largest plugmc_trial.trial_positions, of molecules times trial_orientations. Above 1 its GPU source needs PLUGMC_TRIAL_POSITIONS, but for molecules. */
    int32_t trial_positions;
    /* Most particles in a group (PLUGMC_GROUP_*): at most PLUGMC_MOST_TOGETHER where groups are inserted or removed,
     * PLUGMC_MOST_DISPLACED where they are only displaced. 0: no groups. The mover's GPU source has to define
     * PLUGMC_GROUPS as this number or a larger one. */
    int32_t together;
    /* Since 2.1. With trials = 0: 1: the number of rigid molecules. */
    int32_t for_molecules;
    /* Since 2.1. [walkers]: partner of each walker, with trials > 0. One of the two proposes PLUGMC_MOLECULE_REMOVED and the
     * other PLUGMC_MOLECULE_INSERTED, and both are accepted or rejected together as plugmc_decision says of partners. If there is no
     * molecule to be removed the trial is not counted. With one trial position and orientation both walkers draw with the number of
     * the lower one. Trials are made on a GPU alone, else the answer is PLUGMC_UNANSWERED and nothing has changed; the GPU source has to
     * define PLUGMC_PARTNERS. NULL: walkers are decided one by one. */
    const int32_t *partner;
} plugmc_proposal;

/* For the descriptor: a mover and its table of moves. */
#define PLUGMC_MOVER_WITH(table_of_moves, ...)                                                     \
    .kind = PLUGMC_MOVER, .mover = &(const plugmc_mover)                                           \
    {                                                                                              \
        .size = sizeof(plugmc_mover), .moves = table_of_moves,                                     \
        .move_count = PLUGMC_COUNT(table_of_moves), .move_size = sizeof(plugmc_move), __VA_ARGS__  \
    }

#endif
