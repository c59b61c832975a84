/* The loop: sweeps in stretches between events; at an event observables measure, the step is
 * tuned, a checkpoint is written. Where stretches end never changes the chain, so wall time may
 * decide about checkpoints and progress.
 *
 * Sweeps are numbered from 0; those below `equilibrate` are equilibration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/crash.h"
#include "archive/averages.h"
#include "engine/sync.h"
#include "checkpointing.h"
#include "records/json.h"
#include "records/measuring.h"
#include "engine/moves.h"
#include "session/progress.h"
#include "engine/refusals.h"
#include "records/results.h"
#include "session/advice.h"
#include "session/enlarging.h"
#include "session/saving.h"
#include "session/session.h"
#include "snapshot.h"
#include "base/stop.h"
#include "engine/watchdog.h"
#include "writing.h"
#include "system/geometry.h"
#include "system/system.h"
#include "parallel/team.h"

enum {
    TUNINGS = 40,           /* of the step during equilibration */
    FRAME_BYTES = 256 << 20 /* of trajectory kept in memory before they are written */
};

static double now(void) { return stop_clock(); }

/* Of all threads, seconds. */
static double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Tuning steps ------------------------------------------------------------------------------------ */

static uint64_t tuning_interval(const session *session)
{
    uint64_t interval = (uint64_t)session->engine.config.run.equilibrate / TUNINGS;
    return interval > 0 ? interval : 1;
}

/* ---- The loop ---------------------------------------------------------------------------------------------- */

static uint64_t total_sweeps(const session *session)
{
    return (uint64_t)(session->engine.config.run.equilibrate + session->engine.config.run.sweeps);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t next_multiple(uint64_t n, uint64_t period) { return (n / period + 1) * period; }

/* The first sweep after `sweep` at which something must happen. */
static uint64_t next_event(const session *session, uint64_t sweep)
{
    uint64_t equilibrate = (uint64_t)session->engine.config.run.equilibrate;
    uint64_t event = UINT64_MAX;
    if (sweep < equilibrate) {
        event = equilibrate;
        if (moves_are_tuned(&session->engine))
            event = least(event, next_multiple(sweep, tuning_interval(session)));
    } else {
        for (int i = 0; i < session->records.measurement_count; i++)
            event =
                least(event, equilibrate +
                                 next_multiple(sweep - equilibrate,
                                               (uint64_t)session->records.measurements[i].period));
    }
    return event;
}

/* What happens at `sweep`. */
static int handle_events(session *session, uint64_t sweep)
{
    uint64_t equilibrate = (uint64_t)session->engine.config.run.equilibrate;
    int code = 0;
    if (sweep <= equilibrate && moves_are_tuned(&session->engine) &&
        (sweep % tuning_interval(session) == 0 || sweep == equilibrate) &&
        sweep != session->engine.tuned_at) {
        session->engine.tuned_at = sweep;
        code = moves_tune(&session->engine, sweep == equilibrate);
    }
    if (!code && sweep == equilibrate)
        code = moves_clear(&session->engine); /* production counts from here */
    if (!code && sweep == equilibrate) advise_molecules(session);
    if (!code && sweep >= equilibrate) code = measuring(&session->records, sweep - equilibrate);
    return code;
}

/* A stretch. Until one sweep is done nobody knows how long it takes. */
static int sweep_watched(session *session, uint64_t sweep, uint64_t n, double expected)
{
    const uint64_t equilibrate = (uint64_t)session->engine.config.run.equilibrate, end = sweep + n;
    const bool measured =
        end > equilibrate && measuring_can_wait(&session->records, end - equilibrate);
    stop_expect_slow(expected > 0.5);
    watchdog_plugin_begins();
    const int code = engine_sweep(&session->engine, sweep, n, !measured);
    watchdog_plugin_ended();
    return code;
}

/* How a run that is told to end goes on. */
static int say_stopped(const session *session, bool at_limit, uint64_t sweep)
{
    if (at_limit)
        report_note(session->engine.report,
                    "time limit reached after sweep %llu; go on with: plugmc run --resume %s",
                    (unsigned long long)sweep, session->output_path);
    else
        report_note(session->engine.report,
                    "stopped by signal %d after sweep %llu; go on with: plugmc run --resume %s",
                    stop_signal(), (unsigned long long)sweep, session->output_path);
    return at_limit ? EXIT_TIME_LIMIT : EXIT_INTERRUPTED;
}

/* To the last snapshot, whose sweep it gives. A write that goes on reads what is forgotten here. */
static uint64_t go_back(session *session)
{
    saving_wait(session);
    return snapshot_go_back(session);
}

/* From the watchdog's thread: a plugin does not come back, so no plugin can be asked for anything. */
static int save_and_leave(void *argument, bool at_limit)
{
    session *session = argument;
    if (team_now()->ranks > 1) {
        fprintf(stderr,
                "no plugin of rank %d has answered for five seconds: the run ends with the last "
                "checkpoint\n",
                team_now()->rank);
        return at_limit ? EXIT_TIME_LIMIT : EXIT_INTERRUPTED;
    }
    const uint64_t sweep = go_back(session);
    fprintf(stderr, "no plugin has answered for five seconds: the sweep at hand is given up\n");
    if (averages_find(&session->records.output)) return EXIT_MEMORY;
    const int code = checkpoint_snapshot(session, true);
    return code ? code : say_stopped(session, at_limit, sweep);
}

/* Why the run has to end now, or EXIT_DONE. */
static int reason_to_end(const run_section *run, double begin)
{
    if (stop_signal()) return EXIT_INTERRUPTED;
    return run->time_limit > 0 && now() - begin >= run->time_limit ? EXIT_TIME_LIMIT : EXIT_DONE;
}

static bool checkpoint_is_due(const session *session, double since)
{
    const size_t particle_bytes = 3 * sizeof(double) +
                                  (session->engine.system.bodies ? sizeof(plugmc_orientation) : 0),
                 frame_bytes = particle_bytes * (size_t)session->engine.system.walkers *
                               (size_t)session->engine.system.particles *
                               (size_t)session->records.output.trajectory.frame_count;
    const double period = session->engine.config.run.checkpoint;
    if (session->embedded) return false;
    return (period > 0 && since >= period && !writing_goes_on(session)) ||
           frame_bytes > FRAME_BYTES * (1 + (size_t)session->failed_writes);
}

/* Sweeps that are given up, or for which room is short. A host program is not stopped in a sweep. */
static bool may_go_back(const session *session)
{
    bool may = !session->embedded;
    for (int32_t s = 0; s < session->engine.system.species_count; s++)
        may |= plugmc_species_at(&session->engine.system, s)->grows != 0;
    return may;
}

static void say_slow(const session *session, double seconds, uint64_t left)
{
    if (seconds > 10)
        report_note(session->engine.report,
                    "one sweep takes %.3g s, so the %llu that are left take %.3g hours", seconds,
                    (unsigned long long)left, seconds * (double)left / 3600);
}

/* Worth a word if one thread was faster for a while: other programs use the processors. */
static void say_threads(const session *session, const thread_choice *c)
{
    const double one = c->sweeps_with[0], all = one + c->sweeps_with[1];
    if (c->most > 1 && one > 0.1 * all)
        report_note(session->engine.report,
                    "%.0f %% of the sweeps were made by one thread, which was faster than %d",
                    100 * one / all, c->most);
}

/* What depends on wall time, signals and errors: rank 0 decides about the first three, each process tells the last. */
typedef struct turn {
    int64_t sweeps, snapshot,
        checkpoint; /* of the next stretch; whether one is to be made before it */
    int64_t reason; /* why the run has to end now, EXIT_*, or EXIT_DONE */
    int64_t signal; /* that somebody got; 0: none */
} turn;

/* All: the same turn for everybody. */
static int agree_on_turn(int code, turn *t)
{
    int64_t said[] = {t->sweeps, t->snapshot, t->checkpoint, t->reason, stop_signal()};
    if (!team_leads()) said[0] = said[1] = said[2] = 0;
    code = team_largest(code, said, 5);
    *t = (turn){said[0], said[1], said[2], said[3], said[4]};
    if (t->signal && !stop_signal()) stop_as_if((int)t->signal);
    return code;
}

/* All: what has to be done before the next stretch, and how long that is. */
static int begin_turn(session *session, turn *t)
{
    course *c = &session->course;
    int code = agree_on_turn(saving_look(session), t);
    if (!code)
        speed_add(&session->records.output.speed, session->sweep,
                  session->seconds_base + now() - c->begin, false);
    if (!code && (t->checkpoint || t->snapshot || t->reason != EXIT_DONE))
        code = measuring_finish(&session->records);
    if (code || t->reason != EXIT_DONE) return code;
    if (t->checkpoint) {
        code = checkpoint(session, session->sweep, now() - c->begin);
        c->last_checkpoint = now();
    }
    return !code && t->snapshot ? snapshot_take(session, session->sweep, now() - c->begin) : code;
}

/* What this process would do in the next stretch, up to the next event or so many sweeps. */
static turn next_turn(const session *session, uint64_t until)
{
    const course *c = &session->course;
    const bool later = session->sweep > c->first || session->embedded;
    turn t = {.sweeps = (int64_t)thread_choice_sweeps(&c->threads,
                                                      least(until - session->sweep, c->stretch))};
    if (later) t.reason = reason_to_end(&session->engine.config.run, session->limit_from);
    if (later) t.checkpoint = checkpoint_is_due(session, now() - c->last_checkpoint);
    t.snapshot = !t.checkpoint && may_go_back(session) && snapshot_is_due(session);
    return t;
}

/* So many sweeps, and what they took. */
static int make_stretch(session *session, uint64_t n)
{
    course *c = &session->course;
    const double start = now(), cpu = cpu_time();
    int code = sweep_watched(session, session->sweep, n, c->expected * (double)n);
    if (!code) code = measuring_finish(&session->records); /* of the event before */
    const double took = now() - start;
    thread_choice_took(&c->threads, n, took, cpu_time() - cpu, now());
    if (thread_choice_looks(&c->threads, now()))
        thread_choice_saw(&c->threads, threads_left(""), now());
    if (c->threads.most > 1) session->engine.system.threads = c->threads.now;
    if (code || arrays_are_full(session)) return code;
    c->expected = took / (double)n;
    session->sweep += n;
    if (took < 0.25 && n == c->stretch && c->stretch < 1 << 30) c->stretch *= 2;
    if (took > 0.5 && c->stretch > 1) c->stretch /= 2;
    return 0;
}

/* Sweeps until so many are done or until told to stop: session_advance. */
static int sweep_until(session *session, uint64_t until, progress *shown, int *ended)
{
    const uint64_t total = total_sweeps(session);
    int code = 0;
    while (!code && session->sweep < until) {
        const uint64_t event = next_event(session, session->sweep);
        const bool first = session->sweep == session->course.first;
        turn t = next_turn(session, least(event, until));
        code = begin_turn(session, &t);
        *ended = (int)t.reason;
        if (code || *ended != EXIT_DONE) break;
        code = make_stretch(session, (uint64_t)t.sweeps);
        if (code) break;
        if (arrays_are_full(session)) {
            *ended = ARRAYS_FULL;
            return SWEEP_GIVEN_UP;
        }
        if (first) watchdog_first_sweep_done();
        if (first && shown) say_slow(session, session->course.expected, total - session->sweep);
        if (session->sweep == event) code = handle_events(session, session->sweep);
        if (!code && session->sweep < total && shown)
            progress_show(shown, session, session->sweep, false);
    }
    return code;
}

int session_begin(session *session)
{
    course *c = &session->course;
    session->sweep = session->records.output.sweep;
    *c = (course){.first = session->sweep, .stretch = 1, .expected = INFINITY, .begin = now()};
    c->last_checkpoint = c->begin;
    if (session->limit_from == 0) session->limit_from = c->begin;
    /* on a GPU, and where the user says how many, there is nothing to choose */
    thread_choice_begin(&c->threads,
                        session->engine.device.gpu || session->engine.config.run.threads
                            ? 1
                            : session->engine.system.threads,
                        threads_left(""), c->begin);
    int code = 0;
    if (session->engine.config.run.equilibrate == 0 && session->sweep == 0)
        code = handle_events(session, 0);
    return team_agree(code);
}

int session_advance(session *session, uint64_t until, progress *shown, int *ended)
{
    *ended = EXIT_DONE;
    int code = sweep_until(session, until, shown, ended);
    const bool full = *ended == ARRAYS_FULL;
    if (!code) code = measuring_finish(&session->records);
    code = full ? code : team_agree(code);
    if (code == SWEEP_GIVEN_UP && !full) {
        turn t = {.reason = reason_to_end(&session->engine.config.run, session->limit_from)};
        team_goes_on();
        const int lost = agree_on_turn(0, &t);
        *ended = (int)t.reason;
        if (lost) code = lost;
    }
    if (session->course.threads.most > 1)
        session->engine.system.threads = session->course.threads.most;
    return code;
}

int session_checkpoint(session *session)
{
    const int code = checkpoint_last(session, session->sweep, now() - session->course.begin);
    return team_agree(code);
}

int session_save_to_enlarge(session *session)
{
    go_back(session);
    return checkpoint_given_up(session);
}

/* The ensemble ends where there is room for no more, which nobody may have meant, unless its numbers are
 * weighed. */
static void say_who_had_no_room(const session *session)
{
    int32_t full = 0;
    for (int32_t w = 0;
         w < session->engine.system.walkers && session->engine.current.hamiltonian.walkers; w++)
        if (session->engine.current.hamiltonian.walkers[w].full)
            full = session->engine.current.hamiltonian.walkers[w].full;
    if (!full || session->engine.weighing) return;
    const plugmc_species *species = plugmc_species_at(&session->engine.system, full - 1);
    const plugmc_molecules *all = session->engine.system.molecules;
    for (int32_t k = 0; all && k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        if (!kind->changes || kind->species[0] != full - 1) continue;
        report_warning(
            session->engine.report, session->engine.config.ini.path,
            config_line_of_molecule(&session->engine.config, k, "max_count"),
            "[molecule %s] the number of %s reached max_count = %lld: the ensemble is cut off there",
            kind->name, kind->name, (long long)kind->capacity);
        return;
    }
    report_warning(
        session->engine.report, session->engine.config.ini.path,
        config_line_of_species(&session->engine.config, full - 1, "max_count"),
        "[species %s] the number of %s reached max_count = %lld: the ensemble is cut off there",
        species->name, species->name, (long long)species->capacity);
}

/* What is found is told, and a run that was told to end says how it goes on. */
static int conclude(session *session, int code, int ended)
{
    code = team_agree(code);
    if (session->records.averaged && session->tells == TELLS_JSON)
        json_results(&session->records, session->output_path);
    else if (session->records.averaged)
        print_results(&session->records, session->output_path);
    if (code || ended == EXIT_DONE) return code;
    return say_stopped(session, ended == EXIT_TIME_LIMIT, session->sweep);
}

/* A sweep that ends with a sentence about the input, as when a box has outgrown an Ewald sum: what was measured before it is kept, as of
 * the last snapshot. Of one process: others may be in the middle of a message. Returns the code of the error. */
static int save_before_error(session *session, int code)
{
    if (code != EXIT_INPUT || team_now()->ranks > 1 || !session->snapshot) return code;
    const uint64_t sweep = go_back(session);
    if (sweep == 0 || checkpoint_given_up(session)) return code;
    session->sweep = sweep;
    report_note(
        session->engine.report,
        "what was there after sweep %llu is in %s; a run with other settings begins from it with "
        "[initial] state = file, file = %s",
        (unsigned long long)sweep, session->output_path, session->output_path);
    return conclude(session, code, EXIT_DONE);
}

int session_run(session *session)
{
    const run_section *run = &session->engine.config.run;
    int ended = EXIT_DONE;
    progress progress;
    int code = team_leads() ? progress_begin(&progress, session, now()) : 0;
    code = team_agree(code);
    if (code) return code;
    const double from = session->limit_from == 0 ? now() : session->limit_from;
    watchdog_guard(run->time_limit > 0 ? from + run->time_limit : INFINITY, save_and_leave,
                   session);
    code = session_begin(session);
    if (!code)
        code = session_advance(session, total_sweeps(session), team_leads() ? &progress : NULL,
                               &ended);
    if (code != SWEEP_GIVEN_UP || ended != ARRAYS_FULL)
        say_threads(session, &session->course.threads);
    watchdog_end();
    if (team_leads()) progress_end(&progress);
    const bool given_up = code == SWEEP_GIVEN_UP;
    if (code && !given_up) return save_before_error(session, code);
    if (ended == ARRAYS_FULL) {
        code = session_save_to_enlarge(session);
        return code ? code : ARRAYS_FULL;
    }
    say_who_had_no_room(session);
    if (given_up) session->sweep = go_back(session);
    if (team_leads()) progress_show(&progress, session, session->sweep, true);
    return conclude(session,
                    given_up
                        ? checkpoint_given_up(session)
                        : checkpoint_last(session, session->sweep, now() - session->course.begin),
                    ended);
}
