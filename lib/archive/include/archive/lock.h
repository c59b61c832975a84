/* Who may write an output file: one process at a time, whether that is a run or another program of plugmc.
 *
 * A process has an identity, random, in a lock file beside the output, in the output itself and in
 * the names of its temporary files. The lock (flock) is on a file of its own, OUTPUT.lock, since
 * the output is replaced whole and a lock on it would go with the old one. Where file systems know
 * no locks the identity in the file still shows that somebody else has written it. */
#ifndef PLUGMC_LOCK_H
#define PLUGMC_LOCK_H

#include <stdbool.h>

#include "base/report.h"

enum { IDENTITY_SIZE = 33 };

/* 32 hexadecimal digits. */
void identity_make(char identity[IDENTITY_SIZE]);

typedef struct output_lock {
    int fd;     /* -1: not taken */
    bool held;  /* false where the file system has no locks */
    char *path; /* of the lock file */
} output_lock;

/* Takes the lock of the output file `path`, and removes temporary files that dead runs have left
 * beside it. EXIT_OUTPUT, with a sentence that names who has it, if it is taken; a warning if there
 * are no locks here. */
int output_lock_take(output_lock *, const char *path, const char *identity, report *);
/* Removes temporary files that dead runs have left beside this file, which nobody else writes meanwhile. */
void lock_remove_strays(const char *target);
/* The same for a program that writes no identity into its file. */
int output_lock_take_plain(output_lock *, const char *path, report *);
/* Of a lock that was taken, or is all zero. */
void output_lock_release(output_lock *);
#endif
