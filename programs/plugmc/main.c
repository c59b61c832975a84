/* plugmc: the program. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    {"run", "runs a simulation, or resumes one", command_run},
    {"check", "checks an input without running it: plugins, memory, kernels", command_check},
    {"scan", "runs all points of a study, with one table of results", NULL},
    {"optimise", "optimises the variational parameters of a wave function", NULL},
    {"new", "writes a folder with a complete plugin to start from", NULL},
    {"build", "makes a plugin of a C file", NULL},
    {"validate", "tests a plugin by itself: energies, derivatives, results, memory", NULL},
    {"list", "plugins found", command_list},
    {"info", "describes a plugin or a section, with an INI block to paste", command_info},
    {"bench", "runs standard benchmarks", command_bench},
    {"doctor", "shows GPU, driver, compiler, cache and plugin path", command_doctor},
    {"manual", "prints the INI reference as Markdown", command_manual},
    {"report", "writes a page about runs: results, figures, what to cite", NULL},
    {"export", "exports a trajectory or the last state as GSD, extended XYZ or a table", NULL},
    {"analyse", "prints results of a run, of part of it or of several; compares runs", NULL},
    {"extrapolate", "extrapolates results to zero of an input parameter, e.g. the time step", NULL},
    {"reweight", "reweights runs, also between the rungs of a ladder; phase coexistence", NULL},
    {"ladder", "proposes a better ladder from the exchanges of a run", NULL},
};

static void usage(FILE *out)
{
    fprintf(out, "usage: plugmc COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\nplugmc help COMMAND describes a command; plugmc version prints the "
                 "version.\n");
}

enum { COMMANDS = sizeof commands / sizeof *commands };

static const struct command *command_called(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(name, commands[i].name)) return &commands[i];
    return NULL;
}

static int start(const struct command *command, int argc, char **argv)
{
    if (!command->function) return beside_run(command->name, argc, argv);
    return command->function(argc, argv);
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(word, *words)) return true;
    return false;
}

/* help COMMAND is COMMAND --help. */
static int help_about(const char *name)
{
    const struct command *command = command_called(name);
    char help[] = "--help", *words[] = {help};
    if (command) return start(command, 1, words);
    fprintf(stderr,
            "plugmc: there is no command '%s'; plugmc help lists them, and plugmc info NAME "
            "describes a plugin or a section\n",
            excerpt(name).text);
    return EXIT_USAGE;
}

static bool ends_in(const char *word, const char *end)
{
    const size_t length = strlen(word), tail = strlen(end);
    return length > tail && !strcmp(word + length - tail, end);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* What the first word is, if it is no command: a file, an option or something else. */
static int unknown_command(const char *word)
{
    const char *names[COMMANDS + 2] = {"help", "version"};
    const short_text text = excerpt(word);
    const char *shown = text.text;
    for (int i = 0; i < COMMANDS; i++) names[i + 2] = commands[i].name;
    const char *near = nearest_name(word, names, COMMANDS + 2);
    if (ends_in(word, ".h5"))
        fprintf(stderr,
                "plugmc: '%s' is not a command: plugmc analyse %s prints its results, plugmc "
                "run --resume %s continues the run\n",
                shown, shown, shown);
    else if (ends_in(word, ".ini") || (!near && is_file(word)))
        fprintf(stderr,
                "plugmc: '%s' is not a command: plugmc run %s runs it, plugmc check %s only "
                "checks it\n",
                shown, shown, shown);
    else if (*word == '-')
        fprintf(stderr,
                "plugmc: the command must come first, before options such as '%s'; see plugmc "
                "help\n",
                shown);
    else
        fprintf(stderr, "plugmc: unknown command '%s'%s%s%s\n", shown,
                near ? "; did you mean '" : "", near ? near : "; see plugmc --help",
                near ? "'?" : "");
    return EXIT_USAGE;
}

static int do_command(int argc, char **argv)
{
    static const char *const help[] = {"help", "--help", "-h", "-help", "-?", NULL},
                             *const version[] = {"version", "--version", "-V", "-v", NULL};
    child_program = "/proc/self/exe";
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (is_one_of(argv[1], help) && argc < 3) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (is_one_of(argv[1], version)) {
        printf("plugmc %s\n", PLUGMC_VERSION);
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "write")) return command_write(argc - 2, argv + 2);
    if (!strcmp(argv[1], "read")) return command_read(argc - 2, argv + 2);
    if (!strcmp(argv[1], "rehearse")) return command_rehearse(argc - 2, argv + 2);
    crash_report(); /* but not in a rehearsal, whose crashes its parent looks for */
    if (is_one_of(argv[1], help)) return help_about(argv[2]);
    const struct command *command = command_called(argv[1]);
    return command ? start(command, argc - 2, argv + 2) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    standard_streams_begin();
    signal(SIGXFSZ,
           SIG_IGN); /* a file that grows too large is an error of write, with a sentence */
    return standard_streams_end(do_command(argc, argv));
}
