/* The system that is sampled. */
#ifndef PLUGMC_SYSTEM_H
#define PLUGMC_SYSTEM_H

#include "input/config.h"
#include "plugmc/everything.h"

/* Box, species and particle numbers from the configuration; terms are added later by the loader.
 * Refuses: no way or several ways to give the box size, density above close packing (said with
 * the largest packing fraction: pi/(2 sqrt 3) in 2D, pi/(3 sqrt 2) in 3D), no particles. */
int system_build(const config *, plugmc_system *, report *);
void system_free(plugmc_system *);

/* Of a periodic box: lattice vectors of a rectangular one from its edges, and the inverse and determinant of any. */
void box_finish(plugmc_box *);

/* A potential whose energy no move of particles changes: a total alone that says so. */
bool is_constant(const plugmc_plugin *);

/* Largest separation at which a pair of this term has an energy or overlaps; length. */
double reach_of_term(const plugmc_system *, const plugmc_term *);

/* Fewer particles than these are looked at by one thread: where thousands of small walkers come one after the other,
 * waking others each time took six times as long as the work (1,024 walkers of 288 particles, two cores). */
enum { FEW_FOR_THREADS = 4096 };

/* First pair of particles that overlap, or that may not be where they are, in one walker, by all
 * sampled terms; cell lists where the contact distance is finite, so O(N). Returns 1 and fills
 * what is found, 0 if none, -1 if memory is short. The smallest i, and of its partners the smallest
 * j > i. j = -1: particle i is outside the domain, not finite or forbidden by a field. */
typedef struct overlap {
    int64_t i, j;
    double distance, contact;
} overlap;
int find_overlap(const plugmc_system *, const double *positions, overlap *out);

/* Host side of plugmc_view.cells: counting sort; boxes [walkers]; allocates into `out`, freed by host_cells_free. How
 * many cells there are, how they are numbered and which are around one is said in geometry.h.
 * PLUGMC_OK or PLUGMC_ERROR_MEMORY. */
int host_cells_build(const plugmc_system *, const plugmc_box *boxes, const double *positions,
                     double range, plugmc_cells *out);
/* The same beside boxes of other processes (cell_grid_make_beside). */
int host_cells_build_beside(const plugmc_system *, const plugmc_box *boxes, const double *positions,
                            double range, const double *elsewhere, plugmc_cells *out);
void host_cells_free(plugmc_cells *);
#endif
