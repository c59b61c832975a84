/* The file before the last one, kept to become the next one.
 *
 * A checkpoint is a copy of the old file that is changed and renamed over it. Beside a long trajectory nearly all
 * of that copy is what was there before. So the file that was replaced is not removed: it changes names with the new
 * one, and differs from it where that one was written. When these places are copied it is the copy that is needed.
 *
 * It is left alone unless it is known to be that copy: nobody has it open or another name for it, both files are
 * as they were left, and the file system is of this machine, so that the kernel knows who has it open. Whoever
 * began to read the file before it was replaced reads on undisturbed. */
#ifndef PLUGMC_SPARE_H
#define PLUGMC_SPARE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "archive/touched.h"

typedef struct spare {
    char *path;       /* NULL: there is none */
    struct stat own;  /* as it was left */
    struct stat next; /* of the file in place, as it was left */
    touched differs;  /* where that one was written */
    off_t least;      /* files with less than this are copied */
} spare;

/* Brings it up to date with the file at `target`, whose description goes to *now. The descriptor, for reading and
 * writing, and there is no spare any more: its file is the caller's, under its name. -1: there is none that would
 * do, and none is left. */
int spare_take(spare *, const char *path, const char *target, struct stat *now);
/* Whether the file that `old` describes is to be kept when the one that is open is put in its place: it is no small
 * one, and is one that spare_take would take. */
bool spare_is_worth(const spare *, int fd, const struct stat *old, const touched *differs);
/* They have changed names: `old` is at `path` now. Takes `differs`. */
bool spare_keep(spare *, const char *path, const struct stat *old, const struct stat *next,
                touched *differs);
void spare_drop(spare *);
#endif
