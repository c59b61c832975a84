/* To which molecule each particle belongs, as the potentials say. */
#ifndef PLUGMC_RUN_MOLECULES_H
#define PLUGMC_RUN_MOLECULES_H

#include "engine/engine.h"

/* Asks the potentials, once they are prepared. Two that disagree are refused. Returns 0 or an exit code. */
int molecules_find(engine *);
#endif
