/* A plugin for an ABI that does not exist yet. */
#include <plugmc/everything.h>

static const plugmc_plugin descriptor = {
    .magic = PLUGMC_MAGIC, .size = sizeof descriptor, .abi_major = 9, .abi_minor = 9};

PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &descriptor; }
