/* What energies.cu and trials.cu are told, in C and CUDA C++. Pointers are device memory. */
#ifndef PLUGMC_ENERGIES_TASK_H
#define PLUGMC_ENERGIES_TASK_H

#include "plugmc/device.h"

enum { ENERGIES_THREADS = 128, ENERGIES_SUMMED = 256 }; /* threads of a block */
/* Of all pairs a thread meets about so many, but no particle has more threads than that. */
enum { ENERGIES_MET = 64, ENERGIES_SHARES = 16 };

/* Particles of all walkers, those near each other in neighbouring cells (plugmc_cells), or unsorted. */
typedef struct energies_task {
    uint32_t particles; /* a walker */
    uint32_t tiles;     /* blocks a walker */
    uint32_t shares;    /* threads a particle, of all pairs; else 1 */
    int32_t all_pairs;  /* 1: everyone is met; particles are in their own order then */
    int32_t no_pairs;   /* 1: only fields */
    int32_t some;       /* 1: of so many some are not there, whose places are NaN */
    int32_t count[3];   /* cells */
    uint32_t cells;
    const uint32_t *start;   /* [walkers][cells + 1] */
    const uint32_t *order;   /* [walkers][particles] */
    const double *positions; /* [walkers][particles][3] */
    const int32_t *species;  /* [walkers][particles], in their own order */
    const plugmc_box *boxes; /* [walkers] */
} energies_task;

#endif
