/* Pairs and fields of one particle at a place, term by term. */
#ifndef PLUGMC_PARTS_H
#define PLUGMC_PARTS_H

#include "energy/hamiltonian.h"

/* What is asked of the energy of a particle at a place: as if i and j (or nobody, -1) were not there
 * otherwise, and with those of a larger index than `after` alone. */
typedef struct probe {
    int64_t i, j, after;
    int32_t species;
    const double *at;
} probe;

/* All of these add to energy [terms], and return whether the particle cannot be there. */

/* With those near, and in the field. */
bool close_energy(const hamiltonian *, configuration *, const probe *, double *energy);
/* Terms without a range, in the order of the index: their energies, or with `to` how they change when the
 * particle goes there. */
bool far_energy(const hamiltonian *, const configuration *, const probe *, const double *to,
                double *energy);
/* All of them, in the domain. */
bool parts_of(const hamiltonian *, walker_energy *, const probe *, double *energy);
/* Of two particles with each other, wherever they are from. */
bool parts_between(const hamiltonian *, const configuration *, const probe *, const probe *,
                   double *energy);

/* Without the energies of particle i where it is. */
void take_parts_off(const hamiltonian *, walker_energy *, int64_t i, double *change);
#endif
