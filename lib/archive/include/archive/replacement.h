/* A file is only ever replaced whole: what is to come is written beside it, flushed to disk and
 * renamed over it. A run killed at any moment leaves the old file or the new one.
 *
 * What is replaced is what was copied: if the file has become another one in the meantime, or one
 * has come where there was none, nothing is done. */
#ifndef PLUGMC_REPLACEMENT_H
#define PLUGMC_REPLACEMENT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "archive/spare.h"

typedef struct replacement {
    char *target;    /* with symbolic links resolved */
    char *temporary; /* target.tmp-IDENTITY */
    int fd;          /* open for reading and writing; closed by finish and abandon */
    bool guarded;    /* nothing but `old` may be replaced */
    bool shared;     /* by shared blocks */
    struct stat old; /* what was copied; st_nlink is 0 if nothing was */
} replacement;

/* In place of an errno: the file is not the one that it was. */
enum { REPLACEMENT_CHANGED = -1 };

/* The file that `path` leads to, links resolved as far as there are any; malloc'ed, NULL without
 * memory. */
char *replacement_target(const char *path);

/* Makes the temporary file: empty (`from` NULL), or as a copy of `from`. `identity` is that of the
 * process, see archive/lock.h. With `guarded`, `path` must be `from`, or not exist, until the end.
 * 0 or errno (then nothing is left behind, and there is nothing to abandon). */
int replacement_begin(replacement *, const char *path, const char *from, const char *identity,
                      bool guarded);
/* The same for a file that is changed, guarded, with the file that it has replaced before (or none). */
int replacement_begin_again(replacement *, const char *path, const char *identity, spare *);
/* Flushes it to disk and renames it. 0, errno or REPLACEMENT_CHANGED (then the temporary file is
 * gone, the old file as it was). */
int replacement_finish(replacement *);
/* The same, and what is replaced may be kept as a spare; `touched` says where the new file was written. */
int replacement_finish_keeping(replacement *, spare *, touched *touched);
void replacement_abandon(replacement *);
/* What went wrong in words. */
const char *replacement_words(int code);
#endif
