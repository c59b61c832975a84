/* How bodies are drawn, by GSD's schema (particles/type_shapes): for trajectories, and for exports, which load no potentials. */
#ifndef PLUGMC_SHAPES_H
#define PLUGMC_SHAPES_H

#include "plugmc/everything.h"

/* JSON of all species, a line for each, as the sampled potentials say (plugmc_body.shape); {}: not known. malloc'ed; NULL:
 * memory is short. */
char *shapes_of(const plugmc_system *);
#endif
