/* Pairs of particles in cells (cell_arrays.h), each pair once. */
#ifndef PLUGMC_CELL_PAIRS_H
#define PLUGMC_CELL_PAIRS_H

#include "energy/cell_arrays.h"

/* Gathers into c->candidates the particles of a cell, then those of the cells around it that have larger numbers. Returns
 * how many there are. */
int64_t cells_gather(cell_arrays *, const plugmc_box *, int64_t cell);
/* Writes to c->candidates.near the candidates behind number k that are within reach of it, k being in the cell itself. There
 * may also be some that are farther away. Returns how many there are. */
int64_t cells_pick(cell_arrays *, const plugmc_box *, int64_t k, int64_t candidates);
#endif
