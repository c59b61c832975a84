/* See archive/frames.h. */
#include "archive/frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/trajectory.h"
#include "formats/orientations.h"

enum { BLOCK_BYTES = 16 << 20 }; /* of positions in memory, but one frame at least */

/* ---- One configuration ------------------------------------------------------------------------ */

bool read_frame_make(read_frame *f, const plugmc_system *system)
{
    const size_t n = (size_t)system->particles + 1;
    *f = (read_frame){.number = malloc(n * sizeof *f->number),
                      .species = malloc(n * sizeof *f->species),
                      .positions = malloc(3 * n * sizeof *f->positions),
                      .orientations = malloc(n * sizeof *f->orientations)};
    return f->number && f->species && f->positions && f->orientations;
}

static void take_one(read_frame *f, int64_t number, int32_t species, const double *position)
{
    f->number[f->count] = number;
    f->species[f->count] = species;
    memcpy(&f->positions[3 * f->count++], position, 3 * sizeof *position);
}

void read_frame_take(read_frame *f, const plugmc_system *system, const double *positions,
                     const plugmc_orientation *orientations)
{
    f->count = 0;
    f->turned = orientations != NULL;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            if (!isnan(positions[3 * i])) {
                if (orientations) f->orientations[f->count] = orientations[i];
                take_one(f, i, s, &positions[3 * i]);
            }
}

void read_frame_free(read_frame *f)
{
    free(f->number), free(f->species), free(f->positions), free(f->orientations);
    *f = (read_frame){0};
}

/* ---- From HDF5 -------------------------------------------------------------------------------- */

/* What has gone wrong in the store, as an exit code. */
static int store_code(const run_frames *f, report *r)
{
    const store *s = &f->h5md.store;
    if (!f->h5md.reading || !s->failed) return EXIT_DONE;
    return report_error(r, s->memory_short ? EXIT_MEMORY : EXIT_CHECKPOINT, NULL, 0,
                        "cannot read %s: %s", f->path, s->reason);
}

static void open_store(run_frames *f)
{
    store_open_path_apart(&f->h5md.store, f->file);
    f->h5md.reading = true;
}

static void close_store(run_frames *f)
{
    const int fd = f->h5md.store.fd;
    if (!f->h5md.reading) return;
    store_close(&f->h5md.store);
    if (fd >= 0) close(fd);
    f->h5md.reading = false;
}

static void *get_rows(run_frames *f, int walker, const char *name, enum store_type type, int rank,
                      hsize_t first, hsize_t count, hsize_t shape[3])
{
    char path[96], number[24] = "";
    store *s = &f->h5md.store;
    if (walker) snprintf(number, sizeof number, "_%d", walker);
    snprintf(path, sizeof path, "particles/trajectory%s/%s", number, name);
    return store_get_rows(s, s->file, path, type, rank, first, count, shape);
}

static int open_hdf5(run_frames *f, report *r)
{
    hsize_t count = 0;
    store *s = &f->h5md.store;
    open_store(f);
    const hsize_t written = (hsize_t)f->trajectory->written;
    f->sweeps =
        store_get_array(s, s->file, "particles/trajectory/position/step", STORE_INT64, 1, &count);
    /* A file of its own may have frames that no checkpoint counts yet. */
    if (!s->failed && (count < written || (f->trajectory->inside && count != written)))
        store_fail(s, "its trajectory has %llu frames, its checkpoint knows %lld",
                   (unsigned long long)count, (long long)written);
    return store_code(f, r);
}

/* Who is there in these rows, and of which species; both are looked at before they are believed. */
static void load_who(run_frames *f, int walker, hsize_t first, hsize_t rows)
{
    store *s = &f->h5md.store;
    hsize_t shape[3] = {0};
    int32_t **const to[2] = {&f->h5md.ids, &f->h5md.kinds};
    for (int k = 0; k < 2 && !s->failed; k++) {
        free(*to[k]);
        *to[k] = get_rows(f, walker, k ? "species/value" : "id/value", STORE_INT32, 2, first, rows,
                          shape);
        if (!s->failed && shape[1] != (hsize_t)f->h5md.particles)
            store_fail(s, "its ids and species are not one number a particle");
    }
    for (int64_t i = 0; i < (int64_t)rows * f->h5md.particles && !s->failed; i++)
        if (f->h5md.ids[i] >= 0 &&
            (f->h5md.kinds[i] < 0 || f->h5md.kinds[i] >= f->system->species_count))
            store_fail(s, "a particle of its trajectory is of species %d", f->h5md.kinds[i]);
}

static void load_orientations(run_frames *f, int walker, hsize_t first, hsize_t rows)
{
    store *s = &f->h5md.store;
    hsize_t shape[3] = {0};
    free(f->h5md.orientations);
    f->h5md.orientations = NULL;
    if (s->failed || !store_has(s, s->file, "particles/trajectory/orientation")) return;
    f->h5md.orientations =
        get_rows(f, walker, "orientation/value", STORE_DOUBLE, 3, first, rows, shape);
    if (!s->failed && (shape[1] != (hsize_t)f->h5md.particles || shape[2] != 4))
        store_fail(s, "its orientations are not four numbers a particle");
}

/* Frame k and as many behind it as there is room for; ids and species are a third as much. */
static int64_t rows_at_once(const run_frames *f, int64_t k, int64_t every)
{
    const int64_t bytes = 3 * (int64_t)sizeof(double) * (f->system->particles + 1),
                  left = f->trajectory->written - k;
    const int64_t rows = BLOCK_BYTES / bytes;
    if (rows < every || rows < 1) return 1; /* none of those in between are wanted */
    return rows < left ? rows : left;
}

static void load(run_frames *f, int walker, int64_t k, int64_t rows)
{
    const int64_t n = f->system->particles;
    const bool oblique = f->system->box.oblique;
    hsize_t shape[3] = {0}, edges[3] = {0};
    store *s = &f->h5md.store;
    free(f->h5md.places), free(f->h5md.edges);
    f->walker = -1;
    f->h5md.edges = NULL;
    f->h5md.places =
        get_rows(f, walker, "position/value", STORE_DOUBLE, 3, (hsize_t)k, (hsize_t)rows, shape);
    const bool varies = !s->failed && store_has(s, s->file, "particles/trajectory/count");
    if (!s->failed && ((varies ? shape[1] > (hsize_t)n : shape[1] != (hsize_t)n) || shape[2] != 3))
        store_fail(s, "its trajectory has %llu particles, its checkpoint %lld",
                   (unsigned long long)shape[1], (long long)n);
    f->h5md.particles = (int64_t)shape[1];
    if (varies) load_who(f, walker, (hsize_t)k, (hsize_t)rows);
    load_orientations(f, walker, (hsize_t)k, (hsize_t)rows);
    if (!s->failed)
        f->h5md.edges = get_rows(f, walker, "box/edges/value", STORE_DOUBLE, oblique ? 3 : 2,
                                 (hsize_t)k, (hsize_t)rows, edges);
    if (!s->failed && (edges[1] != 3 || (oblique && edges[2] != 3)))
        store_fail(s, "the edges of its box are not three of three numbers");
    if (s->failed) return;
    f->walker = walker;
    f->h5md.first = k;
    f->h5md.rows = rows;
}

/* Others may be read: by the same reader, unless it has broken down. */
static bool is_damaged(run_frames *f)
{
    store *s = &f->h5md.store;
    if (!s->failed || s->memory_short) return false;
    snprintf(f->why, sizeof f->why, "%.255s", s->reason);
    if (store_forgive(s)) return true;
    close_store(f);
    open_store(f);
    return true;
}

/* Where rows cannot be read together, each is tried alone. */
static bool load_frame(run_frames *f, int walker, int64_t k, int64_t every)
{
    const int64_t rows = rows_at_once(f, k, every);
    const bool alone = rows == 1 || k < f->h5md.one_by_one;
    load(f, walker, k, alone ? 1 : rows);
    if (!is_damaged(f)) return true;
    if (alone) return false;
    f->h5md.one_by_one = k + rows;
    load(f, walker, k, 1);
    return !is_damaged(f);
}

static void take_lengths(plugmc_box *box)
{
    for (int d = 0; d < 3; d++) {
        const double *v = box->vector[d];
        box->length[d] = box->oblique ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : v[d];
    }
}

static void take_edges(run_frames *f, int64_t row)
{
    plugmc_box *box = &f->now.box;
    *box = f->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return;
    if (box->oblique) memcpy(box->vector, f->h5md.edges + 9 * row, sizeof box->vector);
    for (int d = 0; d < 3 && !box->oblique; d++) box->vector[d][d] = f->h5md.edges[3 * row + d];
    take_lengths(box);
}

/* From quaternions [count][4], NULL if there are none. False, and why: one is no rotation. */
static bool take_orientations(run_frames *f, const double *quaternions, int64_t count)
{
    f->now.turned = quaternions != NULL;
    for (int64_t i = 0; i < count && quaternions; i++) {
        const char *wrong = orientation_of_quaternion(&quaternions[4 * i], f->system->box.dimension,
                                                      &f->now.orientations[i]);
        if (!wrong) continue;
        snprintf(f->why, sizeof f->why, "the orientation of particle %lld %s", (long long)i, wrong);
        return false;
    }
    return true;
}

/* From a row in which those that are there have an id and a species. */
static void take_row(run_frames *f, const double *places, const int32_t *ids, const int32_t *kinds)
{
    for (int64_t i = 0; i < f->h5md.particles && f->now.count < f->system->particles; i++)
        if (ids[i] >= 0) take_one(&f->now, ids[i], kinds[i], &places[3 * i]);
}

static int read_from_hdf5(run_frames *f, int walker, int64_t k, int64_t every, bool *lost,
                          report *r)
{
    if (f->walker != walker) f->h5md.one_by_one = 0;
    if (f->walker != walker || k < f->h5md.first || k >= f->h5md.first + f->h5md.rows)
        *lost = !load_frame(f, walker, k, every);
    const int code = store_code(f, r);
    if (code || *lost) return code;
    const int64_t row = k - f->h5md.first;
    const double *places = f->h5md.places + 3 * f->h5md.particles * row;
    f->now.count = 0;
    take_edges(f, row);
    if (f->h5md.ids)
        take_row(f, places, f->h5md.ids + f->h5md.particles * row,
                 f->h5md.kinds + f->h5md.particles * row);
    else
        read_frame_take(&f->now, f->system, places, NULL);
    *lost = !take_orientations(
        f, f->h5md.orientations ? f->h5md.orientations + 4 * f->h5md.particles * row : NULL,
        f->now.count);
    f->now.sweep = (uint64_t)f->sweeps[k];
    return EXIT_DONE;
}

/* ---- From GSD --------------------------------------------------------------------------------- */

static void close_gsd(run_frames *f)
{
    gsd_close(f->gsd);
    free(f->file);
    f->gsd = NULL;
    f->file = NULL;
    f->walker = -1;
}

static int open_gsd(run_frames *f, int walker, report *r)
{
    if (f->walker == walker) return EXIT_DONE;
    close_gsd(f);
    f->file = trajectory_path(f->trajectory, walker, f->system->walkers);
    if (!f->file)
        return report_error(r, EXIT_MEMORY, NULL, 0, "not enough memory to read %s", f->path);
    const int code = gsd_open(f->file, &f->gsd, r);
    if (code) return code == EXIT_INPUT ? EXIT_CHECKPOINT : code;
    if (gsd_frames(f->gsd) < f->trajectory->written)
        return report_error(
            r, EXIT_CHECKPOINT, NULL, 0, "%s has %lld frames, the checkpoint in %s counts %lld",
            f->file, (long long)gsd_frames(f->gsd), f->path, (long long)f->trajectory->written);
    f->walker = walker;
    return EXIT_DONE;
}

/* The sweeps of all frames, which are the same for all walkers. */
static int find_sweeps(run_frames *f, report *r)
{
    const int64_t n = f->trajectory->written;
    int code = open_gsd(f, 0, r);
    f->sweeps = code ? NULL : malloc(((size_t)n + 1) * sizeof *f->sweeps);
    if (!code && !f->sweeps)
        code = report_error(r, EXIT_MEMORY, NULL, 0, "not enough memory to read %s", f->path);
    for (int64_t k = 0; k < n && !code; k++) code = gsd_step(f->gsd, k, &f->sweeps[k]);
    return code == EXIT_INPUT ? EXIT_CHECKPOINT : code;
}

/* Positions in double where they are there, else those in single precision, in the axes of the run. */
static void take_place(const run_frames *f, const file_frame *g, const gsd_box *axes, int64_t i,
                       double out[3])
{
    const double *p = &g->positions[3 * i];
    if (g->exact)
        memcpy(out, &g->exact[3 * i], 3 * sizeof *out);
    else
        for (int d = 0; d < 3; d++)
            out[d] = axes->centre[d] + p[0] * axes->axis[0][d] + p[1] * axes->axis[1][d] +
                     p[2] * axes->axis[2][d];
    if (!g->exact && f->system->box.domain == PLUGMC_DOMAIN_PERIODIC && !f->system->box.oblique)
        plugmc_wrap(&f->now.box, out);
}

/* The box in the axes of the run: as it is in double, or from that of HOOMD. */
static void take_box(run_frames *f, const file_frame *g)
{
    const plugmc_box *own = &f->system->box;
    plugmc_box *box = &f->now.box;
    *box = *own;
    if (own->domain != PLUGMC_DOMAIN_PERIODIC || !g->boxes) return;
    for (int d = 0; d < own->dimension; d++)
        for (int e = 0; e < own->dimension; e++)
            if (own->oblique || d == e) box->vector[d][e] = g->box[0][d][e];
    take_lengths(box);
}

static bool fits(const run_frames *f, const file_frame *g)
{
    bool good =
        g->count <= f->system->particles && (!g->boxes || g->dimension == f->system->box.dimension);
    for (int64_t i = 0; i < g->count && good; i++)
        good = g->species[i] >= 0 && g->species[i] < f->system->species_count;
    return good;
}

static void keep_reason(void *listener, const report_message *message)
{
    run_frames *f = listener;
    snprintf(f->why, sizeof f->why, "%.255s", message->text ? message->text : "memory is short");
}

static int read_from_gsd(run_frames *f, int walker, int64_t k, bool *lost, report *r)
{
    file_frame g;
    report heard = {.hear = keep_reason, .listener = f};
    int code = open_gsd(f, walker, r);
    if (code) return code;
    code = gsd_frame_read(f->gsd, k, &g, &heard);
    if (code == EXIT_MEMORY) return report_error(r, code, f->file, 0, "%s", f->why);
    if (code || !fits(f, &g)) {
        if (!code) snprintf(f->why, sizeof f->why, "it is of another system");
        if (!code) frame_free(&g);
        *lost = true;
        return EXIT_DONE;
    }
    if (!take_orientations(f, g.orientations, g.count)) {
        frame_free(&g);
        *lost = true;
        return EXIT_DONE;
    }
    take_box(f, &g);
    const gsd_box axes = gsd_box_of(&f->now.box, 0);
    f->now.count = 0;
    for (int64_t i = 0; i < g.count; i++) {
        double at[3];
        take_place(f, &g, &axes, i, at);
        take_one(&f->now, g.number ? g.number[i] : i, g.species[i], at);
    }
    f->now.sweep = (uint64_t)f->sweeps[k];
    frame_free(&g);
    return EXIT_DONE;
}

/* ---- Of either kind --------------------------------------------------------------------------- */

static bool is_gsd(const run_frames *f)
{
    return !f->trajectory->inside && f->trajectory->format == TRAJECTORY_OF_GSD;
}

/* Of this run, and not of one that has come after it. */
static int find_files(const run_frames *f, output_trajectory *t, report *r)
{
    const int walkers = f->system->walkers;
    if (t->inside || trajectory_find(t, f->path, walkers)) return EXIT_DONE;
    char *file = trajectory_path(t, 0, walkers);
    const bool there = file && !access(file, F_OK);
    report_error(r, EXIT_CHECKPOINT, NULL, 0, "cannot read the frames of %s: %s %s", f->path,
                 file ? file : "the trajectory",
                 there ? "is not the trajectory of its run" : "is not there");
    free(file);
    return EXIT_CHECKPOINT;
}

int frames_open(run_frames *f, const char *path, const char *held, output_data *data,
                const plugmc_system *system, report *r)
{
    *f =
        (run_frames){.path = path, .system = system, .trajectory = &data->trajectory, .walker = -1};
    if (!read_frame_make(&f->now, system))
        return report_error(r, EXIT_MEMORY, NULL, 0, "not enough memory for a frame of %s", path);
    const int code = find_files(f, &data->trajectory, r);
    if (code) return code;
    if (is_gsd(f)) return find_sweeps(f, r);
    f->file = data->trajectory.inside ? strdup(held)
                                      : trajectory_path(&data->trajectory, 0, system->walkers);
    if (!f->file)
        return report_error(r, EXIT_MEMORY, NULL, 0, "not enough memory to read %s", path);
    return open_hdf5(f, r);
}

int frames_read(run_frames *f, int walker, int64_t k, int64_t every, bool *lost, report *r)
{
    *lost = false;
    return is_gsd(f) ? read_from_gsd(f, walker, k, lost, r)
                     : read_from_hdf5(f, walker, k, every, lost, r);
}

void frames_close(run_frames *f)
{
    close_store(f);
    close_gsd(f);
    free(f->sweeps), free(f->h5md.places), free(f->h5md.edges), free(f->h5md.orientations),
        free(f->h5md.ids), free(f->h5md.kinds);
    read_frame_free(&f->now);
    *f = (run_frames){.walker = -1};
}
