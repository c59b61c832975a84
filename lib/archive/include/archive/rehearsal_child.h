/* What the child of a rehearsal (rehearsal.h) does with the files of the core. */
#ifndef PLUGMC_REHEARSAL_CHILD_H
#define PLUGMC_REHEARSAL_CHILD_H

#include <stdint.h>

#include "base/rehearsal.h"

/* Reads the checkpoint at `path`. EXIT_DONE or the code, as rehearse. */
int rehearse_checkpoint(const char *path, char reason[REHEARSAL_REASON]);
/* detail: the most walkers, and which frame; what is sent is a packed frame (formats/frame.h). */
int rehearse_positions(const char *path, const char *detail, int out,
                       char reason[REHEARSAL_REASON]);
#endif
