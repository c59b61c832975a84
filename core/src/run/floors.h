/* Pair energies without a lower bound: no density exp(-U / kT) can be made of them. */
#ifndef PLUGMC_RUN_FLOORS_H
#define PLUGMC_RUN_FLOORS_H

#include "run/simulation.h"

/* Looks at the sum of all sampled pair energies, with their couplings, of each pair of species that can meet, on each
 * rung of the ladder. EXIT_INPUT, with a message, where it goes to minus infinity; 0 else. Once potentials are
 * prepared. */
int check_floors(simulation *);
#endif
