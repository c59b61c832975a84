/* The trajectory of a run that goes on. */
#ifndef PLUGMC_TRAJECTORY_RESUME_H
#define PLUGMC_TRAJECTORY_RESUME_H

#include "archive/output.h"

/* Finds the files, cuts them to the frames of the checkpoint, and warns if frames are gone. Frames that are in the
 * output file, as in its format 3, are brought to files of their own. An exit code, after a sentence. */
int trajectory_take_up(output_data *, const char *output, report *);
#endif
