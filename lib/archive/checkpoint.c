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
 *     checkpoint                  sweep, finished, positions, what plugins archive, the order of
 *                                 observables and moves; checksum; joined, where walkers hang together
 *     volatile                    wall time and date: what differs between equal runs; pace.c
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

hid_t record_group(store *s, hid_t parent, const char *what, const char *label, const char *name)
{
    char *path = record_path(label, name), *slash = path ? strchr(path, '/') : NULL;
    if (!path) {
        store_short(s);
        return -1;
    }
    *slash = '\0';
    hid_t outer = store_group(s, parent, path), inner = store_group(s, outer, slash + 1);
    store_leave(s, outer);
    free(path);
    store_label(s, inner, what, label);
    store_label(s, inner, "name", name);
    return inner;
}

static void write_real(store *s, hid_t group, const char *name, double value)
{
    store_attribute(s, group, name, STORE_DOUBLE, &value);
}

static void write_integer(store *s, hid_t group, const char *name, int64_t value)
{
    store_attribute(s, group, name, STORE_INT64, &value);
}

static void write_sweeps(store *s, hid_t group, const quantity_record *q, uint64_t equilibrate,
                         int64_t first)
{
    int64_t count = q->samples - first, *sweep = malloc((size_t)(count + 1) * sizeof *sweep);
    if (!sweep) {
        store_short(s);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        sweep[k] = (int64_t)equilibrate + (first + k + 1) * q->period;
    hsize_t shape[1] = {(hsize_t)q->samples};
    hid_t array = store_grow(s, group, "sweep", STORE_INT64, 1, shape, (hsize_t)first);
    store_rows(s, array, STORE_INT64, (hsize_t)first, (hsize_t)count, sweep);
    store_leave_array(s, array);
    free(sweep);
}

static void write_series(store *s, hid_t group, const quantity_record *q, int walkers,
                         int64_t first)
{
    hsize_t shape[2] = {(hsize_t)q->samples, (hsize_t)walkers};
    hid_t array = store_grow(s, group, "series", STORE_DOUBLE, 2, shape, (hsize_t)first);
    store_rows(s, array, STORE_DOUBLE, (hsize_t)first, (hsize_t)(q->samples - first),
               q->series + first * walkers);
    store_leave_array(s, array);
}

static void write_autocorrelation(store *s, hid_t group, const quantity_record *q)
{
    const autocorrelation *a = &q->found.correlation;
    double *sweeps = malloc(((size_t)a->count + 1) * sizeof *sweeps);
    if (!sweeps) store_short(s);
    if (a->count && sweeps) {
        const hsize_t count = (hsize_t)a->count;
        for (int64_t i = 0; i < a->count; i++) sweeps[i] = (double)(a->lag[i] * q->period);
        store_array(s, group, "autocorrelation", STORE_DOUBLE, 1, &count, a->value);
        store_array(s, group, "autocorrelation_lag", STORE_DOUBLE, 1, &count, sweeps);
    }
    free(sweeps);
}

static void write_scalar(store *s, hid_t group, const quantity_record *q, int walkers,
                         uint64_t equilibrate, int64_t first)
{
    if (q->samples > 0) { /* arrays without elements are not comparable, says h5diff */
        write_series(s, group, q, walkers, first);
        write_sweeps(s, group, q, equilibrate, first);
    }
    const estimate *e = &q->found.scalar;
    store_label(s, group, "kind", q->weighs ? "weight" : "scalar");
    write_real(s, group, "mean", e->mean);
    write_real(s, group, "error", e->error);
    write_real(s, group, "variance", e->variance);
    write_real(s, group, "correlation_time", e->correlation_time);
    write_real(s, group, "correlation_time_sweeps", e->correlation_time * (double)q->period);
    write_integer(s, group, "correlation_time_is_upper_bound", e->correlation_time <= 0.5);
    write_integer(s, group, "walkers_that_stand_still", q->found.still);
    write_real(s, group, "difference_of_halves", q->found.halves);
    write_integer(s, group, "samples", q->samples);
    write_integer(s, group, "converged", e->converged);
    write_autocorrelation(s, group, q);
}

static void write_array(store *s, hid_t group, const quantity_record *q)
{
    hsize_t length = (hsize_t)q->length;
    store_label(s, group, "kind", "array");
    axes_write(s, group, &q->axes);
    axes_write_array(s, group, "mean", STORE_DOUBLE, &q->axes, q->found.means);
    axes_write_array(s, group, "error", STORE_DOUBLE, &q->axes, q->found.errors);
    axes_write_array(s, group, "converged", STORE_BYTE, &q->axes, q->found.each_converged);
    store_array(s, group, "block_sums", STORE_DOUBLE, 2, (hsize_t[]){CHECKPOINT_ROWS, length},
                q->blocks.sums);
    write_integer(s, group, "per_block", q->blocks.per_block);
    write_integer(s, group, "blocks", q->blocks.blocks);
    write_integer(s, group, "in_last", q->blocks.in_last);
    write_integer(s, group, "samples", q->blocks.per_block * q->blocks.blocks + q->blocks.in_last);
}

static void write_quantity(store *s, hid_t observables, const quantity_record *q,
                           const output_data *data, bool fresh)
{
    hid_t group = record_group(s, observables, "observable", q->observable, q->name);
    store_label(s, group, "unit", q->unit);
    store_label(s, group, "doc", q->doc);
    write_integer(s, group, "length", q->length);
    write_integer(s, group, "period", q->period);
    if (q->length == 1)
        write_scalar(s, group, q, q->walkers, data->equilibrate, fresh ? 0 : q->written);
    else
        write_array(s, group, q);
    store_leave(s, group);
}

static void write_derived(store *s, hid_t observables, const derived_record *d)
{
    hid_t group = record_group(s, observables, "observable", d->observable, d->name);
    store_label(s, group, "kind", d->length > 1 ? "derived_array" : "derived");
    store_label(s, group, "unit", d->unit);
    store_label(s, group, "doc", d->doc);
    write_integer(s, group, "valid", d->valid);
    if (d->length > 1) {
        write_integer(s, group, "length", d->length);
        axes_write(s, group, &d->axes);
        axes_write_array(s, group, "value", STORE_DOUBLE, &d->axes, d->values);
        axes_write_array(s, group, "error", STORE_DOUBLE, &d->axes, d->errors);
        axes_write_array(s, group, "converged", STORE_BYTE, &d->axes, d->each_converged);
    } else {
        write_real(s, group, "value", d->value);
        write_real(s, group, "error", d->error);
        write_integer(s, group, "converged", d->converged);
    }
    store_leave(s, group);
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
static void write_order(store *s, hid_t checkpoint, const char *name, const output_data *data,
                        int count, char *(*path_of)(const output_data *, int))
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    for (int i = 0; out && i < count; i++) {
        char *path = path_of(data, i);
        if (!path) store_short(s);
        fprintf(out, "%s\n", path ? path : "");
        free(path);
    }
    if (!out || fclose(out))
        store_short(s);
    else
        store_document(s, checkpoint, name, text);
    free(text);
}

static void write_blobs(store *s, hid_t checkpoint, const output_data *data)
{
    hid_t group = store_group(s, checkpoint, "plugins");
    write_integer(s, group, "count", data->blob_count);
    for (int i = 0; i < data->blob_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        hid_t one = store_group(s, group, number);
        const hsize_t row = data->blobs[i].row, bytes = data->blobs[i].bytes,
                      shape[2] = {row ? bytes / row : bytes, row};
        store_document(s, one, "name", data->blobs[i].name);
        write_integer(s, one, "row", (int64_t)row);
        if (bytes)
            store_array(s, one, "data", STORE_BYTE, row ? 2 : 1, shape, data->blobs[i].data);
        else
            store_remove(s, one, "data");
        store_leave(s, one);
    }
    store_leave(s, group);
}

static void write_state(store *s, hid_t plugmc, const output_data *data, int64_t frames,
                        uint64_t sum)
{
    const plugmc_system *system = data->system;
    hid_t group = store_group(s, plugmc, "checkpoint");
    store_attribute(s, group, "equilibrate", STORE_UINT64, &data->equilibrate);
    store_attribute(s, group, "sweep", STORE_UINT64, &data->sweep);
    write_integer(s, group, "finished", data->finished);
    write_integer(s, group, "frames", frames);
    store_attribute(s, group, "checksum", STORE_UINT64, &sum);
    hsize_t shape[3] = {(hsize_t)system->walkers, (hsize_t)system->particles, 3};
    store_array(s, group, "positions", STORE_DOUBLE, 3, shape, data->positions);
    if (data->joined) /* for programs that read results without the plugins */
        store_array(s, group, "joined", STORE_INT32, 1, &(hsize_t){1}, &(int32_t){1});
    write_order(s, group, "quantities", data, data->quantity_count, path_of_quantity);
    write_order(s, group, "derived", data, data->derived_count, path_of_derived);
    write_order(s, group, "moves", data, data->move_count, path_of_move);
    write_blobs(s, group, data);
    store_leave(s, group);
}

static void write_volatile(store *s, hid_t plugmc, const output_data *data, const char *stamp,
                           uint64_t sum)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    hid_t group = store_group(s, plugmc, "volatile");
    sum = checkpoint_volatile_checksum(sum, data, stamp);
    write_real(s, group, "seconds", data->seconds);
    pace_write(s, group, &data->pace);
    store_attribute(s, group, "checksum", STORE_UINT64, &sum);
    store_document(s, group, "written", date);
    store_leave(s, group);
}

void checkpoint_write(store *s, const output_data *data, const char *stamp, bool fresh,
                      int64_t frames)
{
    uint64_t sum =
        checkpoint_checksum(data, data->system->walkers, data->system->particles, frames);
    origin_write(s, data, stamp);
    hid_t plugmc = store_group(s, s->file, "plugmc");
    write_integer(s, plugmc, "format", CHECKPOINT_FORMAT);
    hid_t observables = store_group(s, plugmc, "observables");
    for (int i = 0; i < data->quantity_count; i++)
        write_quantity(s, observables, &data->quantities[i], data, fresh);
    for (int i = 0; i < data->derived_count; i++) write_derived(s, observables, &data->derived[i]);
    store_leave(s, observables);
    move_records_write(s, plugmc, data);
    write_state(s, plugmc, data, frames, sum);
    write_volatile(s, plugmc, data, stamp, sum);
    store_leave(s, plugmc);
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
    q->samples = q->written = (int64_t)shape[0];
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
    data->trajectory.written = read_integer(s, group, "frames");
    data->joined = store_has(s, group, "joined");
    data->positions = store_get_array(s, group, "positions", STORE_DOUBLE, 3, shape);
    if (!s->failed && (shape[2] != 3 || shape[0] > INT32_MAX))
        store_fail(s, "its positions have a wrong shape");
    data->walkers = (int32_t)shape[0];
    data->particles = (int64_t)shape[1];
}

void checkpoint_read(store *s, output_data *data)
{
    if (!store_has(s, s->file, "plugmc/checkpoint")) {
        store_fail(s, "it has no checkpoint of plugmc");
        return;
    }
    hid_t plugmc = store_enter(s, s->file, "plugmc");
    int64_t format = read_integer(s, plugmc, "format");
    if (!s->failed && format != CHECKPOINT_FORMAT)
        store_fail(s, "its checkpoint has format %lld, this plugmc reads format %d",
                   (long long)format, CHECKPOINT_FORMAT);
    hid_t checkpoint = store_enter(s, plugmc, "checkpoint");
    hid_t moment = store_enter(s, plugmc, "volatile");
    origin_read(s, data);
    read_state(s, checkpoint, data);
    read_records(s, plugmc, data, false);
    read_records(s, plugmc, data, true);
    move_records_read(s, plugmc, data);
    read_blobs(s, checkpoint, data);
    ends_find_frames(s, data);
    data->seconds = read_real(s, moment, "seconds");
    pace_read(s, moment, &data->pace);
    uint64_t expected = read_natural(s, checkpoint, "checksum");
    uint64_t expected_volatile = read_natural(s, moment, "checksum");
    if (!s->failed) {
        uint64_t sum =
            checkpoint_checksum(data, data->walkers, data->particles, data->trajectory.written);
        if (sum != expected ||
            checkpoint_volatile_checksum(sum, data, data->file.stamp) != expected_volatile)
            store_fail(s, "it is damaged: its checkpoint does not have the checksum that it had");
    }
    store_leave(s, moment);
    store_leave(s, checkpoint);
    store_leave(s, plugmc);
}
