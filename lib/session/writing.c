#include "writing.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "snapshot.h"

struct writing {
    pthread_t thread;
    atomic_bool done;
    write_function *write;
    const char *path, *csv_path;
    bool in_file;
    output_data data;  /* copied where the run goes on changing it; the rest is the run's */
    kept_state *state; /* what of it is the snapshot's */
    void *of_all;      /* positions, where other processes have some of them; else NULL */
    written end;
};

/* ---- The copy ------------------------------------------------------------------------------------------ */

static void *copied(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    if (to && bytes) memcpy(to, from, bytes);
    return to;
}

/* Series stay where they are: what is in them does not change. */
static bool copy_quantities(output_data *to, const output_data *from)
{
    const size_t n = (size_t)from->quantity_count;
    to->quantities = copied(from->quantities, n * sizeof *to->quantities);
    bool enough = to->quantities != NULL;
    for (size_t k = 0; k < n && to->quantities; k++) {
        quantity_record *q = &to->quantities[k];
        const size_t rows = (size_t)(128 + 1); /* of block_average.sums */
        if (q->length < 2) continue;
        q->blocks.sums = copied(q->blocks.sums, rows * (size_t)q->length * sizeof(double));
        enough = enough && q->blocks.sums;
    }
    return enough;
}

static bool copy_moves(output_data *to, const output_data *from)
{
    const size_t n = (size_t)from->move_count;
    to->moves = copied(from->moves, n * sizeof *to->moves);
    bool enough = to->moves != NULL;
    for (size_t k = 0; k < n && to->moves; k++) {
        move_record *m = &to->moves[k];
        m->counts = copied(m->counts, (size_t)m->rungs * sizeof *m->counts);
        m->steps = copied(m->steps, (size_t)m->rungs * sizeof *m->steps);
        m->tunings = copied(m->tunings, (size_t)m->tuning_count * sizeof *m->tunings);
        enough = enough && m->counts && m->steps && m->tunings;
    }
    return enough;
}

static void free_copy(output_data *d)
{
    for (int k = 0; k < d->quantity_count && d->quantities; k++)
        if (d->quantities[k].length > 1) free(d->quantities[k].blocks.sums);
    for (int k = 0; k < d->move_count && d->moves; k++)
        free(d->moves[k].counts), free(d->moves[k].steps), free(d->moves[k].tunings);
    free(d->quantities);
    free(d->moves);
}

/* What plugins archived, and positions, are held, not copied; but for those that other processes have sent. */
static bool copy_output(struct writing *w, session *session)
{
    const output_data *from = &session->records.output;
    output_data *to = &w->data;
    const size_t bytes = 3 * sizeof(double) * (size_t)session->engine.processes.all_walkers *
                         (size_t)session->engine.system.particles;
    w->state = snapshot_hold(session);
    *to = *from;
    if (from->positions != w->state->positions)
        to->positions = w->of_all = copied(from->positions, bytes);
    const bool quantities = copy_quantities(to, from), moves = copy_moves(to, from);
    return to->positions && quantities && moves;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static void *run(void *argument)
{
    struct writing *w = argument;
    w->write(w->path, w->csv_path, w->in_file, &w->data, &w->end);
    w->done = true;
    return NULL;
}

/* Signals are for the other threads. */
static bool start(struct writing *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

static void free_writing(struct writing *w)
{
    free_copy(&w->data);
    snapshot_let_go(w->state);
    free(w->of_all);
    free(w);
}

bool writing_begin(session *session, write_function *write)
{
    output_data *out = &session->records.output;
    struct writing *w = child_program ? calloc(1, sizeof *w) : NULL;
    if (!w) return false;
    w->write = write;
    w->path = session->output_path;
    w->csv_path = session->csv_path;
    w->in_file = session->in_file;
    if (!copy_output(w, session) || !start(w)) {
        free_writing(w);
        return false;
    }
    out->trajectory.lent = out->trajectory.frame_count;
    out->trajectory.frames = NULL;
    out->trajectory.frame_count = 0;
    session->writing = w;
    session->records.lent = true;
    return true;
}

bool writing_goes_on(const session *session) { return session->writing && !session->writing->done; }

/* ---- Its end ------------------------------------------------------------------------------------------- */

/* Frames may be in the trajectory though the checkpoint that counts them could not be written. */
static void take_trajectory(output_trajectory *out, const output_trajectory *done)
{
    out->written = done->written;
    out->from = done->from;
    out->until = done->until;
    out->cut = done->cut;
    out->base = done->base;
    out->files = done->files;
}

static void take_written(output_data *out, const output_data *done)
{
    out->file.writes = done->file.writes;
    out->file.device = done->file.device;
    out->file.inode = done->file.inode;
    out->file.left = done->file.left;
    memcpy(out->file.stamp, done->file.stamp, sizeof out->file.stamp);
    memcpy(out->file.identity, done->file.identity, sizeof out->file.identity);
}

/* Those that could not be written come before those that were kept meanwhile. */
static void take_frames_back(session *session, output_data *left)
{
    output_data *out = &session->records.output;
    const size_t all = (size_t)(left->trajectory.frame_count + out->trajectory.frame_count);
    frame *frames = checked(realloc(left->trajectory.frames, (all + 1) * sizeof *frames));
    if (out->trajectory.frame_count)
        memcpy(frames + left->trajectory.frame_count, out->trajectory.frames,
               (size_t)out->trajectory.frame_count * sizeof *frames);
    free(out->trajectory.frames);
    out->trajectory.frames = frames;
    out->trajectory.frame_count = (int)all;
    out->trajectory.lent = 0;
}

bool writing_end(session *session, bool wait, written *out)
{
    struct writing *w = session->writing;
    if (!w || (!wait && !w->done)) return false;
    pthread_join(w->thread, NULL);
    session->writing = NULL;
    memcpy(session->records.output.file.identity, w->data.file.identity,
           sizeof w->data.file.identity);
    take_trajectory(&session->records.output.trajectory, &w->data.trajectory);
    take_frames_back(session, &w->data);
    snapshot_frames_lost(session, w->end.lost.count);
    if (!w->end.code) take_written(&session->records.output, &w->data);
    *out = w->end;
    free_writing(w);
    records_returned(&session->records);
    return true;
}
