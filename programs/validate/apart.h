/* Checks in a child process. A plugin that crashes, ends the program or never returns costs the checks of one child,
 * and a finding says what it did and in which callback. */
#ifndef PLUGMC_VALIDATE_APART_H
#define PLUGMC_VALIDATE_APART_H

#include "validate.h"

/* Runs `work` in a child with memory of plugins guarded (base/guarded_memory.h). `group` names it in messages. A
 * callback that takes longer than `seconds` of CPU time, or four times that in all, counts as endless. Errors that are
 * reported meanwhile are collected in `heard`, a sentence each on a line. Returns what `work` has returned; -1: the
 * child did not finish, and there is a finding about it. */
typedef int apart_work(const target *, findings *, void *argument);
enum { APART_DIED = -1 };
/* After so many children have died of a plugin, others are not started. */
enum { MOST_DEATHS = 2 };
int apart(const target *, findings *, const char *group, double seconds, apart_work *,
          void *argument);
/* Memory of both a child and its parent, zeroed. */
void *shared_new(size_t bytes);
/* Removes a folder of files. */
void remove_folder(const char *path);
/* Seconds that a callback may take. */
double apart_patience(const target *);
/* A report whose errors are kept instead of printed. */
typedef struct heard {
    struct report report;
    char text[2000];
} heard;
void heard_begin(heard *);
/* What was heard, or other words if nothing was. */
const char *heard_or(const heard *, const char *other);
#endif
