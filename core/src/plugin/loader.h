/* Opening and checking plugins; search.h finds them. */
#ifndef PLUGMC_LOADER_H
#define PLUGMC_LOADER_H

#include <stdbool.h>

#include "plugmc/everything.h"
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

/* Opens and checks a file; kind 0: any. false, with the sentence in `why`. */
bool plugin_open(const char *path, int kind, loaded *out, char *why, size_t size);
void plugin_unload(loaded *);
/* From now on what was loaded stays in memory: for who opens the same plugins again and again. */
void plugins_stay(void);
#endif
