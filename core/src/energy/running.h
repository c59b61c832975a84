/* Energies of a walker that are kept from trial move to trial move, for decisions about boxes.
 *
 * They differ from fresh sums by the rounding of all changes since the last one, so they depend on the history. No
 * result may do so: where a decision could be another one within the largest rounding that is possible, it is made by
 * fresh sums. So the chain is that of fresh sums, and hardly any are made. */
#ifndef PLUGMC_RUNNING_H
#define PLUGMC_RUNNING_H

#include "energy/hamiltonian.h"

/* Whether running energies may stand for fresh sums in this change of boxes. */
bool running_serves(const hamiltonian *, const plugmc_host *, const plugmc_changes *);
/* From fresh sums [terms] of the current configuration. */
void running_start(const hamiltonian *, walker_energy *, const double *energy);
/* Adds the changes [terms] of an accepted trial move; NULL: not known, so the energies are lost. */
void running_add(const hamiltonian *, walker_energy *, const double *change);
/* Bound on the error of -ln p from running energies in walker w; INFINITY if they are not known. */
double running_doubt(const hamiltonian *, int32_t w);
#endif
