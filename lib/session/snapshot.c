#include "snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/trajectory.h"
#include "base/bytes.h"
#include "engine/sync.h"
#include "session/blobs.h"
#include "engine/moves.h"
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
    int64_t frames;     /* of the trajectory, written or in memory */
    mark *marks;        /* [quantities] */
    double taken, cost; /* stop_clock; seconds, the least that one has taken */
    int64_t times;
};

enum { ROWS = 128 + 1 }; /* of block_average.sums */

static size_t position_bytes(const session *session)
{
    return sizeof(double) * 3 * (size_t)session->engine.system.walkers *
           (size_t)session->engine.system.particles;
}

/* NULL: memory is short. */
static kept_state *make_state(const session *session)
{
    kept_state *k = calloc(1, sizeof *k);
    if (k) k->positions = bytes_take(position_bytes(session));
    if (k && k->positions) {
        k->holders = 1;
        return k;
    }
    free(k);
    return NULL;
}

kept_state *snapshot_hold(session *session)
{
    session->snapshot->state->holders++;
    return session->snapshot->state;
}

void snapshot_let_go(kept_state *k)
{
    if (!k || --k->holders > 0) return;
    blobs_free(k->blobs, k->blob_count);
    free(k->positions);
    free(k);
}

/* One that nobody else holds; what is there if it is that. */
static bool own_state(session *session, struct snapshot *s)
{
    if (s->state->holders == 1) return true;
    kept_state *own = make_state(session);
    if (!own) return false;
    snapshot_let_go(s->state);
    s->state = own;
    return true;
}

/* Memory is taken once; NULL if it is short. */
static struct snapshot *make(session *session)
{
    if (session->snapshot) return session->snapshot;
    const output_data *out = &session->records.output;
    struct snapshot *s = session->snapshot = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->state = make_state(session);
    s->marks = calloc((size_t)out->quantity_count + 1, sizeof *s->marks);
    s->counts =
        calloc((size_t)(out->move_count * session->engine.system.rungs) + 1, sizeof *s->counts);
    s->steps =
        calloc((size_t)(out->move_count * session->engine.system.rungs) + 1, sizeof *s->steps);
    bool enough = s->state && s->marks && s->counts && s->steps;
    for (int k = 0; k < out->quantity_count && enough; k++) {
        const size_t length = (size_t)out->quantities[k].length;
        if (length < 2) continue;
        s->marks[k].sums = malloc(sizeof(double) * ROWS * length);
        enough = s->marks[k].sums != NULL;
    }
    if (enough) return s;
    snapshot_free(session);
    return NULL;
}

void snapshot_free(session *session)
{
    struct snapshot *s = session->snapshot;
    if (!s) return;
    for (int k = 0; k < session->records.output.quantity_count && s->marks; k++)
        free(s->marks[k].sums);
    snapshot_let_go(s->state);
    free(s->marks);
    free(s->counts);
    free(s->steps);
    free(s);
    session->snapshot = NULL;
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
static void copy_moves(session *session, struct snapshot *s, bool publish)
{
    plugmc_counts *counts = s->counts;
    double *steps = s->steps;
    for (int k = 0; k < session->records.output.move_count; k++) {
        const move_record *move = &session->records.output.moves[k];
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

static int64_t frames_of(const session *session)
{
    const output_trajectory *t = &session->records.output.trajectory;
    return t->written + t->lent + t->frame_count;
}

int snapshot_take(session *session, uint64_t sweep, double seconds)
{
    const double begin = stop_clock();
    struct snapshot *s = make(session);
    blob *blobs = NULL;
    int count = 0;
    if (!s)
        return report_error(session->engine.report, EXIT_MEMORY, NULL, 0,
                            "no memory for a copy of the state");
    const double *positions = NULL;
    int code = sync_positions(&session->engine, PLUGMC_ON_HOST, &positions);
    if (!code) code = moves_refresh(&session->engine);
    if (!code) code = blobs_save(session, &blobs, &count);
    if (!code && !own_state(session, s))
        code = report_error(session->engine.report, EXIT_MEMORY, NULL, 0,
                            "no memory for a copy of the state");
    if (code) {
        blobs_free(blobs, count);
        return code;
    }
    memcpy(s->state->positions, positions, position_bytes(session));
    blobs_free(s->state->blobs, s->state->blob_count);
    s->state->blobs = blobs;
    s->state->blob_count = count;
    copy_moves(session, s, false);
    s->sweep = sweep;
    s->seconds = seconds;
    s->frames = frames_of(session);
    for (int k = 0; k < session->records.output.quantity_count; k++)
        mark_quantity(&s->marks[k], &session->records.output.quantities[k]);
    s->there = true;
    s->taken = stop_clock();
    if (s->times++ == 0 || s->taken - begin < s->cost) s->cost = s->taken - begin;
    return 0;
}

bool snapshot_is_due(const session *session)
{
    const struct snapshot *s = session->snapshot;
    /* The first few may have been disturbed: what they cost is not yet known. */
    const double many = s && s->times < 5 ? 20 : 200;
    const double age = s && s->there ? stop_clock() - s->taken : 0;
    return !s || !s->there || (age >= 0.25 && age >= many * s->cost);
}

void snapshot_frames_lost(session *session, int64_t n)
{
    if (session->snapshot) session->snapshot->frames -= n;
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

uint64_t snapshot_go_back(session *session)
{
    const struct snapshot *s = session->snapshot;
    output_data *out = &session->records.output;
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
    trajectory_go_back(&out->trajectory, s->frames);
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

void snapshot_publish(session *session)
{
    struct snapshot *s = session->snapshot;
    output_data *out = &session->records.output;
    copy_moves(session, s, true);
    forget_tunings(out, s->sweep);
    speed_go_back(&out->speed, s->sweep);
    speed_add(&out->speed, s->sweep, session->seconds_base + s->seconds, true);
    out->sweep = s->sweep;
    out->seconds = session->seconds_base + s->seconds;
    out->positions = s->state->positions;
    out->blobs = s->state->blobs;
    out->blob_count = s->state->blob_count;
    out->finished = s->sweep == (uint64_t)(session->engine.config.run.equilibrate +
                                           session->engine.config.run.sweeps);
}
