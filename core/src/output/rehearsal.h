/* A rehearsal: HDF5 crashes on some damaged files, loops on others, and asks for absurd amounts of
 * memory. So what is to be read through it is first read by a child process, `plugmc rehearse`,
 * with the same code, under limits on time and memory that grow with the file. If that ends well,
 * reading it here does.
 *
 * The child is started by posix_spawn: fork would copy what CUDA and MPI hold. */
#ifndef PLUGMC_REHEARSAL_H
#define PLUGMC_REHEARSAL_H

#include "report.h"

enum { REHEARSAL_REASON = 1024 }; /* as STORE_REASON */

/* The program to start. NULL: nothing is rehearsed, as in the child itself and in tests of the
 * readers. main says "/proc/self/exe". */
extern const char *rehearsal_program;

/* EXIT_DONE, or the exit code with the reason, a sentence about the file without its name.
 *
 *   kind        detail
 *   checkpoint  ""; what a resumed run reads and writes again
 *   positions   the most walkers that are read
 *   plugin      path of the plugin, whose function `rehearse` gets the file
 *
 * damaged: the code for a file that cannot be read. A file that has not changed since it was found
 * good is not read again. */
int rehearse(const char *kind, const char *path, const char *detail, enum exit_code damaged,
             char reason[REHEARSAL_REASON]);

/* In the child: reads `path` and, for a checkpoint, writes it again to a copy without a name.
 * EXIT_DONE or the code, as above. */
int rehearse_checkpoint(const char *path, char reason[REHEARSAL_REASON]);
int rehearse_positions(const char *path, int walkers, char reason[REHEARSAL_REASON]);
#endif
