/* See tables.h. summary.h5 is written by summary.c. */
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table_columns.h"
#include "files.h"
#include "summary.h"

/* ---- On a page ------------------------------------------------------------------------------- */

/* Cells of text, [rows][columns], each to be freed. The first row is the head. */
typedef struct page {
    char **cells;
    int64_t rows;
    int columns;
} page;

static void print_page(const page *p)
{
    int *width = checked(calloc((size_t)p->columns, sizeof *width));
    for (int64_t i = 0; i < p->rows * p->columns; i++) {
        const int length = (int)strlen(p->cells[i]);
        if (length > width[i % p->columns]) width[i % p->columns] = length;
    }
    for (int64_t row = 0; row < p->rows; row++)
        for (int c = 0; c < p->columns; c++) {
            const bool last = c + 1 == p->columns;
            printf("%-*s%s", last ? 0 : width[c], p->cells[row * p->columns + c],
                   last ? "\n" : "  ");
        }
    free(width);
}

static void free_page(page *p)
{
    for (int64_t i = 0; i < p->rows * p->columns; i++) free(p->cells[i]);
    free(p->cells);
}

static page make_page(int64_t rows, int columns)
{
    return (page){checked(calloc((size_t)(rows * columns), sizeof(char *))), rows, columns};
}

static char *text_of(const char *text) { return checked(strdup(text)); }

/* "9.1741(5)*": the error in units of the last digits, and a star where it is a lower bound. Beyond the
 * digits of a double, or before the point, both are written out. */
static char *cell_of(const result *r)
{
    enum { DIGITS = 15, SHOWN = 12 };
    char *text;
    if (!r) return text_of("-");
    const char *star = r->converged ? "" : "*";
    const int behind = r->error > 0 && isfinite(r->error) ? 1 - (int)floor(log10(r->error)) : -1;
    const int before = r->value != 0 ? (int)floor(log10(fabs(r->value))) : 0;
    if (!(r->error > 0) || !isfinite(r->error)) {
        if (asprintf(&text, "%.*g%s", SHOWN, r->value, star) < 0) checked(NULL);
    } else if (behind < 0 || behind > DIGITS || behind + before > DIGITS) {
        if (asprintf(&text, "%.*g+-%.2g%s", SHOWN, r->value, r->error, star) < 0) checked(NULL);
    } else if (asprintf(&text, "%.*f(%.0f)%s", behind, r->value, r->error * pow(10, behind), star) <
               0) {
        checked(NULL);
    }
    return text;
}

static int64_t count_unfinished(const study *s)
{
    int64_t count = 0;
    for (int64_t k = 0; k < s->point_count; k++) count += s->points[k].state != POINT_FINISHED;
    return count;
}

/* Keys, then results. */
static void print_table(const study *s, const table_columns *c)
{
    page p = make_page(s->point_count + 1, s->key_count + c->count);
    const int64_t unfinished = count_unfinished(s);
    bool stars = false;
    for (int i = 0; i < s->key_count; i++) p.cells[i] = text_of(s->keys[i].name);
    for (int i = 0; i < c->count; i++) p.cells[s->key_count + i] = text_of(c->names[i]);
    for (int64_t k = 0; k < s->point_count; k++) {
        char **row = p.cells + (k + 1) * p.columns;
        for (int i = 0; i < s->key_count; i++) row[i] = text_of(study_value(s, k, &s->keys[i]));
        for (int i = 0; i < c->count; i++) {
            const result *r = c->cells[k * c->count + i];
            row[s->key_count + i] = cell_of(r);
            stars |= r && !r->converged;
        }
    }
    if (unfinished)
        printf("UNFINISHED: %" PRId64 " of %" PRId64 " points\n", unfinished, s->point_count);
    print_page(&p);
    if (stars) printf("* the run is too short for this error bar: it is a lower bound\n");
    free_page(&p);
}

void tables_list(const study *s)
{
    page p = make_page(s->point_count + 1, 3 + s->key_count);
    p.cells[0] = text_of("point"), p.cells[1] = text_of("state"), p.cells[2] = text_of("sweeps");
    for (int i = 0; i < s->key_count; i++) p.cells[3 + i] = text_of(s->keys[i].name);
    for (int64_t k = 0; k < s->point_count; k++) {
        const point *point = &s->points[k];
        char **row = p.cells + (k + 1) * p.columns;
        if (asprintf(&row[0], "%" PRId64, k) < 0) checked(NULL);
        if (asprintf(&row[2], "%llu/%llu", point->sweep, point->sweeps) < 0) checked(NULL);
        row[1] = text_of(table_state(point->state));
        for (int i = 0; i < s->key_count; i++) row[3 + i] = text_of(study_value(s, k, &s->keys[i]));
    }
    print_page(&p);
    free_page(&p);
    for (int64_t k = 0; k < s->point_count; k++) {
        const point *point = &s->points[k];
        char *log = study_file(s, k, "log");
        if (point->state == POINT_FAILED)
            printf("point %" PRId64 " failed: %s, see %s\n", k,
                   point->sentence ? point->sentence : "it has said nothing", log);
        free(log);
    }
}

/* ---- As CSV ---------------------------------------------------------------------------------- */

static void write_text(FILE *out, const char *text, const char *end)
{
    if (!strpbrk(text, ",\"\n")) {
        fprintf(out, "%s%s", text, end);
        return;
    }
    fputc('"', out);
    for (; *text; text++) fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fprintf(out, "%s\"", end);
}

/* Of each quantity three columns: value, error, and a star where that is a lower bound. */
static char *csv_of(const study *s, const table_columns *c)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    fputs("point,state", out);
    for (int i = 0; i < s->key_count; i++) {
        fputc(',', out);
        write_text(out, s->keys[i].name, "");
    }
    for (int i = 0; i < c->count; i++)
        for (int part = 0; part < 3; part++) {
            static const char *const ends[] = {"", " error", " star"};
            fputc(',', out);
            write_text(out, c->names[i], ends[part]);
        }
    fputc('\n', out);
    for (int64_t k = 0; k < s->point_count; k++) {
        fprintf(out, "%" PRId64 ",%s", k, table_state(s->points[k].state));
        for (int i = 0; i < s->key_count; i++) {
            fputc(',', out);
            write_text(out, study_value(s, k, &s->keys[i]), "");
        }
        for (int i = 0; i < c->count; i++) {
            const result *r = c->cells[k * c->count + i];
            if (r)
                fprintf(out, ",%.17g,%.17g,%s", r->value, r->error, r->converged ? "" : "*");
            else
                fputs(",,,", out);
        }
        fputc('\n', out);
    }
    fclose(out);
    return checked(text);
}

/* ---- All of them ----------------------------------------------------------------------------- */

int tables_make(const study *s, report *r)
{
    char why[FILES_WHY], *csv = study_file(s, -1, "summary.csv"),
                         *hdf5 = study_file(s, -1, "summary.h5");
    table_columns c = table_columns_find(s);
    char *text = csv_of(s, &c);
    print_table(s, &c);
    int code = files_make_folder(s->folder, why);
    if (code) report_error(r, code, NULL, 0, "cannot make %s: %s", s->folder, why);
    const bool folder = !code;
    if (folder && (code = files_write_text(csv, text, why)))
        report_error(r, code, NULL, 0, "cannot write %s: %s", csv, why);
    int second = folder ? summary_write(hdf5, s, &c, why) : 0;
    if (second) report_error(r, second, NULL, 0, "cannot write %s: %s", hdf5, why);
    if (!code && !second) printf("%s\n%s\n", csv, hdf5);
    table_columns_free(&c);
    free(text), free(csv), free(hdf5);
    return code ? code : second;
}
