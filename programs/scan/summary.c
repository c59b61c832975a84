/* See summary.h. */
#include "summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/lock.h"
#include "archive/replacement.h"
#include "archive/store.h"

/* Texts of one width, [count][width]. */
static void write_texts(store *s, hid_t parent, const char *name, int64_t count, size_t width,
                        const char *texts)
{
    const hsize_t length = (hsize_t)count;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &length, NULL);
    store_good(s, H5Tset_size(type, width));
    store_good(s, H5Tset_cset(type, H5T_CSET_UTF8));
    const hid_t set =
        s->failed ? -1
                  : H5Dcreate2(parent, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (store_good(s, set))
        store_good(s, H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts));
    if (set >= 0) store_good(s, H5Dclose(set));
    H5Sclose(space);
    H5Tclose(type);
}

typedef const char *text_of_point(const study *, int64_t, const scanned_key *);

static const char *state_of(const study *s, int64_t k, const scanned_key *unused)
{
    (void)unused;
    return table_state(s->points[k].state);
}

static void write_words(store *out, hid_t parent, const char *name, const study *s,
                        const scanned_key *key, text_of_point *text)
{
    size_t width = 1;
    for (int64_t k = 0; k < s->point_count; k++) {
        const size_t length = strlen(text(s, k, key)) + 1;
        if (length > width) width = length;
    }
    char *texts = checked(calloc((size_t)s->point_count, width));
    for (int64_t k = 0; k < s->point_count; k++) strcpy(texts + (size_t)k * width, text(s, k, key));
    write_texts(out, parent, name, s->point_count, width, texts);
    free(texts);
}

static void write_keys(store *out, const study *s)
{
    const hsize_t length = (hsize_t)s->point_count;
    const hid_t group = store_group(out, out->file, "keys");
    for (int i = 0; i < s->key_count; i++) {
        const scanned_key *key = &s->keys[i];
        double *numbers = table_numbers(s, key);
        if (numbers)
            store_array(out, group, key->name, STORE_DOUBLE, 1, &length, numbers);
        else
            write_words(out, group, key->name, s, key, study_value);
        free(numbers);
        const hid_t set = store_open_array(out, group, key->name);
        store_label(out, set, "unit", key->unit ? key->unit : "");
        store_leave_array(out, set);
    }
    store_leave(out, group);
}

static void write_columns(store *out, const study *s, const table_columns *c)
{
    const hsize_t length = (hsize_t)s->point_count;
    const hid_t values = store_group(out, out->file, "values"),
                errors = store_group(out, out->file, "errors"),
                bounds = store_group(out, out->file, "lower_bounds");
    double *value = checked(calloc((size_t)length, sizeof *value)),
           *error = checked(calloc((size_t)length, sizeof *error));
    int32_t *bound = checked(calloc((size_t)length, sizeof *bound));
    for (int i = 0; i < c->count; i++) {
        for (int64_t k = 0; k < s->point_count; k++) {
            const result *r = c->cells[k * c->count + i];
            value[k] = r ? r->value : NAN;
            error[k] = r ? r->error : NAN;
            bound[k] = r && !r->converged;
        }
        store_array(out, values, c->names[i], STORE_DOUBLE, 1, &length, value);
        store_array(out, errors, c->names[i], STORE_DOUBLE, 1, &length, error);
        store_array(out, bounds, c->names[i], STORE_INT32, 1, &length, bound);
        const hid_t set = store_open_array(out, values, c->names[i]);
        store_label(out, set, "unit", c->units[i]);
        store_leave_array(out, set);
    }
    free(value), free(error), free(bound);
    store_leave(out, values);
    store_leave(out, errors);
    store_leave(out, bounds);
}

/* Of points, in the mean over the twists. */
static void write_weights(store *out, const study *s)
{
    const hsize_t length = (hsize_t)s->point_count;
    double *weights = checked(calloc((size_t)length, sizeof *weights));
    for (int64_t k = 0; k < s->point_count; k++)
        weights[k] = s->twists.weights[k % s->twists.count] / s->twists.sum_of_weights;
    store_array(out, out->file, "weight", STORE_DOUBLE, 1, &length, weights);
    free(weights);
}

/* The INI file that all points have in common, then [scan] and [twists]. */
static char *study_as_text(const study *s)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i <= s->ini.count + (s->twists.count > 0); i++) {
        const ini_section *section = i < s->ini.count    ? &s->ini.sections[i]
                                     : i == s->ini.count ? &s->scan
                                                         : &s->twist_section;
        fprintf(out, "%s[%s]\n", i ? "\n" : "", section->name);
        for (int k = 0; k < section->count; k++)
            fprintf(out, "%s = %s\n", section->entries[k].key, section->entries[k].value);
    }
    fclose(out);
    return checked(text);
}

static void write_all(store *out, const study *s, const table_columns *c)
{
    const hsize_t length = (hsize_t)s->point_count;
    int64_t *numbers = checked(calloc((size_t)length, sizeof *numbers));
    for (int64_t k = 0; k < s->point_count; k++) numbers[k] = k;
    store_array(out, out->file, "point", STORE_INT64, 1, &length, numbers);
    write_words(out, out->file, "state", s, NULL, state_of);
    write_keys(out, s);
    if (s->twists.count) write_weights(out, s);
    write_columns(out, s, c);
    char *text = study_as_text(s);
    store_document(out, out->file, "study", text);
    free(text), free(numbers);
}

int summary_write(const char *path, const study *s, const table_columns *c, char why[FILES_WHY])
{
    replacement file;
    store out;
    char identity[IDENTITY_SIZE];
    identity_make(identity);
    int code = replacement_begin(&file, path, identity, REPLACES_ANY);
    if (!code) {
        store_guard_hdf5();
        store_open(&out, file.fd, STORE_FRESH);
        if (!out.failed) write_all(&out, s, c);
        if (store_close(&out)) {
            snprintf(why, FILES_WHY, "%.1000s", out.reason);
            replacement_abandon(&file);
            return out.memory_short ? EXIT_MEMORY : EXIT_OUTPUT;
        }
        code = replacement_finish(&file);
    }
    if (!code) return EXIT_DONE;
    snprintf(why, FILES_WHY, "%s", replacement_words(code));
    return code == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}
