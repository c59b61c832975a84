/* The grid as cells.cu takes it; C and CUDA C++. */
#ifndef PLUGMC_CELLS_GRID_H
#define PLUGMC_CELLS_GRID_H

#include "plugmc/device.h"

typedef struct cells_grid {
    double origin; /* length */
    int32_t count[3];
    uint32_t particles; /* a walker */
    uint32_t tiles;     /* blocks a walker */
    uint32_t cells;
} cells_grid;

enum {
    CELLS_THREADS = 256,            /* a block */
    CELLS_TILE = 8 * CELLS_THREADS, /* particles a block */
    CELLS_PART = 4 * CELLS_THREADS, /* counts a block, where they become places */
    CELLS_DIGITS = 256              /* values of one digit of a cell's number */
};

#endif
