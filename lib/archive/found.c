/* How far a run has come and what it has found, from the attributes that it has written: for lists and tables of many
 * files. Series, arrays and states are not read, which takes most of the time. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/parts.h"

static void read_quantity(store *s, hid_t group, output_data *data)
{
    if (read_integer(s, group, "length") != 1) return;
    quantity_record *q = &data->quantities[data->quantity_count++];
    estimate *e = &q->found.scalar;
    q->observable = store_get_label(s, group, "observable");
    q->name = store_get_label(s, group, "name");
    q->unit = store_get_label(s, group, "unit");
    q->length = 1;
    q->period = read_integer(s, group, "period");
    q->samples = read_integer(s, group, "samples");
    e->mean = read_real(s, group, "mean");
    e->error = read_real(s, group, "error");
    e->correlation_time = read_real(s, group, "correlation_time");
    e->converged = read_integer(s, group, "converged") != 0;
}

static void read_derived(store *s, hid_t group, output_data *data)
{
    char *kind = store_get_label(s, group, "kind");
    const bool scalar = kind && !strcmp(kind, "derived");
    free(kind);
    if (!scalar) return;
    derived_record *d = &data->derived[data->derived_count++];
    d->observable = store_get_label(s, group, "observable");
    d->name = store_get_label(s, group, "name");
    d->unit = store_get_label(s, group, "unit");
    d->length = 1;
    d->valid = read_integer(s, group, "valid") != 0;
    d->value = read_real(s, group, "value");
    d->error = read_real(s, group, "error");
    d->converged = read_integer(s, group, "converged") != 0;
}

/* Each line of the document `order` is the path of a record. */
static void read_records(store *s, hid_t plugmc, output_data *data, bool derived)
{
    char *paths = store_get_document(s, plugmc,
                                     derived ? "checkpoint/derived" : "checkpoint/quantities"),
         *rest = paths;
    size_t lines = 0;
    for (const char *c = paths; c && *c; c++) lines += *c == '\n';
    void *records = calloc(lines + 1, derived ? sizeof *data->derived : sizeof *data->quantities);
    if (!records) store_short(s);
    if (derived)
        data->derived = records;
    else
        data->quantities = records;
    hid_t observables = store_enter(s, plugmc, "observables");
    for (size_t i = 0; i < lines && !s->failed; i++) {
        hid_t group = store_enter(s, observables, strsep(&rest, "\n"));
        if (!s->failed && derived) read_derived(s, group, data);
        if (!s->failed && !derived) read_quantity(s, group, data);
        store_leave(s, group);
    }
    store_leave(s, observables);
    free(paths);
}

static void read_origin(store *s, output_data *data)
{
    hid_t group = store_enter(s, s->file, "parameters");
    data->origin.effective_ini = store_get_document(s, group, "effective_ini");
    if (store_has(s, group, "history"))
        data->origin.history = store_get_document(s, group, "history");
    else
        data->origin.provenance = store_get_document(s, group, "provenance");
    store_leave(s, group);
}

static void read_all(store *s, output_data *data, bool numbers)
{
    hid_t plugmc = store_enter(s, s->file, "plugmc");
    const int64_t format = read_integer(s, plugmc, "format");
    if (!s->failed && format != CHECKPOINT_FORMAT && format != CHECKPOINT_FORMAT_WITH_FRAMES)
        store_fail(s, "its checkpoint has another format");
    hid_t checkpoint = store_enter(s, plugmc, "checkpoint");
    store_get_attribute(s, checkpoint, "sweep", STORE_UINT64, &data->sweep);
    data->finished = read_integer(s, checkpoint, "finished") != 0;
    store_leave(s, checkpoint);
    read_origin(s, data);
    if (numbers) read_records(s, plugmc, data, false);
    if (numbers) read_records(s, plugmc, data, true);
    store_leave(s, plugmc);
}

int output_read_found(const char *path, bool numbers, output_data *data)
{
    store s;
    *data = (output_data){0};
    const int fd = store_open_path(&s, path);
    if (!s.failed) read_all(&s, data, numbers);
    const int failed = store_close(&s);
    if (fd >= 0) close(fd);
    if (failed) output_free(data);
    return failed ? EXIT_CHECKPOINT : EXIT_DONE;
}
