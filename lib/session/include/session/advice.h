/* Warnings about a run that is possible, but probably not what its author wants. */
#ifndef PLUGMC_RUN_ADVICE_H
#define PLUGMC_RUN_ADVICE_H

#include "session/session.h"

/* Prints warnings for a new run once it is prepared:
 * - averages would include the initial lattice;
 * - a step should be tuned, but there is no equilibration;
 * - nothing in the run uses a key, for example a pressure without a mover that changes the volume;
 * - the first sweep of a mover would come after the end of the run. */
void advise(const session *);
/* At the end of equilibration: warns of a rigid molecule that is still pushed into others, as random starts may leave it. */
void advise_molecules(session *);
#endif
