/* Arguments of trials.cu besides energies_task.h, for C and CUDA C++. Pointers are device memory. */
#ifndef PLUGMC_TRIALS_TASK_H
#define PLUGMC_TRIALS_TASK_H

#include "plugmc/device.h"

enum {
    /* Threads of a block. A block is a walker, and half of it works on each of the two positions. */
    TRIALS_THREADS = 256,
    /* Largest number of cells around a position. */
    TRIALS_AROUND = 27
};

/* Positions of all walkers, which swaps do not change, and which particle is at each. */
typedef struct trials_places {
    double *x, *y, *z; /* [walkers][particles]: of particle i */
    uint32_t *slot;    /* [walkers][particles]: index of particle i in `order` */
    uint32_t *order;   /* [walkers][particles]: particle at a slot */
    uint32_t *cell;    /* [walkers][particles]: of a slot */
    int32_t *species;  /* [walkers][particles]: of the particle at a slot */
} trials_places;

/* Trials `begin` ... `begin` + `count` - 1 of a call, `a_sweep` in each sweep. */
typedef struct trials_call {
    plugmc_seed seed;
    /* Sweep of the first trial of the call. */
    uint64_t sweep;
    uint64_t begin, count, a_sweep;
    uint32_t from;
    int32_t move;              /* the same for all trials */
    int32_t width;             /* length of a row of multipliers */
    const double *multipliers; /* [walkers][width] */
    const double *step;        /* [walkers] */
    const int64_t *first;      /* [species + 1] */
    const int64_t *counts;     /* [species], the same in all walkers */
    const int32_t *molecule;   /* [particles] as PLUGMC_STATE_MOLECULE, or NULL */
} trials_call;

/* Result for each walker. */
typedef struct trials_result {
    uint64_t trials, accepted;
    /* Sweep in which it stopped, and the particle of that trial. */
    uint64_t sweep;
    int64_t particle;
    /* 1: the change of -ln p was not a number. 2: the proposal was not a swap, or was another move. */
    int32_t stopped;
    int32_t unused;
} trials_result;

#endif
