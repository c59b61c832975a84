/* The border between a host program and plugmc: what happens inside does not reach the outside. */
#ifndef PLUGMC_EMBED_BORDER_H
#define PLUGMC_EMBED_BORDER_H

#include "handle.h"

/* Where an engine has to be for a call. */
enum { OPEN_ALONE = 1, OPEN = 2, NEW_ALONE = 4, ANY_ALONE = 8 }; /* alone: not in a callback */

typedef int border_work(plugmc_engine *, void *argument);
/* Makes a call, unless it cannot be made now. The code of `work`, which is kept with its messages; EXIT_MEMORY
 * where it was left because of a failed allocation, and then the engine is torn. */
int border_cross(plugmc_engine *, int where, border_work *, void *argument);
/* Out to the host program for a moment, from within a call, and in again. */
void border_leave(plugmc_engine *);
void border_enter(plugmc_engine *);

/* A report whose messages are kept for the host. */
void border_hear(plugmc_engine *);
/* A call that is refused, or why one has ended: the code. */
int border_say(plugmc_engine *, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void border_forget_messages(plugmc_engine *);
#endif
