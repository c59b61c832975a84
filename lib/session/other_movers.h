/* Whether another mover would be several times faster, as movers say of themselves (plugmc_mover.speed). */
#ifndef PLUGMC_RUN_OTHER_MOVERS_H
#define PLUGMC_RUN_OTHER_MOVERS_H

#include "engine/engine.h"

/* A note for each mover of a long run whose trial moves another one makes several times faster on the same device. Once
 * the run is prepared. */
void advise_other_movers(const engine *);
#endif
