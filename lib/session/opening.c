/* From a configuration to a run that is ready, and its end. */
#include "session/session.h"

#include "archive/trajectory.h"
#include "session/history.h"
#include "session/saving.h"
#include "snapshot.h"

int session_open(session *session)
{
    const engine *engine = &session->engine;
    session->records.engine = &session->engine;
    const int code = engine_open(&session->engine);
    for (int k = 0; k < engine->mover_count; k++)
        session->records.output.joined |= engine->movers[k].mover->couples != 0;
    return code;
}

/* The trajectory that an observable of this run writes. */
static int describe_trajectory(session *session)
{
    const engine *engine = &session->engine;
    output_trajectory *t = &session->records.output.trajectory;
    t->note = engine->system.box.dimension == 2 ? "two-dimensional run: z = 0" : "";
    for (int i = 0; i < engine->instance_count; i++) {
        const instance *instance = &engine->instances[i];
        if (instance->plugin->kind != PLUGMC_OBSERVABLE ||
            !instance->plugin->observable->writes_trajectory)
            continue;
        t->wanted = true;
        t->format =
            instance->trajectory.format == TRAJECTORY_H5MD ? TRAJECTORY_OF_H5MD : TRAJECTORY_OF_GSD;
        if (t->format == TRAJECTORY_OF_GSD && engine->system.changes & PLUGMC_CHANGED_WALKER_WEIGHT)
            return report_error(engine->report, EXIT_INPUT, instance->context.file,
                                instance->context.line,
                                "[%s] a mover gives walkers weights, which a trajectory in GSD has "
                                "no place for: set format = h5md",
                                instance->section->section->name);
        t->single = instance->trajectory.precision == TRAJECTORY_SINGLE;
        t->base = checked(trajectory_base(session->output_path));
        identity_make(t->run); /* that of a run that is resumed comes from its file */
    }
    return 0;
}

int session_prepare(session *session)
{
    engine *engine = &session->engine;
    output_data *out = &session->records.output;
    int code = engine_prepare(engine);
    if (!code) code = records_begin(&session->records);
    if (code) return code;
    if (!session->output_path) session->output_path = engine->config.run.output;
    session->csv_path = engine->config.run.csv;
    out->system = &engine->processes.whole;
    out->origin.effective_ini = engine->keys;
    out->origin.provenance = history_describe(session);
    out->origin.history = history_append(session->before, out->origin.provenance);
    out->origin.author = engine->config.run.author;
    out->equilibrate = (uint64_t)engine->config.run.equilibrate;
    out->origin.user_ini = ini_as_text(&engine->config.ini, session->output_path);
    return describe_trajectory(session);
}

void session_close(session *session)
{
    saving_wait(session);
    engine_release(&session->engine);
    snapshot_free(session);
    records_free(&session->records);
    engine_close(&session->engine);
}
