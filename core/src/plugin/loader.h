/* Opens and checks plugins. search.h finds them. */
#ifndef PLUGMC_LOADER_H
#define PLUGMC_LOADER_H

#include <stdbool.h>

#include "plugmc/everything.h"
#include "base/report.h"

typedef struct loaded {
    /* As requested. */
    char *name;
    char *path;
    void *handle;
    struct plugin_copy *copy;
    /* Points into the copy, whose structs are those of this program: copy.h. */
    const plugmc_plugin *plugin;
    /* Hash of the file, for provenance. */
    char hash[17];
    /* It was not opened because processes, file descriptors or memory were exhausted. */
    bool shortage;
} loaded;

/* Opens and checks a file. Kind 0: any kind. On failure false, with a sentence in `why`. */
bool plugin_open(const char *path, int kind, loaded *out, char *why, size_t size);
void plugin_unload(loaded *);
/* Reads every text of a descriptor to its end, for a process that may crash on one without an end. */
void plugin_read_texts(const plugmc_plugin *);
/* From now on plugins stay in memory after plugin_unload. For programs that open the same plugins many times. */
void plugins_stay(void);
#endif
