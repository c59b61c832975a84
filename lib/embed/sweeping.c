/* Sweeps, and what is written of them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "base/stop.h"
#include "border.h"
#include "parallel/team.h"
#include "session/enlarging.h"

/* ---- Sweeps ----------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The run is as long as its INI file says, or as it has to be for so many sweeps. */
static void set_length(plugmc_engine *e, uint64_t sweeps)
{
    run_section *run = &e->session.engine.config.run;
    const int64_t production = (int64_t)sweeps - run->equilibrate;
    run->sweeps = production > e->ini_sweeps ? production : e->ini_sweeps;
}

static bool callback_is_due(const plugmc_engine *e)
{
    return e->callback.function && e->session.sweep % e->callback.every == 0;
}

/* Whether the host wants no more. */
static bool call_host(plugmc_engine *e)
{
    border_leave(e);
    const int ends = e->callback.function(e, e->callback.data);
    border_enter(e);
    return ends != 0;
}

/* Whole sweeps have been made, which is no failure. */
static int end_early(plugmc_engine *e, int code)
{
    stop_forget();
    set_length(e, e->session.sweep);
    return border_say(e, code, "%s after sweep %llu",
                      code == EXIT_TIME_LIMIT ? "[run] time_limit is reached" : "stopped",
                      (unsigned long long)e->session.sweep);
}

/* All: the host of any process may have said so. */
static int agree_on_ending(int code, bool *ends)
{
    int64_t any = *ends;
    code = team_largest(code, &any, 1);
    *ends = any != 0;
    return code;
}

static int sweep(plugmc_engine *e, void *argument)
{
    const uint64_t target = e->session.sweep + (uint64_t) * (const int64_t *)argument;
    set_length(e, target);
    while (e->session.sweep < target) {
        const uint64_t every = e->callback.function ? e->callback.every : UINT64_MAX,
                       before = e->session.sweep,
                       due = every == UINT64_MAX ? target : (before / every + 1) * every;
        int ended;
        int code = session_advance(&e->session, least(due, target), NULL, &ended);
        if (code == SWEEP_GIVEN_UP && ended == ARRAYS_FULL) {
            code = again_with_more_room(e);
            set_length(e, target);
        } else if (!code && ended != EXIT_DONE) {
            return end_early(e, ended);
        }
        if (code) e->condition = HAS_FAILED;
        if (code || e->session.sweep <= before || !callback_is_due(e)) {
            if (code) return code;
            continue;
        }
        bool ends = call_host(e);
        if (e->condition != IS_OPEN) return e->told.code;
        code = agree_on_ending(0, &ends);
        if (code || ends) return code ? code : end_early(e, EXIT_INTERRUPTED);
    }
    return 0;
}

int plugmc_engine_sweep(plugmc_engine *e, int64_t sweeps)
{
    if (e && sweeps < 0)
        return border_say(e, EXIT_USAGE, "%lld sweeps cannot be made", (long long)sweeps);
    return border_cross(e, OPEN_ALONE, sweep, &sweeps);
}

int64_t plugmc_engine_sweeps(const plugmc_engine *e) { return e ? (int64_t)e->session.sweep : 0; }

int64_t plugmc_engine_equilibration(const plugmc_engine *e)
{
    return e ? e->session.engine.config.run.equilibrate : 0;
}

void plugmc_engine_stop(void) { stop_as_if(SIGINT); }

int plugmc_engine_call_every(plugmc_engine *e, int64_t sweeps, plugmc_engine_callback *function,
                             void *data)
{
    if (!e) return EXIT_USAGE;
    if (sweeps < 0 || (sweeps && !function))
        return border_say(e, EXIT_USAGE, "a callback needs a function and a number of sweeps");
    e->callback = (host_callback){sweeps ? function : NULL, data, (uint64_t)sweeps};
    return 0;
}

/* ---- The output file -------------------------------------------------------------------------- */

int again_keep_path(plugmc_engine *e, const char *path)
{
    char *copy = strdup(path);
    if (!copy) return report_error(&e->report, EXIT_MEMORY, NULL, 0, "no memory for a name");
    free(e->path);
    e->path = copy;
    return 0;
}

int again_lock(plugmc_engine *e, const origin *from)
{
    int code = 0;
    if (team_leads())
        code = starting_probe(&e->session, from->path, e->asked.resume ? NULL : "[run] output");
    if (!code) code = starting_lock(&e->session, &e->locks, from);
    e->locked = !code;
    return team_agree(code);
}

/* The file says how long the run is by now. */
static int tell_length(plugmc_engine *e)
{
    char assignment[64];
    session *s = &e->session;
    if (s->engine.config.run.sweeps == e->told_sweeps) return 0;
    snprintf(assignment, sizeof assignment, "run.sweeps=%lld",
             (long long)s->engine.config.run.sweeps);
    const int code = ini_set(&s->engine.config.ini, assignment, &e->report);
    if (code) return code;
    free((char *)s->records.output.origin.user_ini);
    s->records.output.origin.user_ini = ini_as_text(&s->engine.config.ini, s->output_path);
    e->told_sweeps = s->engine.config.run.sweeps;
    return 0;
}

static int write_checkpoint(plugmc_engine *e, void *unused)
{
    const origin from = {.path = e->path};
    (void)unused;
    int code = e->locked ? 0 : again_lock(e, &from);
    if (!code) code = tell_length(e);
    return code ? code : session_checkpoint(&e->session);
}

int plugmc_engine_checkpoint(plugmc_engine *e)
{
    return border_cross(e, OPEN, write_checkpoint, NULL);
}

/* ---- Messages --------------------------------------------------------------------------------- */

int plugmc_engine_last_code(const plugmc_engine *e) { return e ? e->told.code : EXIT_USAGE; }

const char *plugmc_engine_error(const plugmc_engine *e)
{
    return e ? e->told.error : "there is no engine";
}

const char *plugmc_engine_message(const plugmc_engine *e, int32_t k, int32_t *kind)
{
    if (!e || k < 0 || k >= e->told.count) return NULL;
    if (kind) *kind = e->told.messages[k].kind;
    return e->told.messages[k].text;
}
