/* A file is only ever replaced whole: what is to come is written beside it, flushed to disk and
 * renamed over it. A run killed at any moment leaves the old file or the new one. */
#ifndef PLUGMC_REPLACEMENT_H
#define PLUGMC_REPLACEMENT_H

#include <stdbool.h>

typedef struct replacement {
    char *target;    /* with symbolic links resolved */
    char *temporary; /* target.tmp-PID */
    int fd;          /* open for reading and writing; closed by finish and abandon */
} replacement;

/* Makes the temporary file, empty or as a copy of the old one. 0 or errno (then nothing is left
 * behind, and there is nothing to abandon). */
int replacement_begin(replacement *, const char *path, bool copy_old);
/* Flushes it to disk and renames it. 0 or errno (then the temporary file is gone, the old file as
 * it was). */
int replacement_finish(replacement *);
void replacement_abandon(replacement *);
#endif
