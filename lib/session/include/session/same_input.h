/* Checks that all processes of a run have read the same input. */
#ifndef PLUGMC_SAME_INPUT_H
#define PLUGMC_SAME_INPUT_H

#include "session/session.h"

/* Collective, once configurations are read. Compares configuration, program, plugins and the files of plugins with
 * those of rank 0. Keys that do not affect the run may differ: [run] threads, gpu, log, and those for what only rank
 * 0 does. Each other difference is reported with a sentence, and EXIT_INPUT is returned. */
int same_input(const session *);
#endif
