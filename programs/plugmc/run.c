/* plugmc run. */
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/beside.h"
#include "cli.h"
#include "run.h"
#include "session/own_files.h"
#include "session/resume.h"
#include "session/same_input.h"
#include "base/crash.h"
#include "energy/on_device.h"
#include "plugin/answers.h"
#include "session/advice.h"
#include "archive/averages.h"
#include "engine/device_choice.h"
#include "engine/borrowing.h"
#include "quantum/free_numbers_on_device.h"
#include "session/history.h"
#include "engine/pair_table.h"
#include "session/progress.h"
#include "engine/refusals.h"
#include "session/room.h"
#include "session/saving.h"
#include "session/session.h"
#include "engine/total_check.h"
#include "engine/watchdog.h"
#include "engine/share.h"
#include "parallel/spread.h"
#include "parallel/team.h"
#include "initial/initial.h"

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

static const int all_architectures[] = {75, 80, 90, 100, 120};

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
        for (int i = 0; i < 5; i++)
            a->architectures[a->architecture_count++] = all_architectures[i];
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
               {accept_word, &a->accept_changes}};
    for (int i = 0; i < PLUGMC_COUNT(all); i++)
        if (!strcmp(word, all[i].word)) return *all[i].given = true;
    return false;
}

/* Kernels and processes are those of the check in words. */
static int check_json(const arguments *a)
{
    const char *alone = a->points           ? "--points"
                        : a->results        ? "--results"
                        : a->accept_changes ? accept_word
                                            : NULL;
    const char *apart = a->architecture_count ? "--architecture"
                        : a->processes        ? "--processes"
                                              : NULL;
    if (alone && !a->json) return usage_error("%s goes with --json", alone);
    return apart && a->json ? usage_error("%s does not go with --json", apart) : 0;
}

int run_parse(int argc, char **argv, bool check, arguments *a)
{
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool more = i + 1 < argc;
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            a->help = true;
            return 0;
        }
        if (!strcmp(word, "--set")) {
            if (!more) return usage_error("%s needs SECTION.KEY=VALUE", word);
            if (a->set_count == MOST_SETS) return usage_error("too many %s", word);
            a->sets[a->set_count++] = argv[++i];
        } else if (check && !strcmp(word, "--architecture")) {
            if (!more || a->architecture_count + 5 > MOST_ARCHITECTURES)
                return usage_error("%s needs a number", word);
            if (add_architecture(a, argv[++i])) return EXIT_USAGE;
        } else if (check && !strcmp(word, "--processes")) {
            if (!more || (a->processes = processes_in(argv[++i])) < 1)
                return usage_error("%s needs a number from 1 to 1000000", word);
        } else if (check && is_of_json(word, a)) {
            continue;
        } else if (!check && !strcmp(word, "--resume")) {
            a->resume = true;
        } else if (!check && !strcmp(word, "--resume-if-there")) {
            a->if_there = true;
        } else if (!check && !strcmp(word, accept_word)) {
            a->accept_changes = true;
        } else if (!check && (!strcmp(word, "--quiet") || !strcmp(word, "--json"))) {
            if (a->tells) return usage_error("one of --quiet and --json: '%s'", word);
            a->tells = word[2] == 'q' ? TELLS_LITTLE : TELLS_JSON;
        } else if (word[0] == '-') {
            return usage_error("unknown option '%s'", word);
        } else if (a->file) {
            return usage_error("more than one file: '%s'", word);
        } else {
            a->file = word;
        }
    }
    if (check && check_json(a)) return EXIT_USAGE;
    if (a->resume && a->if_there)
        return usage_error("%s goes with an INI file, not with --resume", "--resume-if-there");
    return a->file ? 0 : usage_error("%s", "which file?");
}

/* What could be read of a file is interpreted even after errors, so that all of them are told at
 * once; of a file that cannot be read at all, that one is enough. */
int run_read_configuration(session *session, const arguments *a, output_data *found)
{
    int code;
    if (a->resume) {
        code = output_read(a->file, found, session->engine.report);
        if (!code)
            code = ini_read_archived(a->file, found->origin.user_ini, &session->engine.config.ini,
                                     session->engine.report);
    } else {
        code = ini_read(a->file, &session->engine.config.ini, session->engine.report);
    }
    for (int i = 0; i < a->set_count && !code; i++) {
        if (a->resume && !resume_may_set(a->sets[i]))
            return usage_error("--set %s would change a run that is resumed", a->sets[i]);
        code = ini_set(&session->engine.config.ini, a->sets[i], session->engine.report);
    }
    if (code && !session->engine.config.ini.count) return code;
    int reading = config_read(&session->engine.config, session->engine.report);
    if (a->resume) room_of_file(&session->engine.config, found);
    for (int s = 0; s < session->engine.config.species_count && a->room; s++)
        if (a->room[s] > session->engine.config.species[s].room)
            session->engine.config.species[s].room = a->room[s];
    int opening = session_open(session);
    if (!code) code = reading ? reading : opening;
    return code || !ini_find(&session->engine.config.ini, "run") ? code : own_files_check(session);
}

/* Before hours are spent: can everything be written? */
int run_probe(const session *session, const char *output, const char *key)
{
    const char *csv = session->engine.config.run.csv;
    int code = output_probe(output, key, session->engine.report);
    return code || !csv || !*csv ? code : output_probe(csv, "[run] csv", session->engine.report);
}

int run_prepare(session *session)
{
    if (!session->engine.report->quiet) watchdog_doing("taking memory and compiling kernels");
    int code = session_prepare(session);
    if (!code) code = progress_find(&(progress){0}, session);
    if (!code && !session->before) advise(session); /* of a run that goes on it has been said */
    return code;
}

/* Why so many threads. */
static const char *threads_of(const session *session, char words[240])
{
    char offer[160];
    threads_why(&session->engine.device.offer, offer);
    if (session->engine.config.run.threads)
        snprintf(words, 240, "[run] threads, of %s", offer);
    else if (team_now()->local_ranks > 1)
        snprintf(words, 240, "%d processes on this host, %s", team_now()->local_ranks, offer);
    else if (session->engine.system.threads < session->engine.device.offer.threads)
        snprintf(words, 240, "more do not pay for so few particles, of %s", offer);
    else
        snprintf(words, 240, "%s%s", offer,
                 session->engine.system.threads > 1 ? ", one where that is faster" : "");
    return words;
}

static void say_where(const session *session)
{
    char words[240];
    const team *t = team_now();
    if (t->parts > 1)
        report_note(session->engine.report,
                    "%d processes, each of %d walker%s is spread over %d%s%s; of the first:",
                    t->ranks, session->engine.processes.all_walkers,
                    session->engine.processes.all_walkers > 1 ? "s" : "", t->parts,
                    session->engine.device.gpu ? ", GPU to GPU by " : "",
                    session->engine.device.gpu ? spread_way() : "");
    else if (t->ranks > 1)
        report_note(session->engine.report,
                    "%d processes share %d walkers; of the first:", t->ranks,
                    session->engine.processes.all_walkers);
    if (session->engine.device.gpu) {
        char *text;
        size_t size;
        FILE *out = checked(open_memstream(&text, &size));
        gpu_describe(out, session->engine.device.gpu);
        fclose(out);
        report_note(session->engine.report, "on %.*s%s", (int)strcspn(text, "\n"), text,
                    gain_words(&session->engine, words));
        free(text);
    } else {
        report_note(session->engine.report, "on the CPU, %d thread%s (%s; %s)",
                    session->engine.system.threads, session->engine.system.threads == 1 ? "" : "s",
                    threads_of(session, words), session->engine.device.why_no_gpu);
    }
}

/* What is gone on with; `there` is false for a new run. */
typedef struct origin {
    bool there, if_there;
    char stamp[STAMP_SIZE]; /* of what was compared */
} origin;

/* Between looking at the file and locking it another run may have come and gone. */
static int check_unchanged(const session *session, const char *path, const origin *from)
{
    bool same = from->there ? strcmp(session->records.output.file.stamp, from->stamp) == 0
                            : !from->if_there || access(path, F_OK);
    if (same) return 0;
    return report_error(
        session->engine.report, EXIT_OUTPUT, NULL, 0,
        "cannot write %s: another run has just written it; the same command goes on "
        "with that",
        path);
}

/* The first file of this run, with its initial state; of a resumed run this was done when its file
 * was read. */
static int rehearse_output(session *session)
{
    output_data first = session->records.output;
    const double *here;
    void *all = NULL;
    int code = borrowing_positions(&session->engine, PLUGMC_ON_HOST, &here);
    code = team_gather(code, here,
                       3 * sizeof *here * (size_t)session->engine.system.walkers *
                           (size_t)session->engine.system.particles,
                       &all);
    first.positions = all;
    if (!code && all && averages_find(&first))
        code = report_error(session->engine.report, EXIT_MEMORY, NULL, 0,
                            "no memory for the averages of the run");
    if (!code && all) code = output_rehearse(session->output_path, &first, session->engine.report);
    free(all);
    return code;
}

/* Smaller files are copied for each checkpoint in less time than is worth a second one on the disk. */
enum { LEAST_SPARE = 16 << 20 };

/* Fewer threads where not all are allowed. */
static void count_threads(session *session)
{
    int error;
    const int wanted = session->engine.system.threads,
              there = wanted > 1 ? threads_startable(wanted, &error) : wanted;
    if (there == wanted) return;
    session->engine.system.threads = there;
    omp_set_num_threads(there);
    report_warning(session->engine.report, NULL, 0,
                   "%d threads cannot be started here (%s; ulimit -u says how many processes and "
                   "threads a user may have): the run has %d",
                   wanted, strerror(error), there);
}

/* The run itself, its output locked. */
static int run_locked(session *session, const char *path, const origin *from, bool again)
{
    const char *csv = session->engine.config.run.csv;
    output_lock output = {0}, table = {0};
    const bool leads = team_leads();
    identity_make(session->records.output.file.identity);
    int code = leads ? output_lock_take(&output, path, session->records.output.file.identity,
                                        session->engine.report)
                     : 0;
    if (!code && leads && csv && *csv)
        code = output_lock_take(&table, csv, session->records.output.file.identity,
                                session->engine.report);
    if (!code && leads && !from->there) code = check_unchanged(session, path, from);
    code = team_agree(code);
    if (!code) code = share_threads(&session->engine);
    if (!code) count_threads(session);
    if (!code) code = run_prepare(session);
    if (!code && !again) say_where(session);
    if (!code && !session->engine.report->quiet)
        watchdog_doing(from->there ? "taking up the state" : "making the initial state");
    if (!code) code = from->there ? session_resume(session, path) : initial_begin(&session->engine);
    if (!code && leads && from->there) code = check_unchanged(session, path, from);
    code = team_agree(code);
    if (!code && !session->engine.report->quiet)
        watchdog_doing("writing a first file to see that it can be");
    if (!code && !from->there) code = team_agree(rehearse_output(session));
    session->spare.least = LEAST_SPARE;
    session->records.output.file.spare = &session->spare;
    if (!code) code = team_agree(session_run(session));
    saving_wait(session);
    spare_drop(&session->spare);
    output_lock_release(&table);
    output_lock_release(&output);
    return code;
}

/* A pipe that nobody reads is an error; what is there already stays. */
static int open_log(session *session)
{
    const char *path = session->engine.config.run.log;
    if (!path || !*path || session->engine.report->log) return 0;
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    session->engine.report->log = fd < 0 ? NULL : fdopen(fd, "a");
    if (!session->engine.report->log)
        return report_error(session->engine.report, EXIT_OUTPUT, NULL, 0,
                            "cannot write %s: %s; [run] log names it", path, strerror(errno));
    char *line;
    checked(asprintf(&line, "%s\n", session->command) < 0 ? NULL : line);
    report_log(session->engine.report, line);
    free(line);
    return 0;
}

/* Whether the output file is there: as rank 0 sees it. */
static int look(session *session, output_data *found, bool accept, bool *there)
{
    int64_t seen = 0;
    int code = resume_look(session, found, accept, there);
    seen = *there;
    code = team_spread(code, &seen, sizeof seen);
    if (!code && *there != (seen != 0))
        code = report_error(
            session->engine.report, EXIT_INPUT, NULL, 0,
            "rank %d %s the file %s, which rank 0 %s: all processes need the same folder",
            team_now()->rank, *there ? "sees" : "does not see", session->engine.config.run.output,
            seen ? "sees" : "does not see");
    return team_agree(code);
}

/* A new run, one that goes on, or one that is finished. */
static int run(session *session, const arguments *a, output_data *found)
{
    origin from = {.there = a->resume, .if_there = a->if_there};
    if (a->resume) watchdog_resumes(a->file);
    int code = team_join(session->engine.report, run_read_configuration(session, a, found));
    if (!code) code = same_input(session);
    if (!code && a->if_there) code = look(session, found, a->accept_changes, &from.there);
    if (code) return code;
    const char *path = a->resume ? a->file : session->engine.config.run.output;
    if (from.there) watchdog_resumes(path);
    if (from.there && resume_is_finished(session, found))
        return team_leads() ? resume_print_again(session, path, found) : EXIT_DONE;
    if (from.there) {
        session->before =
            keep_text(found->origin.history ? found->origin.history : found->origin.provenance);
        session->resumed_at = found->sweep;
        session->output_path = path;
        strcpy(from.stamp, found->file.stamp);
        code = history_compare(session, path, session->before, a->accept_changes);
        output_free(found); /* it is read again when it is locked */
    }
    if (!code && team_leads()) code = run_probe(session, path, a->resume ? NULL : "[run] output");
    if (!code && team_leads()) code = open_log(session);
    code = team_agree(code);
    return code ? code : run_locked(session, path, &from, a->again);
}

/* The same command goes on with the file of the run, which has been saved, with the room that it has come to need. */
static void begin_again_with(arguments *a, session *session)
{
    const int n = session->engine.config.species_count;
    int64_t *room = checked(calloc((size_t)n + 1, sizeof *room));
    room_more(session, room);
    for (int s = 0; s < n; s++)
        if (session->engine.config.species[s].room > room[s])
            room[s] = session->engine.config.species[s].room;
    free(a->room);
    a->room = room;
    a->again = true;
    a->if_there = !a->resume;
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
    if (watchdog_begin())
        return report_error(&report, EXIT_MEMORY, NULL, 0, "no thread to watch over the run");
    char *command = resume_command_line(argc, argv);
    session session = {.engine.report = &report, .command = command, .tells = a.tells};
    while ((code = run(&session, &a, &found)) == ROOM_IS_SHORT) {
        const double limit_from = session.limit_from;
        watchdog_end();
        begin_again_with(&a, &session);
        session_close(&session);
        output_free(&found);
        found = (output_data){0};
        session = (struct session){.engine.report = &report,
                                   .command = command,
                                   .tells = a.tells,
                                   .limit_from = limit_from};
        if (watchdog_begin()) {
            code = report_error(&report, EXIT_MEMORY, NULL, 0, "no thread to watch over the run");
            break;
        }
    }
    watchdog_end();
    team_leave();
    if (report.log) fclose(report.log);
    session_close(&session);
    output_free(&found);
    free(a.room);
    free(command);
    return code;
}
