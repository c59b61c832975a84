/* plugmc run with an output file that an earlier run has written. */
#ifndef PLUGMC_RESUME_H
#define PLUGMC_RESUME_H

#include "session/session.h"

/* Whether this --set is allowed for a resumed run: [run] sweeps, time_limit and other keys that do not change the
 * chain. */
bool resume_may_set(const char *assignment);
/* Movers that the run in the output file of the configuration, if there is one, has chosen are not chosen again: the
 * sections get their names from there. Nothing is printed. */
void resume_choice(config *);
/* For --resume-if-there: if the output file of the configuration exists, reads it into `found`, and compares the
 * input of that run with the present one. If that run is finished and there is no `accept`, files that plugins read
 * are compared too. *there: the file exists. Differences are errors, EXIT_CHECKPOINT, with a sentence for each key. */
int resume_look(session *, output_data *found, bool accept, bool *there);
/* The same for a list or a table of many runs, by output_read_found. Nothing is printed, and every error has the
 * same code. resume_look gives the sentence. */
int resume_glance(session *, bool numbers, output_data *found, bool accept, bool *there);
/* Whether the run in the file has made all requested sweeps. */
bool resume_is_finished(const session *, const output_data *found);
/* Prints the table of results of a finished run, from its file. */
int resume_print_again(session *, const char *path, const output_data *found);
/* "plugmc run WORD...", quoted so that a shell gets the same words. malloc'ed. */
char *resume_command_line(int argc, char **argv);
#endif
