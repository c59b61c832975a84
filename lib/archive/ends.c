/* The last rows of what grows. A write that appends reads the chunks that these rows are in, whose checksums it
 * compares: where one is damaged nothing can be added. */
#include <stdlib.h>
#include <string.h>

#include "archive/parts.h"

/* Of an array of one dimension. */
static void read_last_number(store *s, hid_t group, const char *name, int64_t rows)
{
    hsize_t count;
    if (rows > 0 && store_has(s, group, name))
        free(store_get_rows(s, group, name, STORE_DOUBLE, 1, (hsize_t)rows - 1, 1, &count));
}

/* Of an array whose rows are arrays. */
static void read_last_row(store *s, hid_t group, const char *name)
{
    int rank;
    hsize_t shape[2];
    if (!store_has(s, group, name)) return;
    hid_t array = store_open_array(s, group, name);
    const int64_t rows = store_count_rows(s, array);
    if (rows > 0) free(store_get_row(s, array, name, STORE_DOUBLE, rows - 1, &rank, shape));
    store_leave_array(s, array);
}

static void read_series(store *s, const output_data *data)
{
    hid_t observables = store_enter(s, s->file, "plugmc/observables");
    for (int i = 0; i < data->quantity_count && !s->failed; i++) {
        const quantity_record *q = &data->quantities[i];
        if (q->length != 1) continue;
        char *path = record_path(q->observable, q->name);
        if (!path) store_short(s);
        hid_t group = path ? store_enter(s, observables, path) : -1;
        if (group >= 0) read_last_number(s, group, "sweep", q->samples);
        store_leave(s, group);
        free(path);
    }
    store_leave(s, observables);
}

static void read_frames(store *s, const output_data *data, int walker)
{
    char name[48] = "particles/trajectory";
    /* the last ones where numbers of particles change */
    static const char *const numbers[] = {"position/step", "position/time", "count/value"},
                             *const rows[] = {"position/value", "box/edges/value", "id/value",
                                              "species/value"};
    if (walker) snprintf(name, sizeof name, "particles/trajectory_%d", walker);
    hid_t group = store_enter(s, s->file, name);
    const bool changes = store_has(s, group, "count");
    for (int k = 0; k < (changes ? 3 : 2) && !s->failed; k++)
        read_last_number(s, group, numbers[k], data->trajectory.written);
    for (int k = 0; k < (changes ? 4 : 2) && !s->failed; k++) read_last_row(s, group, rows[k]);
    store_leave(s, group);
}

void ends_read(store *s, const output_data *data)
{
    read_series(s, data);
    for (int w = 0; w < data->walkers && data->trajectory.written && !s->failed; w++)
        read_frames(s, data, w);
}

void ends_find_frames(store *s, output_data *data)
{
    static const char step[] = "particles/trajectory/position/step";
    enum { AT_ONCE = 1024 }; /* finding an array costs more than reading so many numbers */
    const int64_t n = data->trajectory.written, rows = n <= AT_ONCE ? n : 1;
    int64_t found[2] = {0};
    hsize_t count;
    if (s->failed || n < 1 || !store_has(s, s->file, step)) return;
    for (int k = 0; k < (rows == n ? 1 : 2); k++) {
        int64_t *sweep = store_get_rows(s, s->file, step, STORE_INT64, 1, (hsize_t)(k ? n - 1 : 0),
                                        (hsize_t)rows, &count);
        if (sweep && !k) found[0] = sweep[0];
        if (sweep) found[1] = sweep[rows - 1];
        free(sweep);
    }
    data->trajectory.from = (uint64_t)found[0];
    data->trajectory.until = (uint64_t)found[1];
}
