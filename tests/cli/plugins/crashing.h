/* What the plugins crashing_* share. Each calls `here` in every callback, and crashes in the one that
 * $CRASH_AT names ("mover.step"), at its call number $CRASH_CALL. */
#ifndef CRASHING_H
#define CRASHING_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int *volatile crashing_nowhere;

static inline void here(const char *callback)
{
    static _Atomic int64_t calls;
    const char *at = getenv("CRASH_AT"), *call = getenv("CRASH_CALL");
    if (!at || !call || strcmp(at, callback)) return;
    if (++calls == atoll(call)) *crashing_nowhere = 1;
}

#endif
