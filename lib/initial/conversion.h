/* Frames of other programs in the terms of the run: units of length, where positions are counted from, names of types. */
#ifndef PLUGMC_CONVERSION_H
#define PLUGMC_CONVERSION_H

#include "formats/frame.h"
#include "input/config.h"

/* Returns an exit code, after a sentence; the frame is to be freed in any case. `path`: of the file. */
int frame_convert(file_frame *, const config *, int dimension, const char *path, report *);
#endif
