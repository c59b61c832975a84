/* Who belongs to which molecule, as potentials tell. */
#ifndef PLUGMC_RUN_MOLECULES_H
#define PLUGMC_RUN_MOLECULES_H

#include "engine/engine.h"

/* Asks the potentials, once they are prepared; two that disagree are refused. 0 or an exit code. */
int molecules_find(engine *);
#endif
