/* Many processes make one run only if they have read the same. */
#ifndef PLUGMC_SAME_INPUT_H
#define PLUGMC_SAME_INPUT_H

#include "session/session.h"

/* All, with configurations that are read: EXIT_INPUT, and a sentence for each difference, where a process has another
 * configuration, program or plugin than rank 0, or a plugin of it another file. What makes no difference to the run
 * ([run] threads, gpu, log and what rank 0 alone does) may be another. */
int same_input(const session *);
#endif
