/* See beside.h. */
#include "program/beside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/own_folder.h"
#include "program/standard_streams.h"
#include "base/crash.h"
#include "base/report.h"
#include "parallel/team.h"

char *beside_path(const char *name)
{
    char *path;
    return !own_folder() || asprintf(&path, "%s/%s", own_folder(), name) < 0 ? NULL : path;
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

int beside_check_alone(const char *name)
{
    report r = {0};
    const int32_t ranks = team_expect(&r)->ranks;
    const int code = ranks == 1
                         ? EXIT_DONE
                         : report_error(&r, EXIT_USAGE, NULL, 0,
                                        "plugmc %s runs as one process, and the launcher has "
                                        "started %d, of which each would do the same: start "
                                        "it without mpirun or srun",
                                        name, ranks);
    report_hold(&r, false);
    return code;
}

/* "NAME" of .../plugmc-NAME */
static const char *name_of(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    return strncmp(name, "plugmc-", 7) ? name : name + 7;
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
    int code = begin();
    if (code) return code;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return standard_streams_end(EXIT_DONE);
        }
    code = beside_check_alone(name_of(argv[0]));
    return standard_streams_end(code ? code : command(argc - 1, argv + 1));
}
