/* See beside.h. */
#include "cli/beside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli/standard_streams.h"
#include "crash.h"
#include "report.h"

enum { LONGEST_PATH = 4096 };

char *beside_path(const char *name)
{
    char own[LONGEST_PATH];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) return NULL;
    own[length] = 0;
    *strrchr(own, '/') = 0; /* the kernel gives an absolute path */
    char *path;
    return asprintf(&path, "%s/%s", own, name) < 0 ? NULL : path;
}

int beside_run(const char *name, int count, char **arguments)
{
    char program[64];
    snprintf(program, sizeof program, "plugmc-%s", name);
    char *path = beside_path(program);
    char **all = calloc((size_t)count + 2, sizeof *all);
    if (!path || !all) {
        fprintf(stderr, "plugmc %s: no memory\n", name);
        free(path);
        free(all);
        return EXIT_MEMORY;
    }
    all[0] = path;
    memcpy(all + 1, arguments, (size_t)count * sizeof *all);
    execv(path, all);
    if (errno == ENOENT)
        fprintf(
            stderr,
            "plugmc %s: the program %s is not there; `cmake --build` without a target, in the folder "
            "where plugmc was built, makes it\n",
            name, path);
    else
        fprintf(stderr, "plugmc %s: %s cannot be started: %s\n", name, path, strerror(errno));
    free(path);
    free(all);
    return EXIT_USAGE;
}

/* An exit code, after a sentence if it is not EXIT_DONE. */
static int begin(void)
{
    standard_streams_begin();
    signal(SIGXFSZ,
           SIG_IGN); /* a file that grows too large is an error of write, with a sentence */
    child_program = beside_path("plugmc");
    if (!child_program) {
        fprintf(stderr, "plugmc: the folder of the program cannot be found: /proc/self/exe: %s\n",
                strerror(errno));
        return EXIT_MEMORY;
    }
    crash_report();
    return EXIT_DONE;
}

int beside_main(int argc, char **argv, const char *help, int (*command)(int argc, char **argv))
{
    const int code = begin();
    if (code) return code;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return standard_streams_end(EXIT_DONE);
        }
    return standard_streams_end(command(argc - 1, argv + 1));
}
