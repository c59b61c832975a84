/* See tables.h. summary.h5 is written by summary.c. */
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table_columns.h"
#include "files.h"
#include "archive/cell.h"
#include "page.h"
#include "summary.h"
#include "twist_table.h"

/* ---- On a page ------------------------------------------------------------------------------- */

static int64_t count_unfinished(const study *s)
{
    int64_t count = 0;
    for (int64_t k = 0; k < s->point_count; k++) count += s->points[k].state != POINT_FINISHED;
    return count;
}

/* Keys, then results, with their units below their names. */
static void print_table(const study *s, const table_columns *c)
{
    page p = page_make(s->point_count + 2, s->key_count + c->count);
    const int64_t unfinished = count_unfinished(s);
    bool stars = false, unknown = false;
    for (int i = 0; i < s->key_count; i++) p.cells[i] = page_text(s->keys[i].name);
    for (int i = 0; i < c->count; i++) p.cells[s->key_count + i] = page_text(c->names[i]);
    for (int i = 0; i < s->key_count; i++) p.cells[p.columns + i] = page_unit(s->keys[i].unit);
    for (int i = 0; i < c->count; i++)
        p.cells[p.columns + s->key_count + i] = page_unit(c->units[i]);
    for (int64_t k = 0; k < s->point_count; k++) {
        char **row = p.cells + (k + 2) * p.columns;
        for (int i = 0; i < s->key_count; i++) row[i] = page_text(study_value(s, k, &s->keys[i]));
        for (int i = 0; i < c->count; i++) {
            const result *r = c->cells[k * c->count + i];
            row[s->key_count + i] = page_number(r);
            stars |= r && !r->converged && isfinite(r->error);
            unknown |= r && !r->converged && !isfinite(r->error);
        }
    }
    if (unfinished)
        printf("UNFINISHED: %" PRId64 " of %" PRId64 " points\n", unfinished, s->point_count);
    page_print(&p);
    if (stars) printf("* the run is too short for this error bar: it is a lower bound\n");
    if (unknown)
        printf(
            "* without an error bar: the error is not known, as the table of the run explains\n");
    page_free(&p);
}

void tables_list(const study *s)
{
    page p = page_make(s->point_count + 1, 3 + s->key_count);
    p.cells[0] = page_text("point"), p.cells[1] = page_text("state"),
    p.cells[2] = page_text("sweeps");
    for (int i = 0; i < s->key_count; i++) p.cells[3 + i] = page_text(s->keys[i].name);
    for (int64_t k = 0; k < s->point_count; k++) {
        const point *point = &s->points[k];
        char **row = p.cells + (k + 1) * p.columns;
        if (asprintf(&row[0], "%" PRId64, k) < 0) checked(NULL);
        if (asprintf(&row[2], "%llu/%llu", point->sweep, point->sweeps) < 0) checked(NULL);
        row[1] = page_text(table_state(point->state));
        for (int i = 0; i < s->key_count; i++)
            row[3 + i] = page_text(study_value(s, k, &s->keys[i]));
    }
    page_print(&p);
    page_free(&p);
    for (int64_t k = 0; k < s->point_count; k++) {
        const point *point = &s->points[k];
        char *log = study_file(s, k, "log");
        if (point->state == POINT_FAILED)
            printf("point %" PRId64 " failed: %s, see %s\n", k,
                   point->sentence ? point->sentence : "it has printed nothing", log);
        free(log);
    }
}

/* ---- As CSV ---------------------------------------------------------------------------------- */

/* Of each quantity three columns: value, error, and a star where that is a lower bound. */
static char *csv_of(const study *s, const table_columns *c)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    fputs("point,state", out);
    for (int i = 0; i < s->key_count; i++) {
        fputc(',', out);
        cell_write(out, s->keys[i].name, "");
    }
    for (int i = 0; i < c->count; i++)
        for (int part = 0; part < 3; part++) {
            static const char *const ends[] = {"", " error", " star"};
            fputc(',', out);
            cell_write(out, c->names[i], ends[part]);
        }
    fputc('\n', out);
    for (int64_t k = 0; k < s->point_count; k++) {
        fprintf(out, "%" PRId64 ",%s", k, table_state(s->points[k].state));
        for (int i = 0; i < s->key_count; i++) {
            fputc(',', out);
            cell_write(out, study_value(s, k, &s->keys[i]), "");
        }
        for (int i = 0; i < c->count; i++) {
            const result *r = c->cells[k * c->count + i];
            if (r)
                page_write_csv(out, r);
            else
                fputs(",,,", out);
        }
        fputc('\n', out);
    }
    fclose(out);
    return checked(text);
}

/* ---- All of them ----------------------------------------------------------------------------- */

int tables_make(const study *s, bool *joined, report *r)
{
    char why[FILES_WHY], *csv = study_file(s, -1, "summary.csv"),
                         *hdf5 = study_file(s, -1, "summary.h5");
    table_columns c = table_columns_find(s);
    char *text = csv_of(s, &c);
    print_table(s, &c);
    *joined = !s->twists.count || twist_table_print(s, &c);
    int code = files_make_folder(s->folder, why);
    if (code) report_error(r, code, NULL, 0, "cannot make %s: %s", s->folder, why);
    const bool folder = !code;
    if (folder && (code = files_write_text(csv, text, why)))
        report_error(r, code, NULL, 0, "cannot write %s: %s", csv, why);
    if (folder && !code && s->twists.count) code = twist_table_write(s, &c, r);
    int second = folder ? summary_write(hdf5, s, &c, why) : 0;
    if (second) report_error(r, second, NULL, 0, "cannot write %s: %s", hdf5, why);
    if (!code && !second) printf("%s\n%s\n", csv, hdf5);
    table_columns_free(&c);
    free(text), free(csv), free(hdf5);
    return code ? code : second;
}
