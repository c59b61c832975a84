/* See movers_run.h. */
#include "movers_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "engine/sync.h"
#include "engine/moves.h"
#include "initial/initial.h"
#include "session/enlarging.h"
#include "session/same_input.h"

/* ---- Opening and closing ----------------------------------------------------------------------- */

static void hear(void *listener, const report_message *m)
{
    run *r = listener;
    if (m->kind != REPORT_ERROR || r->error[0]) return;
    snprintf(r->error, sizeof r->error, "%s", m->text ? m->text : "there is no memory");
}

/* In the order of a run that `plugmc run` makes. */
static int begin(run *r)
{
    session *s = &r->session;
    origin from;
    int code = starting_read(s, &r->asked, &r->found);
    if (!code) code = same_input(s);
    if (!code) code = starting_find(s, &r->asked, &r->found, &from);
    if (!code && from.there) code = starting_go_on(s, &r->asked, &r->found, &from);
    if (!code && from.there) code = starting_lock(s, &r->locks, &from);
    if (!code) code = starting_make_state(s, &r->asked, &from);
    r->equilibrate = s->engine.config.run.equilibrate;
    return code ? code : session_begin(s);
}

static int start(run *r)
{
    stop_forget();
    r->report = (report){.hear = hear, .listener = r};
    r->session = (session){.engine.report = &r->report,
                           .engine.pairs_known = true,
                           .command = "plugmc validate",
                           .tells = TELLS_LITTLE,
                           .embedded = true};
    return begin(r);
}

int run_open(run *r, const char *ini_text)
{
    *r = (run){.text = checked(strdup(ini_text))};
    r->asked = (asked){.file = "validate.ini", .text = r->text};
    return start(r);
}

int run_resume(run *r, const char *path)
{
    *r = (run){.file = checked(strdup(path))};
    r->asked = (asked){.file = r->file, .resume = true};
    return start(r);
}

void run_close(run *r)
{
    session_close(&r->session);
    output_free(&r->found);
    starting_unlock(&r->locks);
    free(r->asked.capacity);
    free(r->text);
    free(r->file);
    r->text = r->file = NULL;
}

/* ---- Sweeps ------------------------------------------------------------------------------------ */

int run_sweep(run *r, uint64_t sweeps)
{
    const uint64_t target = r->session.sweep + sweeps;
    run_section *section = &r->session.engine.config.run;
    if ((int64_t)target - section->equilibrate > section->sweeps)
        section->sweeps = (int64_t)target - section->equilibrate;
    int ended = EXIT_DONE;
    const int code = session_advance(&r->session, target, NULL, &ended);
    if (code == SWEEP_GIVEN_UP && ended == ARRAYS_FULL)
        return report_error(&r->report, EXIT_INTERNAL, NULL, 0,
                            "the run needs more room for particles than max_count");
    if (!code && ended != EXIT_DONE)
        return report_error(&r->report, ended, NULL, 0, "the run was ended after sweep %llu",
                            (unsigned long long)r->session.sweep);
    return code;
}

int run_checkpoint(run *r)
{
    const origin from = {.path = r->session.output_path};
    int code = starting_probe(&r->session, from.path, r->asked.resume ? NULL : "[run] output");
    if (!code) code = starting_lock(&r->session, &r->locks, &from);
    return code ? code : session_checkpoint(&r->session);
}

/* ---- What there is ----------------------------------------------------------------------------- */

static int read_array(run *r, int what, const void **out)
{
    void *data = NULL;
    const plugmc_state *state = &r->session.engine.current.state.face;
    const int code = state->array(state, what, PLUGMC_ON_HOST, PLUGMC_READ, &data, NULL);
    *out = data;
    return code ? EXIT_INTERNAL : 0;
}

int run_look(run *r, snapshot_of_run *out)
{
    engine *engine = &r->session.engine;
    *out = (snapshot_of_run){.walkers = engine->system.walkers,
                             .species = engine->system.species_count,
                             .capacity = engine->system.particles,
                             .first = engine->system.first,
                             .macrostates = engine->macrostates};
    int code = sync_positions(engine, PLUGMC_ON_HOST, &out->positions);
    if (!code) code = sync_boxes(engine, &out->boxes);
    if (!code) code = read_array(r, PLUGMC_STATE_COUNT, (const void **)&out->counts);
    if (!code) code = read_array(r, PLUGMC_STATE_RUNG, (const void **)&out->rungs);
    if (!code) code = read_array(r, PLUGMC_STATE_WEIGHT, (const void **)&out->weights);
    return code;
}

int run_place(run *r, const double *positions)
{
    return initial_replace(&r->session.engine, positions);
}

const mover_slot *run_mover(const run *r, const char *label)
{
    const engine *e = &r->session.engine;
    for (int m = 0; m < e->mover_count; m++)
        if (!strcmp(e->movers[m].instance->section->section->label, label)) return &e->movers[m];
    return NULL;
}

plugmc_counts run_counts(run *r, const mover_slot *m, int move)
{
    plugmc_counts sum = {0, 0};
    if (moves_refresh(&r->session.engine)) return sum;
    const move_record *record = &r->session.engine.moves[m->first_move + move];
    for (int32_t k = 0; k < record->rungs; k++) {
        sum.trials += record->counts[k].trials;
        sum.accepted += record->counts[k].accepted;
    }
    return sum;
}

double run_step(const run *r, const mover_slot *m, int move)
{
    return r->session.engine.moves[m->first_move + move].steps[0];
}
