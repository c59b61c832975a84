/* The C compiler that makes a shared object of a plugin. */
#ifndef PLUGMC_BUILD_COMPILER_H
#define PLUGMC_BUILD_COMPILER_H

#include <stdbool.h>

#include "base/report.h"

/* What is asked for. */
typedef struct order {
    const char *source, *output;
    /* The compiler with its first arguments, words with blanks between them. */
    const char *compiler;
    /* -I, -L and -l as they were given, and paths of libraries; NULL at the end. */
    const char *const *libraries;
    bool draft;
} order;

/* Makes order->output, with modes that the loader accepts. What the compiler and the linker say, they say themselves.
 * *seconds: wall time. An exit code, after a sentence or their messages. */
int compiler_run(const order *, double *seconds, report *);
#endif
