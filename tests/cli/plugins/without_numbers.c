/* refusing, by somebody who writes the descriptor by hand and leaves plugmc_plugin.first_walker out. */
#include <plugmc/everything.h>
#include <stddef.h>

#undef PLUGMC_PLUGIN
#pragma GCC diagnostic ignored "-Woverride-init"
#define PLUGMC_PLUGIN(...)                                                                         \
    static const plugmc_plugin plugmc_descriptor = {                                               \
        PLUGMC_PLUGIN_HEAD, __VA_ARGS__, .name = "without_numbers", .first_walker = NULL};         \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_descriptor; }

#include "refusing.c"
