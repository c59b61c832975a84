/* A plugin as version 1.0 of the interface began it: what follows `kind` was laid out in another way. */
#include <plugmc/plugin.h>

static const plugmc_plugin descriptor = {.magic = PLUGMC_MAGIC,
                                         .size = sizeof descriptor,
                                         .abi_major = 1,
                                         .abi_minor = 0,
                                         .real_size = sizeof(double)};

PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &descriptor; }
