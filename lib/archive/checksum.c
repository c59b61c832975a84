/* Checksums of checkpoints.
 *
 * Checksums are over everything that output_read gives back, in memory and in a fixed order:
 * computed from what is to be written and again from what was read. That of the checkpoint is over
 * what the chain alone decides, so that equal chains have equal files but for /parameters and
 * /plugmc/volatile; that of volatile continues it over texts and wall time. */
#include <string.h>

#include "archive/parts.h"

/* Word by word: with the state given, each step is a bijection of the word, so a change within one
 * word always shows. The length goes in too, so that texts cannot run into each other. */
static void digest(uint64_t *state, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = *state ^ bytes;
    while (bytes) {
        size_t n = bytes < 8 ? bytes : 8;
        uint64_t word = 0;
        memcpy(&word, at, n);
        hash = (hash ^ word) * 0x9fb21c651e98df25u;
        hash ^= hash >> 29;
        at += n, bytes -= n;
    }
    *state = hash * 0x9fb21c651e98df25u;
}

static void digest_text(uint64_t *state, const char *text)
{
    digest(state, text ? text : "", text ? strlen(text) : 0);
}

static void digest_integer(uint64_t *state, uint64_t value) { digest(state, &value, sizeof value); }

static void digest_axes(uint64_t *state, const axes *a)
{
    for (int d = 0; d < a->rank; d++) {
        digest_integer(state, (uint64_t)a->shape[d]);
        digest_text(state, a->names[d]);
        digest(state, a->values[d], a->values[d] ? (size_t)a->shape[d] * sizeof(double) : 0);
    }
}

static void digest_quantity(uint64_t *state, const quantity_record *q)
{
    const char *const texts[] = {q->observable, q->name, q->unit, q->doc};
    for (int i = 0; i < 4; i++) digest_text(state, texts[i]);
    digest_integer(state, (uint64_t)q->length);
    digest_integer(state, (uint64_t)q->period);
    if (q->length == 1) {
        digest(state, q->series, (size_t)(q->samples * q->walkers) * sizeof(double));
        return;
    }
    digest_axes(state, &q->axes);
    digest(state, (int64_t[]){q->blocks.per_block, q->blocks.blocks, q->blocks.in_last},
           3 * sizeof(int64_t));
    digest(state, q->blocks.sums, (size_t)(CHECKPOINT_ROWS * q->length) * sizeof(double));
}

static void digest_derived(uint64_t *state, const derived_record *d)
{
    const char *const texts[] = {d->observable, d->name, d->unit, d->doc};
    for (int k = 0; k < 4; k++) digest_text(state, texts[k]);
    if (d->length < 2) {
        digest(state, (double[]){d->value, d->error, d->valid}, 3 * sizeof(double));
        return;
    }
    const size_t bytes = (size_t)d->length * sizeof(double);
    digest_integer(state, (uint64_t)d->length);
    digest_axes(state, &d->axes);
    digest(state, d->values, bytes);
    digest(state, d->errors, bytes);
    digest_integer(state, d->valid);
}

static void digest_move(uint64_t *state, const move_record *m)
{
    const char *const texts[] = {m->mover, m->name, m->doc, m->step_unit};
    for (int k = 0; k < 4; k++) digest_text(state, texts[k]);
    digest(state, m->counts, (size_t)m->rungs * sizeof *m->counts);
    digest(state, m->steps, (size_t)m->rungs * sizeof *m->steps);
    if (m->changes) digest_integer(state, m->changes); /* 0: of an earlier version, without it */
    for (int64_t k = 0; k < m->tuning_count; k++) {
        const tuning_record *t = &m->tunings[k];
        digest(state, &t->sweep, sizeof t->sweep);
        digest(state, (double[]){t->rung, t->acceptance, t->step}, 3 * sizeof(double));
    }
}

uint64_t checkpoint_checksum(const output_data *data, int walkers, int64_t particles,
                             int64_t frames)
{
    uint64_t state = 0x706c75676d630001u + CHECKPOINT_FORMAT;
    for (int i = 0; i < data->quantity_count; i++) digest_quantity(&state, &data->quantities[i]);
    for (int i = 0; i < data->derived_count; i++) digest_derived(&state, &data->derived[i]);
    const uint64_t numbers[] = {data->equilibrate,
                                (uint64_t)frames,
                                data->sweep,
                                data->finished,
                                (uint64_t)data->quantity_count,
                                (uint64_t)data->derived_count,
                                (uint64_t)data->move_count};
    digest(&state, numbers, sizeof numbers);
    for (int i = 0; i < data->move_count; i++) digest_move(&state, &data->moves[i]);
    digest(&state, data->positions, (size_t)(walkers * particles * 3) * sizeof(double));
    for (int i = 0; i < data->blob_count; i++) {
        digest_text(&state, data->blobs[i].name);
        digest(&state, data->blobs[i].data, data->blobs[i].bytes);
        if (data->blobs[i].row) digest(&state, &data->blobs[i].row, sizeof data->blobs[i].row);
    }
    if (data->joined) digest_integer(&state, data->joined);
    return state;
}

/* Of what may differ between runs of the same chain: where and how fast they ran, and the keys
 * that say so. Files of earlier versions have no history and no stamp. */
uint64_t checkpoint_volatile_checksum(uint64_t state, const output_data *data, const char *stamp)
{
    digest_text(&state, data->origin.effective_ini);
    digest_text(&state, data->origin.user_ini);
    digest_text(&state, data->origin.provenance);
    if (data->origin.history) digest_text(&state, data->origin.history);
    if (*stamp) digest_text(&state, stamp);
    digest(&state, &data->seconds, sizeof data->seconds);
    if (data->pace.count) {
        const size_t count = (size_t)data->pace.count;
        digest(&state, data->pace.sweep, count * sizeof *data->pace.sweep);
        digest(&state, data->pace.seconds, count * sizeof *data->pace.seconds);
    }
    return state;
}
