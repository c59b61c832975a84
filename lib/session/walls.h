/* Whether pairs act through the walls of a slit. */
#ifndef PLUGMC_RUN_WALLS_H
#define PLUGMC_RUN_WALLS_H

#include "engine/engine.h"

/* A warning where fields keep particles out of a layer across a periodic box that is thinner than the range of a pair
 * energy: a pair at both sides of it, which a wall would part, has an energy as nearest images. Once the run is prepared. */
void advise_walls(const engine *);
#endif
