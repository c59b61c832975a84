/* A rehearsal: HDF5 crashes on some damaged files, loops on others, and asks for absurd amounts of
 * memory. So what is to be read through it is first read by a child process, `plugmc rehearse`,
 * with the same code, under limits on time and memory that grow with the file. If that ends well,
 * reading it here does.
 */
#ifndef PLUGMC_REHEARSAL_H
#define PLUGMC_REHEARSAL_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"

enum { REHEARSAL_REASON = 1024 }; /* as STORE_REASON */

/* What a child of the kind "positions" has read. */
typedef struct found_positions {
    int64_t count; /* particles a walker */
    int32_t walkers, unused;
    double edges[3][3];
    /* then double [walkers][count][3] and the species, int32_t [count] */
} found_positions;

/* What a child has sent; to be freed. */
typedef struct findings {
    char *data;
    size_t bytes;
} findings;

/* EXIT_DONE, or the exit code with the reason, a sentence about the file without its name.
 *
 *   kind        detail
 *   checkpoint  ""; what a resumed run reads and writes again
 *   positions   the most walkers that are read; they come back as findings
 *   plugin      path of the plugin, whose function `rehearse` gets the file
 *
 * damaged: the code for a file that cannot be read. findings: NULL where nothing comes back; then a
 * file that has not changed since it was found good is not read again. Without a program to start
 * (child.h) nothing is rehearsed, and nothing found. */
int rehearse(const char *kind, const char *path, const char *detail, enum exit_code damaged,
             findings *, char reason[REHEARSAL_REASON]);

/* In the child: reads `path` and, for a checkpoint, writes it again to a copy without a name; what
 * was found goes to `out`. EXIT_DONE or the code, as above. */
int rehearse_checkpoint(const char *path, char reason[REHEARSAL_REASON]);
int rehearse_positions(const char *path, int walkers, int out, char reason[REHEARSAL_REASON]);
#endif
