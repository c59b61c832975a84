/* A copy of a plugin's descriptor, in the structs of this program.
 *
 * Plugins may be older or newer than the program, so their structs may be shorter or longer. They are copied once
 * into the program's own structs. Members unknown to the plugin are 0 in the copy, and members unknown to the
 * program are dropped. After that every member may be read. */
#ifndef PLUGMC_COPY_H
#define PLUGMC_COPY_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Size in bytes of each struct in plugin ABI 2.0. Every plugin has at least these members. The sizes are literal
 * numbers, since sizeof the present structs grows. */
enum {
    PLUGIN_2_0 = 184,
    PARAMETER_2_0 = 80,
    POTENTIAL_2_0 = 32,
    PAIR_2_0 = 64,
    FIELD_2_0 = 24,
    TOTAL_2_0 = 104,
    MOVER_2_0 = 88,
    MOVE_2_0 = 56,
    DRIVER_2_0 = 40,
    OBSERVABLE_2_0 = 80,
    ORBITALS_2_0 = 48,
    FREE_2_0 = 96,
    /* Since 2.1. */
    BODY_2_1 = 56,
    /* This struct does not belong to plugins, but plugins have it filled in. */
    VIEW_2_0 = 120
};

typedef struct plugin_copy plugin_copy;

/* Copies a descriptor whose head has been checked. `single` still points to the plugin's own struct. NULL, with the
 * reason, if a struct is too short. */
plugin_copy *plugin_copy_make(const plugmc_plugin *, sentence why);
/* Copies the single-precision half too, with the same checks. */
bool plugin_copy_single(plugin_copy *, const plugmc_plugin *, sentence why);
const plugmc_plugin *plugin_copy_descriptor(const plugin_copy *);
void plugin_copy_free(plugin_copy *);
#endif
