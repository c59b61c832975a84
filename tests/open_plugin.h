/* A plugin from the folder of the build, or by its path without .so, without the core's loader. The folder PLANTED of the
 * environment, if it is set, is that of plugins with planted faults, in place of the build's.
 * Include after testing.h. */
#ifndef PLUGMC_OPEN_PLUGIN_H
#define PLUGMC_OPEN_PLUGIN_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "plugmc/everything.h"

/* Stays open until the process ends. */
static inline const plugmc_plugin *open_plugin(const char *name)
{
    char path[4096];
    const char *planted = getenv("PLANTED");
    if (strchr(name, '/'))
        snprintf(path, sizeof path, "%s.so", name);
    else
        snprintf(path, sizeof path, "%s/%s.so", planted ? planted : TEST_PLUGINS, name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    plugmc_entry *entry = (plugmc_entry *)dlsym(handle, "plugmc_plugin_entry");
    if (!entry) fail_msg("%s has no entry", path);
    return entry();
}

#endif
