/* plugmc run on a file that an earlier run has written. */
#ifndef PLUGMC_RESUME_H
#define PLUGMC_RESUME_H

#include "session/session.h"

/* Can this --set be given to a run that is resumed? [run] sweeps, time_limit and what else does not
 * change the chain. */
bool resume_may_set(const char *assignment);
/* For --resume-if-there: reads the output file of the configuration into `found` if there is one,
 * and compares what it was begun with to what is asked for now; if it is finished, without `accept`, the files that
 * plugins read as well. *there: was there one? Errors are EXIT_CHECKPOINT, a sentence for each key. */
int resume_look(session *, output_data *found, bool accept, bool *there);
/* The same for a list or a table of many runs, by output_read_found: nothing is said, and whatever is wrong is the same
 * code, for which resume_look has the sentence. */
int resume_glance(session *, bool numbers, output_data *found, bool accept, bool *there);
/* Has the run in the file made all the sweeps that are asked for? */
bool resume_is_finished(const session *, const output_data *found);
/* The table of results of a finished run, from its file. */
int resume_print_again(session *, const char *path, const output_data *found);
/* "plugmc run WORD...", so that a shell reads the same. malloc'ed. */
char *resume_command_line(int argc, char **argv);
#endif
