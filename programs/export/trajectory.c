/* Reading what a run has written: its checkpoint as a resumed run does, its trajectory some rows at a time. */
#include "trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "session/room.h"
#include "system/system.h"

enum { BLOCK_BYTES = 16 << 20 }; /* of positions in memory, but one frame at least */

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

static int make_room(run_file *run, report *r)
{
    const size_t n = (size_t)run->system.particles + 1;
    snapshot *now = &run->now;
    *now = (snapshot){.system = &run->system,
                      .number = malloc(n * sizeof *now->number),
                      .species = malloc(n * sizeof *now->species),
                      .places = malloc(3 * n * sizeof *now->places),
                      .scalars = checked(calloc((size_t)run->scalar_count + 1, sizeof(double)))};
    if (now->number && now->species && now->places) return EXIT_DONE;
    return report_error(r, EXIT_MEMORY, NULL, 0, "not enough memory for a frame of %s", run->path);
}

int run_open(run_file *run, const char *path, report *r)
{
    const char *refused;
    *run = (run_file){.path = path, .walker = -1, .fd = open_regular(path, &refused)};
    if (run->fd < 0)
        return report_error(r, EXIT_CHECKPOINT, NULL, 0, "cannot read %s: %s", path, refused);
    int code = output_read_open(run->fd, path, &run->data, r);
    if (!code) code = ini_read_archived(path, run->data.origin.user_ini, &run->config.ini, r);
    if (!code) code = config_read(&run->config, r);
    if (!code) room_of_file(&run->config, &run->data);
    if (!code) code = system_build(&run->config, &run->system, r);
    if (code) return code;
    if (run->data.particles != run->system.particles || run->data.walkers != run->system.walkers)
        return report_error(r, EXIT_CHECKPOINT, path, 0,
                            "its configuration is of another system than its checkpoint");
    for (int32_t s = 0; s < run->system.species_count; s++)
        run->largest_diameter =
            fmax(run->largest_diameter, plugmc_species_at(&run->system, s)->diameter);
    find_scalars(run);
    return make_room(run, r);
}

/* What has gone wrong in the store, as an exit code. */
static int store_code(const run_file *run, report *r)
{
    const store *s = &run->store;
    if (!s->failed) return EXIT_DONE;
    return report_error(r, s->memory_short ? EXIT_MEMORY : EXIT_CHECKPOINT, NULL, 0,
                        "cannot read %s: %s", run->path, s->reason);
}

static void open_store(run_file *run)
{
    char held[OUTPUT_PATH];
    output_path_of(run->fd, held);
    store_open_path_apart(&run->store, held);
    run->reading = true;
}

static void close_store(run_file *run)
{
    const int fd = run->store.fd;
    if (!run->reading) return;
    store_close(&run->store);
    if (fd >= 0) close(fd);
    run->reading = false;
}

int run_open_trajectory(run_file *run, report *r)
{
    hsize_t count = 0;
    store *s = &run->store;
    open_store(run);
    run->sweeps =
        store_get_array(s, s->file, "particles/trajectory/position/step", STORE_INT64, 1, &count);
    if (!s->failed && count != (hsize_t)run->data.trajectory.written)
        store_fail(s, "its trajectory has %llu frames, its checkpoint knows %lld",
                   (unsigned long long)count, (long long)run->data.trajectory.written);
    return store_code(run, r);
}

void run_close(run_file *run)
{
    close_store(run);
    if (run->fd >= 0) close(run->fd);
    free(run->sweeps), free(run->places), free(run->edges), free(run->ids), free(run->kinds);
    free(run->now.number), free(run->now.species), free(run->now.places), free(run->now.scalars);
    free(run->scalars);
    output_free(&run->data);
    system_free(&run->system);
    config_free(&run->config);
}

/* ---- A frame ---------------------------------------------------------------------------------- */

/* From [particles][3] of a checkpoint, or of a trajectory with a fixed number, with NaN for who is not there. */
static void take_particles(run_file *run, const double *places)
{
    const plugmc_system *system = &run->system;
    snapshot *now = &run->now;
    now->count = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            if (isnan(places[3 * i])) continue;
            now->number[now->count] = i;
            now->species[now->count] = s;
            memcpy(&now->places[3 * now->count++], &places[3 * i], 3 * sizeof *places);
        }
}

/* From a row of the trajectory in which those that are there have an id and a species. */
static void take_row(run_file *run, const double *places, const int32_t *ids, const int32_t *kinds)
{
    snapshot *now = &run->now;
    now->count = 0;
    for (int64_t i = 0; i < run->room; i++) {
        if (ids[i] < 0 || now->count == run->system.particles) continue;
        now->number[now->count] = ids[i];
        now->species[now->count] = kinds[i];
        memcpy(&now->places[3 * now->count++], &places[3 * i], 3 * sizeof *places);
    }
}

/* Sample k is from after production sweep (k + 1) period. */
static void take_scalars(run_file *run)
{
    const output_data *data = &run->data;
    snapshot *now = &run->now;
    for (int i = 0; i < run->scalar_count; i++) {
        const quantity_record *q = run->scalars[i];
        const int64_t sweep = (int64_t)now->sweep - (int64_t)data->equilibrate,
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

static int take(run_file *run, int walker, uint64_t sweep, const double *places, report *r)
{
    snapshot *now = &run->now;
    now->walker = walker;
    now->sweep = sweep;
    if (places) take_particles(run, places);
    take_scalars(run);
    if (is_sound(&now->box)) return EXIT_DONE;
    return report_error(r, EXIT_CHECKPOINT, run->path, 0,
                        "the box of walker %d after sweep %llu has no volume", walker,
                        (unsigned long long)sweep);
}

/* ---- Of the trajectory ------------------------------------------------------------------------ */

static void *get_rows(run_file *run, int walker, const char *name, enum store_type type, int rank,
                      hsize_t first, hsize_t count, hsize_t shape[3])
{
    char path[96], number[24] = "";
    store *s = &run->store;
    if (walker) snprintf(number, sizeof number, "_%d", walker);
    snprintf(path, sizeof path, "particles/trajectory%s/%s", number, name);
    return store_get_rows(s, s->file, path, type, rank, first, count, shape);
}

/* Who is there in these rows, and of which species; both are looked at before they are believed. */
static void load_who(run_file *run, int walker, hsize_t first, hsize_t rows)
{
    store *s = &run->store;
    hsize_t shape[3] = {0};
    int32_t **const to[2] = {&run->ids, &run->kinds};
    for (int k = 0; k < 2 && !s->failed; k++) {
        free(*to[k]);
        *to[k] = get_rows(run, walker, k ? "species/value" : "id/value", STORE_INT32, 2, first,
                          rows, shape);
        if (!s->failed && shape[1] != (hsize_t)run->room)
            store_fail(s, "its ids and species are not one number a particle");
    }
    for (int64_t i = 0; i < (int64_t)rows * run->room && !s->failed; i++)
        if (run->ids[i] >= 0 && (run->kinds[i] < 0 || run->kinds[i] >= run->system.species_count))
            store_fail(s, "a particle of its trajectory is of species %d", run->kinds[i]);
}

/* Frame k and as many behind it as there is room for; ids and species are a third as much. */
static int64_t rows_at_once(const run_file *run, int64_t k, int64_t every)
{
    const int64_t bytes = 3 * (int64_t)sizeof(double) * (run->system.particles + 1),
                  left = run->data.trajectory.written - k;
    const int64_t rows = BLOCK_BYTES / bytes;
    if (rows < every || rows < 1) return 1; /* none of those in between are wanted */
    return rows < left ? rows : left;
}

static void load(run_file *run, int walker, int64_t k, int64_t rows)
{
    const int64_t n = run->system.particles;
    const bool oblique = run->system.box.oblique;
    hsize_t shape[3] = {0}, edges[3] = {0};
    store *s = &run->store;
    free(run->places), free(run->edges);
    run->walker = -1;
    run->edges = NULL;
    run->places =
        get_rows(run, walker, "position/value", STORE_DOUBLE, 3, (hsize_t)k, (hsize_t)rows, shape);
    const bool varies = !s->failed && store_has(s, s->file, "particles/trajectory/count");
    if (!s->failed && ((varies ? shape[1] > (hsize_t)n : shape[1] != (hsize_t)n) || shape[2] != 3))
        store_fail(s, "its trajectory has %llu particles, its checkpoint %lld",
                   (unsigned long long)shape[1], (long long)n);
    run->room = (int64_t)shape[1];
    if (varies) load_who(run, walker, (hsize_t)k, (hsize_t)rows);
    if (!s->failed)
        run->edges = get_rows(run, walker, "box/edges/value", STORE_DOUBLE, oblique ? 3 : 2,
                              (hsize_t)k, (hsize_t)rows, edges);
    if (!s->failed && (edges[1] != 3 || (oblique && edges[2] != 3)))
        store_fail(s, "the edges of its box are not three of three numbers");
    if (s->failed) return;
    run->walker = walker;
    run->first = k;
    run->rows = rows;
}

static void take_edges(run_file *run, int64_t row)
{
    plugmc_box *box = &run->now.box;
    *box = run->system.box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return;
    if (box->oblique) memcpy(box->vector, run->edges + 9 * row, sizeof box->vector);
    for (int d = 0; d < 3; d++) {
        const double *v = box->vector[d];
        if (box->oblique)
            box->length[d] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        else
            box->length[d] = box->vector[d][d] = run->edges[3 * row + d];
    }
}

/* Others may be read: by the same reader, unless it has broken down. */
static bool is_damaged(run_file *run)
{
    store *s = &run->store;
    if (!s->failed || s->memory_short) return false;
    snprintf(run->why, sizeof run->why, "%.255s", s->reason);
    if (store_forgive(s)) return true;
    close_store(run);
    open_store(run);
    return true;
}

/* Where rows cannot be read together, each is tried alone. */
static bool load_frame(run_file *run, int walker, int64_t k, int64_t every)
{
    const int64_t rows = rows_at_once(run, k, every);
    const bool alone = rows == 1 || k < run->one_by_one;
    load(run, walker, k, alone ? 1 : rows);
    if (!is_damaged(run)) return true;
    if (alone) return false;
    run->one_by_one = k + rows;
    load(run, walker, k, 1);
    return !is_damaged(run);
}

int run_read_frame(run_file *run, int walker, int64_t k, int64_t every, bool *lost, report *r)
{
    *lost = false;
    if (run->walker != walker) run->one_by_one = 0;
    if (run->walker != walker || k < run->first || k >= run->first + run->rows)
        *lost = !load_frame(run, walker, k, every);
    int code = store_code(run, r);
    if (code || *lost) return code;
    const int64_t row = k - run->first;
    const double *places = run->places + 3 * run->room * row;
    take_edges(run, row);
    if (run->ids) take_row(run, places, run->ids + run->room * row, run->kinds + run->room * row);
    return take(run, walker, (uint64_t)run->sweeps[k], run->ids ? NULL : places, r);
}

/* ---- Of the checkpoint ------------------------------------------------------------------------ */

/* Boxes are among what is archived if movers change them. */
int run_read_last(run_file *run, int walker, report *r)
{
    const output_data *data = &run->data;
    run->now.box = run->system.box;
    for (int i = 0; i < data->blob_count; i++) {
        const blob *b = &data->blobs[i];
        if (strcmp(b->name, "run/boxes")) continue;
        if (b->row != sizeof(plugmc_box) || b->bytes != b->row * (size_t)data->walkers)
            return report_error(r, EXIT_CHECKPOINT, run->path, 0,
                                "its checkpoint does not hold a box for each walker");
        const plugmc_box *boxes = b->data;
        memcpy(run->now.box.length, boxes[walker].length, sizeof boxes->length);
        memcpy(run->now.box.vector, boxes[walker].vector, sizeof boxes->vector);
    }
    return take(run, walker, data->sweep, data->positions + 3 * run->system.particles * walker, r);
}
