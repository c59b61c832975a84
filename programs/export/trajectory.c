/* Reading what a run has written: its checkpoint as a resumed run does, its trajectory some rows at a time. */
#include "trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "session/enlarging.h"
#include "system/system.h"

/* ---- The file --------------------------------------------------------------------------------- */

/* Those of a ladder belong to rungs, of which a frame does not tell. */
static void find_scalars(run_file *run)
{
    const output_data *data = &run->data;
    run->scalars = checked(calloc((size_t)data->quantity_count + 1, sizeof *run->scalars));
    for (int i = 0; i < data->quantity_count; i++) {
        const quantity_record *q = &data->quantities[i];
        if (q->length == 1 && q->walkers == data->walkers) run->scalars[run->scalar_count++] = q;
    }
}

static const blob *blob_named(const output_data *data, const char *name)
{
    for (int i = 0; i < data->blob_count; i++)
        if (!strcmp(data->blobs[i].name, name)) return &data->blobs[i];
    return NULL;
}

/* Shapes that are not a line for each species were not written by us. */
static void find_bodies(run_file *run)
{
    const blob *shapes = blob_named(&run->data, "run/shapes");
    run->turned = blob_named(&run->data, "run/orientations") != NULL;
    if (!shapes || !shapes->bytes || ((const char *)shapes->data)[shapes->bytes - 1]) return;
    int32_t lines = 0;
    for (const char *c = shapes->data; *c; c++) lines += *c == '\n';
    if (lines == run->system.species_count) run->shapes = shapes->data;
}

int run_open(run_file *run, const char *path, report *r)
{
    const char *refused;
    *run = (run_file){.path = path, .fd = open_regular(path, &refused)};
    if (run->fd < 0)
        return report_error(r, EXIT_CHECKPOINT, NULL, 0, "cannot read %s: %s", path, refused);
    int code = output_read_open(run->fd, path, &run->data, r);
    if (!code) code = ini_read_archived(path, run->data.origin.user_ini, &run->config.ini, r);
    if (!code) code = config_read(&run->config, r);
    if (!code) capacity_of_file(&run->config, &run->data);
    if (!code) code = system_build(&run->config, &run->system, r);
    if (code) return code;
    if (run->data.particles != run->system.particles || run->data.walkers != run->system.walkers)
        return report_error(r, EXIT_CHECKPOINT, path, 0,
                            "its configuration is of another system than its checkpoint");
    for (int32_t s = 0; s < run->system.species_count; s++)
        run->largest_diameter =
            fmax(run->largest_diameter, plugmc_species_at(&run->system, s)->diameter);
    find_scalars(run);
    find_bodies(run);
    run->now.system = &run->system;
    run->now.scalars = checked(calloc((size_t)run->scalar_count + 1, sizeof(double)));
    return EXIT_DONE;
}

int run_open_trajectory(run_file *run, report *r)
{
    char held[OUTPUT_PATH];
    output_path_of(run->fd, held);
    return frames_open(&run->frames, run->path, held, &run->data, &run->system, r);
}

void run_close(run_file *run)
{
    frames_close(&run->frames);
    if (run->fd >= 0) close(run->fd);
    read_frame_free(&run->last);
    free(run->now.scalars), free(run->scalars);
    output_free(&run->data);
    system_free(&run->system);
    config_free(&run->config);
}

/* ---- A frame ---------------------------------------------------------------------------------- */

/* Sample k is from after production sweep (k + 1) period. */
static void take_scalars(run_file *run)
{
    const output_data *data = &run->data;
    snapshot *now = &run->now;
    for (int i = 0; i < run->scalar_count; i++) {
        const quantity_record *q = run->scalars[i];
        const int64_t sweep = (int64_t)now->state->sweep - (int64_t)data->equilibrate,
                      sample = sweep / q->period - 1;
        const bool there = sweep > 0 && sweep % q->period == 0 && sample < q->samples;
        now->scalars[i] = there ? q->series[sample * q->walkers + now->walker] : NAN;
    }
}

static double determinant(const double v[3][3])
{
    return v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
           v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
           v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
}

/* Whoever reads what is written divides by lengths and volumes. */
static bool is_sound(const plugmc_box *box)
{
    const double volume = determinant(box->vector);
    bool sound = isfinite(volume) && volume != 0;
    for (int d = 0; d < 3; d++) sound = sound && isfinite(box->length[d]) && box->length[d] > 0;
    return sound || box->domain != PLUGMC_DOMAIN_PERIODIC;
}

static int take(run_file *run, int walker, const read_frame *state, report *r)
{
    run->now.walker = walker;
    run->now.state = state;
    take_scalars(run);
    if (is_sound(&state->box)) return EXIT_DONE;
    return report_error(r, EXIT_CHECKPOINT, run->path, 0,
                        "the box of walker %d after sweep %llu has no volume", walker,
                        (unsigned long long)state->sweep);
}

int run_read_frame(run_file *run, int walker, int64_t k, int64_t every, bool *lost, report *r)
{
    const int code = frames_read(&run->frames, walker, k, every, lost, r);
    return code || *lost ? code : take(run, walker, &run->frames.now, r);
}

/* ---- Of the checkpoint ------------------------------------------------------------------------ */

/* Rows of a walker, if there are any; *bad: they are not of this size. */
static const void *row_of(const run_file *run, const char *name, int walker, size_t bytes,
                          bool *bad)
{
    const blob *b = blob_named(&run->data, name);
    if (!b) return NULL;
    *bad |= b->row != bytes || b->bytes != bytes * (size_t)run->data.walkers;
    return *bad ? NULL : (const char *)b->data + bytes * (size_t)walker;
}

/* Boxes are among what is archived if movers change them, orientations if there are bodies. */
int run_read_last(run_file *run, int walker, report *r)
{
    const output_data *data = &run->data;
    const size_t n = (size_t)run->system.particles;
    read_frame *last = &run->last;
    bool bad = false;
    if (!last->number && !read_frame_make(last, &run->system))
        return report_error(r, EXIT_MEMORY, NULL, 0, "not enough memory for a frame of %s",
                            run->path);
    last->box = run->system.box;
    last->sweep = data->sweep;
    const plugmc_box *box = row_of(run, "run/boxes", walker, sizeof *box, &bad);
    const plugmc_orientation *orientations =
        row_of(run, "run/orientations", walker, n * sizeof *orientations, &bad);
    if (bad)
        return report_error(r, EXIT_CHECKPOINT, run->path, 0,
                            "its checkpoint does not hold a box for each walker, or an "
                            "orientation for each particle");
    if (box) {
        memcpy(last->box.length, box->length, sizeof box->length);
        memcpy(last->box.vector, box->vector, sizeof box->vector);
    }
    read_frame_take(last, &run->system, data->positions + 3 * run->system.particles * walker,
                    orientations);
    return take(run, walker, last, r);
}
