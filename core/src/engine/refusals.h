/* Plugins of a run whose answers cannot be: found here, said with section and line. */
#ifndef PLUGMC_REFUSALS_H
#define PLUGMC_REFUSALS_H

#include "engine/engine.h"

/* Says it of an instance; returns the exit code. */
int refuse_answer(instance *, enum exit_code, const char *why);
/* The one that a term belongs to. */
instance *instance_of_term(engine *, const plugmc_term *);
/* Ranges and contacts of all pair facets, and their energies on trial (plugin/probe.h). After
 * configure. */
int check_pairs(engine *);
/* Whether the energies of all pairs, as they are on each rung, have a lower bound (engine/floors.h). Once potentials are
 * prepared. */
int check_floors(engine *);
/* What an instance says of itself after prepare. */
int check_prepared(engine *, instance *);
#endif
