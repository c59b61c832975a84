/* What is said before a run that can be made, but hardly is what its author wants. */
#ifndef PLUGMC_RUN_ADVICE_H
#define PLUGMC_RUN_ADVICE_H

#include "session/session.h"

/* Warnings for a new run that is prepared: averages over the lattice that it begins with; a step
 * that is to be tuned and has no equilibration to be tuned in; keys that nothing in the run looks at, such as a
 * pressure without a mover that changes the volume; movers whose first sweep comes after the last. */
void advise(const session *);
#endif
