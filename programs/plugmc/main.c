/* plugmc: the program. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "base/child.h"
#include "program/beside.h"
#include "program/standard_streams.h"
#include "base/crash.h"
#include "base/report.h"

static const struct command {
    const char *name, *summary;
    int (*function)(int argc, char **argv); /* NULL: a program beside this one (cli/beside.h) */
} commands[] = {
    {"run", "sample what an INI file describes, or resume a run", command_run},
    {"check", "parse, load, match, estimate memory, compile kernels; run nothing", command_check},
    {"scan", "run all points of a study, and make one table of them", NULL},
    {"optimise", "find the numbers of a wave function with the lowest energy and variance", NULL},
    {"list", "plugins found", command_list},
    {"info", "one plugin's parameters, facets, paper and an INI block to paste", command_info},
    {"bench", "standard benchmarks on this machine", command_bench},
    {"doctor", "GPU, driver, compiler, cache, plugin path", command_doctor},
    {"manual", "the INI reference, as Markdown", command_manual},
    {"report", "a page about a run, or several: results, figures, a picture, what to cite", NULL},
    {"export", "the trajectory of a run, or its last state, as GSD, extended XYZ or a table", NULL},
    {"analyse", "the table of a finished run again, of parts of it or of several; runs compared",
     NULL},
    {"extrapolate", "numbers of runs taken to where a key is 0, as a time step; mixed estimators",
     NULL},
    {"reweight", "what runs on a ladder say together, also between its rungs; where phases coexist",
     NULL},
    {"ladder", "a better ladder, from how walkers of a run have travelled along theirs", NULL},
};

static void usage(FILE *out)
{
    fprintf(out, "usage: plugmc COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\nplugmc COMMAND --help tells more; plugmc --version prints the version.\n");
}

static int do_command(int argc, char **argv)
{
    child_program = "/proc/self/exe";
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("plugmc %s\n", PLUGMC_VERSION);
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "write")) return command_write(argc - 2, argv + 2);
    if (!strcmp(argv[1], "read")) return command_read(argc - 2, argv + 2);
    if (!strcmp(argv[1], "rehearse")) return command_rehearse(argc - 2, argv + 2);
    crash_report(); /* but not in a rehearsal, whose crashes its parent looks for */
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], commands[i].name)) continue;
        if (!commands[i].function) return beside_run(argv[1], argc - 2, argv + 2);
        return commands[i].function(argc - 2, argv + 2);
    }
    const char *near = nearest_name(argv[1], names, (int)(sizeof commands / sizeof *commands));
    fprintf(stderr, "plugmc: unknown command '%s'%s%s%s\n", argv[1], near ? "; did you mean '" : "",
            near ? near : "; see plugmc --help", near ? "'?" : "");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    standard_streams_begin();
    signal(SIGXFSZ,
           SIG_IGN); /* a file that grows too large is an error of write, with a sentence */
    return standard_streams_end(do_command(argc, argv));
}
