/* What walk.cu is told, in C and CUDA C++. Pointers are device memory. */
#ifndef PLUGMC_WALK_TASK_H
#define PLUGMC_WALK_TASK_H

#include "plugmc/device.h"

enum { WALK_THREADS = 256, WALK_MOVES = 4 }; /* a block, at most; kinds of move of a mover */
enum { WALK_DOWN, WALK_UP = 2, WALK_VISITS = 4, WALK_BOOKS }; /* of a bin: as in bias.h */
/* Why a walker stopped: growth that is no number, a trial of no known kind, of nobody, to nowhere. */
enum { WALK_LOST = 1, WALK_UNKNOWN, WALK_NOBODY, WALK_NOWHERE };

/* All walkers. */
typedef struct walk_task {
    uint32_t walkers, particles; /* there is room for so many in each */
    int32_t no_pairs;            /* 1: only fields */
    double *x, *y, *z;           /* [walkers][particles] */
    const int32_t *species;      /* [walkers][particles] */
    const int64_t *first;        /* [species + 1] */
    int64_t *counts;             /* [walkers][species] */
    const plugmc_box *boxes;     /* [walkers] */
    const double *by_count; /* [terms][particles + 1] of a single species; NULL: no such terms */
} walk_task;

/* Trials up to number `end` of a call of so many sweeps, `a_sweep` in each; 0: as many as particles. */
typedef struct walk_call {
    plugmc_seed seed;
    uint64_t sweep; /* of the first trial of the call */
    uint64_t end, sweeps, a_sweep;
    uint32_t from;
    int32_t move, moves;       /* of the proposal; kinds of the mover */
    int32_t last_kind;         /* of changes, that are allowed */
    int32_t width;             /* of a row of multipliers */
    const double *multipliers; /* [walkers][width] */
    const double *step;        /* [walkers] */
} walk_call;

/* Weights of macrostates and the books of trials (bias.h), as plugmc/macrostates.h has them. */
typedef struct walk_bias {
    int64_t bins;          /* 0: there are none */
    int32_t books, unused; /* books: 1 if trials of this mover are noted */
    double of_volume, low, width;
    const double *of_count; /* [species] */
    const int32_t *window;  /* [walkers][2], or NULL */
    const double *weight;   /* [bins] */
    double *book;           /* [walkers][bins][WALK_BOOKS] */
} walk_bias;

/* What came of it, for each walker. */
typedef struct walk_result {
    uint64_t next; /* number of the trial that comes next */
    uint64_t trials[WALK_MOVES], accepted[WALK_MOVES];
    uint64_t sweep;   /* where it stopped */
    int64_t particle; /* that it was about */
    int32_t stopped;  /* WALK_*; 0: it goes on */
    int32_t full;     /* 1 + the species that had no room for another */
} walk_result;

#if defined(__CUDACC_RTC__)
/* One walker. */
typedef struct walk_around {
    double *x, *y, *z;
    const int32_t *species;
    const int64_t *first;
    int64_t *count;
    plugmc_images images;
} walk_around;
#endif

#endif
