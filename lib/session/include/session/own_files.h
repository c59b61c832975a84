/* Files that a run writes besides its output, and files that it reads. */
#ifndef PLUGMC_OWN_FILES_H
#define PLUGMC_OWN_FILES_H

#include "session/session.h"

/* It is an error if a table or a log would overwrite a file that the run reads. It is also an error if the output would
 * replace a file that is read again when the run is resumed, and if the table or the log is a file of the trajectory that
 * will lie beside `output`. */
int own_files_check(const session *, const char *output);
/* The last of these, of the trajectory that a resumed run has found. */
int own_files_check_trajectory(const session *);
#endif
