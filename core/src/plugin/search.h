/* Where plugins are looked for. */
#ifndef PLUGMC_SEARCH_H
#define PLUGMC_SEARCH_H

#include <stdio.h>

#include "base/report.h"
#include "plugin/loader.h"

/* Opens a plugin: a path if the name has a '/', else NAME.so in $PLUGMC_PLUGIN_PATH (folders
 * separated by ':'), else in `plugins` next to the program (a build tree), else in the installed
 * folder (PLUGMC_PLUGIN_FOLDER; one for all kinds). kind 0: any. On failure one sentence at
 * file:line of the INI, and *out is zeroed. Returns 0, EXIT_PLUGIN, or EXIT_MEMORY for a shortage. */
int plugin_load(const char *name, int kind, const char *file, int line, loaded *out, report *);

/* The first NAME.so of the search path, malloc'ed, or NULL. */
char *find_plugin(const char *name);
/* Names of all plugins of a kind in the search path, sorted, for `list` and suggestions. kind 0:
 * all files that end in .so, without opening them; else those that open as that kind. */
typedef struct plugin_names {
    char **names, **paths;
    int count;
} plugin_names;
plugin_names plugin_list(int kind);
void plugin_names_free(plugin_names *);
/* The folders of the search path in order, with ", " between them. */
void plugin_path_print(FILE *);
#endif
