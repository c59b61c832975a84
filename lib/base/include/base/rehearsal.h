/* A rehearsal: HDF5 crashes on some damaged files, loops on others, and asks for absurd amounts of
 * memory; so does the loader of the operating system with plugins. What is to be read through them is
 * first read by a child process, `plugmc rehearse`, with the same code, under limits on time and
 * memory. If that ends well, reading it here does.
 */
#ifndef PLUGMC_REHEARSAL_H
#define PLUGMC_REHEARSAL_H

#include <stddef.h>

#include "base/report.h"

enum { REHEARSAL_REASON = 1024 }; /* as STORE_REASON */

/* What a child has sent; to be freed. */
typedef struct findings {
    char *data;
    size_t bytes;
} findings;

/* EXIT_DONE, or the exit code with the reason, a sentence about the file without its name.
 *
 *   kind        detail
 *   checkpoint  beside which file a copy is made; what a resumed run reads and writes again
 *   positions   the most walkers that are read, and which frame; they come back as findings
 *   plugin      path of the plugin, whose function `rehearse` gets the file
 *   movers      ""; no file, but all plugins of the search path: plugin/movers_there.c. Paths come back as findings
 *   load        ""; the file is a plugin, see plugin/loader.c. EXIT_MEMORY may come without a reason
 *
 * damaged: the code for a file that cannot be read. findings: NULL where nothing comes back; then a
 * file that was found good lately is not read again unless it has changed. Without a program to start
 * (child.h) nothing is rehearsed, and nothing found. */
int rehearse(const char *kind, const char *path, const char *detail, enum exit_code damaged,
             findings *, char reason[REHEARSAL_REASON]);
/* Another child has read it with the same code and found it good: it is not rehearsed unless it changes. */
void rehearsal_was_good(const char *kind, const char *path, const char *detail);
#endif
