/* The system that is sampled. */
#ifndef PLUGMC_SYSTEM_H
#define PLUGMC_SYSTEM_H

#include <stdbool.h>

#include "input/config.h"
#include "plugmc/everything.h"

/* Sets box, species and particle numbers from the configuration. The loader adds terms later. Refused are: a box
 * size that is not given or given in several ways, and no particles. */
int system_build(const config *, plugmc_system *, report *);
/* Refuses a density of particles with these diameters that is above close packing. The message gives the largest packing
 * fraction, pi/(2 sqrt 3) in 2D and pi/(3 sqrt 2) in 3D. Not for bodies, which have volumes of their own. */
int check_density_of_spheres(const config *, const plugmc_system *, report *);
void system_free(plugmc_system *);

/* Completes a periodic box. If it is rectangular, the lattice vectors are computed from its edges. For any box the
 * inverse and the determinant are computed. */
void box_finish(plugmc_box *);

/* Whether no move of particles changes the energy of a potential. It has only a many-body term, which says so. */
bool is_constant(const plugmc_plugin *);

/* Whether a potential of the run is of bodies, so that particles are no points or spheres. */
bool any_bodies(const plugmc_system *);

/* Largest separation (length) at which a pair has an energy by this term, or overlaps. */
double reach_of_term(const plugmc_system *, const plugmc_term *);

/* Fewer particles than these are processed by one thread. With thousands of small walkers in sequence, waking other
 * threads each time took six times as long as the work (1,024 walkers of 288 particles, two cores). */
enum { FEW_FOR_THREADS = 4096 };

/* Finds the first pair of particles of a walker that overlap, or the first particle at a forbidden position, by all
 * sampled terms. Uses cell lists if the contact distance is finite, so it is O(N). "First" is the smallest i, and
 * then the smallest j > i. j = -1: particle i is outside the domain, is not finite, or is forbidden by a field.
 * Returns 1 and fills *out, 0 if there is none, -1 without memory. */
typedef struct overlap {
    int64_t i, j;
    double distance, contact;
} overlap;
int find_overlap(const plugmc_system *, const double *positions, overlap *out);

/* plugmc_view.cells on the host, by counting sort. boxes [walkers]. Allocates arrays in *out, which host_cells_free
 * frees. base/cell_grid.h says how many cells there are, how they are numbered, and which are the neighbours of a
 * cell. Returns PLUGMC_OK or PLUGMC_ERROR_MEMORY. */
int host_cells_build(const plugmc_system *, const plugmc_box *boxes, const double *positions,
                     double range, plugmc_cells *out);
/* The same, with one grid for the boxes of all processes (cell_grid_make_beside). */
int host_cells_build_beside(const plugmc_system *, const plugmc_box *boxes, const double *positions,
                            double range, const double *elsewhere, plugmc_cells *out);
void host_cells_free(plugmc_cells *);
#endif
