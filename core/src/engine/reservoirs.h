/* What the reservoirs of a run are, on each rung: for plugins (plugmc/reservoir.h) and as lines for the user. */
#ifndef PLUGMC_RUN_RESERVOIRS_H
#define PLUGMC_RUN_RESERVOIRS_H

#include <stdio.h>

#include "engine/engine.h"
#include "input/reservoir.h"

/* Of a species on a rung. mu is NaN if it has none. */
reservoir reservoir_on(const engine *, int32_t species, int32_t rung);
/* plugmc_reservoirs. */
const void *reservoir_services(void);
/* A line for each species with a reservoir and each rung, starting with `begin`: activity, chemical potential and
 * fugacity, and what else is known, in the units of the run. Writes nothing with more than 1,000 lines. */
void reservoirs_write(FILE *, const engine *, const char *begin);
#endif
