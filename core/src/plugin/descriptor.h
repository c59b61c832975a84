/* What is asked of a descriptor before the rest of the program may trust it. */
#ifndef PLUGMC_DESCRIPTOR_H
#define PLUGMC_DESCRIPTOR_H

#include "plugin/copy.h"
#include "plugmc/plugin.h"

/* Checks version, sizes, parameters and functions, of both precisions, and copies what it has
 * checked; kind 0: any. NULL with the reason if something is wrong. */
plugin_copy *take_descriptor(const plugmc_plugin *, int kind, sentence why);
/* "potential", "mover", "observable"; "plugin" for 0. */
const char *plugin_kind_name(int kind);
#endif
