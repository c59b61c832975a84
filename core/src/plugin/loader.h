/* Finding, opening and checking plugins. */
#ifndef PLUGMC_LOADER_H
#define PLUGMC_LOADER_H

#include "plugmc/plugin.h"
#include "report.h"

typedef struct loaded {
    char *name; /* as asked for */
    char *path;
    void *handle;
    const plugmc_plugin *plugin;
    char hash[17]; /* of the file, for provenance */
} loaded;

/* Opens a plugin: a path if the name has a '/', else NAME.so in $PLUGMC_PLUGIN_PATH (folders
 * separated by ':'), else in the installed folder for its kind. kind 0: any. On failure one
 * sentence at file:line of the INI. */
int plugin_load(const char *name, int kind, const char *file, int line, loaded *out, report *);
void plugin_unload(loaded *);

/* Names of all plugins of a kind in the search path, sorted, for `list` and suggestions. */
typedef struct plugin_names {
    char **names, **paths;
    int count;
} plugin_names;
plugin_names plugin_list(int kind);
void plugin_names_free(plugin_names *);
/* "potential", "mover", "observable". */
const char *plugin_kind_name(int kind);
#endif
