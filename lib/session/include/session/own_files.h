/* Files that a run writes beside its output, and those that it reads. */
#ifndef PLUGMC_OWN_FILES_H
#define PLUGMC_OWN_FILES_H

#include "session/session.h"

/* A table or a log that would be written over a file that the run reads is an error, as is an output that would
 * take the place of one that is read again when the run is resumed. */
int own_files_check(const session *);
#endif
