/* How the walkers of a run are divided among its processes. */
#ifndef PLUGMC_TEAM_SHARE_H
#define PLUGMC_TEAM_SHARE_H

#include "engine/engine.h"

/* After the plugins are loaded: system.walkers and first_walker, and that of the seed, become those of this
 * process. EXIT_INPUT where there is nothing for one of them, or a mover ties walkers that would be apart. */
int share_walkers(engine *);
/* All, before anything is prepared: processes that may run on the same processors share them. */
int share_threads(engine *);
/* Once the system is complete: engine->processes.whole is it with the walkers of all. */
void share_system(engine *);
#endif
