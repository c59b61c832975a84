/* The service of a host that reads a file in a child first. Include after recorder.h. */
#ifndef PLUGMC_TEST_REHEARSING_H
#define PLUGMC_TEST_REHEARSING_H

#include "base/child.h"
#include "base/rehearsal.h"

/* The plugin of this build that reads the file. */
static const char *bench_rehearsing = "bspline_orbitals";

/* By the program of this build. */
static inline int bench_rehearse(plugmc_context *context, const char *path)
{
    char reason[REHEARSAL_REASON], plugin[1024];
    snprintf(plugin, sizeof plugin, "%s/%s.so", TEST_PLUGINS, bench_rehearsing);
    child_program = TEST_PROGRAM;
    int code = rehearse("plugin", path, plugin, EXIT_INPUT, NULL, reason);
    if (!code) return PLUGMC_OK;
    return bench_fail(context, code == EXIT_MEMORY ? PLUGMC_ERROR_MEMORY : PLUGMC_ERROR_INPUT,
                      "%s: %s", path, reason);
}

#endif
