/* Configurations of all walkers: the state that movers borrow, and the view that observables are
 * given. Part of plugmc/plugin.h. */
#ifndef PLUGMC_STATE_H
#define PLUGMC_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"

/* ---- The state ------------------------------------------------------------------------------ */

/* What a configuration consists of. Each is an array with a row for every walker. */
enum {
    PLUGMC_STATE_BOX, /* plugmc_box */
    PLUGMC_STATE_COUNT, /* int64_t [species]: particles of each. In every walker those of species s have the
                           numbers first[s] ... first[s] + count[s] - 1 (plugmc_system.first), whatever the
                           counts of others; behind them is room up to first[s + 1] */
    PLUGMC_STATE_POSITION, /* double [capacity][3], length; periodic ones wrapped into [0, length), z = 0
                              in two dimensions; NaN where there is nobody */
    PLUGMC_STATE_SPECIES,    /* int32_t [capacity] */
    PLUGMC_STATE_MULTIPLIER, /* double: of -ln p. [t] times the energy of term t, [terms] times the
                                volume, [terms + 1 + s] times the count of species s, which is -ln of its
                                activity; what comes behind in a row belongs to later versions */
    PLUGMC_STATE_RUNG,       /* int32_t: of the ladder; multipliers are those of the rung */
    PLUGMC_STATE_MOLECULE, /* int32_t [capacity]: number of the molecule in the walker; -1: none */
    PLUGMC_STATE_WEIGHT /* double: ln of the weight of the walker in averages (plugmc/wave.h); 0 */
};
enum { PLUGMC_ON_HOST, PLUGMC_ON_DEVICE };
enum { PLUGMC_READ = 1, PLUGMC_WRITE = 2 };

/* What has changed, as bits: 1 << PLUGMC_STATE_*. From 1 << 24 on they are changes that are no array. A mover
 * that changes or follows what a program does not know is refused. */
enum {
    PLUGMC_CHANGED_BOX = 1 << PLUGMC_STATE_BOX,
    PLUGMC_CHANGED_COUNT = 1 << PLUGMC_STATE_COUNT,
    PLUGMC_CHANGED_POSITION = 1 << PLUGMC_STATE_POSITION,
    PLUGMC_CHANGED_SPECIES = 1 << PLUGMC_STATE_SPECIES,
    PLUGMC_CHANGED_MULTIPLIER = 1 << PLUGMC_STATE_MULTIPLIER,
    PLUGMC_CHANGED_RUNG = 1 << PLUGMC_STATE_RUNG,
    PLUGMC_CHANGED_MOLECULE = 1 << PLUGMC_STATE_MOLECULE,
    PLUGMC_CHANGED_WALKER_WEIGHT = 1 << PLUGMC_STATE_WEIGHT,
    PLUGMC_CHANGED_WEIGHT =
        1 << 24 /* weights of macrostates: averages are not those of -ln p alone */
};

/* The configurations of all walkers. They are the core's; a mover borrows them from take to give. */
typedef struct plugmc_state {
    uint32_t size;
    int32_t walkers, first_walker,
        all_walkers;  /* here; number of the first among all; all that are known */
    int64_t capacity; /* particles that a walker has room for */
    /* An array on one side. PLUGMC_READ brings it up to date there first; PLUGMC_WRITE says that it
     * is changed there: the other side is out of date then, and other movers are told. Without
     * PLUGMC_READ all of it must be written. *row, unless NULL, becomes the bytes from one walker to
     * the next. The pointer holds until the callback returns. Fails with a message. */
    int (*array)(const struct plugmc_state *, int what, int side, int access, void **out,
                 size_t *row);
    void *core;
    int32_t of_run; /* walkers of the run, in all processes together */
} plugmc_state;

/* Positions [walkers][capacity][3] on a side; returns the code. */
static inline int plugmc_state_positions(const plugmc_state *state, int side, int access,
                                         double **positions)
{
    void *out = NULL;
    const int code = state->array(state, PLUGMC_STATE_POSITION, side, access, &out, NULL);
    *positions = (double *)out;
    return code;
}

struct plugmc_inverses;

/* ---- Views ---------------------------------------------------------------------------------- */

/* Particles sorted by cell, for observables and movers that look for neighbours. Within a cell
 * particles are in order of their index. Boxes of all walkers are cut into as many cells; they are
 * length[d] / count[d] wide, at least the range asked for where count >= 3. Pointers are host or device
 * memory, as the view's. The last number of `start` is how many are there: what lies behind them in `order` and
 * `positions` is of no meaning, not even NaN. */
typedef struct plugmc_cells {
    uint32_t size;
    int32_t count[3];        /* cells in each direction, at least 1 */
    int64_t cells;           /* product of count */
    const uint32_t *start;   /* [walkers][cells + 1]: first entry of each cell */
    const uint32_t *order;   /* [walkers][particles]: particle index, sorted by cell */
    const double *positions; /* [walkers][particles][3], in that order, wrapped into the box */
    /* To be set before cells are asked for, 0 if not: cells for any range up to this one do as well, as those that
     * somebody else has asked for. Only where results are the same numbers whatever the cells are. */
    double most;
} plugmc_cells;

/* A configuration as observables see it. */
typedef struct plugmc_view {
    uint32_t size;
    uint64_t sweep;
    /* [walkers][particles][3], length, periodic ones wrapped into [0, length); z = 0 in two
     * dimensions. Device memory if the observable measures on the GPU, host memory else. */
    const double *positions;
    int32_t on_device;
    /* Sorted by cells at least `range` wide; built once a view and range. */
    int (*cells)(const struct plugmc_view *, double range, plugmc_cells *out);
    void *core;
    /* Energy over kT of each walker [walkers] as the mover keeps it while it sweeps, all sampled
     * potentials; NULL if the mover keeps none. Host memory. */
    int (*running_energy)(const struct plugmc_view *, double *energy);
    const plugmc_box *box;        /* [walkers], host memory */
    const plugmc_box *device_box; /* the same in device memory, if `on_device` */
    const int64_t *count;         /* [walkers][species]: see PLUGMC_STATE_COUNT; host memory */
    /* Inverse matrices of a mover that keeps them for these positions (plugmc/wave.h); NULL: there are none.
     * They are valid until the callback returns. */
    int (*inverses)(const struct plugmc_view *, struct plugmc_inverses *out);
    /* Which particles are yours to measure, where several processes have this walker and the observable has said how
     * far it reaches (plugmc_observable.reach): others may be at NaN, as nobody, and are then in no cell, while
     * `count` is of all. Else all are yours. See plugmc_share_of. */
    plugmc_share share;
    /* Of a view that a potential's total facet is asked about: only the first so many walkers are meant; 0: all. What is
     * said of the others is not used, so that a potential need not know this. See plugmc_walkers_of. */
    int32_t walkers;
} plugmc_view;

/* A place for a mover's own state in the checkpoint, or one to read it from. */
typedef struct plugmc_archive {
    uint32_t size;
    int32_t reading;
    /* Saves, or restores, `bytes` bytes under a name, the same in every process. Fails if the size differs. */
    int (*bytes)(struct plugmc_archive *, const char *name, void *data, size_t bytes);
    /* The same for rows first ... first + n - 1 of `all` rows of `row` bytes: what belongs to walkers, or to cells
     * of one system. All of them are to be saved, in as many pieces as you like; whoever reads may ask for other
     * pieces than were saved. */
    int (*rows)(struct plugmc_archive *, const char *name, void *data, size_t row, int64_t first,
                int64_t n, int64_t all);
    /* Rows of walkers in the file of this run: the first one here, how many, and all. The file begins with the
     * first walker of the run, whatever its number is. */
    int64_t first_walker, walkers, all_walkers;
    /* Of a mover that reads: what others had changed after it, PLUGMC_CHANGED_*. It is asked to take that before it
     * sweeps again, so that where it was itself is of no use. */
    uint32_t changed;
} plugmc_archive;

/* Rows of all walkers that are here, and of walker w of them. */
static inline int plugmc_archive_walkers(plugmc_archive *a, const char *name, void *data,
                                         size_t row)
{
    return a->rows(a, name, data, row, a->first_walker, a->walkers, a->all_walkers);
}

static inline int plugmc_archive_walker(plugmc_archive *a, const char *name, int32_t w, void *data,
                                        size_t row)
{
    return a->rows(a, name, data, row, a->first_walker + w, 1, a->all_walkers);
}

/* Whether a struct from the other side is long enough to have a member. */
#define PLUGMC_HAS(pointer, member)                                                                \
    ((pointer)->size >= (size_t)((const char *)&(pointer)->member - (const char *)(pointer)) +     \
                            sizeof(pointer)->member)

/* plugmc_view.share, of a program that knows it. */
static inline plugmc_share plugmc_share_of(const plugmc_view *view)
{
    return PLUGMC_HAS(view, share) ? view->share : (plugmc_share){0};
}

/* For whoever changes members of a view: as much as there is of it. What is not there is 0. */
static inline plugmc_view plugmc_view_copy(const plugmc_view *view)
{
    plugmc_view copy = {.size = 0};
    const uint32_t size = view->size < (uint32_t)sizeof copy ? view->size : (uint32_t)sizeof copy;
    __builtin_memcpy(&copy, view, size);
    copy.size = size;
    return copy;
}

#endif
