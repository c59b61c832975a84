/* Finds plugins. */
#ifndef PLUGMC_SEARCH_H
#define PLUGMC_SEARCH_H

#include <stdio.h>

#include "base/report.h"
#include "plugin/loader.h"

/* Opens a plugin. A name with a '/' is a path. Else NAME.so is looked for in these folders, in this order:
 * $PLUGMC_PLUGIN_PATH (folders separated by ':'); `plugins` next to the program, as in a build tree; the installed
 * folder PLUGMC_PLUGIN_FOLDER, one for all kinds. Kind 0: any kind. On failure it reports one sentence with
 * file:line of the INI file, and zeroes *out. Returns 0, EXIT_PLUGIN, or EXIT_MEMORY if processes, file descriptors
 * or memory are exhausted. */
int plugin_load(const char *name, int kind, const char *file, int line, loaded *out, report *);

/* Whether a plugin lies where those of this program are, in a build tree or an installation. */
bool plugin_is_own(const char *path);
/* Path of the first NAME.so in the search path, malloc'ed, or NULL. */
char *find_plugin(const char *name);
/* Sorted names of all plugins of a kind in the search path, for `list` and for suggestions. Kind 0: all files that
 * end in .so, without opening them. Else: those that can be opened as that kind. */
typedef struct plugin_names {
    char **names, **paths;
    int count;
} plugin_names;
plugin_names plugin_list(int kind);
void plugin_names_free(plugin_names *);
/* Prints the folders of the search path in order, separated by ", ". */
void plugin_path_print(FILE *);
#endif
