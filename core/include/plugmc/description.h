/* plugmc/description.h: what `plugmc check` prints about an instance of a plugin, such as what it has found in files. */
#ifndef PLUGMC_DESCRIPTION_H
#define PLUGMC_DESCRIPTION_H

#include "plugmc/plugin.h"

/* The extension of a plugin: PLUGMC_OFFERS({PLUGMC_DESCRIPTION, &description}). */
#define PLUGMC_DESCRIPTION "plugmc.description/1"
typedef struct plugmc_description {
    uint32_t size;
    int32_t reserved;
    /* Line `index` (from 0), after prepare, as a string in out [bytes] that ends with 0. Returns 1; 0 after the last. */
    int32_t (*line)(const void *instance, int32_t index, char *out, size_t bytes);
} plugmc_description;

#endif
