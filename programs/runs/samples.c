/* Parts of what runs have measured, and several runs as one.
 *
 * Of a number all samples are kept. Of an array there are sums over blocks of as many samples each, the last
 * of which may be unfinished. What an observable derives from arrays is made of blocks, to which its numbers
 * are cut as well: so all quantities of an observable that has an array are cut where its blocks are. */
#include <stdlib.h>
#include <string.h>

#include "runs.h"

/* The quantities from i on that are of one observable, or of one on one rung: they were measured together. */
static int together(const output_data *out, int i)
{
    int k = i + 1;
    while (k < out->quantity_count &&
           !strcmp(out->quantities[k].observable, out->quantities[i].observable))
        k++;
    return k;
}

static const block_average *blocks_among(const output_data *out, int i, int end)
{
    for (; i < end; i++)
        if (out->quantities[i].length > 1) return &out->quantities[i].blocks;
    return NULL;
}

static double *row(const block_average *b, int64_t k) { return b->sums + k * b->length; }

/* ---- A later beginning -------------------------------------------------------------------------------- */

static void drop_samples(quantity_record *q, int64_t samples)
{
    const int64_t left = q->samples - samples;
    memmove(q->series, q->series + samples * q->walkers,
            (size_t)(left * q->walkers) * sizeof *q->series);
    q->samples = left;
}

static void drop_blocks(block_average *b, int64_t blocks)
{
    const int64_t rows = b->blocks + 1 - blocks;
    memmove(b->sums, row(b, blocks), (size_t)(rows * b->length) * sizeof *b->sums);
    b->blocks -= blocks;
}

/* Those of one observable. */
static int cut(analysed *run, int i, int end, int64_t from)
{
    output_data *out = &run->session.records.output;
    const block_average *b = blocks_among(out, i, end);
    const quantity_record *first = &out->quantities[i];
    const int64_t after = from - (int64_t)out->equilibrate;
    int64_t samples = after > 0 ? after / first->period : 0;
    if (samples > first->samples) samples = first->samples;
    if (b) {
        const int64_t blocks = (samples + b->per_block - 1) / b->per_block;
        if (blocks > b->blocks || (blocks == b->blocks && !b->in_last))
            return report_error(
                run->session.engine.report, EXIT_INPUT, run->path, 0,
                "no whole block of '%s' starts after sweep %lld: its blocks are %lld sweeps "
                "long",
                first->observable, (long long)from, (long long)(b->per_block * first->period));
        samples = blocks * b->per_block;
    }
    if (samples == first->samples)
        return report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                            "'%s' has no measurements after sweep %lld; the run has %llu sweeps",
                            first->observable, (long long)from, (unsigned long long)out->sweep);
    for (quantity_record *q = &out->quantities[i]; q < &out->quantities[end]; q++) {
        if (q->length == 1) {
            drop_samples(q, samples);
        } else {
            drop_blocks(&q->blocks, samples / q->blocks.per_block);
            q->samples -= samples;
        }
    }
    return 0;
}

int samples_cut(analysed *run, int64_t from)
{
    const output_data *out = &run->session.records.output;
    int code = 0;
    if (from <= (int64_t)out->equilibrate)
        report_warning(run->session.engine.report, run->path, 0,
                       "production starts only after sweep %llu: --from %lld has no effect",
                       (unsigned long long)out->equilibrate, (long long)from);
    for (int i = 0, end; i < out->quantity_count && !code; i = end) {
        end = together(out, i);
        code = cut(run, i, end, from);
    }
    return code;
}

void samples_range(const output_data *out, int64_t *first, int64_t *last)
{
    *first = *last = 0;
    const int64_t measured = (int64_t)(out->sweep - out->equilibrate);
    for (int i = 0; i < out->quantity_count && out->sweep > out->equilibrate; i++) {
        const quantity_record *q = &out->quantities[i];
        const int64_t end = measured / q->period * q->period,
                      begin = end - q->samples * q->period + 1;
        if (!q->samples) continue;
        if (!*first || begin + (int64_t)out->equilibrate < *first)
            *first = begin + (int64_t)out->equilibrate;
        if (end + (int64_t)out->equilibrate > *last) *last = end + (int64_t)out->equilibrate;
    }
    if (!*first) *last = -1;
}

/* ---- Several runs ------------------------------------------------------------------------------------- */

/* Blocks of twice the length; one without a second is left out. */
static void join_pairs(block_average *b)
{
    b->blocks /= 2;
    for (int64_t k = 0; k < b->blocks; k++)
        for (int64_t i = 0; i < b->length; i++)
            row(b, k)[i] = row(b, 2 * k)[i] + row(b, 2 * k + 1)[i];
    b->per_block *= 2;
}

/* Blocks of as many samples in all runs, together no more than one run may have. */
static int64_t make_blocks_alike(analysed *runs, int count, int quantity)
{
    enum { MOST = 128 };
    int64_t per_block = 0, blocks = MOST;
    for (int r = 0; r < count; r++) {
        const block_average *b = &runs[r].session.records.output.quantities[quantity].blocks;
        if (b->per_block > per_block) per_block = b->per_block;
    }
    for (; blocks >= MOST; per_block *= 2) {
        blocks = 0;
        for (int r = 0; r < count; r++) {
            block_average *b = &runs[r].session.records.output.quantities[quantity].blocks;
            while (b->per_block < per_block) join_pairs(b);
            blocks += b->blocks;
        }
    }
    return blocks;
}

static void join_arrays(analysed *runs, int count, int quantity)
{
    quantity_record *q = &runs[0].session.records.output.quantities[quantity];
    block_average *all = &q->blocks;
    const int64_t blocks = make_blocks_alike(runs, count, quantity);
    for (int r = 1; r < count; r++) {
        const block_average *b = &runs[r].session.records.output.quantities[quantity].blocks;
        memcpy(row(all, all->blocks), b->sums, (size_t)(b->blocks * b->length) * sizeof *b->sums);
        all->blocks += b->blocks;
    }
    all->in_last = 0;
    memset(row(all, blocks), 0, (size_t)all->length * sizeof *all->sums);
    q->samples = blocks * all->per_block;
}

/* Behind those of the first run; with arrays beside them (b, of each run), as many as are in whole blocks. */
static int join_series(analysed *runs, int count, int quantity, int array)
{
    quantity_record *all = &runs[0].session.records.output.quantities[quantity];
    int64_t room = 0, samples = 0;
    for (int r = 0; r < count; r++)
        room += runs[r].session.records.output.quantities[quantity].samples;
    double *series = calloc((size_t)(room * all->walkers) + 1, sizeof *series);
    if (!series)
        return report_error(runs[0].session.engine.report, EXIT_MEMORY, NULL, 0,
                            "no memory for the samples of all files");
    for (int r = 0; r < count; r++) {
        const quantity_record *q = &runs[r].session.records.output.quantities[quantity];
        const block_average *b =
            &runs[r].session.records.output.quantities[array < 0 ? 0 : array].blocks;
        const int64_t n = array < 0 ? q->samples : b->blocks * b->per_block;
        memcpy(series + samples * all->walkers, q->series,
               (size_t)(n * all->walkers) * sizeof *series);
        samples += n;
    }
    free(all->series);
    all->series = series;
    all->samples = all->capacity = samples;
    return 0;
}

static int array_among(const output_data *out, int i, int end)
{
    for (; i < end; i++)
        if (out->quantities[i].length > 1) return i;
    return -1;
}

/* Numbers first: the blocks of arrays say where they are cut, and are gone afterwards. */
static int join_observable(analysed *runs, int count, int i, int end)
{
    const int array = array_among(&runs[0].session.records.output, i, end);
    int code = 0;
    if (array >= 0) make_blocks_alike(runs, count, array);
    for (int k = i; k < end && !code; k++)
        if (runs[0].session.records.output.quantities[k].length == 1)
            code = join_series(runs, count, k, array);
    for (int k = i; k < end && !code; k++)
        if (runs[0].session.records.output.quantities[k].length > 1) join_arrays(runs, count, k);
    return code;
}

/* A step that is not the same in all runs is not shown. */
static void join_moves(output_data *all, const output_data *other)
{
    for (int i = 0; i < all->move_count; i++) {
        move_record *to = &all->moves[i];
        const move_record *from = &other->moves[i];
        for (int32_t r = 0; r < to->rungs; r++) {
            to->counts[r].trials += from->counts[r].trials;
            to->counts[r].accepted += from->counts[r].accepted;
            if (to->steps[r] == from->steps[r]) continue;
            free(to->step_unit);
            to->step_unit = NULL;
        }
    }
    all->seconds += other->seconds;
    all->finished = all->finished && other->finished;
}

int samples_join(analysed *runs, int count)
{
    output_data *all = &runs[0].session.records.output;
    int code = 0;
    for (int i = 0, end; i < all->quantity_count && !code; i = end) {
        end = together(all, i);
        code = join_observable(runs, count, i, end);
    }
    for (int r = 1; r < count && !code; r++) join_moves(all, &runs[r].session.records.output);
    return code;
}
