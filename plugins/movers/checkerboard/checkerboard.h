/* checkerboard.h: what the files of the mover share: the cells as they are stored, on the host and on
 * the device. checkerboard.c says what the mover does. */
#ifndef CHECKERBOARD_H
#define CHECKERBOARD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugmc/everything.h"
#include "plugmc/body_pairs.h"

#include "random_choices.h"

enum {
    LANES = PLUGMC_LANE_BLOCK,
    PAD = LANES, /* words left of a half row: the last is the periodic image of its end */
    MOST = 192,  /* slots a cell, at most, where a block takes one: see `wide` */
    NARROW = 64, /* and where a thread does */
    MANY = 64,   /* more particles near a cell than this: see `wide` */
    WARP = 32,
    CB_MOST_TERMS = 16, /* potentials of bodies */
    CHUNK = 256,        /* sweeps between looks at the overflow flag */
    BATCH = 32          /* sweeps a CUDA graph: even, since a sweep swaps the two stores */
};

typedef struct store {
    /* [walker][axis][slot][z][y][x % 2][row], so that cells lie side by side for row.c; where cells are
     * `wide` [walker][axis][z][y][x % 2][row][slot], for wide.c: see place_of. PLUGMC_NOWHERE in x: empty */
    float *coordinate;
    uint32_t *id;   /* the same without axes */
    uint8_t *count; /* [walker][z][y][x % 2][row] */
} store;

typedef struct device_store {
    plugmc_device_pointer coordinate, id, count;
} device_store;

/* Layers of cells that belong to a process: see domains.c. */
typedef struct domain {
    int first, layers;
} domain;

/* How the whole sweep of a system of disks is shared out: see disks.cu. */
typedef struct patch {
    int x, y, threads; /* cells that a block makes the sweep of; 0 if no block does */
    int resident;      /* blocks for which a multiprocessor has to have room */
    int chosen;        /* 1: random numbers are drawn before the sweep before has ended */
} patch;

/* What the moves of a walker depend on beside its particles: its box, and its rung of the ladder. */
typedef struct conditions {
    double length[3], volume; /* of the box */
    double width[3];          /* cell edges, length */
    float scale, ratio[3];    /* width[0]; widths in units of it */
    float reach;              /* square of the range in units of width[0] */
    float step[3];            /* of trial moves, in units of each cell edge */
    double turn;              /* plugmc_largest_turn of trial rotations */
    float *
        contact; /* [species][species]: squares in units of width[0]; of bodies, below which they surely overlap */
    const double *multiplier; /* [terms]: of energies; NULL: 1 / temperature for all */
    int32_t rung;
} conditions;

/* Parameters. */
typedef struct checkerboard_settings {
    int64_t trials;
    real step, target_acceptance, cell;
    int32_t shuffle_particles, shuffle_sets, shift_cells, identities;
    int64_t exchange_every;
    real turn, rotations; /* of bodies */
} checkerboard_settings;

/* Cells, and how they lie in memory. */
typedef struct cell_grid {
    int dimension, walkers, species, capacity, ids, energies;
    int near; /* room for particles within the range of a cell, on the GPU */
    int wide; /* many are expected there: a block takes a cell, and energies are added in its order */
    int bounded;      /* geometry rules out more than `capacity` and `near` */
    int m[3];         /* cells, even */
    double narrowest; /* cell edge in the box that the run begins with */
    int half, row;    /* cells in half a row, its stride in words */
    int packed;       /* half rows leave so many lanes idle that row.c packs several into them */
    int64_t plane, axis, walker; /* words of a slot of all cells, of an axis, of a walker */
    int64_t to_cell, to_slot;    /* from a cell to the next, from a slot to the next, words */
} cell_grid;

/* Walkers and rungs as they are. */
typedef struct each_walker {
    conditions *of;       /* [walkers] */
    conditions *proposed; /* [walkers]: in other boxes */
    double *multiplier;   /* [walkers][terms] */
    real *steps;          /* [rungs] */
    real *turns;          /* [rungs], of bodies */
    int boxes_change;     /* a mover of the run changes them */
    int counts_change;    /* and numbers of particles: some places are NaN, where nobody is */
    int resized;          /* cells have been fitted to boxes that may have changed */
    int alike; /* all walkers have the same conditions for ever, and every energy counts alike */
} each_walker;

/* Other processes that have the same walker: domains.c. */
typedef struct other_processes {
    const plugmc_decomposition *spread; /* NULL: there are none */
    int at_once; /* sweeps for which cells of others are brought at once, at most */
    int apart;   /* cells of others are not here as they are there */
    cb_window windows[BATCH][CB_WINDOWS]; /* of the sweeps for which they are brought */
} other_processes;

/* Bodies, in a mover of theirs: bodies.c. */
typedef struct cell_bodies {
    plugmc_orientation *orientation, *saved; /* [walkers][particles], on the host */
    int count;                               /* terms with bodies, in single precision */
    const plugmc_body *facet[CB_MOST_TERMS];
    const void *instance[CB_MOST_TERMS];
    int term[CB_MOST_TERMS]; /* index among all terms */
    const plugmc_body_pairs *pairs[CB_MOST_TERMS];
    int in_lanes; /* all of them are hard and, in two dimensions, can look at many pairs at a time */
} cell_bodies;

/* Memory of the device. */
typedef struct device_arrays {
    plugmc_device_pointer orientations, saved_orientations; /* of bodies */
    device_store now, next, snapshot;
    plugmc_device_pointer origin, plans, base, conditions, counts, trouble, offset;
    plugmc_device_pointer saved_origin, saved_counts; /* of the snapshot */
    plugmc_device_pointer widths; /* double [3]: of the cells of the first walker */
    plugmc_device_pointer slots;  /* of particles in their cells; 0 until they are archived */
    /* Conditions, and an answer a walker; 0 until a box is proposed. */
    plugmc_device_pointer proposed;
    void *packed, *uploaded; /* conditions for the device, and as they are there */
    int all_there;           /* `uploaded` holds */
} device_arrays;

typedef struct sweep_kernels {
    plugmc_kernel *enter, *fill, *touch; /* NULL until they are needed */
    plugmc_kernel *count, *place;        /* and these */
    plugmc_kernel *plan, *advance, *subsweep, *shift, *sweep, *number, *store, *slots;
    plugmc_kernel *carry; /* of bodies where several processes sweep a walker */
} sweep_kernels;

/* Sweeps that the device makes without the host. */
typedef struct graphs {
    plugmc_graph *whole[2]; /* of BATCH sweeps, starting from either store */
    /* Of fewer, an even number, where a call asks for that many again and again. */
    plugmc_graph *few[2];
    uint64_t few_sweeps, asked_before;
    int counts_on; /* 1: `base`, the number of the sweep that comes on the device, is next_sweep */
    uint64_t next_sweep;
    int swapped; /* which store is `now`: index into `whole` */
} graphs;

/* What the text of the kernels is made of. */
typedef struct kernel_source {
    char defines_text[36][48];
    const char *defines[39], *contact_table, *first_table, *text[3];
} kernel_source;

typedef struct checkerboard {
    checkerboard_settings set; /* first: the table of keys counts from here */

    const plugmc_system *system;
    plugmc_seed seed; /* of its random draws */
    cell_grid cells;
    double *distance; /* [species][species]: of contact, or of the spheres inside of bodies */
    float *charge, *diameter; /* [species] */
    each_walker each;
    other_processes others;
    cell_bodies bodies;

    /* state */
    store now, next;
    int64_t *origin;                      /* [walkers][3]: of the cells, in quanta */
    plugmc_counts *counts, *saved_counts; /* [CB_KINDS][rungs] */
    uint64_t lost;                        /* sweep in which a change of energy was not a number */

    /* GPU */
    device_arrays device;
    cb_trouble trouble; /* as it was when positions were given last, where nothing can fail */
    int looked;
    int taken; /* positions have been taken */
    sweep_kernels kernels;
    patch patch;
    graphs graphs;
    kernel_source source;
} checkerboard;

/* The name of the mover, for messages. */
#if CB_BODIES
#define CB_NAME "checkerboard_bodies"
#else
#define CB_NAME "checkerboard"
#endif

/* Does a step of a sequence of calls unless one before has failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_code = (call);                                                                     \
        if (try_code) return try_code;                                                             \
    } while (0)

/* Where a cell is among those of a walker, as counts have it. */
static inline int64_t word_of(const checkerboard *me, int x, int y, int z)
{
    return (((int64_t)z * me->cells.m[1] + y) * 2 + (x & 1)) * me->cells.row + PAD + (x >> 1);
}

/* Where slot k of the cell at `word` is in an axis of a walker. */
static inline int64_t place_of(const checkerboard *me, int64_t word, int k)
{
    return word * me->cells.to_cell + k * me->cells.to_slot;
}

/* Loops over lanes carry nothing from one lane to the next. The word for it keeps the compiler from
 * unrolling short ones before it looks for vectors; long ones do without it. */
#define EACH_LANE(l) _Pragma("omp simd") for (int l = 0; l < LANES; l++)

PLUGMC_FN int largest_of_lanes(const uint8_t *count)
{
    uint8_t most = 0;
    for (int l = 0; l < LANES; l++) {
        const uint8_t there = count[l];
        most = there > most ? there : most;
    }
    return most;
}

/* The distance at which two particles may meet, length. Of bodies a little more than their own, so that whether two of them
 * are looked at does not depend on the rounding of their distance. */
static inline double range_of(const checkerboard *me)
{
    return me->system->range * (CB_BODIES ? 1 + 0x1p-15 : 1);
}

/* ---- geometry.c: cells, their slots, and what energies and contacts there are ---------------- */

int geometry(checkerboard *, const plugmc_host *);
/* Strides in words from the number of cells and slots. */
void set_strides(checkerboard *);
/* Slots that a cell may come to have. */
int most_slots(const checkerboard *);
/* Kernels count the slots of a walker in int: an error if there are more. */
int check_slots(const checkerboard *, const plugmc_host *);
/* Whether cells of the present number are wide enough in another box. This and the next depend on boxes and
 * the number of cells alone, which a resumed run has too. */
int cells_hold(const checkerboard *, const conditions *other);
/* Boxes have grown so much that there is room for more cells, a tenth more at least. */
int finer_cells_fit(const checkerboard *);
/* Whether geometry still bounds what they hold, after boxes have changed. */
void bound_room(checkerboard *);
/* Cells for the boxes as they are now; *laid_out: their number or their slots are others than before, and
 * their store holds nothing. */
int fit_cells(checkerboard *, const plugmc_host *, int *laid_out);

/* ---- conditions.c: boxes and rungs of walkers -------------------------------------------------- */

/* Memory for them; they are those of the box that the run begins with, on the first rung. */
int begin_conditions(checkerboard *, const plugmc_host *);
/* What of them has changed, from the state. */
int take_conditions(checkerboard *, const plugmc_state *, uint32_t changed);
/* Units of cells as boxes and numbers of cells are. */
void set_units(checkerboard *);
/* Steps of trial moves as those of the rungs are. */
void set_steps(checkerboard *);
/* me->proposed of a walker as its conditions would be in this box. */
void propose_box(checkerboard *, int walker, const plugmc_box *);
/* A walker has this box from now on; set_steps comes after it. */
void take_box(checkerboard *, int walker, const plugmc_box *);
/* Conditions of all walkers as kernels read them. */
void pack_conditions(const checkerboard *, const conditions *of, void *packed);
size_t conditions_bytes(const checkerboard *);

/* ---- domains.c: one system over several processes ------------------------------------------------ */

/* PLUGMC_GIVES_SHARES */
int give_share(void *instance, const plugmc_host *, double reach, double *positions,
               plugmc_share *);
/* Whether there are cells for all of them. */
int check_domains(checkerboard *, const plugmc_host *);
domain own_domain(const checkerboard *);
domain all_layers(const checkerboard *);
/* Layers of a sub-sweep, or CB_OF_SHIFT, of sweep number `sweep` of those for which cells have been brought. */
cb_window window_of(const checkerboard *, const cb_plan *, int sweep, int part);
/* All processes, before n sweeps: what of others they need. PLUGMC_STOPPED if one has to stop. */
int bring_around(checkerboard *, const plugmc_host *, uint64_t first, int n);
/* All processes: all cells to all. */
int bring_all(checkerboard *, const plugmc_host *);
/* All processes: the largest of theirs; also PLUGMC_STOPPED. */
int of_all(const checkerboard *, const plugmc_host *, int64_t *values, int n);
/* Whether the sweep at hand is given up here and now, as a process that is alone decides. */
int stops_here(const checkerboard *, const plugmc_host *);

static inline cb_plan plan_of(const checkerboard *me, uint64_t sweep, int walker)
{
    return cb_make_plan(me->seed, sweep, (uint32_t)walker, me->cells.dimension,
                        me->set.shuffle_sets, me->set.shift_cells);
}

/* ---- store.c: the memory of cells on the host ------------------------------------------------- */

size_t coordinate_bytes(const checkerboard *);
size_t id_bytes(const checkerboard *);
size_t count_bytes(const checkerboard *);
/* All of it or, if it returns 0, nothing. */
int allocate_store(const checkerboard *, store *);
void free_store(store *);
void copy_store(const checkerboard *, store *to, const store *from);
/* The periodic images at both ends of one half row, all slots. */
void refresh_images(const checkerboard *, const store *, int walker, int64_t base);
/* What slots past the count hold, the padding and the periodic images: a function of the rest. */
void normalise(const checkerboard *, store *);
/* Anew, for the present number of cells and slots; it holds nothing. */
int lay_out(checkerboard *, const plugmc_host *);
/* More slots for every cell of `now`, whose state is kept. */
int grow(checkerboard *, const plugmc_host *);

/* ---- positions.c: positions in and out -------------------------------------------------------- */

/* Whether particles have cores, whatever the box. */
int cores(const checkerboard *);
/* Whether touching particles are parted when they are taken: see part_touching. */
static inline int parts_touching(const checkerboard *me)
{
    return !CB_BODIES && !me->each.boxes_change && !me->each.counts_change && cores(me);
}

int load_cells(checkerboard *, const plugmc_host *, const double *positions);
/* Of a checkpoint: the slot of each particle in its cell, [walkers][particles], 0 where nobody is, and positions into
 * these slots, or (`slots` NULL) in the order of their numbers. Returns 0 if the cells cannot have held them so. */
void find_slots(const checkerboard *, uint8_t *slots);
int fill_slots(checkerboard *, const double *positions, const uint8_t *slots);
/* Whether two particles of a walker would overlap under these conditions, as sweeps see it. */
int any_overlap(const checkerboard *, int walker, const conditions *);
/* Those in these layers, which go on round the box: positions [walkers][particles][3]. */
int store_on_host(const checkerboard *, const plugmc_host *, domain, double *positions);

/* ---- row.c, wide.c, cpu.c: sweeps on the CPU ---------------------------------------------------------- */

/* Bytes of the counts of all rungs. */
static inline size_t counts_bytes(const checkerboard *me)
{
    return sizeof(plugmc_counts) * CB_KINDS * (size_t)me->system->rungs;
}

/* Rows of active cells, along x, of a sub-sweep of a walker. */
typedef struct rows_task {
    uint64_t sweep;
    int walker, set; /* set: bit a is the parity along axis a */
    cb_window window;
    int first, end; /* among the active rows of the window */
} rows_task;

typedef struct rows_result {
    plugmc_counts counts[CB_KINDS];
    int lost; /* a change of energy was not a number */
} rows_result;

/* One of them. */
typedef struct active_row {
    int x0, y, z; /* x0: parity along x */
    int counts;   /* 1: its trial moves are counted here, not by another process */
} active_row;

/* Active rows of a layer. */
static inline int rows_of_layer(const checkerboard *me)
{
    return me->cells.dimension == 3 ? me->cells.m[1] / 2 : 1;
}

static inline active_row row_of(const checkerboard *me, const rows_task *task, int r)
{
    const int each = rows_of_layer(me);
    const int layer = cb_layer(task->window, r / each, me->cells.m[me->cells.dimension - 1]);
    active_row row = {task->set & 1, layer, 0, cb_counts(task->window, layer)};
    if (me->cells.dimension == 3) row.y = 2 * (r % each) + (task->set >> 1 & 1), row.z = layer;
    return row;
}

/* A sub-sweep of their cells. */
rows_result update_rows(const checkerboard *, const store *, const rows_task *);
/* The same where cells are `wide`. */
rows_result update_wide_rows(const checkerboard *, const store *, const rows_task *);
/* The same of bodies. */
rows_result update_rows_of_bodies(const checkerboard *, const store *, const rows_task *);
/* The same where bodies.in_lanes: bodies_in_lanes.c. */
rows_result update_rows_in_lanes(const checkerboard *, const store *, const rows_task *);
/* Their cell shift, for half a row: particles of the old cells at the same place, then those that come over from the
 * half row at `there`, whose cells are `ahead` by one or by none. here, there: words of the first cells. Returns the
 * largest number of particles in a cell, which may exceed the capacity. */
int shift_wide_row(const checkerboard *, int walker, const cb_plan *, int64_t here, int64_t there,
                   int ahead);
/* The particle has gone where its change of energy, in sweep me->lost, is not a number. */
int report_lost(const checkerboard *, const plugmc_host *);
/* n sweeps; if a cell overflows, cells grow and the same sweeps are done again, so the chain does not
 * know. */
int sweep_or_grow(checkerboard *, const plugmc_host *, uint64_t first, uint64_t n);

/* ---- bodies.c: orientations of bodies ----------------------------------------------------------- */

int prepare_bodies(checkerboard *, const plugmc_host *);
/* From the state, and into it. */
int take_orientations(checkerboard *, const plugmc_host *, const plugmc_state *);
int give_orientations(const checkerboard *, const plugmc_host *, const plugmc_state *);
/* A copy to go back to if sweeps have to be made again, or back from it. */
int copy_orientations(checkerboard *, const plugmc_host *, int back);
/* Between cell `word` and a buffer of another process. */
char *copy_orientations_of_cell(checkerboard *, int64_t word, char *buffer, int comes);
/* On the GPU: those of bodies in n pieces of layers between their array and `next`, which holds nothing between sweeps. There
 * they lie in the order of slots, orientation_bytes each. */
int carry_orientations(checkerboard *, const plugmc_host *, const domain *pieces, int n, int comes);
static inline size_t orientation_bytes(const checkerboard *me)
{
    return sizeof(int32_t) * (me->cells.dimension == 2 ? 1 : 4);
}

/* Words below this make a trial move a turn. */
static inline uint64_t rotations_threshold(const checkerboard *me)
{
    return (uint64_t)((double)me->set.rotations * 0x1p32);
}

/* ---- kernels.c: the text of the kernels, and how cells are shared out among threads ----------- */

int describe_kernels(checkerboard *, const plugmc_host *, plugmc_gpu_source *out);
/* Of those of load.cu. */
int describe_load(checkerboard *, const plugmc_host *, plugmc_gpu_source *out);
int pitch(const checkerboard *); /* places of half a row on the device */
uint32_t blocks_for(int64_t threads, int block);
int tiled(const checkerboard *);
/* Particles within the range of a cell for which there can be room. */
int most_near(const checkerboard *);
int64_t active_cells(const checkerboard *); /* of a set, of this process */
int block_size(const checkerboard *);
int cells_a_block(const checkerboard *);

/* ---- gpu.c: sweeps on the GPU ----------------------------------------------------------------- */

int prepare_on_gpu(checkerboard *, const plugmc_host *);
int64_t device_cells(const checkerboard *); /* of a walker, with padding */
int vector_floats(const checkerboard *);    /* of a coordinate on the device */
int device_ids(const checkerboard *);       /* whether numbers lie apart from these */
/* Conditions of all walkers, unless they are there. */
int upload_conditions(checkerboard *, const plugmc_host *);
/* Stores and kernels for another number of cells or slots. */
int rebuild_on_device(checkerboard *, const plugmc_host *);
int upload_state(checkerboard *, const plugmc_host *);
int download_state(checkerboard *, const plugmc_host *);
/* What find_slots finds, without the cells on the host. */
int find_slots_on_gpu(checkerboard *, const plugmc_host *, uint8_t *slots);
/* As sweep_or_grow. */
int sweep_on_gpu(checkerboard *, const plugmc_host *, uint64_t first, uint64_t n);
/* Ends the run if disks overlapped when this was asked last. */
int look_for_overlaps(checkerboard *, const plugmc_host *);
/* Arguments of kernels that need the length of a quantum: of all walkers, in `quantum`, or where boxes change of
 * each, on the device; then the last two are not looked at. */
int quanta_on_gpu(checkerboard *, const plugmc_host *, double quantum[3], void *arguments[3]);
int store_on_gpu(checkerboard *, const plugmc_host *, domain, plugmc_device_pointer positions);
int counts_on_gpu(checkerboard *, const plugmc_host *, int clear);

/* ---- load.c: positions into cells on the GPU -------------------------------------------------- */

/* As load_cells and upload_state, of positions on the device. *loaded: 0 if cells have to grow or
 * particles to be parted, which is the host's. */
int load_on_gpu(checkerboard *, const plugmc_host *, plugmc_device_pointer positions, int *loaded);
/* touching [each ? walkers : 1] becomes 1 where two particles overlap under these conditions, as sweeps
 * see it. */
int find_touching(checkerboard *, const plugmc_host *, plugmc_device_pointer conditions,
                  plugmc_device_pointer touching, int each);

/* ---- lend.c: into the cells of others on the GPU ----------------------------------------------- */

/* PLUGMC_FILLS_CELLS */
int lend_cells(void *instance, const plugmc_host *, const plugmc_cell_filling *);

/* ---- rescale.c: other boxes ------------------------------------------------------------------- */

/* plugmc_driver.rescale */
int rescale(void *instance, const plugmc_host *, const plugmc_changes *, const int64_t *taken);

#endif
