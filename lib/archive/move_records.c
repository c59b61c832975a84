/* /plugmc/movers: what is known of trial moves.
 *
 *   LABEL/NAME        attributes mover, name, doc, step_unit ("" without a step)
 *     changes         [1], PLUGMC_CHANGED_* of the mover
 *     trials          [rungs], since production began or, before, since the step was tuned
 *     accepted        [rungs]
 *     step            [rungs]
 *     tuning_sweep, tuning_rung, tuning_acceptance, tuning_step   [tunings], where steps were tuned
 *
 * checkpoint/moves has their order, a path a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/parts.h"

enum { MOST_MOVES = 4096, MOST_TUNINGS = 1 << 24 };

/* ---- Writing ------------------------------------------------------------------------------------ */

/* A history of steps as arrays. */
static void write_tunings(draft *d, const move_record *m)
{
    const hsize_t count = (hsize_t)m->tuning_count;
    if (!count) return;
    uint64_t *sweeps = draft_new_array(d, "tuning_sweep", STORE_UINT64, 1, &count);
    int32_t *rungs = draft_new_array(d, "tuning_rung", STORE_INT32, 1, &count);
    double *acceptance = draft_new_array(d, "tuning_acceptance", STORE_DOUBLE, 1, &count);
    double *steps = draft_new_array(d, "tuning_step", STORE_DOUBLE, 1, &count);
    for (hsize_t k = 0; k < count && !d->memory_short; k++) {
        const tuning_record *t = &m->tunings[k];
        sweeps[k] = t->sweep;
        rungs[k] = t->rung;
        acceptance[k] = t->acceptance;
        steps[k] = t->step;
    }
}

static void write_move(draft *d, const move_record *m)
{
    const hsize_t one = 1, rungs = (hsize_t)m->rungs;
    record_enter(d, "mover", m->mover, m->name);
    draft_label(d, "doc", m->doc);
    draft_label(d, "step_unit", m->step_unit);
    uint64_t *changes = draft_new_array(d, "changes", STORE_UINT64, 1, &one);
    uint64_t *trials = draft_new_array(d, "trials", STORE_UINT64, 1, &rungs);
    uint64_t *accepted = draft_new_array(d, "accepted", STORE_UINT64, 1, &rungs);
    if (!d->memory_short) *changes = m->changes;
    for (int32_t r = 0; r < m->rungs && !d->memory_short; r++) {
        trials[r] = m->counts[r].trials;
        accepted[r] = m->counts[r].accepted;
    }
    draft_array(d, "step", STORE_DOUBLE, 1, &rungs, m->steps);
    write_tunings(d, m);
    record_leave(d);
}

void move_records_write(draft *d, const output_data *data)
{
    draft_enter(d, "movers");
    for (int i = 0; i < data->move_count; i++) write_move(d, &data->moves[i]);
    draft_leave(d);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static bool makes_sense(const tuning_record *t, const move_record *m)
{
    return t->rung >= 0 && t->rung < m->rungs && t->acceptance >= 0 && t->acceptance <= 1 &&
           t->step >= 0 && isfinite(t->step) && (t == m->tunings || t->sweep >= t[-1].sweep);
}

static void read_tunings(store *s, hid_t group, move_record *m)
{
    hsize_t n[4] = {0};
    if (!store_has(s, group, "tuning_sweep")) return; /* none, or of an earlier version */
    uint64_t *sweeps = store_get_array(s, group, "tuning_sweep", STORE_UINT64, 1, &n[0]);
    int32_t *rungs = store_get_array(s, group, "tuning_rung", STORE_INT32, 1, &n[1]);
    double *acceptance = store_get_array(s, group, "tuning_acceptance", STORE_DOUBLE, 1, &n[2]);
    double *steps = store_get_array(s, group, "tuning_step", STORE_DOUBLE, 1, &n[3]);
    if (!s->failed && (n[1] != n[0] || n[2] != n[0] || n[3] != n[0] || n[0] > MOST_TUNINGS))
        store_fail(s, "its history of steps has a wrong shape");
    m->tunings = s->failed ? NULL : calloc((size_t)n[0] + 1, sizeof *m->tunings);
    if (!s->failed && !m->tunings) store_short(s);
    for (hsize_t k = 0; k < n[0] && !s->failed; k++) {
        m->tunings[k] = (tuning_record){sweeps[k], rungs[k], acceptance[k], steps[k]};
        m->tuning_count++;
        if (!makes_sense(&m->tunings[k], m)) store_fail(s, "its history of steps makes no sense");
    }
    free(sweeps), free(rungs), free(acceptance), free(steps);
}

static uint32_t read_changes(store *s, hid_t group)
{
    hsize_t n = 0;
    if (!store_has(s, group, "changes")) return 0; /* of an earlier version */
    uint64_t *changes = store_get_array(s, group, "changes", STORE_UINT64, 1, &n);
    if (!s->failed && (n != 1 || *changes > UINT32_MAX))
        store_fail(s, "what its moves change makes no sense");
    const uint32_t out = s->failed ? 0 : (uint32_t)*changes;
    free(changes);
    return out;
}

static void read_move(store *s, hid_t group, move_record *m)
{
    hsize_t trials_shape = 0, accepted_shape = 0, step_shape = 0;
    m->mover = store_get_label(s, group, "mover");
    m->name = store_get_label(s, group, "name");
    m->doc = store_get_label(s, group, "doc");
    m->step_unit = store_get_label(s, group, "step_unit");
    m->changes = read_changes(s, group);
    uint64_t *trials = store_get_array(s, group, "trials", STORE_UINT64, 1, &trials_shape);
    uint64_t *accepted = store_get_array(s, group, "accepted", STORE_UINT64, 1, &accepted_shape);
    m->steps = store_get_array(s, group, "step", STORE_DOUBLE, 1, &step_shape);
    if (!s->failed && (trials_shape != step_shape || accepted_shape != step_shape ||
                       step_shape < 1 || step_shape > INT32_MAX))
        store_fail(s, "its counts of trial moves have a wrong shape");
    m->rungs = (int32_t)step_shape;
    m->counts = s->failed ? NULL : calloc((size_t)m->rungs, sizeof *m->counts);
    if (!s->failed && !m->counts) store_short(s);
    for (int32_t r = 0; m->counts && r < m->rungs; r++)
        m->counts[r] = (plugmc_counts){trials[r], accepted[r]};
    if (!s->failed) read_tunings(s, group, m);
    if (m->step_unit && !*m->step_unit) {
        free(m->step_unit);
        m->step_unit = NULL;
    }
    free(trials);
    free(accepted);
}

void move_records_read(store *s, hid_t plugmc, output_data *data)
{
    char *order = store_get_document(s, plugmc, "checkpoint/moves"), *rest = order;
    int lines = 0;
    for (const char *c = order; c && *c; c++) lines += *c == '\n';
    if (!s->failed && lines > MOST_MOVES) store_fail(s, "it has %d kinds of trial moves", lines);
    data->moves = s->failed ? NULL : calloc((size_t)lines + 1, sizeof *data->moves);
    if (!data->moves) store_short(s);
    hid_t movers = store_enter(s, plugmc, "movers");
    for (int i = 0; i < lines && !s->failed; i++) {
        hid_t group = store_enter(s, movers, strsep(&rest, "\n"));
        read_move(s, group, &data->moves[data->move_count++]);
        store_leave(s, group);
    }
    store_leave(s, movers);
    free(order);
}
