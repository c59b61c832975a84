/* Checks a descriptor before the rest of the program uses it. */
#ifndef PLUGMC_DESCRIPTOR_H
#define PLUGMC_DESCRIPTOR_H

#include "plugin/copy.h"
#include "plugmc/everything.h"

/* Checks version, sizes, parameters and functions, in both precisions, and returns a copy. Kind 0: any kind. NULL,
 * with the reason, if something is wrong. */
plugin_copy *take_descriptor(const plugmc_plugin *, int kind, sentence why);
/* Whether a plugin has a real parameter of this name; and its value in an instance. The value is 0 if `name` is
 * NULL. */
bool parameter_is_real(const plugmc_plugin *, const char *name);
double parameter_real(const plugmc_plugin *, const void *instance, const char *name);
/* "potential", "mover", "observable"; "plugin" for 0. */
const char *plugin_kind_name(int kind);
#endif
