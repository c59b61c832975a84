/* From what is asked for to a run that is ready to sweep. See starting.h. */
#include "session/starting.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/averages.h"
#include "engine/sync.h"
#include "engine/device_choice.h"
#include "engine/on_host.h"
#include "engine/share.h"
#include "engine/watchdog.h"
#include "initial/initial.h"
#include "parallel/decomposition.h"
#include "parallel/team.h"
#include "session/advice.h"
#include "session/history.h"
#include "session/own_files.h"
#include "session/progress.h"
#include "session/resume.h"
#include "session/enlarging.h"
#include "session/same_input.h"
#include "session/saving.h"

/* ---- What is asked for ---------------------------------------------------------------------- */

static int read_input(session *session, const asked *a, output_data *found)
{
    ini_file *ini = &session->engine.config.ini;
    report *report = session->engine.report;
    int code;
    if (a->resume) {
        code = output_read(a->file, found, report);
        if (!code) code = ini_read_archived(a->file, found->origin.user_ini, ini, report);
    } else {
        code =
            a->text ? ini_read_text(a->file, a->text, ini, report) : ini_read(a->file, ini, report);
    }
    for (int i = 0; i < a->set_count && !code; i++) {
        if (a->resume && !resume_may_set(a->sets[i]))
            return report_error(report, EXIT_USAGE, NULL, 0,
                                "--set %s would change a run that is resumed", a->sets[i]);
        code = ini_set(ini, a->sets[i], report);
    }
    return code;
}

/* What could be read of a file is interpreted even after errors, so that all of them are told at
 * once; of a file that cannot be read at all, that one is enough. */
int starting_read(session *session, const asked *a, output_data *found)
{
    config *config = &session->engine.config;
    int code = read_input(session, a, found);
    if (code == EXIT_USAGE || (code && !config->ini.count)) return code;
    int reading = config_read(config, session->engine.report);
    if (a->resume) capacity_of_file(config, found);
    for (int s = 0; s < config->species_count && a->capacity; s++)
        if (a->capacity[s] > config->species[s].capacity)
            config->species[s].capacity = a->capacity[s];
    if (a->if_there) resume_choice(config);
    int opening = session_open(session);
    if (!code) code = reading ? reading : opening;
    if (code || !ini_find(&config->ini, "run")) return code;
    return own_files_check(session, a->resume ? a->file : config->run.output);
}

int starting_probe(const session *session, const char *output, const char *key)
{
    const char *csv = session->engine.config.run.csv;
    int code = output_probe(output, key, session->engine.report);
    return code || !csv || !*csv ? code : output_probe(csv, "[run] csv", session->engine.report);
}

/* ---- The log --------------------------------------------------------------------------------- */

/* A pipe that nobody reads is an error; what is there already stays. */
int starting_log(session *session)
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

/* ---- Where it goes on ----------------------------------------------------------------------- */

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

int starting_find(session *session, const asked *a, output_data *found, origin *from)
{
    *from = (origin){.there = a->resume, .if_there = a->if_there};
    from->path = a->resume ? a->file : session->engine.config.run.output;
    int code = a->if_there ? look(session, found, a->accept_changes, &from->there) : 0;
    if (code || !from->there) return code;
    watchdog_resumes(from->path);
    from->finished = resume_is_finished(session, found);
    return 0;
}

int starting_go_on(session *session, const asked *a, output_data *found, origin *from)
{
    session->before =
        keep_text(found->origin.history ? found->origin.history : found->origin.provenance);
    session->resumed_at = found->sweep;
    session->output_path = from->path;
    strcpy(from->stamp, found->file.stamp);
    const int code = history_compare(session, from->path, session->before, a->accept_changes);
    output_free(found);
    *found = (output_data){0};
    return code;
}

/* ---- Locks ---------------------------------------------------------------------------------- */

/* Between looking at the file and locking it another run may have come and gone. */
static int check_unchanged(const session *session, const origin *from)
{
    const char *path = from->path;
    bool same = from->there ? strcmp(session->records.output.file.stamp, from->stamp) == 0
                            : !from->if_there || access(path, F_OK);
    if (same) return 0;
    return report_error(
        session->engine.report, EXIT_OUTPUT, NULL, 0,
        "cannot write %s: another run has just written it; the same command goes on "
        "with that",
        path);
}

int starting_lock(session *session, own_locks *locks, const origin *from)
{
    const char *csv = session->engine.config.run.csv;
    char *identity = session->records.output.file.identity;
    report *report = session->engine.report;
    identity_make(identity);
    if (!team_leads()) return 0;
    int code = output_lock_take(&locks->output, from->path, identity, report);
    if (!code && csv && *csv) code = output_lock_take(&locks->table, csv, identity, report);
    return code || from->there ? code : check_unchanged(session, from);
}

void starting_unlock(own_locks *locks)
{
    output_lock_release(&locks->table);
    output_lock_release(&locks->output);
    *locks = (own_locks){0};
}

/* ---- Ready ---------------------------------------------------------------------------------- */

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

/* The first file of this run, with its initial state; of a resumed run this was done when its file
 * was read. */
static int rehearse_output(session *session)
{
    output_data first = session->records.output;
    const double *here;
    void *all = NULL;
    int code = sync_positions(&session->engine, PLUGMC_ON_HOST, &here);
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

int starting_prepare(session *session)
{
    if (!session->engine.report->quiet) watchdog_doing("taking memory and compiling kernels");
    int code = session_prepare(session);
    if (!code) code = progress_find(&(progress){0}, session);
    if (!code && !session->before) advise(session); /* of a run that goes on it has been said */
    return code;
}

int starting_make_state(session *session, const asked *a, const origin *from)
{
    const char *choice = session->engine.device.choice;
    if (choice && !a->again) report_note(session->engine.report, "%s", choice);
    int code = share_threads(&session->engine);
    if (!code) count_threads(session);
    if (!code) code = starting_prepare(session);
    if (!code && !a->again) say_where(session);
    if (!code && !a->again) note_all_made_on_host(&session->engine);
    if (!code && !session->engine.report->quiet)
        watchdog_doing(from->there ? "taking up the state" : "making the initial state");
    if (!code)
        code = from->there ? session_resume(session, from->path) : initial_begin(&session->engine);
    if (!code && team_leads() && from->there) code = check_unchanged(session, from);
    return team_agree(code);
}

int starting_rehearse(session *session)
{
    if (!session->engine.report->quiet)
        watchdog_doing("writing a first file to see that it can be");
    return team_agree(rehearse_output(session));
}

/* ---- Again, with more room ------------------------------------------------------------------ */

void starting_again(asked *a, session *session, output_data *found)
{
    const int n = session->engine.config.species_count;
    int64_t *capacity = checked(calloc((size_t)n + 1, sizeof *capacity));
    enlarge_arrays(session, capacity);
    for (int s = 0; s < n; s++)
        if (session->engine.config.species[s].capacity > capacity[s])
            capacity[s] = session->engine.config.species[s].capacity;
    free(a->capacity);
    a->capacity = capacity;
    a->again = true;
    a->if_there = !a->resume;
    const struct session kept = {.engine.report = session->engine.report,
                                 .engine.in_child = true, /* plugins have been tried in one */
                                 .command = session->command,
                                 .tells = session->tells,
                                 .embedded = session->embedded,
                                 .limit_from = session->limit_from};
    session_close(session);
    output_free(found);
    *found = (output_data){0};
    *session = kept;
}
