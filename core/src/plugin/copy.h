/* A plugin's descriptor as this program knows it.
 *
 * Plugins may be older or newer than the program, so their structs may be shorter or longer. They
 * are copied once into structs of the program's own: what a plugin does not know is 0 there, what
 * the program does not know is left behind. After that every member may be read. */
#ifndef PLUGMC_COPY_H
#define PLUGMC_COPY_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Bytes of each struct in plugin ABI 2.0, which every plugin has. These are numbers and not sizes
 * of today's structs: those grow. */
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
    VIEW_2_0 = 120 /* not a plugin's, but one that plugins have filled in */
};

typedef struct plugin_copy plugin_copy;

/* Of a descriptor whose head has been checked; its `single` is still the plugin's. NULL with the
 * reason if a struct in it is too short. */
plugin_copy *plugin_copy_make(const plugmc_plugin *, sentence why);
/* Its single-precision half too, checked likewise. */
bool plugin_copy_single(plugin_copy *, const plugmc_plugin *, sentence why);
const plugmc_plugin *plugin_copy_descriptor(const plugin_copy *);
void plugin_copy_free(plugin_copy *);
#endif
