/* Pair energies and fields of one particle at a position, term by term. */
#ifndef PLUGMC_PARTS_H
#define PLUGMC_PARTS_H

#include "energy/hamiltonian.h"

/* A test particle: its species, position, and the orientation of a body. Its energy is computed without particles i and j
 * (-1: none is left out), and only with particles whose index is larger than `after`. */
typedef struct probe {
    int64_t i, j, after;
    int32_t species;
    const double *at;
    const plugmc_orientation *turned;
} probe;

/* Adds the energy of a particle with others, by a term of finite range. `turned` and `orientations` are those of bodies, else
 * NULL. Returns how many of them overlap with it. */
int64_t term_energy(const energy_term *, const configuration *, const plugmc_particle *,
                    const plugmc_orientation *turned, const plugmc_particles *others,
                    const plugmc_orientation *orientations, double *energy);

/* All of these add to energy [terms], and return whether the position is forbidden. */

/* Energy with near particles, and of fields. */
bool close_energy(const hamiltonian *, configuration *, const probe *, double *energy);
/* Change of these energies when the particle moves to `to` and takes the orientation `turn`. */
bool close_change(const hamiltonian *, walker_energy *, const probe *, const double to[3],
                  const plugmc_orientation *turn, double *change);
/* Energies of terms without a range, summed in the order of the index. With `to`: their changes when the particle moves
 * there. */
bool far_energy(const hamiltonian *, const configuration *, const probe *, const double *to,
                double *energy);
/* All of these energies. The position must be in the domain. */
bool parts_of(const hamiltonian *, walker_energy *, const probe *, double *energy);
/* Energy of two test particles with each other. */
bool parts_between(const hamiltonian *, const configuration *, const probe *, const probe *,
                   double *energy);

/* Subtracts the energies of particle i at its position. */
void take_parts_off(const hamiltonian *, walker_energy *, int64_t i, double *change);

/* Whether it is one, as plugmc/orientation.h has it. */
bool is_orientation(const plugmc_orientation *, int32_t dimension);
/* Whether all components are numbers. */
bool is_position(const double r[3]);
#endif
