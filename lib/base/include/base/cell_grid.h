/* Cells into which boxes are cut, the same on the host and on the device. */
#ifndef PLUGMC_BASE_CELL_GRID_H
#define PLUGMC_BASE_CELL_GRID_H

#include "plugmc/everything.h"

/* The box is cut into count[0] x count[1] x count[2] equal cells, each at least `range` wide:
 *     count[d] = max(1, floor(length[d] / range)), count[2] = 1 in two dimensions,
 * and as long as there are more than 4 N + 8 cells the largest count is halved (rounded up, the
 * first of equal ones). A sphere is cut as the cube [-radius, radius]^d.
 *     cell of x:      c[d] = min(count[d] - 1, (int)((x[d] - origin) / width[d]))
 *     its number:     c[0] + count[0] * (c[1] + count[1] * c[2])
 * Everything within `range` of a particle is in the cells c[d] - 1, c[d], c[d] + 1 of each
 * direction (periodic: modulo count[d]). With two cells in a direction these are 0 and 1, with
 * one only 0: each cell is visited once, however small the box. */
typedef struct cell_grid {
    int32_t count[3];
    double width[3], origin; /* length */
    int64_t cells;
    int periodic;
} cell_grid;

/* For boxes [walkers] of one shape, whose edges may differ: as many cells in all of them, of the width
 * that fits the shortest. Widths are those in the first. */
cell_grid cell_grid_make(const plugmc_box *boxes, int64_t walkers, int64_t particles, double range);
/* Where other processes have walkers with boxes of their own: the shortest edges [3] of these count as those of `boxes`
 * do, so that cells, and the order in which is summed, are as in one process. NULL: there are none. */
cell_grid cell_grid_make_beside(const plugmc_box *boxes, int64_t walkers, int64_t particles,
                                double range, const double *elsewhere);
/* The same cells in another box. */
cell_grid cell_grid_in(const cell_grid *, const plugmc_box *);
/* `position` lies in the box. */
int64_t cell_of(const cell_grid *, const double position[3]);
/* Numbers of the cells around `cell`, itself included, each once. Returns how many. */
int cells_around(const cell_grid *, int64_t cell, int64_t out[27]);
#endif
