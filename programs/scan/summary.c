/* See summary.h. */
#include "summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/draft.h"
#include "archive/lock.h"
#include "archive/replacement.h"

typedef const char *text_of_point(const study *, int64_t, const scanned_key *);

static const char *state_of(const study *s, int64_t k, const scanned_key *unused)
{
    (void)unused;
    return table_state(s->points[k].state);
}

static void write_words(draft *out, const char *name, const study *s, const scanned_key *key,
                        text_of_point *text)
{
    size_t width = 1;
    for (int64_t k = 0; k < s->point_count; k++) {
        const size_t length = strlen(text(s, k, key)) + 1;
        if (length > width) width = length;
    }
    char *texts = checked(calloc((size_t)s->point_count, width));
    for (int64_t k = 0; k < s->point_count; k++) strcpy(texts + (size_t)k * width, text(s, k, key));
    draft_texts(out, name, s->point_count, width, texts);
    free(texts);
}

/* One number a point. */
static void *new_column(draft *out, const char *name, enum store_type type, const study *s)
{
    return checked(draft_new_array(out, name, type, 1, &(hsize_t){(hsize_t)s->point_count}));
}

/* Of the array that was written last. */
static void write_unit(draft *out, const char *array, const char *unit)
{
    draft_enter(out, array);
    draft_label(out, "unit", unit);
    draft_leave(out);
}

static void write_keys(draft *out, const study *s)
{
    draft_enter(out, "keys");
    for (int i = 0; i < s->key_count; i++) {
        const scanned_key *key = &s->keys[i];
        double *numbers = table_numbers(s, key);
        if (numbers)
            memcpy(new_column(out, key->name, STORE_DOUBLE, s), numbers,
                   (size_t)s->point_count * sizeof *numbers);
        else
            write_words(out, key->name, s, key, study_value);
        free(numbers);
        write_unit(out, key->name, key->unit);
    }
    draft_leave(out);
}

/* Which numbers of the results a group has. */
enum of_results { VALUES, ERRORS, BOUNDS };

static void write_columns(draft *out, const study *s, const table_columns *c, enum of_results which)
{
    static const char *const names[] = {"values", "errors", "lower_bounds"};
    draft_enter(out, names[which]);
    for (int i = 0; i < c->count; i++) {
        void *column =
            new_column(out, c->names[i], which == BOUNDS ? STORE_INT32 : STORE_DOUBLE, s);
        for (int64_t k = 0; k < s->point_count; k++) {
            const result *r = c->cells[k * c->count + i];
            if (which == BOUNDS)
                ((int32_t *)column)[k] = r && !r->converged;
            else
                ((double *)column)[k] = !r ? NAN : which == VALUES ? r->value : r->error;
        }
        if (which == VALUES) write_unit(out, c->names[i], c->units[i]);
    }
    draft_leave(out);
}

/* Of points, in the mean over the twists. */
static void write_weights(draft *out, const study *s)
{
    double *weights = new_column(out, "weight", STORE_DOUBLE, s);
    for (int64_t k = 0; k < s->point_count; k++)
        weights[k] = s->twists.weights[k % s->twists.count] / s->twists.sum_of_weights;
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

static void write_all(draft *out, const study *s, const table_columns *c)
{
    int64_t *numbers = new_column(out, "point", STORE_INT64, s);
    for (int64_t k = 0; k < s->point_count; k++) numbers[k] = k;
    write_words(out, "state", s, NULL, state_of);
    write_keys(out, s);
    if (s->twists.count) write_weights(out, s);
    for (int which = VALUES; which <= BOUNDS; which++) write_columns(out, s, c, which);
    char *text = study_as_text(s);
    draft_text(out, "study", text);
    free(text);
}

int summary_write(const char *path, const study *s, const table_columns *c, char why[FILES_WHY])
{
    replacement file;
    draft out = {0};
    outcome end;
    char identity[IDENTITY_SIZE];
    identity_make(identity);
    int code = replacement_begin(&file, path, identity, REPLACES_ANY);
    if (!code) {
        write_all(&out, s, c);
        draft_write(&out, file.fd, -1, &end);
        if (end.failed) {
            snprintf(why, FILES_WHY, "%.1000s", end.reason);
            replacement_abandon(&file);
            return end.memory_short ? EXIT_MEMORY : EXIT_OUTPUT;
        }
        code = replacement_finish(&file);
    }
    if (!code) return EXIT_DONE;
    snprintf(why, FILES_WHY, "%s", replacement_words(code));
    return code == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}
