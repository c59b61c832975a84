#include "engine/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "plugin/answers.h"
#include "plugin/descriptor.h"
#include "engine/refusals.h"
#include "parallel/team.h"

enum { ENOUGH_TRIALS = 100 }; /* for an acceptance known to a tenth or better */

static move_record *records_of(const engine *engine, const mover_slot *m)
{
    return &engine->moves[m->first_move];
}

static const plugmc_move *move_at(const plugmc_mover *mover, int k)
{
    return (const plugmc_move *)((const char *)mover->moves + (size_t)k * mover->move_size);
}

/* ---- Records ------------------------------------------------------------------------------------- */

/* Of lengths and the like, which are told as they are. */
static char *unit_of_step(const engine *engine, const plugmc_move *move)
{
    double scale;
    return units_words(&engine->config.units, move->step_unit, engine->system.box.dimension, NAN,
                       &scale);
}

static int make_record(engine *engine, const mover_slot *m, const plugmc_move *move, int32_t rungs)
{
    engine->moves =
        checked(realloc(engine->moves, sizeof *engine->moves * (size_t)(engine->move_count + 1)));
    move_record *record = &engine->moves[engine->move_count++];
    *record = (move_record){
        .mover = checked(strdup(m->instance->section->section->label)),
        .name = checked(strdup(move->name)),
        .doc = checked(strdup(move->doc ? move->doc : "")),
        .step_unit = move->step_unit ? unit_of_step(engine, move) : NULL,
        .changes = m->mover->changes,
        .rungs = rungs,
        .counts = calloc((size_t)rungs, sizeof *record->counts),
        .steps = calloc((size_t)rungs, sizeof *record->steps),
    };
    if (record->counts && record->steps) return 0;
    return report_error(engine->report, EXIT_MEMORY, NULL, 0,
                        "no memory for counts of trial moves");
}

/* Beyond half of the box a longer way leads to no other place. */
double moves_possible(const plugmc_move *move, const void *instance, const plugmc_box *box,
                      int32_t rung, double step)
{
    double most = move->largest > 0 ? move->largest : INFINITY;
    if (!(move->largest > 0) && !strcmp(move->step_unit, "length")) {
        most = 0;
        for (int d = 0; d < box->dimension; d++) most = fmax(most, 0.5 * box->length[d]);
    }
    return fmin(move->limit ? move->limit(instance, rung, step) : step, most);
}

static double limited(const engine *engine, const mover_slot *m, int k, int32_t rung, double step)
{
    context_calling(&m->instance->context, "limit");
    const double possible =
        moves_possible(move_at(m->mover, k), m->instance->data, &engine->system.box, rung, step);
    crash_called();
    return possible;
}

/* With what they begin. A step that is tuned does not begin beyond what its mover can follow, where it might accept nothing
 * and would not shrink before there are enough trial moves. */
static void read_steps(const engine *engine, const mover_slot *m)
{
    for (int k = 0; k < m->mover->move_count; k++) {
        const plugmc_move *move = move_at(m->mover, k);
        const bool limits =
            move->limit && engine->config.run.equilibrate > 0 && moves_target(m, k) > 0;
        for (int32_t r = 0; r < engine->system.rungs; r++) {
            const double step =
                parameter_real(m->instance->plugin, m->instance->data, move->step_key);
            records_of(engine, m)[k].steps[r] = limits ? limited(engine, m, k, r, step) : step;
        }
    }
}

int moves_begin(engine *engine)
{
    const int32_t rungs = engine->system.rungs;
    int code = 0;
    for (int i = 0; i < engine->mover_count; i++) {
        mover_slot *m = &engine->movers[i];
        m->first_move = engine->move_count;
        for (int k = 0; k < m->mover->move_count && !code; k++)
            code = make_record(engine, m, move_at(m->mover, k), rungs);
        m->counted = calloc((size_t)(m->mover->move_count * rungs), sizeof *m->counted);
        m->made = calloc((size_t)(m->mover->move_count * rungs), sizeof *m->made);
        if (code) return code;
        m->told = calloc((size_t)(m->mover->move_count * rungs + 1), sizeof *m->told);
        if (!m->counted || !m->made || !m->told)
            return report_error(engine->report, EXIT_MEMORY, NULL, 0,
                                "no memory for counts of trial moves");
        read_steps(engine, m);
    }
    return 0;
}

/* ---- Counts -------------------------------------------------------------------------------------- */

/* Those of the mover and those that the core has made for it, since the last time, into m->counted. */
static int ask_counts(const engine *engine, mover_slot *m, const char *doing)
{
    const int n = m->mover->move_count * engine->system.rungs;
    instance *mover = m->instance;
    int code = PLUGMC_OK;
    memset(m->counted, 0, sizeof *m->counted * (size_t)n);
    context_calling(&mover->context, "counts");
    if (m->mover->counts) code = m->mover->counts(mover->data, &mover->host, m->counted, 1);
    for (int k = 0; k < n; k++) {
        m->counted[k].trials += m->made[k].trials;
        m->counted[k].accepted += m->made[k].accepted;
        m->made[k] = (plugmc_counts){0, 0};
    }
    return context_exit_code(&mover->context, code, doing);
}

/* Of the walkers of all processes. A mover that knows all walkers counts the same everywhere, and one that does not
 * spread beside one that does the same in all processes of a walker. */
static int sum_counts(const engine *engine, const mover_slot *m, int code)
{
    const int n = m->mover->move_count * engine->system.rungs;
    if (team_now()->ranks == 1) return code;
    if ((m->mover->needs & PLUGMC_GLOBAL_WALKERS && !team_leads()) ||
        (!(m->mover->needs & PLUGMC_DECOMPOSES_DOMAIN) && team_now()->part > 0))
        memset(m->counted, 0, sizeof *m->counted * (size_t)n);
    return team_sum(code, (int64_t *)m->counted, 2 * n); /* two 64-bit numbers each */
}

static int refresh(engine *engine, mover_slot *m)
{
    const int32_t rungs = engine->system.rungs;
    instance *mover = m->instance;
    char why[256];
    const int code = sum_counts(engine, m, ask_counts(engine, m, "counting"));
    if (code) return code;
    for (int k = 0; k < m->mover->move_count; k++)
        for (int32_t r = 0; r < rungs; r++) {
            const plugmc_counts *new = &m->counted[k * rungs + r];
            plugmc_counts *sum = &records_of(engine, m)[k].counts[r];
            if (!check_counts(new, (sentence){why, sizeof why}))
                return refuse_answer(mover, EXIT_INTERNAL, why);
            sum->trials += new->trials;
            engine->trials_made += (double)new->trials;
            sum->accepted += new->accepted;
        }
    return 0;
}

int moves_refresh(engine *engine)
{
    int code = 0;
    for (int i = 0; i < engine->mover_count && !code; i++)
        code = refresh(engine, &engine->movers[i]);
    return code;
}

int moves_clear(engine *engine)
{
    const int code = moves_refresh(engine);
    for (int i = 0; i < engine->move_count; i++) {
        const move_record *record = &engine->moves[i];
        memset(record->counts, 0, sizeof *record->counts * (size_t)record->rungs);
    }
    return code;
}

/* ---- Steps --------------------------------------------------------------------------------------- */

const double *moves_told(const engine *engine, mover_slot *m)
{
    const int32_t rungs = engine->system.rungs;
    for (int k = 0; k < m->mover->move_count; k++)
        memcpy(m->told + k * rungs, records_of(engine, m)[k].steps,
               (size_t)rungs * sizeof *m->told);
    return m->told;
}

int moves_take_up(engine *engine)
{
    int code = 0;
    for (int i = 0; i < engine->mover_count && !code; i++) /* it was counted before that */
        code = ask_counts(engine, &engine->movers[i], "restoring the checkpoint");
    return code;
}

double moves_target(const mover_slot *m, int move)
{
    return parameter_real(m->instance->plugin, m->instance->data,
                          move_at(m->mover, move)->target_key);
}

bool moves_are_tuned(const engine *engine)
{
    for (int i = 0; i < engine->mover_count; i++)
        for (int k = 0; k < engine->movers[i].mover->move_count; k++)
            if (moves_target(&engine->movers[i], k) > 0) return true;
    return false;
}

/* One kind of move on one rung, as it was before it is tuned. */
typedef struct tuning {
    const mover_slot *m;
    int move;
    int32_t rung;
    double acceptance, target;
} tuning;

/* The largest that a step was set to on its rung. */
static double widest_step(const move_record *record, int32_t rung)
{
    double widest = 0;
    for (int64_t k = 0; k < record->tuning_count; k++)
        if (record->tunings[k].rung == rung) widest = fmax(widest, record->tunings[k].step);
    return widest;
}

/* `possible` is the step that would come next, if there were enough trial moves, and `wanted` what it would be without a limit. A
 * mover has a largest step, beyond which its moves mean nothing: half a box, half a cell, what an integrator can follow. Where
 * nearly all moves are accepted at that, the target stays out of reach; so it does where hardly any is, however small the step
 * has become. A step that became small among particles that overlapped in the initial state may not have grown again. */
static void say_what_is_missed(engine *engine, const tuning *t, double wanted, double possible)
{
    const plugmc_context *context = &t->m->instance->context;
    const move_record *record = &records_of(engine, t->m)[t->move];
    const double widest = widest_step(record, t->rung), step = record->steps[t->rung];
    if (possible < wanted * (1 - 1e-9) && t->acceptance > t->target + 0.05)
        report_warning(
            engine->report, context->file, context->line,
            "[%s] acceptance is %.3g at the largest possible step, %.4g: target_acceptance = "
            "%g cannot be reached",
            context->section, t->acceptance, possible, t->target);
    else if (t->acceptance < 0.5 * t->target)
        report_warning(
            engine->report, context->file, context->line,
            "[%s] acceptance is still %.3g at the end of equilibration, with a step of %.4g, "
            "but target_acceptance = %g: equilibrate longer, or start with another step",
            context->section, t->acceptance, step, t->target);
    else if (t->acceptance > t->target + 0.05 && step < 0.05 * widest)
        report_warning(
            engine->report, context->file, context->line,
            "[%s] acceptance is %.3g at the end of equilibration, with a step of %.4g that "
            "was %.4g before, but target_acceptance = %g: the step is still growing, so "
            "equilibrate longer, or start from a state without overlaps",
            context->section, t->acceptance, step, widest, t->target);
}

static void note_tuning(const engine *engine, move_record *record, const tuning *t)
{
    const size_t n = (size_t)record->tuning_count;
    record->tunings = checked(realloc(record->tunings, (n + 1) * sizeof *record->tunings));
    record->tunings[n] =
        (tuning_record){engine->tuned_at, t->rung, t->acceptance, record->steps[t->rung]};
    record->tuning_count++;
}

static void tune_rung(engine *engine, const tuning *t, bool last)
{
    move_record *record = &records_of(engine, t->m)[t->move];
    const double factor = fmin(2, fmax(0.5, t->acceptance / t->target));
    const double before = record->steps[t->rung], wanted = before * factor;
    const double step = wanted == before ? before /* as its user gave it */
                                         : limited(engine, t->m, t->move, t->rung, wanted);
    const bool enough = record->counts[t->rung].trials >= ENOUGH_TRIALS;
    if (enough) {
        record->steps[t->rung] = step;
        note_tuning(engine, record, t);
    }
    if (last) say_what_is_missed(engine, t, wanted, step);
    if (enough) record->counts[t->rung] = (plugmc_counts){0, 0};
}

static void tune_move(engine *engine, const mover_slot *m, int move, bool last)
{
    const double target = moves_target(m, move);
    const move_record *record = &records_of(engine, m)[move];
    for (int32_t r = 0; r < record->rungs && target > 0; r++) {
        const plugmc_counts *counts = &record->counts[r];
        const tuning t = {m, move, r, (double)counts->accepted / (double)counts->trials, target};
        if (counts->trials >= ENOUGH_TRIALS || (last && counts->trials))
            tune_rung(engine, &t, last);
    }
}

int moves_tune(engine *engine, bool last)
{
    int code = moves_refresh(engine);
    for (int i = 0; i < engine->mover_count; i++)
        for (int k = 0; k < engine->movers[i].mover->move_count && !code; k++)
            tune_move(engine, &engine->movers[i], k, last);
    return code;
}
