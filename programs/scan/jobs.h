/* Running points of a study, several at a time. */
#ifndef PLUGMC_SCAN_JOBS_H
#define PLUGMC_SCAN_JOBS_H

#include "study.h"

/* Runs those of points first ... end - 1 that a survey did not find finished, each by `plugmc run
 * FOLDER/NAME.ini --resume-if-there`. A run that fails does not stop the others. A signal lets all write
 * their checkpoints and end; a second Ctrl-C kills them. Runs end with this process, whatever it dies of.
 * Returns EXIT_DONE if all are finished; else the code of the first point (by number) that failed;
 * else EXIT_INTERRUPTED after a signal, or EXIT_TIME_LIMIT. *leave: a second signal came. */
int jobs_run(study *, int64_t first, int64_t end, report *, bool *leave);
#endif
