/* /plugmc: what is measured and what a resumed run needs.
 *
 *   plugmc                        attribute format
 *     observables/LABEL/NAME      attributes of kind, and by kind:
 *       scalar                    series [samples][walkers], sweep [samples]; mean, error, ...;
 *                                 autocorrelation, autocorrelation_lag [lags]
 *       array                     mean, error, converged, abscissa [length], block_sums
 *                                 [129][length]
 *       derived                   value, error, converged, valid
 *       derived_array             value, error, converged, abscissa [length]; valid
 *     movers/LABEL/NAME           counts and steps of trial moves: move_records.c
 *     checkpoint                  sweep, finished, positions, species, boxes, what plugins archive, the order of observables and moves;
 *                                 trajectory: where its frames are and how many; joined, where walkers are correlated
 *     volatile                    wall time and date: what differs between equal runs; speed.c
 *   parameters                    the configuration and where it ran
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/parts.h"

enum { MOST_BLOBS = 1000000 };

/* ---- Writing -------------------------------------------------------------------------------- */

static void append_escaped(char **to, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool plain = (unsigned char)*c >= ' ' && *c != '/' && *c != '%' && (*c != '.' || c > text);
        *to += sprintf(*to, plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
}

char *record_path(const char *observable, const char *name)
{
    char *path = malloc(3 * (strlen(observable) + strlen(name)) + 2), *end = path;
    if (!path) return NULL;
    append_escaped(&end, observable);
    *end++ = '/';
    append_escaped(&end, name);
    *end = '\0';
    return path;
}

void record_enter(draft *d, const char *what, const char *label, const char *name)
{
    char *path = record_path(label, name), *slash = path ? strchr(path, '/') : NULL;
    if (!path) {
        d->memory_short = true;
        return;
    }
    *slash = '\0';
    draft_enter(d, path);
    draft_enter(d, slash + 1);
    free(path);
    draft_label(d, what, label);
    draft_label(d, "name", name);
}

void record_leave(draft *d)
{
    draft_leave(d);
    draft_leave(d);
}

static void write_sweeps(draft *d, const quantity_record *q, uint64_t equilibrate)
{
    int64_t *sweep = draft_new_array(d, "sweep", STORE_INT64, 1, &(hsize_t){(hsize_t)q->samples});
    for (int64_t k = 0; sweep && k < q->samples; k++)
        sweep[k] = (int64_t)equilibrate + (k + 1) * q->period;
}

static void write_autocorrelation(draft *d, const quantity_record *q)
{
    const autocorrelation *a = &q->found.correlation;
    const hsize_t count = (hsize_t)a->count;
    if (!count) return;
    draft_array(d, "autocorrelation", STORE_DOUBLE, 1, &count, a->value);
    double *sweeps = draft_new_array(d, "autocorrelation_lag", STORE_DOUBLE, 1, &count);
    for (int64_t i = 0; sweeps && i < a->count; i++) sweeps[i] = (double)(a->lag[i] * q->period);
}

static void write_scalar(draft *d, const quantity_record *q, uint64_t equilibrate)
{
    const hsize_t shape[2] = {(hsize_t)q->samples, (hsize_t)q->walkers};
    if (q->samples > 0) { /* arrays without elements are not comparable, says h5diff */
        draft_array(d, "series", STORE_DOUBLE, 2, shape, q->series);
        write_sweeps(d, q, equilibrate);
    }
    const estimate *e = &q->found.scalar;
    draft_label(d, "kind", q->weighs ? "weight" : "scalar");
    draft_real(d, "mean", e->mean);
    draft_real(d, "error", e->error);
    draft_real(d, "variance", e->variance);
    draft_real(d, "correlation_time", e->correlation_time);
    draft_real(d, "correlation_time_sweeps", e->correlation_time * (double)q->period);
    draft_integer(d, "correlation_time_is_upper_bound", e->correlation_time <= 0.5);
    draft_integer(d, "walkers_that_stand_still", q->found.still);
    draft_real(d, "difference_of_halves", q->found.halves);
    draft_integer(d, "samples", q->samples);
    draft_integer(d, "converged", e->converged);
    write_autocorrelation(d, q);
}

static void write_array(draft *d, const quantity_record *q)
{
    hsize_t length = (hsize_t)q->length;
    draft_label(d, "kind", "array");
    axes_write(d, &q->axes);
    axes_write_array(d, "mean", STORE_DOUBLE, &q->axes, q->found.means);
    axes_write_array(d, "error", STORE_DOUBLE, &q->axes, q->found.errors);
    axes_write_array(d, "converged", STORE_BYTE, &q->axes, q->found.each_converged);
    draft_array(d, "block_sums", STORE_DOUBLE, 2, (hsize_t[]){CHECKPOINT_ROWS, length},
                q->blocks.sums);
    draft_integer(d, "per_block", q->blocks.per_block);
    draft_integer(d, "blocks", q->blocks.blocks);
    draft_integer(d, "in_last", q->blocks.in_last);
    draft_integer(d, "samples", q->blocks.per_block * q->blocks.blocks + q->blocks.in_last);
}

static void write_quantity(draft *d, const quantity_record *q, const output_data *data)
{
    record_enter(d, "observable", q->observable, q->name);
    draft_label(d, "unit", q->unit);
    draft_label(d, "doc", q->doc);
    draft_integer(d, "length", q->length);
    draft_integer(d, "period", q->period);
    if (q->length == 1)
        write_scalar(d, q, data->equilibrate);
    else
        write_array(d, q);
    record_leave(d);
}

static void write_derived(draft *d, const derived_record *r)
{
    record_enter(d, "observable", r->observable, r->name);
    draft_label(d, "kind", r->length > 1 ? "derived_array" : "derived");
    draft_label(d, "unit", r->unit);
    draft_label(d, "doc", r->doc);
    draft_integer(d, "valid", r->valid);
    if (r->length > 1) {
        draft_integer(d, "length", r->length);
        axes_write(d, &r->axes);
        axes_write_array(d, "value", STORE_DOUBLE, &r->axes, r->values);
        axes_write_array(d, "error", STORE_DOUBLE, &r->axes, r->errors);
        axes_write_array(d, "converged", STORE_BYTE, &r->axes, r->each_converged);
    } else {
        draft_real(d, "value", r->value);
        draft_real(d, "error", r->error);
        draft_integer(d, "converged", r->converged);
    }
    record_leave(d);
}

static char *path_of_quantity(const output_data *data, int i)
{
    return record_path(data->quantities[i].observable, data->quantities[i].name);
}

static char *path_of_derived(const output_data *data, int i)
{
    return record_path(data->derived[i].observable, data->derived[i].name);
}

static char *path_of_move(const output_data *data, int i)
{
    return record_path(data->moves[i].mover, data->moves[i].name);
}

/* Paths of records below their group, one a line, in the order of the run. */
static void write_order(draft *d, const char *name, const output_data *data, int count,
                        char *(*path_of)(const output_data *, int))
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    for (int i = 0; out && i < count; i++) {
        char *path = path_of(data, i);
        if (!path) d->memory_short = true;
        fprintf(out, "%s\n", path ? path : "");
        free(path);
    }
    if (!out || fclose(out))
        d->memory_short = true;
    else
        draft_text(d, name, text);
    free(text);
}

static void write_blobs(draft *d, const output_data *data)
{
    draft_enter(d, "plugins");
    draft_integer(d, "count", data->blob_count);
    for (int i = 0; i < data->blob_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        draft_enter(d, number);
        const hsize_t row = data->blobs[i].row, bytes = data->blobs[i].bytes,
                      shape[2] = {row ? bytes / row : bytes, row};
        draft_text(d, "name", data->blobs[i].name);
        draft_integer(d, "row", (int64_t)row);
        if (bytes) draft_array(d, "data", STORE_BYTE, row ? 2 : 1, shape, data->blobs[i].data);
        draft_leave(d);
    }
    draft_leave(d);
}

/* Which frames this checkpoint counts: archive/trajectory.h. Where they are differs between equal runs: origin.c. */
static void write_trajectory(draft *d, const output_trajectory *t)
{
    if (!t->wanted) return;
    draft_enter(d, "trajectory");
    draft_label(d, "format", t->format == TRAJECTORY_OF_H5MD ? "h5md" : "gsd");
    draft_integer(d, "single", t->single);
    draft_integer(d, "frames", t->written);
    draft_number(d, "from", STORE_UINT64, &t->from);
    draft_number(d, "until", STORE_UINT64, &t->until);
    draft_leave(d);
}

/* Boxes as vectors, of all walkers if they change. */
static void write_boxes(draft *d, const output_data *data)
{
    const plugmc_box *own = &data->system->box, *boxes = own;
    hsize_t shape[3] = {1, 3, 3};
    if (own->domain != PLUGMC_DOMAIN_PERIODIC) return;
    for (int i = 0; i < data->blob_count; i++) {
        const blob *b = &data->blobs[i];
        if (strcmp(b->name, "run/boxes") || b->row != sizeof *boxes) continue;
        boxes = b->data;
        shape[0] = b->bytes / b->row;
    }
    double(*vectors)[3][3] = draft_new_array(d, "boxes", STORE_DOUBLE, 3, shape);
    for (hsize_t w = 0; vectors && w < shape[0]; w++)
        memcpy(vectors[w], boxes[w].vector, sizeof *vectors);
}

/* How many particles there may be of each species: positions stand in their order. */
static void write_species(draft *d, const plugmc_system *system)
{
    const hsize_t kinds = (hsize_t)system->species_count;
    int64_t *capacity = draft_new_array(d, "species", STORE_INT64, 1, &kinds);
    for (hsize_t k = 0; capacity && k < kinds; k++)
        capacity[k] = system->first[k + 1] - system->first[k];
}

static void write_state(draft *d, const output_data *data)
{
    static const int32_t one = 1;
    const plugmc_system *system = data->system;
    draft_enter(d, "checkpoint");
    draft_number(d, "equilibrate", STORE_UINT64, &data->equilibrate);
    draft_number(d, "sweep", STORE_UINT64, &data->sweep);
    draft_integer(d, "finished", data->finished);
    hsize_t shape[3] = {(hsize_t)system->walkers, (hsize_t)system->particles, 3};
    draft_array(d, "positions", STORE_DOUBLE, 3, shape, data->positions);
    write_species(d, system);
    write_boxes(d, data);
    if (data->joined) /* for programs that read results without the plugins */
        draft_array(d, "joined", STORE_INT32, 1, &(hsize_t){1}, &one);
    write_order(d, "quantities", data, data->quantity_count, path_of_quantity);
    write_order(d, "derived", data, data->derived_count, path_of_derived);
    write_order(d, "moves", data, data->move_count, path_of_move);
    write_blobs(d, data);
    write_trajectory(d, &data->trajectory);
    draft_leave(d);
}

static void write_volatile(draft *d, const output_data *data)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    draft_enter(d, "volatile");
    draft_real(d, "seconds", data->seconds);
    speed_write(d, &data->speed);
    draft_text(d, "written", date);
    draft_leave(d);
}

void checkpoint_write(draft *d, const output_data *data, const char *stamp, const char *trajectory)
{
    origin_write(d, data, stamp, trajectory);
    draft_enter(d, "plugmc");
    draft_integer(d, "format", CHECKPOINT_FORMAT);
    draft_enter(d, "observables");
    for (int i = 0; i < data->quantity_count; i++) write_quantity(d, &data->quantities[i], data);
    for (int i = 0; i < data->derived_count; i++) write_derived(d, &data->derived[i]);
    draft_leave(d);
    move_records_write(d, data);
    write_state(d, data);
    write_volatile(d, data);
    draft_leave(d);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static uint64_t read_natural(store *s, hid_t group, const char *name)
{
    uint64_t value = 0;
    store_get_attribute(s, group, name, STORE_UINT64, &value);
    return value;
}

static void read_scalar(store *s, hid_t group, quantity_record *q, int walkers)
{
    hsize_t shape[2];
    if (!store_has(s, group, "series")) return; /* no samples yet */
    q->series = store_get_array(s, group, "series", STORE_DOUBLE, 2, shape);
    if (s->failed) return;
    if (shape[1] > (hsize_t)walkers || shape[1] < 1)
        store_fail(s, "its series have another number of walkers");
    q->walkers = (int32_t)shape[1];
    q->samples = (int64_t)shape[0];
    q->capacity = (int64_t)(shape[0] * shape[1]);
}

static void read_array(store *s, hid_t group, quantity_record *q)
{
    hsize_t shape[2];
    block_average *average = &q->blocks;
    average->length = q->length;
    average->per_block = read_integer(s, group, "per_block");
    average->blocks = read_integer(s, group, "blocks");
    average->in_last = read_integer(s, group, "in_last");
    average->sums = store_get_array(s, group, "block_sums", STORE_DOUBLE, 2, shape);
    if (!s->failed && (shape[0] != CHECKPOINT_ROWS || shape[1] != (hsize_t)q->length ||
                       average->blocks < 0 || average->blocks >= CHECKPOINT_ROWS - 1 ||
                       average->per_block < 1 || average->per_block > INT64_MAX / CHECKPOINT_ROWS ||
                       average->in_last < 0 || average->in_last >= average->per_block))
        store_fail(s, "its block averages have a wrong shape");
    if (!s->failed) q->samples = average->per_block * average->blocks + average->in_last;
    axes_read(s, group, q->length, &q->axes);
}

static void read_quantity(store *s, hid_t group, quantity_record *q, int walkers)
{
    q->observable = store_get_label(s, group, "observable");
    q->name = store_get_label(s, group, "name");
    q->unit = store_get_label(s, group, "unit");
    q->doc = store_get_label(s, group, "doc");
    q->length = read_integer(s, group, "length");
    q->period = read_integer(s, group, "period");
    char *kind = store_get_label(s, group, "kind");
    q->weighs = kind && !strcmp(kind, "weight");
    free(kind);
    if (q->length == 1)
        read_scalar(s, group, q, walkers);
    else
        read_array(s, group, q);
}

static bool *read_marks(store *s, hid_t group, const axes *axes)
{
    const int64_t length = axes_length(axes);
    unsigned char *column = axes_read_array(s, group, "converged", STORE_BYTE, axes);
    bool *marks = s->failed ? NULL : malloc(((size_t)length + 1) * sizeof *marks);
    if (!s->failed && !marks) store_fail(s, "there is not enough memory to read it");
    for (int64_t i = 0; marks && i < length; i++) marks[i] = column[i] != 0;
    free(column);
    return marks;
}

static void read_derived(store *s, hid_t group, derived_record *d)
{
    d->observable = store_get_label(s, group, "observable");
    d->name = store_get_label(s, group, "name");
    d->unit = store_get_label(s, group, "unit");
    d->doc = store_get_label(s, group, "doc");
    d->valid = read_integer(s, group, "valid") != 0;
    if (!store_has(s, group, "value")) { /* a scalar: in attributes */
        d->value = read_real(s, group, "value");
        d->error = read_real(s, group, "error");
        d->converged = read_integer(s, group, "converged") != 0;
        return;
    }
    d->length = read_integer(s, group, "length");
    axes_read(s, group, d->length, &d->axes);
    d->values = axes_read_array(s, group, "value", STORE_DOUBLE, &d->axes);
    d->errors = axes_read_array(s, group, "error", STORE_DOUBLE, &d->axes);
    d->each_converged = read_marks(s, group, &d->axes);
}

/* What write_order wrote: each line is the path of a record. */
static void read_records(store *s, hid_t plugmc, output_data *data, bool derived)
{
    char *order =
        store_get_document(s, plugmc, derived ? "checkpoint/derived" : "checkpoint/quantities");
    int lines = 0;
    for (const char *c = order; c && *c; c++) lines += *c == '\n';
    void *records =
        calloc((size_t)lines + 1, derived ? sizeof *data->derived : sizeof *data->quantities);
    if (!records) store_short(s);
    if (derived)
        data->derived = records;
    else
        data->quantities = records;
    hid_t observables = store_enter(s, plugmc, "observables");
    char *rest = order;
    for (int i = 0; i < lines && !s->failed; i++) {
        hid_t group = store_enter(s, observables, strsep(&rest, "\n"));
        if (derived)
            read_derived(s, group, &data->derived[data->derived_count++]);
        else
            read_quantity(s, group, &data->quantities[data->quantity_count++], data->walkers);
        store_leave(s, group);
    }
    store_leave(s, observables);
    free(order);
}

static void read_blobs(store *s, hid_t checkpoint, output_data *data)
{
    hid_t group = store_enter(s, checkpoint, "plugins");
    int64_t count = read_integer(s, group, "count");
    if (!s->failed && (count < 0 || count > MOST_BLOBS))
        store_fail(s, "it has %lld states of plugins", (long long)count);
    blob *blobs = s->failed ? NULL : calloc((size_t)count + 1, sizeof *blobs);
    if (!blobs) store_short(s);
    data->blobs = blobs;
    for (int i = 0; i < count && !s->failed; i++) {
        char number[16];
        hsize_t shape[2] = {0, 1};
        snprintf(number, sizeof number, "%d", i);
        hid_t one = store_enter(s, group, number);
        blobs[i].name = store_get_document(s, one, "name");
        const int64_t row = read_integer(s, one, "row");
        if (store_has(s, one, "data"))
            blobs[i].data = store_get_array(s, one, "data", STORE_BYTE, row ? 2 : 1, shape);
        if (!s->failed && row && shape[0] && row != (int64_t)shape[1])
            store_fail(s, "'%s' has rows of %lld bytes, and should have %lld", blobs[i].name,
                       (long long)shape[1], (long long)row);
        blobs[i].bytes = shape[0] * shape[1];
        blobs[i].row = (size_t)row;
        data->blob_count = i + 1;
        store_leave(s, one);
    }
    store_leave(s, group);
}

static void read_state(store *s, hid_t group, output_data *data)
{
    hsize_t shape[3] = {0};
    data->equilibrate = read_natural(s, group, "equilibrate");
    data->sweep = read_natural(s, group, "sweep");
    data->finished = read_integer(s, group, "finished") != 0;
    data->joined = store_has(s, group, "joined");
    data->positions = store_get_array(s, group, "positions", STORE_DOUBLE, 3, shape);
    if (!s->failed && (shape[2] != 3 || shape[0] > INT32_MAX))
        store_fail(s, "its positions have a wrong shape");
    data->walkers = (int32_t)shape[0];
    data->particles = (int64_t)shape[1];
}

static void read_trajectory(store *s, hid_t checkpoint, output_trajectory *t)
{
    if (!store_has(s, checkpoint, "trajectory")) return;
    hid_t group = store_enter(s, checkpoint, "trajectory");
    char *format = store_get_label(s, group, "format");
    t->wanted = true;
    t->written = read_integer(s, group, "frames");
    t->single = read_integer(s, group, "single") != 0;
    t->from = read_natural(s, group, "from");
    t->until = read_natural(s, group, "until");
    if (!s->failed && t->written < 0) store_fail(s, "it counts %lld frames", (long long)t->written);
    if (!s->failed && strcmp(format, "gsd") && strcmp(format, "h5md"))
        store_fail(s, "its trajectory has a format '%.16s', which this plugmc does not know",
                   format);
    if (!s->failed) t->format = strcmp(format, "gsd") ? TRAJECTORY_OF_H5MD : TRAJECTORY_OF_GSD;
    free(format);
    store_leave(s, group);
}

/* Format 3 has the frames in the output file itself. */
static void read_inside(store *s, hid_t checkpoint, output_trajectory *t)
{
    static const char step[] = "particles/trajectory/position/step";
    hsize_t count = 0;
    t->written = read_integer(s, checkpoint, "frames");
    t->wanted = t->inside = t->written > 0;
    if (s->failed || !t->inside) return;
    int64_t *sweeps = store_get_array(s, s->file, step, STORE_INT64, 1, &count);
    if (!s->failed && count != (hsize_t)t->written)
        store_fail(s, "its trajectory has %llu frames, its checkpoint knows %lld",
                   (unsigned long long)count, (long long)t->written);
    if (!s->failed) t->from = (uint64_t)sweeps[0], t->until = (uint64_t)sweeps[count - 1];
    free(sweeps);
}

void checkpoint_read(store *s, output_data *data)
{
    if (!store_has(s, s->file, "plugmc/checkpoint")) {
        store_fail(s, "it has no checkpoint of plugmc");
        return;
    }
    hid_t plugmc = store_enter(s, s->file, "plugmc");
    const int64_t format = read_integer(s, plugmc, "format");
    if (!s->failed && format != CHECKPOINT_FORMAT && format != CHECKPOINT_FORMAT_WITH_FRAMES)
        store_fail(s, "its checkpoint has format %lld, this plugmc reads formats %d and %d",
                   (long long)format, CHECKPOINT_FORMAT_WITH_FRAMES, CHECKPOINT_FORMAT);
    hid_t checkpoint = store_enter(s, plugmc, "checkpoint");
    hid_t moment = store_enter(s, plugmc, "volatile");
    origin_read(s, data);
    read_state(s, checkpoint, data);
    read_records(s, plugmc, data, false);
    read_records(s, plugmc, data, true);
    move_records_read(s, plugmc, data);
    read_blobs(s, checkpoint, data);
    if (format == CHECKPOINT_FORMAT)
        read_trajectory(s, checkpoint, &data->trajectory);
    else
        read_inside(s, checkpoint, &data->trajectory);
    data->seconds = read_real(s, moment, "seconds");
    speed_read(s, moment, &data->speed);
    store_leave(s, moment);
    store_leave(s, checkpoint);
    store_leave(s, plugmc);
}
