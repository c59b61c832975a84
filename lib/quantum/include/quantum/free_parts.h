/* Whose the free numbers of a run are: free_numbers.h. */
#ifndef PLUGMC_FREE_PARTS_H
#define PLUGMC_FREE_PARTS_H

#include "engine/engine.h"

/* Those of one potential: first ... first + count - 1 of all. */
typedef struct free_part {
    instance *owner;
    const plugmc_free *facet;
    int64_t first, count;
} free_part;

typedef struct free_numbers {
    int parts;
    free_part *part;
    int64_t count;
    struct free_device *device; /* NULL: derivatives are found on the CPU alone */
} free_numbers;
#endif
