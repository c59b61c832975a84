/* Whose the variational parameters of a run are: variational.h. */
#ifndef PLUGMC_FREE_PARTS_H
#define PLUGMC_FREE_PARTS_H

#include "engine/engine.h"

/* Those of one potential: first ... first + count - 1 of all. */
typedef struct variational_part {
    instance *owner;
    const plugmc_variational *facet;
    int64_t first, count;
} variational_part;

typedef struct variational_parameters {
    int parts;
    variational_part *part;
    int64_t count;
    struct variational_device *device; /* NULL: derivatives are found on the CPU alone */
} variational_parameters;
#endif
