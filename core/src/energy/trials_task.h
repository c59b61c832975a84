/* What trials.cu is told beside energies_task.h, in C and CUDA C++. Pointers are device memory. */
#ifndef PLUGMC_TRIALS_TASK_H
#define PLUGMC_TRIALS_TASK_H

#include "plugmc/device.h"

enum {
    TRIALS_THREADS = 256, /* a block, which is a walker; half of them for each of two places */
    TRIALS_AROUND = 27    /* cells around a place, at most */
};

/* Places of all walkers, which swaps leave as they are, and who is there. */
typedef struct trials_places {
    double *x, *y, *z; /* [walkers][particles]: of particle i */
    uint32_t *slot;    /* [walkers][particles]: where particle i is in order */
    uint32_t *order;   /* [walkers][particles]: particle at a slot */
    uint32_t *cell;    /* [walkers][particles]: of a slot */
    int32_t *species;  /* [walkers][particles]: of the particle at a slot */
} trials_places;

/* Trials `begin` ... `begin` + `count` - 1 of a call, `a_sweep` in each sweep. */
typedef struct trials_call {
    plugmc_seed seed;
    uint64_t sweep; /* of the first trial of the call */
    uint64_t begin, count, a_sweep;
    uint32_t from;
    int32_t move;              /* of all of them */
    int32_t width;             /* of a row of multipliers */
    const double *multipliers; /* [walkers][width] */
    const double *step;        /* [walkers] */
    const int64_t *first;      /* [species + 1] */
    const int64_t *counts;     /* [species], of all walkers */
} trials_call;

/* What came of it, for each walker. */
typedef struct trials_result {
    uint64_t trials, accepted;
    uint64_t sweep;   /* where it stopped */
    int64_t particle; /* that it was about */
    int32_t
        stopped; /* 1: the growth of -ln p was not a number; 2: no swap was proposed, or another move */
    int32_t unused;
} trials_result;

#endif
