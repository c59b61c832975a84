/* Arguments of energies.cu and trials.cu, for C and CUDA C++. Pointers are device memory. */
#ifndef PLUGMC_ENERGIES_TASK_H
#define PLUGMC_ENERGIES_TASK_H

#include "plugmc/device.h"
#include "plugmc/molecule.h"

/* Threads of a block. */
enum { ENERGIES_THREADS = 128, ENERGIES_SUMMED = 256 };
/* If all pairs are summed: about how many pairs a thread sums, and the largest number of threads for one particle. */
enum { ENERGIES_MET = 64, ENERGIES_SHARES = 16 };

/* Particles of all walkers, sorted into cells (plugmc_cells) or unsorted. */
typedef struct energies_task {
    /* Particles and blocks per walker. */
    uint32_t particles;
    uint32_t tiles;
    /* Threads per particle if all pairs are summed; else 1. */
    uint32_t shares;
    /* 1: all pairs are summed, and particles are unsorted. */
    int32_t all_pairs;
    /* 1: only fields. */
    int32_t no_pairs;
    /* 1: some slots are unused; their positions are NaN. */
    int32_t some;
    /* Cells along each axis. */
    int32_t count[3];
    uint32_t cells;
    const uint32_t *start;   /* [walkers][cells + 1] */
    const uint32_t *order;   /* [walkers][particles] */
    const double *positions; /* [walkers][particles][3] */
    const int32_t *species;  /* [walkers][particles], unsorted */
    const int32_t *
        molecule; /* [particles], unsorted: of rigid molecules, less than 0 for none; NULL: there are none */
    const plugmc_box *boxes; /* [walkers] */
    const plugmc_orientation
        *orientations; /* [walkers][particles] of bodies, unsorted; NULL: there are none */
} energies_task;

#endif
