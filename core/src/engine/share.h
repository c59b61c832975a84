/* How the walkers of a run are divided among its processes. */
#ifndef PLUGMC_TEAM_SHARE_H
#define PLUGMC_TEAM_SHARE_H

#include "engine/engine.h"

/* Sets system.walkers and first_walker, and that of the seed, to those of this process. Call it after the plugins are
 * loaded. EXIT_INPUT if a process would have no walker, or if a mover couples walkers that would be in different
 * processes. */
int share_walkers(engine *);
/* Collective, before anything is prepared: divides processors among the processes that may run on them. */
int share_threads(engine *);
/* Once the system is complete: sets engine->processes.whole, the same system with the walkers of all processes. */
void share_system(engine *);
#endif
