/* What makes a run: program, plugins, the files that these read, the machine. Kept in the output
 * file for each part of a run that was resumed, and compared when it is. */
#ifndef PLUGMC_HISTORY_H
#define PLUGMC_HISTORY_H

#include "session/session.h"

/* Lines "key: value" about this part of the run. Known once the plugins are loaded; the GPU once
 * session_prepare has chosen it. malloc'ed. */
char *history_describe(const session *);
/* `before` (NULL: nothing), an empty line, `entry`. malloc'ed. */
char *history_append(const char *before, const char *entry);
/* The lines of it that have to be the same for one chain: program, plugins, files that these read; also that of the
 * initial state, with `start`. malloc'ed. */
char *history_parts(const session *, bool start);
/* One of them, in words, that is another in two texts, with its hash (or version) in each; NULL: not there. */
typedef void history_differs(void *argument, const char *what, const char *was, const char *is);
void history_differences(const char *before, const char *now, history_differs *tell,
                         void *argument);
/* Have the program, a plugin or a file that one reads changed since the file `path` was written,
 * which holds `before`? An error for each, EXIT_CHECKPOINT; a warning with `accept`, and 0. */
int history_compare(const session *, const char *path, const char *before, bool accept);
/* Of a run that is finished, before its numbers are shown as those of this configuration: files alone, since a later
 * program shows them as they are. */
int history_compare_files(const session *, const char *path, const char *before);
#endif
