/* plugmc run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "gpu/gpu.h"
#include "engine/watchdog.h"
#include "parallel/team.h"
#include "session/resume.h"
#include "session/enlarging.h"
#include "session/same_input.h"
#include "session/saving.h"

const char exit_code_help[] =
    "exit codes: 0 done, 2 command line, 3 input, 4 plugin, 5 output, 6 checkpoint, 7 GPU or\n"
    "kernel compiler, 8 memory, 9 bug, 10 stopped by a signal, 11 time limit (10 and 11: the\n"
    "checkpoint is written, go on with --resume; before the first sweep nothing is), 12 another\n"
    "process of the same run is gone\n";

static const char run_help[] =
    "usage: plugmc run FILE.ini [--set SECTION.KEY=VALUE]... [--resume-if-there] [--quiet | --json]\n"
    "       plugmc run --resume FILE.h5 [--set run.KEY=VALUE]... [--quiet | --json]\n\n"
    "Samples what the INI file describes and writes [run] output. A file already there is kept\n"
    "under another name. With --resume a run goes on as if it had not been stopped; --set may\n"
    "then only change [run] sweeps, time_limit, checkpoint, threads, device, gpu, csv, show and log.\n"
    "With --resume-if-there it goes on if its output file is there, and begins if it is not: one\n"
    "command for every submission of a job. The INI file must say the same but for these keys.\n"
    "A finished run prints its table again. If the program, a plugin or a file that one reads has\n"
    "changed, --accept-changed-plugins goes on all the same.\n"
    "--quiet prints errors, warnings and the table alone. --json prints progress (once a second) and\n"
    "results on standard output, an object a line. [run] show names numbers to see beside the\n"
    "progress, [run] log a file that messages and progress are added to.\n"
    "Started by mpirun or srun, the processes share the walkers: docs/scale.md.\n\n";

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static int add_architecture(arguments *a, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (!strcmp(text, "all")) {
        for (int i = 0; i < GPU_ARCHITECTURES; i++)
            a->architectures[a->architecture_count++] = gpu_architectures[i];
        return 0;
    }
    if (*end || number < 50 || number > 200)
        return usage_error("'%s' is no architecture such as 90", text);
    a->architectures[a->architecture_count++] = (int)number;
    return 0;
}

static int processes_in(const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);
    return *text && !*end && number >= 1 && number <= 1000000 ? (int)number : 0;
}

static const char accept_word[] = "--accept-changed-plugins";

static bool is_of_json(const char *word, arguments *a)
{
    const struct {
        const char *word;
        bool *given;
    } all[] = {{"--json", &a->json},
               {"--points", &a->points},
               {"--results", &a->results},
               {accept_word, &a->asked.accept_changes}};
    for (int i = 0; i < PLUGMC_COUNT(all); i++)
        if (!strcmp(word, all[i].word)) return *all[i].given = true;
    return false;
}

/* Kernels and processes are those of the check in words. */
static int check_json(const arguments *a)
{
    const char *alone = a->points                 ? "--points"
                        : a->results              ? "--results"
                        : a->asked.accept_changes ? accept_word
                                                  : NULL;
    const char *apart = a->architecture_count ? "--architecture"
                        : a->processes        ? "--processes"
                                              : NULL;
    if (alone && !a->json) return usage_error("%s goes with --json", alone);
    return apart && a->json ? usage_error("%s does not go with --json", apart) : 0;
}

int run_parse(int argc, char **argv, bool check, arguments *a)
{
    a->asked.sets = a->sets;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool more = i + 1 < argc;
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            a->help = true;
            return 0;
        }
        if (!strcmp(word, "--set")) {
            if (!more) return usage_error("%s needs SECTION.KEY=VALUE", word);
            if (a->asked.set_count == MOST_SETS) return usage_error("too many %s", word);
            a->sets[a->asked.set_count++] = argv[++i];
        } else if (check && !strcmp(word, "--architecture")) {
            if (!more || a->architecture_count + GPU_ARCHITECTURES > MOST_ARCHITECTURES)
                return usage_error("%s needs a number", word);
            if (add_architecture(a, argv[++i])) return EXIT_USAGE;
        } else if (check && !strcmp(word, "--processes")) {
            if (!more || (a->processes = processes_in(argv[++i])) < 1)
                return usage_error("%s needs a number from 1 to 1000000", word);
        } else if (check && is_of_json(word, a)) {
            continue;
        } else if (!check && !strcmp(word, "--resume")) {
            a->asked.resume = true;
        } else if (!check && !strcmp(word, "--resume-if-there")) {
            a->asked.if_there = true;
        } else if (!check && !strcmp(word, accept_word)) {
            a->asked.accept_changes = true;
        } else if (!check && (!strcmp(word, "--quiet") || !strcmp(word, "--json"))) {
            if (a->tells) return usage_error("one of --quiet and --json: '%s'", word);
            a->tells = word[2] == 'q' ? TELLS_LITTLE : TELLS_JSON;
        } else if (word[0] == '-') {
            return usage_error("unknown option '%s'", word);
        } else if (a->asked.file) {
            return usage_error("more than one file: '%s'", word);
        } else {
            a->asked.file = word;
        }
    }
    if (check && check_json(a)) return EXIT_USAGE;
    if (a->asked.resume && a->asked.if_there)
        return usage_error("%s goes with an INI file, not with --resume", "--resume-if-there");
    return a->asked.file ? 0 : usage_error("%s", "which file?");
}

/* The run itself, its output locked. */
static int run_locked(session *session, const asked *a, const origin *from)
{
    own_locks locks = {0};
    int code = team_agree(starting_lock(session, &locks, from));
    if (!code) code = starting_make_state(session, a, from);
    if (!code && !from->there) code = starting_rehearse(session);
    if (!code) code = team_agree(session_run(session));
    saving_wait(session);
    starting_unlock(&locks);
    return code;
}

/* A new run, one that goes on, or one that is finished. */
static int run(session *session, const asked *a, output_data *found)
{
    origin from;
    if (a->resume) watchdog_resumes(a->file);
    int code = team_join(session->engine.report, starting_read(session, a, found));
    if (!code) code = same_input(session);
    if (!code) code = starting_find(session, a, found, &from);
    if (code) return code;
    if (from.finished)
        return team_leads() ? resume_print_again(session, from.path, found) : EXIT_DONE;
    if (from.there) code = starting_go_on(session, a, found, &from);
    if (!code && team_leads())
        code = starting_probe(session, from.path, a->resume ? NULL : "[run] output");
    if (!code && team_leads()) code = starting_log(session);
    code = team_agree(code);
    return code ? code : run_locked(session, a, &from);
}

static int watch(report *report)
{
    if (!watchdog_begin()) return 0;
    return report_error(report, EXIT_MEMORY, NULL, 0, "no thread to watch over the run");
}

int command_run(int argc, char **argv)
{
    arguments a = {0};
    int code = run_parse(argc, argv, false, &a);
    if (code) return code;
    if (a.help) {
        printf("%s%s", run_help, exit_code_help);
        return EXIT_DONE;
    }
    signal(SIGPIPE, SIG_IGN); /* until the run takes it: nothing is to be lost by a message */
    report report = {.quiet = a.tells != TELLS_ALL};
    output_data found = {0};
    team_expect(&report);
    code = watch(&report);
    if (code) return code;
    char *command = resume_command_line(argc, argv);
    session session = {.engine.report = &report, .command = command, .tells = a.tells};
    while (!code && (code = run(&session, &a.asked, &found)) == ARRAYS_FULL) {
        watchdog_end();
        starting_again(&a.asked, &session, &found);
        code = watch(&report);
    }
    watchdog_end();
    team_leave();
    if (report.log) fclose(report.log);
    session_close(&session);
    output_free(&found);
    free(a.asked.capacity);
    free(command);
    return code;
}
