/* Finds answers of plugins that are impossible. Messages give section and line. */
#ifndef PLUGMC_REFUSALS_H
#define PLUGMC_REFUSALS_H

#include "engine/engine.h"

/* Reports an answer of an instance. Returns the exit code. */
int refuse_answer(instance *, enum exit_code, const char *why);
/* The instance to which a term belongs. */
instance *instance_of_term(engine *, const plugmc_term *);
/* Checks that a packing fraction which gives the size of the box is that of the bodies, if there are any. Call it after
 * configure. */
int check_packing(engine *);
/* Checks that bodies, if there are any, have room in the box. Call it after check_pairs. */
int check_room(engine *);
/* Checks ranges and contact distances of all pair facets, and test values of their energies (plugin/probe.h). Call it
 * after configure. */
int check_pairs(engine *);
/* Checks that the energies of all pairs have a lower bound on each rung (engine/floors.h). Call it once potentials are
 * prepared. */
int check_floors(engine *);
/* What check_prepared compares with: call it before prepare. NULL: nothing. */
struct answers *before_prepare(engine *, instance *);
/* Checks the answers of an instance after prepare, and that its energies are those of before, which are freed. */
int check_prepared(engine *, instance *, struct answers *before);
#endif
