/* What makes a run: program, plugins, the files that these read, the machine. Kept in the output
 * file for each part of a run that was resumed, and compared when it is. */
#ifndef PLUGMC_HISTORY_H
#define PLUGMC_HISTORY_H

#include "run/simulation.h"

/* Lines "key: value" about this part of the run. Known once the plugins are loaded; the GPU once
 * simulation_prepare has chosen it. malloc'ed. */
char *history_describe(const simulation *);
/* `before` (NULL: nothing), an empty line, `entry`. malloc'ed. */
char *history_append(const char *before, const char *entry);
/* Have the program, a plugin or a file that one reads changed since the file `path` was written,
 * which holds `before`? An error for each, EXIT_CHECKPOINT; a warning with `accept`, and 0. */
int history_compare(const simulation *, const char *path, const char *before, bool accept);
#endif
