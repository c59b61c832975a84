#include "run/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/borrowing.h"
#include "run/checkpointing.h"
#include "run/moves.h"
#include "run/saving.h"
#include "base/stop.h"

/* How far a quantity was, and the block averages of an array, which cannot be cut back. */
typedef struct mark {
    int64_t samples;
    int64_t per_block, blocks, in_last;
    double *sums; /* [128 + 1][length]; NULL: a scalar */
} mark;

struct snapshot {
    bool there;
    uint64_t sweep;
    double seconds;
    plugmc_counts *counts; /* of all kinds of moves, [rungs] each */
    double *steps;
    kept_state *state;
    int frames;         /* in memory */
    mark *marks;        /* [quantities] */
    double taken, cost; /* stop_clock; seconds, the least that one has taken */
    int64_t times;
};

enum { ROWS = 128 + 1 }; /* of block_average.sums */

static size_t position_bytes(const simulation *sim)
{
    return sizeof(double) * 3 * (size_t)sim->system.walkers * (size_t)sim->system.particles;
}

/* NULL: memory is short. */
static kept_state *make_state(const simulation *sim)
{
    kept_state *k = calloc(1, sizeof *k);
    if (k) k->positions = malloc(position_bytes(sim));
    if (k && k->positions) {
        k->holders = 1;
        return k;
    }
    free(k);
    return NULL;
}

kept_state *snapshot_hold(simulation *sim)
{
    sim->snapshot->state->holders++;
    return sim->snapshot->state;
}

void snapshot_let_go(kept_state *k)
{
    if (!k || --k->holders > 0) return;
    checkpoint_free_blobs(k->blobs, k->blob_count);
    free(k->positions);
    free(k);
}

/* One that nobody else holds; what is there if it is that. */
static bool own_state(simulation *sim, struct snapshot *s)
{
    if (s->state->holders == 1) return true;
    kept_state *own = make_state(sim);
    if (!own) return false;
    snapshot_let_go(s->state);
    s->state = own;
    return true;
}

/* Memory is taken once; NULL if it is short. */
static struct snapshot *make(simulation *sim)
{
    if (sim->snapshot) return sim->snapshot;
    const output_data *out = &sim->output;
    struct snapshot *s = sim->snapshot = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->state = make_state(sim);
    s->marks = calloc((size_t)out->quantity_count + 1, sizeof *s->marks);
    s->counts = calloc((size_t)(out->move_count * sim->system.rungs) + 1, sizeof *s->counts);
    s->steps = calloc((size_t)(out->move_count * sim->system.rungs) + 1, sizeof *s->steps);
    bool enough = s->state && s->marks && s->counts && s->steps;
    for (int k = 0; k < out->quantity_count && enough; k++) {
        const size_t length = (size_t)out->quantities[k].length;
        if (length < 2) continue;
        s->marks[k].sums = malloc(sizeof(double) * ROWS * length);
        enough = s->marks[k].sums != NULL;
    }
    if (enough) return s;
    snapshot_free(sim);
    return NULL;
}

void snapshot_free(simulation *sim)
{
    struct snapshot *s = sim->snapshot;
    if (!s) return;
    for (int k = 0; k < sim->output.quantity_count && s->marks; k++) free(s->marks[k].sums);
    snapshot_let_go(s->state);
    free(s->marks);
    free(s->counts);
    free(s->steps);
    free(s);
    sim->snapshot = NULL;
}

static void mark_quantity(mark *m, const quantity_record *q)
{
    m->samples = q->samples;
    if (!m->sums) return;
    m->per_block = q->blocks.per_block;
    m->blocks = q->blocks.blocks;
    m->in_last = q->blocks.in_last;
    memcpy(m->sums, q->blocks.sums,
           sizeof(double) * (size_t)(q->blocks.blocks + 1) * (size_t)q->length);
}

/* Counts and steps between the snapshot and the records of the run. */
static void copy_moves(simulation *sim, struct snapshot *s, bool publish)
{
    plugmc_counts *counts = s->counts;
    double *steps = s->steps;
    for (int k = 0; k < sim->output.move_count; k++) {
        const move_record *move = &sim->output.moves[k];
        for (int32_t r = 0; r < move->rungs; r++, counts++, steps++) {
            if (publish) {
                move->counts[r] = *counts;
                move->steps[r] = *steps;
            } else {
                *counts = move->counts[r];
                *steps = move->steps[r];
            }
        }
    }
}

int snapshot_take(simulation *sim, uint64_t sweep, double seconds)
{
    const double begin = stop_clock();
    struct snapshot *s = make(sim);
    blob *blobs = NULL;
    int count = 0;
    if (!s)
        return report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for a copy of the state");
    const double *positions = NULL;
    int code = borrowing_positions(sim, PLUGMC_ON_HOST, &positions);
    if (!code) code = moves_refresh(sim);
    if (!code) code = checkpoint_blobs(sim, &blobs, &count);
    if (!code && !own_state(sim, s))
        code = report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for a copy of the state");
    if (code) {
        checkpoint_free_blobs(blobs, count);
        return code;
    }
    memcpy(s->state->positions, positions, position_bytes(sim));
    checkpoint_free_blobs(s->state->blobs, s->state->blob_count);
    s->state->blobs = blobs;
    s->state->blob_count = count;
    copy_moves(sim, s, false);
    s->sweep = sweep;
    s->seconds = seconds;
    s->frames = sim->output.frame_count;
    for (int k = 0; k < sim->output.quantity_count; k++)
        mark_quantity(&s->marks[k], &sim->output.quantities[k]);
    s->there = true;
    s->taken = stop_clock();
    if (s->times++ == 0 || s->taken - begin < s->cost) s->cost = s->taken - begin;
    return 0;
}

bool snapshot_is_due(const simulation *sim)
{
    const struct snapshot *s = sim->snapshot;
    /* The first few may have been disturbed: what they cost is not yet known. */
    const double many = s && s->times < 5 ? 20 : 200;
    const double age = s && s->there ? stop_clock() - s->taken : 0;
    return !s || !s->there || (age >= 0.25 && age >= many * s->cost);
}

/* They were found from samples that are forgotten. */
static void forget(derived_record *d)
{
    d->valid = d->converged = false;
    d->value = d->error = NAN;
    for (int64_t i = 0; i < d->length && d->values; i++) {
        d->values[i] = d->errors[i] = NAN;
        d->each_converged[i] = false;
    }
}

uint64_t snapshot_go_back(simulation *sim)
{
    const struct snapshot *s = sim->snapshot;
    output_data *out = &sim->output;
    saving_wait(sim); /* it reads what is forgotten here */
    for (int k = 0; k < out->quantity_count; k++) {
        quantity_record *q = &out->quantities[k];
        const mark *m = &s->marks[k];
        q->samples = m->samples;
        if (!m->sums) continue;
        q->blocks.per_block = m->per_block;
        q->blocks.blocks = m->blocks;
        q->blocks.in_last = m->in_last;
        /* later rows are 0 again, as what is measured anew is added to them */
        const size_t length = (size_t)q->length, kept = (size_t)(m->blocks + 1) * length;
        memcpy(q->blocks.sums, m->sums, sizeof(double) * kept);
        memset(q->blocks.sums + kept, 0, sizeof(double) * (ROWS * length - kept));
    }
    for (int k = 0; k < out->derived_count; k++) forget(&out->derived[k]);
    while (out->frame_count > s->frames) free(out->frames[--out->frame_count].positions);
    return s->sweep;
}

/* They will be made again. */
static void forget_tunings(output_data *out, uint64_t sweep)
{
    for (int k = 0; k < out->move_count; k++) {
        move_record *m = &out->moves[k];
        while (m->tuning_count && m->tunings[m->tuning_count - 1].sweep > sweep) m->tuning_count--;
    }
}

void snapshot_frames_left(simulation *sim, int n)
{
    if (sim->snapshot) sim->snapshot->frames += n;
}

void snapshot_publish(simulation *sim)
{
    struct snapshot *s = sim->snapshot;
    output_data *out = &sim->output;
    copy_moves(sim, s, true);
    forget_tunings(out, s->sweep);
    pace_go_back(&out->pace, s->sweep);
    pace_add(&out->pace, s->sweep, sim->seconds_base + s->seconds, true);
    out->sweep = s->sweep;
    out->seconds = sim->seconds_base + s->seconds;
    out->positions = s->state->positions;
    out->blobs = s->state->blobs;
    out->blob_count = s->state->blob_count;
    out->finished = s->sweep == (uint64_t)(sim->config.run.equilibrate + sim->config.run.sweeps);
}
