/* Movers: what they can work with, what they change and follow, and their callbacks. Part of plugmc/plugin.h, which
 * includes this behind what is used here. */
#ifndef PLUGMC_MOVER_H
#define PLUGMC_MOVER_H

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
    PLUGMC_NEEDS_RECTANGULAR = 256,  /* no oblique box */
    PLUGMC_NEEDS_FORCES = 512,       /* derivatives of every pair and field, forces of every total;
                                       no hard cores */
    PLUGMC_KEEPS_MOLECULES = 1024,   /* the particles of a molecule are moved together */
    PLUGMC_SPREADS = 1 << 25,        /* one system over several processes (plugmc/spread.h) */
    PLUGMC_GLOBAL_WALKERS = 1 << 26, /* ties walkers by what it knows of those of all processes */
    PLUGMC_USES_PLACES = 1 << 27     /* takes pairs with PLUGMC_PAIR_PLACES */
};

/* Numbers of trial moves since the counters were last cleared. */
typedef struct plugmc_counts {
    uint64_t trials, accepted;
} plugmc_counts;

/* A kind of trial move. Counts and steps of a mover are kept, and reported, for each of its kinds. */
typedef struct plugmc_move {
    const char *name;      /* a word: "displacement" */
    const char *doc;       /* one line */
    const char *step_unit; /* of its step, e.g. "length"; NULL: it has none */
} plugmc_move;

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
    /* `take` and `give` are of movers that keep a configuration of their own, in their own layout. One
     * without them asks the core for energies (plugmc_host.energies, settle, trials); it works with
     * every pair, field and total, whatever `needs` says, and follows new places, boxes, multipliers and
     * rungs; other changes if `follows` names them.
     *
     * Takes the configuration to sweep it. `changed`, PLUGMC_CHANGED_*, is what is not as this mover
     * gave it last; at first everything is. What it builds from that must follow from the state and
     * from what the mover archives alone, so that it does not matter when it is built. */
    int (*take)(void *instance, const plugmc_host *, const plugmc_state *, uint32_t changed);
    /* Sweeps number first ... first + n - 1 of every walker. */
    int (*sweep)(void *instance, const plugmc_host *, uint64_t first, uint64_t n);
    /* Writes what it changes into the state, on the side where it is. It keeps its own layout: if
     * nobody else changes anything, it goes on sweeping without another take. */
    int (*give)(void *instance, const plugmc_host *, const plugmc_state *);
    /* The kinds of trial move that it makes; none of a mover that only changes weights. */
    const plugmc_move *moves;
    int32_t move_count;
    uint32_t move_size; /* sizeof(plugmc_move), the stride of the table */
    /* Counts since `clear`, all walkers: out [moves][rungs]. Those of plugmc_host.trials are the
     * core's. */
    int (*counts)(void *instance, const plugmc_host *, plugmc_counts *out, int clear);
    /* Optional: the size of a kind of trial move on a rung, and how to set it. The core tunes it
     * during equilibration towards the target acceptance, then leaves it alone, and sets it again when
     * a run is resumed. A mover may take less than it is told: `step` says what it took. */
    double (*step)(const void *instance, int32_t move, int32_t rung);
    int (*set_step)(void *instance, const plugmc_host *, int32_t move, int32_t rung, double step);
    double (*target_acceptance)(const void *instance, int32_t move); /* 0: no tuning */
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
    /* 1: what it decides ties walkers to each other, so that they are no independent samples. */
    int32_t joins;
    /* Walkers that have to be in one process, in the order of their numbers, where several processes share them:
     * 2 of a mover that pairs 0 with 1, 2 with 3, ...; 0: any. */
    int32_t together;
    /* Optional: lends the inverse matrices of all walkers as they belong to the positions that it has given
     * last. The caller has set out->size and cleared the rest; where there are none, `inverse` stays NULL. */
    int (*inverses)(void *instance, const plugmc_host *, plugmc_inverses *out);
    /* Optional, on a GPU: sorts the particles of all walkers, as it holds them, into cells that somebody wants, so that
     * it need not give positions which would then be sorted. It is called to count, then to place
     * (plugmc_cell_filling), and changes nothing by that. It may return PLUGMC_UNANSWERED when it is to count: then it is
     * asked to give. Positions are to the bit those that it would give. */
    int (*fill_cells)(void *instance, const plugmc_host *, const plugmc_cell_filling *);
    /* Optional, with PLUGMC_SPREADS: what this process needs to measure its share, into positions [particles][3] of
     * its one walker, in device memory where there is a GPU: those of its share, and of all others that are at most
     * `reach` (length) from it along the axis of the share; NaN for the rest. Made by all processes alike, while
     * the state would be what `give` gives; it changes nothing. */
    int (*give_share)(void *instance, const plugmc_host *, double reach, double *positions,
                      plugmc_share *share);
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

#endif
