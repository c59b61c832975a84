/* Plugins of a run whose answers cannot be: found here, said with section and line. */
#ifndef PLUGMC_REFUSALS_H
#define PLUGMC_REFUSALS_H

#include "run/simulation.h"

/* Says it of an instance; returns the exit code. */
int refuse_answer(instance *, enum exit_code, const char *why);
/* The one that a term belongs to. */
instance *instance_of_term(simulation *, const plugmc_term *);
/* Ranges and contacts of all pair facets, and their energies on trial (plugin/probe.h). After
 * configure. */
int check_pairs(simulation *);
/* Whether the energies of all pairs, as they are on each rung, have a lower bound (run/floors.h). Once potentials are
 * prepared. */
int check_floors(simulation *);
/* What an instance says of itself after prepare. */
int check_prepared(simulation *, instance *);
/* The values that an observable has just measured: no NaN or infinity comes into an average. */
int check_sample(simulation *, const measurement *);
#endif
