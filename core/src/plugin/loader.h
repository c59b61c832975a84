/* Finding, opening and checking plugins. */
#ifndef PLUGMC_LOADER_H
#define PLUGMC_LOADER_H

#include <stdbool.h>
#include <stdio.h>

#include "plugmc/plugin.h"
#include "base/report.h"

typedef struct loaded {
    char *name; /* as asked for */
    char *path;
    void *handle;
    struct plugin_copy *copy;
    const plugmc_plugin *plugin; /* in the copy: structs of this program, see copy.h */
    char hash[17];               /* of the file, for provenance */
    bool shortage;               /* not opened as processes, descriptors or memory were short */
} loaded;

/* Opens a plugin: a path if the name has a '/', else NAME.so in $PLUGMC_PLUGIN_PATH (folders
 * separated by ':'), else in `plugins` next to the program (a build tree), else in the installed
 * folder (PLUGMC_PLUGIN_FOLDER; one for all kinds). kind 0: any. On failure one sentence at
 * file:line of the INI, and *out is zeroed. Returns 0, EXIT_PLUGIN, or EXIT_MEMORY for a shortage. */
int plugin_load(const char *name, int kind, const char *file, int line, loaded *out, report *);
/* The same for a file, without a report: false, with the sentence in `why`. */
bool plugin_open(const char *path, int kind, loaded *out, char *why, size_t size);
void plugin_unload(loaded *);
/* From now on what was loaded stays in memory: for who opens the same plugins again and again. */
void plugins_stay(void);

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
/* "potential", "mover", "observable"; "plugin" for 0. */
const char *plugin_kind_name(int kind);
#endif
