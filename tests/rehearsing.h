/* The service of a host that reads a file in a child first. Include after recorder.h. */
#ifndef PLUGMC_TEST_REHEARSING_H
#define PLUGMC_TEST_REHEARSING_H

#include "base/child.h"
#include "base/rehearsal.h"

/* By the program of this build, with the one plugin of this build that asks for it. */
static inline int bench_rehearse(plugmc_context *context, const char *path)
{
    char reason[REHEARSAL_REASON];
    child_program = TEST_PROGRAM;
    int code =
        rehearse("plugin", path, TEST_PLUGINS "/bspline_orbitals.so", EXIT_INPUT, NULL, reason);
    if (!code) return PLUGMC_OK;
    return bench_fail(context, code == EXIT_MEMORY ? PLUGMC_ERROR_MEMORY : PLUGMC_ERROR_INPUT,
                      "%s: %s", path, reason);
}

#endif
