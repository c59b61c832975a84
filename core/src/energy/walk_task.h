/* Arguments of walk.cu, for C and CUDA C++. Pointers are device memory. */
#ifndef PLUGMC_WALK_TASK_H
#define PLUGMC_WALK_TASK_H

#include "plugmc/device.h"
#include "plugmc/trial.h"

/* Largest number of threads of a block, and of kinds of moves of a mover. */
enum { WALK_THREADS = 256, WALK_MOVES = 4 };
/* Trials that are proposed at once, and their bytes of shared memory; groups of four particles that a thread compares before
 * its warp lists who is near, and the length of that list. */
enum {
    WALK_AT_ONCE = 32,
    WALK_BATCH_BYTES = 104 * WALK_AT_ONCE,
    WALK_BODIES_BATCH_BYTES = 120 * WALK_AT_ONCE,
    WALK_ROWS = 4,
    WALK_LISTED = 512
};
/* Particles of a change whose phases of waves are in shared memory at a time. */
enum { WALK_PHASED = 4 };
/* Counts of a bin, as in bias.h. */
enum { WALK_DOWN, WALK_UP = 2, WALK_VISITS = 4, WALK_TRANSITIONS };
/* Why a walker stopped. The change of -ln p was not a number; or the trial was of an unknown kind, of a particle that
 * does not exist, or to an invalid position; or a group had a particle twice, or too many for PLUGMC_GROUPS of the GPU
 * source; or a rigid molecule would have been broken, or is of a kind that does not come and leave, or has too many
 * choices; or it turns what has no orientation. */
enum {
    WALK_LOST = 1,
    WALK_UNKNOWN,
    WALK_NOBODY,
    WALK_NOWHERE,
    WALK_TWICE,
    WALK_CROWDED,
    WALK_BROKEN,
    WALK_NO_KIND,
    WALK_CHOICES,
    WALK_NO_ORIENTATION
};

/* A many-body term that is a sum over waves (plugmc_waves); the structure factors of each walker belong to
 * the positions at hand. Phases exp(2 pi i m f) are found for m = 0 ... most along each axis. */
typedef struct walk_waves {
    uint32_t count, most[3];
    int32_t term;
#if defined(__CUDACC_RTC__)
    const short4 *n; /* [count], the last component unused */
#else
    const int16_t (*n)[4];
#endif
    const double *weight; /* [count] energy; rows of walkers, where boxes change */
    uint64_t weight_row;  /* count, or 0 */
    double *structure;    /* [walkers][2][count]: real parts, then imaginary ones */
    double *shift;        /* likewise: what the trial at hand adds */
} walk_waves;

/* All walkers. */
typedef struct walk_task {
    /* `particles` is the capacity of a walker. */
    uint32_t walkers, particles;
    int32_t no_pairs;        /* 1: only fields */
    double *x, *y, *z;       /* [walkers][particles] */
    float reach;             /* beyond which pairs have no energy; INFINITY: without bound */
    const int32_t *species;  /* [walkers][particles] */
    const int64_t *first;    /* [species + 1] */
    int64_t *counts;         /* [walkers][species] */
    const plugmc_box *boxes; /* [walkers] */
    /* [terms][entries]: energies that depend on numbers alone, at the entry sum over species of row (count - fixed); rows of walkers,
     * where boxes change. NULL: no such terms. */
    const double *by_count;
    uint64_t count_row;         /* terms times entries, or 0 */
    const int64_t *row, *fixed; /* [species]: see walk_rows */
    int64_t entries;
    /* [particles] as PLUGMC_STATE_MOLECULE, or NULL. */
    const int32_t *molecule;
    /* [walkers][particles]: 1 for the members of a group while its displacement is tried, else 0. */
    uint32_t *grouped;
    plugmc_orientation *
        orientations; /* [walkers][particles], of bodies and rigid molecules; NULL: there are none */
    /* Rigid molecules; NULL: there are none. Then of the particles in no molecule [species] the first one, and how many
     * there are where that does not change, else -1. */
    const plugmc_molecules *molecules;
    const int64_t *free_first, *free_count;
    walk_waves waves; /* 0: there are none */
} walk_task;

/* Trials up to number `end` of a call of `sweeps` sweeps, with `a_sweep` trials in each. 0: as many as there are
 * particles, or rigid molecules. */
typedef struct walk_call {
    plugmc_seed seed;
    /* Sweep of the first trial of the call. */
    uint64_t sweep;
    uint64_t end, sweeps, a_sweep;
    uint32_t from;
    /* plugmc_proposal.partner: [blocks][2], the lower one first. NULL: each block has a walker. */
    const uint32_t *pairs;
    /* The move of the proposal, and the number of moves of the mover. */
    int32_t move, moves;
    /* Last kind of change that is allowed, besides displaced groups. */
    int32_t last_kind;
    int32_t for_molecules; /* plugmc_proposal.for_molecules */
    /* Capacity of groups: plugmc_proposal.together. */
    int32_t together;
    /* Trials that are evaluated before they are decided, as if none of them were accepted. */
    uint32_t evaluated;
    int32_t width;             /* length of a row of multipliers */
    const double *multipliers; /* [walkers][width] */
    const double *step;        /* [walkers] */
} walk_call;

/* Weights of macrostates and the counts of trials (bias.h), as in plugmc/macrostates.h. */
typedef struct walk_bias {
    /* 0: there are no macrostates. */
    int64_t bins;
    /* counted: 1 if trials of this mover are counted. */
    int32_t counted, unused;
    double of_volume, low, width;
    const double *of_count; /* [species] */
    const int32_t *window;  /* [walkers][2], or NULL */
    const double *weight;   /* [bins] */
    double *transitions;    /* [walkers][bins][WALK_TRANSITIONS] */
} walk_bias;

/* Result for each walker. */
typedef struct walk_result {
    /* Number of the next trial. */
    uint64_t next;
    uint64_t trials[WALK_MOVES], accepted[WALK_MOVES];
    /* Sweep in which it stopped, and the particle of that trial. */
    uint64_t sweep;
    int64_t particle;
    /* WALK_*. 0: it continues. */
    int32_t stopped;
    /* 1 + the species that had no free slot. */
    int32_t full;
} walk_result;

#if defined(__CUDACC_RTC__)
/* One walker. */
typedef struct walk_around {
    double *x, *y, *z;
    const int32_t *species;
    const int64_t *first;
    int64_t *count;
    const int64_t *of_mover; /* [species] whom movers know: without sites of molecules */
    plugmc_images images;
    uint32_t *grouped;
    plugmc_orientation *orientations;
    int32_t picks;            /* 1: neighbours are picked by walk_coarse_places */
    uint32_t walker, coarse;  /* its number, and where its coarse places begin */
    uint32_t thread, threads; /* that share the neighbours: of a warp, or of the block */
} walk_around;
#endif

#endif
