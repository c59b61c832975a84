/* sequential.h: what the movers of the sequential Metropolis sweep (brush, parallel_reduction)
 * share on the host: places, rounded where pairs are summed in float; terms; energies; the memory
 * and the kernels of the device that are not the sweep itself. And the sweep on the CPU, cpu.c. */
#ifndef SEQUENTIAL_H
#define SEQUENTIAL_H

#include <plugmc/everything.h>

#include "trial.h"

enum { SINGLE, DOUBLE };
enum { HANDFUL = 64, ENERGY_BLOCK = 128 /* threads of a block of energy.cu */ };

/* A pair or field term that is sampled. */
typedef struct term {
    const plugmc_term *of;
    const plugmc_pair *pair;   /* of the precision chosen; NULL without */
    const plugmc_field *field; /* double precision; NULL without */
    const void *instance;      /* of pair */
} term;

/* Cells for hard cores, at least as wide as the largest contact. A sphere is cut as a cube. */
typedef struct grid {
    int32_t count[3];
    double width[3], origin;
    int64_t cells; /* 0: there are no hard cores */
} grid;

/* A few particles from anywhere, as the batch functions take them. */
typedef struct handful {
    int64_t n;
    double x[HANDFUL], y[HANDFUL], z[HANDFUL], charge[HANDFUL],
        diameter[HANDFUL]; /* room for real */
    int32_t species[HANDFUL];
} handful;

/* Where walkers differ, [walkers]. */
typedef struct device_walkers {
    plugmc_device_pointer each, weight, margin, boxes;
} device_walkers;

/* Where a system is spread: what all parts write into. */
typedef struct device_parts {
    plugmc_device_pointer turn, places, news, mail, mail_sum, mail_hit, gone, lost;
} device_parts;

/* Of trial moves: see brush_state. */
typedef struct device_trials {
    plugmc_device_pointer moved, trial, outcome;
} device_trials;

/* Mirrors brush_state of state.h. */
typedef struct device_state {
    plugmc_device_pointer place, before;
    device_trials trials;
    plugmc_device_pointer sum, hit, done, decided, ticket, role, failed, accepted, energy, sweep,
        step;
    device_walkers now;
    int32_t particles, padded, panels, walkers, interval, intervals, blocks;
    int32_t part; /* where a system is spread */
    device_parts parts;
} device_state;

/* A GPU source of a mover: files one after the other. */
typedef struct device_text {
    const char *name, *part[6]; /* five at most, NULL after the last */
    int in_double;              /* whatever the precision chosen */
    int contract;               /* a * b + c may be rounded once */
} device_text;
enum { TEXT_PROPOSE, TEXT_SWEEP, TEXT_ENERGY, TEXTS }; /* of every mover */

/* Walkers as they are. */
typedef struct each_walker {
    int32_t *on_rung;   /* [walkers] */
    plugmc_box *box;    /* [walkers] */
    brush_walker *of;   /* [walkers] */
    double *margin;     /* [walkers]: factor on squares of contact distances */
    double *weight;     /* [walkers][terms]: what energies count by; NULL: 1 for all */
    uint64_t *accepted; /* [walkers]: on the CPU, in one call */
    double *energy;     /* [walkers]: running, kT; on a GPU without what the device has added */
    int32_t energy_known;
    uint64_t sweeps_since; /* the energy was summed afresh */
} each_walker;

/* Kernels, and what their texts are compiled with. */
typedef struct sequential_kernels {
    plugmc_kernel *propose, *outcomes, *sweep, *store, *energy;
    plugmc_graph *graph;
    char *texts[TEXTS];
    char defines[10][48];
    const char *define_list[11];
    int define_count;
} sequential_kernels;

typedef struct sequential {
    int32_t precision;
    real step, target_acceptance;
    int64_t group_size, refresh;

    const plugmc_system *system;
    const plugmc_decomposition
        *spread;         /* NULL: this process alone sweeps its walkers, all of each */
    plugmc_seed seed;    /* of its random draws */
    brush_domain domain; /* at the start: whether it is periodic, and oblique, stays */
    term *terms;
    int term_count, hard_count; /* the first ones have no pair energy */
    size_t real_size;           /* of places and of the energies of pairs */
    int32_t rungs;
    real *steps;           /* [rungs] length */
    plugmc_counts *counts; /* [rungs] */
    each_walker now;

    /* On the CPU. */
    int64_t group;          /* group_size, at most N */
    struct arrays *walkers; /* [walkers] */
    struct group *groups;   /* [threads] if walkers are shared among threads, else [1] */

    /* On the GPU. */
    device_state d;
    plugmc_device_pointer d_positions, d_rows;
    size_t outcome_bytes; /* of d.outcome, of a walker */
    sequential_kernels kernels;
} sequential;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_code = (call);                                                                     \
        if (try_code) return try_code;                                                             \
    } while (0)

/* ---- sequential.c ---------------------------------------------------------------------------- */

/* Terms, domain, memory for energies. */
int sequential_prepare(sequential *, const plugmc_host *);
/* Adds NAME=NUMBER to what all texts are compiled with; before they are asked for. */
void sequential_define(sequential *, const char *name, int number);
/* plugmc_plugin.gpu_source with the texts of a mover [TEXTS]. */
int sequential_gpu_source(sequential *, const plugmc_host *, const device_text *, int index,
                          plugmc_gpu_source *out);
/* The memory of d, whose numbers the mover has set, and the kernels but that of the sweep. */
int sequential_prepare_device(sequential *, const plugmc_host *, const device_text *);
/* n sweeps' trial moves are counted. */
void sequential_count(sequential *, uint64_t n);
/* Draws the trial moves of a sweep on the device. */
int sequential_propose(sequential *, const plugmc_host *);
/* Of the mover; instance is a sequential. */
int sequential_take(void *instance, const plugmc_host *, const plugmc_state *, uint32_t changed);
int sequential_give(void *instance, const plugmc_host *, const plugmc_state *);
int sequential_counts(void *instance, const plugmc_host *, plugmc_counts *out, int clear);
int sequential_running_energy(void *instance, const plugmc_host *, double *energy);
int sequential_archive(void *instance, const plugmc_host *, plugmc_archive *);
/* Energy of the fields in walker w; adds to *forbidden where the particle may not be. */
double sequential_fields(const sequential *, int32_t w, const plugmc_particle *,
                         int64_t *forbidden);
/* After sweeps up to number `last` on the device: whether an energy was no number, in which case the
 * host has been told. */
int sequential_check_device(const sequential *, const plugmc_host *, uint64_t last);

/* The parameters that both have. */
#define SEQUENTIAL_KEYS                                                                            \
    PLUGMC_REAL_KEY(sequential, step, "0.1", 1e-12, 1e12, "length",                                \
                    "largest displacement of a trial move, uniform in the disk or ball"),          \
        PLUGMC_REAL_KEY(                                                                           \
            sequential, target_acceptance, "0", 0, 1, "",                                          \
            "target acceptance of the tuning of step during equilibration; 0: fixed step"),        \
        PLUGMC_CHOICE_KEY(sequential, precision, "single", "single|double",                        \
                          "precision of pair energies; single: positions are rounded to "          \
                          "multiples of a quantum"),                                               \
        PLUGMC_INTEGER_KEY(sequential, refresh, "1", 0, 1e9, "sweeps",                             \
                           "number of sweeps after which the running energy is recomputed "        \
                           "when it is needed; 0: never")

/* ---- walkers.c: what walkers have, each for itself ----------------------------------------------- */

int walkers_prepare(sequential *, const plugmc_host *);
/* The steps that a sweep is told. */
int walkers_take_steps(sequential *, const plugmc_host *, const plugmc_sweeps *);
/* Boxes and rungs as they are by now. */
int walkers_take(sequential *, const plugmc_host *, const plugmc_state *, uint32_t changed);
/* For kernels of walkers that differ. */
int walkers_upload(const sequential *, const plugmc_host *);

/* What a term counts by in walker w. */
static inline double weight_of(const sequential *me, int32_t w, const term *t)
{
    if (!me->now.weight) return 1;
    const int64_t k =
        ((const char *)t->of - (const char *)me->system->terms) / me->system->term_size;
    return me->now.weight[w * me->system->term_count + k];
}

/* ---- parts.c: one system over several GPUs ------------------------------------------------------- */

/* Whether this is a part of a spread system; in prepare also whether it can be. */
void parts_find(sequential *, const plugmc_host *);
int parts_check(sequential *, const plugmc_host *);
/* Memory that all parts write into, once the numbers of d are known. */
int parts_prepare(sequential *, const plugmc_host *);
/* Blocks of energy.cu that a part has, and the rows [begin, end) of these: those from the front and from the back. */
typedef struct energy_share {
    int32_t first, count;
    int64_t begin[2], end[2];
} energy_share;
energy_share share_of_energy(const sequential *, int part);
/* The rows of all parts [particles], of which this one has its own. */
int join_rows(const sequential *, const plugmc_host *, int code, double *rows);
/* The same code in all parts: before sweeps, which wait for each other, and behind them. */
int parts_agree(const sequential *, const plugmc_host *, int code);

/* ---- places.c: hard cores and rounded places ------------------------------------------------- */

/* Largest distance at which two particles overlap, in double precision. */
double largest_contact(const plugmc_system *);
double contact_margin(const plugmc_system *, const plugmc_box *, int precision);
void cell_coordinates(const grid *, const double r[3], int32_t c[3]);
/* The cells around a place, each once. */
int cells_around(const grid *, int periodic, const double r[3], int64_t out[27]);
brush_domain domain_of(const plugmc_box *, int precision);
/* Parts particles that rounding has brought together: rounded [walkers][particles] is 1 for those
 * that it has moved. */
int part_touching(const sequential *, const plugmc_host *, const char *rounded, double *positions);

/* ---- cpu.c: sweeps on the CPU ---------------------------------------------------------------- */

int cpu_prepare(sequential *, const plugmc_host *);
void cpu_boxes(sequential *); /* me->box has changed; `load` comes next */
void cpu_load(sequential *, const double *positions);
void cpu_store(const sequential *, double *positions);
int cpu_sweep(sequential *, const plugmc_host *, uint64_t first, uint64_t n);

/* ---- Arrays of float or double --------------------------------------------------------------- */

static inline double get(const sequential *me, const void *array, int64_t i)
{
    return me->real_size == 4 ? ((const float *)array)[i] : ((const double *)array)[i];
}

static inline void set(const sequential *me, void *array, int64_t i, double x)
{
    if (me->real_size == 4)
        ((float *)array)[i] = (float)x;
    else
        ((double *)array)[i] = x;
}

#endif
