/* See rehearsal_child.h. */
#include "archive/rehearsal_child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/parts.h"
#include "archive/replacement.h"
#include "archive/averages.h"

static int judge(const store *s, enum exit_code damaged, char reason[REHEARSAL_REASON])
{
    snprintf(reason, REHEARSAL_REASON, "%s", s->failed ? s->reason : "");
    if (!s->failed) return EXIT_DONE;
    return s->memory_short ? EXIT_MEMORY : damaged;
}

/* The vectors of an oblique box have one dimension more than the edges of another. */
static bool has_vectors(store *s)
{
    hid_t edges = store_open_array(s, s->file, "particles/trajectory/box/edges/value");
    hid_t space = edges < 0 ? -1 : H5Dget_space(edges);
    bool vectors = space >= 0 && H5Sget_simple_extent_ndims(space) == 3;
    if (space >= 0) H5Sclose(space);
    store_leave_array(s, edges);
    return vectors;
}

/* Another sample, which the file has room for if it is whole. */
static void add_sample(store *s, quantity_record *q)
{
    const size_t row = (size_t)q->walkers, rows = (size_t)q->samples;
    if (q->length != 1 || !q->series) return;
    double *series = realloc(q->series, (rows + 1) * row * sizeof *series);
    if (!series) {
        store_short(s);
        return;
    }
    q->series = series;
    memset(&series[rows * row], 0, row * sizeof *series);
    q->samples++;
}

/* What the next checkpoint will do with the file: all that is in it is written over, a sample of each scalar and a
 * frame are added. What is written goes into a file of its own over the old one, which need not be copied for that.
 * Where no file can be made, or it has no room, there will be no checkpoint either, which others will say. */
static void write_back(store *s, const char *path, int old, output_data *data)
{
    replacement copy;
    char identity[IDENTITY_SIZE];
    identity_make(identity);
    if (replacement_begin(&copy, path, NULL, identity, false)) return;
    unlink(copy.temporary); /* whatever becomes of this process */
    plugmc_system system = {
        .size = sizeof system, .walkers = data->walkers, .particles = data->particles};
    frame next = {data->sweep, (double *)data->positions, NULL};
    store_open_over(s, copy.fd, old);
    s->reading = true; /* what fails is the fault of the file */
    data->system = &system;
    data->trajectory.frames = &next;
    data->trajectory.frame_count = data->trajectory.written > 0;
    if (averages_find(data)) store_short(s);
    for (int i = 0; i < data->quantity_count; i++) add_sample(s, &data->quantities[i]);
    if (data->trajectory.frame_count) {
        system.box.oblique = has_vectors(s);
        if (store_is_group(s, s->file, "particles/trajectory/id")) /* else an array */
            system.changes = PLUGMC_CHANGED_COUNT;
    }
    h5md_write_frames(s, data, data->trajectory.written);
    checkpoint_write(s, data, data->file.stamp, false,
                     data->trajectory.written + data->trajectory.frame_count);
    store_close(s);
    replacement_abandon(&copy);
    if (s->error == EFBIG || s->error == ENOSPC || s->error == EDQUOT) *s = (store){0};
}

int rehearse_checkpoint(const char *path, const char *copy, char reason[REHEARSAL_REASON])
{
    store s;
    output_data data = {0};
    int fd = store_open_path(&s, path);
    if (!s.failed) checkpoint_read(&s, &data);
    if (!s.failed) ends_read(&s, &data);
    const int failed = store_close(&s);
    if (!failed) write_back(&s, copy, fd, &data);
    if (fd >= 0) close(fd);
    return judge(&s, !failed && s.error ? EXIT_OUTPUT : EXIT_CHECKPOINT, reason);
}

static bool write_all(int out, const void *data, size_t bytes)
{
    for (const char *at = data; bytes;) {
        ssize_t n = write(out, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

int rehearse_positions(const char *path, const char *detail, int out, char reason[REHEARSAL_REASON])
{
    store s = {0};
    file_frame frame;
    long long which = -1;
    int most = 1;
    size_t bytes = 0;
    if (sscanf(detail, "%d %lld", &most, &which) != 2) return EXIT_INTERNAL;
    h5md_read(&s, path, most, which, &frame);
    if (s.failed) return judge(&s, EXIT_INPUT, reason);
    void *packed = frame_pack(&frame, &bytes);
    if (!packed) store_short(&s);
    if (s.failed) return judge(&s, EXIT_INPUT, reason);
    return write_all(out, packed, bytes) ? EXIT_DONE : EXIT_INTERNAL;
}
