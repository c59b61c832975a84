/* What a run was made with: program, plugins, the files that plugins read, the machine. The output file has an entry
 * for each part of a run that was resumed. Entries are compared when the run is resumed again. */
#ifndef PLUGMC_HISTORY_H
#define PLUGMC_HISTORY_H

#include "session/session.h"

/* Lines "key: value" about this part of the run. Available once the plugins are loaded; the GPU is included once
 * session_prepare has chosen it. malloc'ed. */
char *history_describe(const session *);
/* `before` (NULL: nothing), an empty line, `entry`. malloc'ed. */
char *history_append(const char *before, const char *entry);
/* The lines that must stay the same within one chain: program, plugins, and files that plugins read. With `start`
 * also the file of the initial state. malloc'ed. */
char *history_parts(const session *, bool start);
/* Called for each difference between two descriptions: what differs, in words, and its hash or version in each.
 * NULL: not there. */
typedef void history_differs(void *argument, const char *what, const char *was, const char *is);
void history_differences(const char *before, const char *now, history_differs *tell,
                         void *argument);
/* Checks whether the program, a plugin or a file that a plugin reads has changed since the file `path`, which contains
 * `before`, was written. Each change is an error, EXIT_CHECKPOINT. With `accept` it is a warning, and 0 is returned. */
int history_compare(const session *, const char *path, const char *before, bool accept);
/* The same for a finished run, before its results are shown as those of this configuration. Only files are compared,
 * since a later program shows the results unchanged. */
int history_compare_files(const session *, const char *path, const char *before);
#endif
