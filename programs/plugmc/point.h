/* One point of plugmc check --json: an INI file with some values of its own. */
#ifndef PLUGMC_CLI_POINT_H
#define PLUGMC_CLI_POINT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "session/session.h"

/* SECTION.KEY and its value. */
typedef struct assigned {
    char *key, *value;
    int line; /* of the file, where messages are to find it; 0: it has none */
} assigned;

typedef struct point {
    assigned *set;
    int set_count;
} point;

/* What all points have in common. */
typedef struct points_asked {
    const char *file;
    bool of_study;       /* [scan] and [twists] are left out of the file */
    bool results;        /* of output files that are there */
    bool accept_changes; /* of files that plugins read, since a run was finished */
    const char *const *sets;
    int set_count; /* of the command line, before those of the point */
    point *points;
    int64_t count;
} points_asked;

/* In memory that all processes share. */
typedef struct point_common {
    int gpus;        /* of the machine; -1: not counted yet */
    int32_t codes[]; /* [points]: exit codes */
} point_common;

/* How far a process is: in memory that it shares with the one that waits for it. */
typedef struct point_progress {
    bool opened; /* the output file of a point is being read */
    off_t told;  /* of what has been printed, so much is in the messages of points */
} point_progress;

/* Looks at point k and tells of it in a line. What plugins print has to go to the standard error, which is a file.
 * `apart`: the output file is read by another process, as it may end this one. */
void point_tell(FILE *, const points_asked *, int64_t k, bool apart, point_common *,
                point_progress *);
/* The line of a point that has ended its process, which has printed what is in `printed`; `how`: in words. */
void point_tell_end(FILE *, const points_asked *, int64_t k, int code, const char *printed,
                    const char *how);
#endif
