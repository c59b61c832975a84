/* plugmc/former_keys.h: keys of a plugin that had another name in earlier versions.
 *
 * INI files and output files with the old names stay readable. The core renames the keys before it reads the
 * section, and tells people who still write the old one. */
#ifndef PLUGMC_FORMER_KEYS_H
#define PLUGMC_FORMER_KEYS_H

#include "plugmc/plugin.h"

typedef struct plugmc_former_key {
    const char *before; /* NULL after the last */
    const char *now;    /* the name of a parameter */
} plugmc_former_key;

/* The extension of a plugin: PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &former_keys}). */
#define PLUGMC_FORMER_KEYS "plugmc.former_keys/1"
typedef struct plugmc_former_keys {
    uint32_t size;
    const plugmc_former_key *keys;
} plugmc_former_keys;

#endif
