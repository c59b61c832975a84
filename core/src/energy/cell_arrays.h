/* Particles of one walker in cells, for the CPU. The coordinates of a cell are contiguous, so distances are computed
 * from them without a gather.
 *
 * Within a cell, particles are in the order of their index, and cells are visited in a fixed order. So the order of a
 * list of neighbours depends only on the configuration and on the positions that are asked about. It does not depend on
 * the history. */
#ifndef PLUGMC_CELL_ARRAYS_H
#define PLUGMC_CELL_ARRAYS_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* Cells have slots in multiples of this, so that loops over a cell have no remainder. */
enum { CELL_LANES = 8 };

/* Buffers of cell_pairs.h. Arrays have room for the particles of all cells around one, and CELL_LANES more. */
typedef struct cell_candidates {
    /* Positions; the same in the image that is next to the cell; length. */
    double *at[3], *beside[3];
    int32_t *particle;
    /* Those near a particle: positions and indices. */
    double *near[3];
    int32_t *near_particle;
    /* Allocated. */
    double *numbers;
    int32_t *indices;
    int64_t room;
} cell_candidates;

typedef struct cell_arrays {
    /* Everything within it is in adjacent cells; length. 0: there are no cells. */
    double reach;
    /* Cells along each axis of the box; in an oblique box along each lattice vector. */
    int32_t count[3];
    int64_t cells;
    /* Edges of the cells, if the box is not oblique: length, 1/length. */
    double width[3], inverse_width[3];
    /* Slots of each cell. */
    int32_t capacity;
    /* [cells]: particles in each cell. */
    int32_t *n;
    /* [cells][capacity]: positions, and indices of the particles. Unused slots have NaN. */
    double *x, *y, *z;
    int32_t *particle;
    /* Allocated: cells, and slots of all cells. */
    int64_t cells_allocated, slots_allocated;
    cell_candidates candidates;
} cell_arrays;

/* Cells are wider than the reach by this, for rounding. */
static const double CELL_HAIR = 1 + 1e-9;

static inline bool cells_have_images(const plugmc_box *box, int d)
{
    return box->domain == PLUGMC_DOMAIN_PERIODIC && !box->closed[d] && d < box->dimension;
}

/* Component d of a sum of lattice vectors. */
static inline double cells_shift(const plugmc_box *box, const int32_t period[3], int d)
{
    if (!box->oblique) return period[d] * box->length[d];
    return period[0] * box->vector[0][d] + period[1] * box->vector[1][d] +
           period[2] * box->vector[2][d];
}

/* Empty cells for about n particles in a box. Returns 0, or -1 without memory. */
int cells_arrange(cell_arrays *, const plugmc_box *, int64_t n);
void cells_free(cell_arrays *);

/* Particle i is at a position in the box. Returns 0, or -1 without memory. */
int cells_add(cell_arrays *, const plugmc_box *, int64_t i, const double at[3]);
/* Particle i was at a position. Returns -1 if it was not there. */
int cells_remove(cell_arrays *, const plugmc_box *, int64_t i, const double at[3]);
/* Particle i moves within its cell. Returns 1 if `to` is in another cell, -1 if it was not there. */
int cells_move_within(cell_arrays *, const plugmc_box *, int64_t i, const double from[3],
                      const double to[3]);

/* Whether the cells of two positions are the same or adjacent. */
bool cells_are_adjacent(const cell_arrays *, const plugmc_box *, const double a[3],
                        const double b[3]);
/* Slots of all particles within reach of `at`, or of `to` unless that is NULL. The two must be in adjacent cells. There
 * may also be some that are farther away. slots [particles + CELL_LANES]. Returns how many there are. */
int64_t cells_near(const cell_arrays *, const plugmc_box *, const double at[3], const double *to,
                   int32_t *slots);
#endif
