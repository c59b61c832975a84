/* What is said before a run that can be made, but hardly is what its author wants. */
#ifndef PLUGMC_RUN_ADVICE_H
#define PLUGMC_RUN_ADVICE_H

#include "run/simulation.h"

/* Warnings for a new run that is prepared: averages over the lattice that it begins with; a step
 * that is to be tuned and has no equilibration to be tuned in. */
void advise(const simulation *);
#endif
