/* What the child of a rehearsal (rehearsal.h) does with the files of the core. */
#ifndef PLUGMC_REHEARSAL_CHILD_H
#define PLUGMC_REHEARSAL_CHILD_H

#include <stdint.h>

#include "rehearsal.h"

/* What a child of the kind "positions" has read. */
typedef struct found_positions {
    int64_t count; /* particles a walker */
    int32_t walkers, unused;
    double edges[3][3];
    /* then double [walkers][count][3] and the species, int32_t [walkers][count] */
} found_positions;

/* Reads `path` and, for a checkpoint, writes it again to a copy without a name, made beside the file `copy`; what was
 * found goes to `out`. EXIT_DONE or the code, as rehearse. */
int rehearse_checkpoint(const char *path, const char *copy, char reason[REHEARSAL_REASON]);
int rehearse_positions(const char *path, int walkers, int out, char reason[REHEARSAL_REASON]);
#endif
