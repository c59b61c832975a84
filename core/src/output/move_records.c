/* /plugmc/movers: what is known of trial moves.
 *
 *   LABEL/NAME        attributes mover, name, doc, step_unit ("" without a step)
 *     trials          [rungs], since production began or, before, since the step was tuned
 *     accepted        [rungs]
 *     step            [rungs]
 *
 * checkpoint/moves has their order, a path a line. */
#include <stdlib.h>
#include <string.h>

#include "output/parts.h"

enum { MOST_MOVES = 4096 };

/* ---- Writing ------------------------------------------------------------------------------------ */

static void write_move(store *s, hid_t movers, const move_record *m)
{
    const hsize_t rungs = (hsize_t)m->rungs;
    uint64_t *numbers = malloc(2 * (size_t)m->rungs * sizeof *numbers);
    if (!numbers) {
        store_short(s);
        return;
    }
    for (int32_t r = 0; r < m->rungs; r++) {
        numbers[r] = m->counts[r].trials;
        numbers[m->rungs + r] = m->counts[r].accepted;
    }
    hid_t group = record_group(s, movers, "mover", m->mover, m->name);
    store_label(s, group, "doc", m->doc);
    store_label(s, group, "step_unit", m->step_unit ? m->step_unit : "");
    store_array(s, group, "trials", STORE_UINT64, 1, &rungs, numbers);
    store_array(s, group, "accepted", STORE_UINT64, 1, &rungs, numbers + m->rungs);
    store_array(s, group, "step", STORE_DOUBLE, 1, &rungs, m->steps);
    store_leave(s, group);
    free(numbers);
}

void move_records_write(store *s, hid_t plugmc, const output_data *data)
{
    hid_t movers = store_group(s, plugmc, "movers");
    for (int i = 0; i < data->move_count; i++) write_move(s, movers, &data->moves[i]);
    store_leave(s, movers);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static void read_move(store *s, hid_t group, move_record *m)
{
    hsize_t trials_shape = 0, accepted_shape = 0, step_shape = 0;
    m->mover = store_get_label(s, group, "mover");
    m->name = store_get_label(s, group, "name");
    m->doc = store_get_label(s, group, "doc");
    m->step_unit = store_get_label(s, group, "step_unit");
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

void move_records_free(output_data *data)
{
    for (int i = 0; i < data->move_count; i++) {
        move_record *m = &data->moves[i];
        free(m->mover), free(m->name), free(m->doc), free(m->step_unit);
        free(m->counts), free(m->steps);
    }
    free(data->moves);
    data->moves = NULL;
    data->move_count = 0;
}
