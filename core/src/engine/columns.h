/* Particles near a cell, in the layout of the batch functions of potentials, in double or single precision. */
#ifndef PLUGMC_RUN_COLUMNS_H
#define PLUGMC_RUN_COLUMNS_H

#include "plugmc/everything.h"
#include "system/geometry.h"

typedef struct columns {
    int64_t n;
    /* Bytes of a real: sizeof(double) or sizeof(float). */
    size_t size;
    char *x, *y, *z, *charge, *diameter; /* real[most] */
    int32_t *species;                    /* [most] */
    int64_t *number;                     /* [most]: index of the particle */
} columns;

/* Allocates arrays for `most` particles. Returns 0 if there is no memory. */
int columns_take(columns *, int64_t most, int single);
void columns_free(columns *);
/* Copies the particles of a cell, then those of the cells around it. Returns how many are in the cell itself. `cells`
 * are those of one walker. */
int64_t columns_gather(columns *, const plugmc_system *, const plugmc_cells *cells,
                       const cell_grid *, int64_t cell);
plugmc_particle column_particle(const columns *, int64_t k);
/* Particles first ... end - 1. */
plugmc_particles column_slice(const columns *, int64_t first, int64_t end);
#endif
