/* Pair energies and fields of a whole configuration. */
#ifndef PLUGMC_WHOLE_H
#define PLUGMC_WHOLE_H

#include "energy/hamiltonian.h"

/* Fresh sums: energy [terms], zeros for many-body terms. They depend on the configuration alone. Returns whether the
 * configuration is forbidden; then the sums are incomplete. */
bool whole_energy(const hamiltonian *, configuration *, double *energy);
#endif
