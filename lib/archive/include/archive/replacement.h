/* A file is only ever replaced whole: what is to come is written beside it, flushed to disk and
 * renamed over it. A run killed at any moment leaves the old file or the new one.
 *
 * What is replaced is what was copied: if the file has become another one in the meantime, or one
 * has come where there was none, nothing is done. */
#ifndef PLUGMC_REPLACEMENT_H
#define PLUGMC_REPLACEMENT_H

#include <stdbool.h>
#include <sys/stat.h>

typedef struct replacement {
    char *target;    /* with symbolic links resolved */
    char *temporary; /* target.tmp-IDENTITY */
    int fd;          /* open for reading and writing; closed by finish and abandon */
    bool guarded;    /* nothing but `old` may be replaced */
    struct stat old; /* what was there at the beginning; st_nlink is 0 if nothing was */
} replacement;

/* In place of an errno: the file is not the one that it was. */
enum { REPLACEMENT_CHANGED = -1 };

/* The file that `path` leads to, links resolved as far as there are any; malloc'ed, NULL without
 * memory. */
char *replacement_target(const char *path);

/* What may be replaced: whatever is there in the end; nothing; the file that is there at the beginning, whose mode the
 * new one gets. */
enum replaces { REPLACES_ANY, REPLACES_NOTHING, REPLACES_PRESENT };
/* Makes the temporary file, which is empty. `identity` is that of the process, see archive/lock.h. 0 or errno (then
 * nothing is left behind, and there is nothing to abandon). */
int replacement_begin(replacement *, const char *path, const char *identity, enum replaces);
/* Flushes it to disk and renames it. 0, errno or REPLACEMENT_CHANGED (then the temporary file is
 * gone, the old file as it was). */
int replacement_finish(replacement *);
void replacement_abandon(replacement *);
/* Has the folder of a file written to the disk, so that a new name in it lasts. */
void replacement_flush_folder(const char *path);
/* What went wrong in words. */
const char *replacement_words(int code);
#endif
