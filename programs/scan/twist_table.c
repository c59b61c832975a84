/* See twist_table.h. */
#include "twist_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "archive/cell.h"
#include "page.h"

/* One line: points first ... first + twists - 1. */
typedef struct line {
    int64_t first, joined;
    double weight; /* of the twists that are joined */
    bool has_means;
    double particles;
    result *means; /* [columns]; there: every joined twist has the number */
} line;

/* Keys that are no twists. */
static bool is_shown(const study *s, int i) { return s->keys[i].group != GROUP_TWISTS; }

static result mean_of(const study *s, const table_columns *c, const line *l, int column)
{
    result mean = {.column = (char *)c->names[column], .there = l->has_means, .converged = true};
    double square = 0;
    for (int64_t t = 0; t < s->twists.count && mean.there; t++) {
        const result *r = c->cells[(l->first + t) * c->count + column];
        const double w = s->twists.weights[t] / l->weight;
        if (s->points[l->first + t].state != POINT_FINISHED || w == 0) continue;
        mean.there = r != NULL;
        if (!r) continue;
        mean.value += w * r->value;
        square += w * r->error * w * r->error;
        mean.converged &= r->converged;
    }
    mean.error = sqrt(square);
    return mean;
}

/* What is missing is left out if the study says so. */
static line make_line(const study *s, const table_columns *c, int64_t first)
{
    line l = {.first = first, .means = checked(calloc((size_t)c->count + 1, sizeof *l.means))};
    for (int64_t t = 0; t < s->twists.count; t++) {
        const point *p = &s->points[first + t];
        if (p->state != POINT_FINISHED) continue;
        l.joined++;
        l.weight += s->twists.weights[t];
        l.particles += s->twists.weights[t] * (double)p->particles;
    }
    l.has_means = l.weight > 0 && (l.joined == s->twists.count || s->twists.leave_out);
    l.particles /= l.weight;
    for (int i = 0; i < c->count; i++) l.means[i] = mean_of(s, c, &l, i);
    return l;
}

/* Every twist that is not finished, by name. */
static void print_missing(const study *s, const line *l)
{
    const char *words = l->has_means          ? "left out"
                        : s->twists.leave_out ? "no average: no twist with a weight is left"
                                              : "no average: a twist is missing";
    for (int64_t k = l->first; k < l->first + s->twists.count; k++) {
        const point *p = &s->points[k];
        if (p->state == POINT_FINISHED) continue;
        printf("%s: point %" PRId64 ", %s, %s%s%s\n", words, k, p->name, table_state(p->state),
               p->sentence ? ": " : "", p->sentence ? p->sentence : "");
    }
}

bool twist_table_print(const study *s, const table_columns *c)
{
    const int64_t lines = s->point_count / s->twists.count;
    int shown = 0, at = 0;
    bool all = true, stars = false, unknown = false;
    for (int i = 0; i < s->key_count; i++) shown += is_shown(s, i);
    page p = page_make(lines + 2, shown + 2 + c->count);
    for (int i = 0; i < s->key_count; i++)
        if (is_shown(s, i)) p.cells[at++] = page_text(s->keys[i].name);
    p.cells[at++] = page_text("twists"), p.cells[at++] = page_text("particles");
    for (int i = 0; i < c->count; i++) p.cells[at++] = page_text(c->names[i]);
    for (int i = 0; i < s->key_count; i++)
        if (is_shown(s, i)) p.cells[at++] = page_unit(s->keys[i].unit);
    p.cells[at++] = page_text(""), p.cells[at++] = page_text("");
    for (int i = 0; i < c->count; i++) p.cells[at++] = page_unit(c->units[i]);
    line *each = checked(calloc((size_t)lines, sizeof *each));
    for (int64_t n = 0; n < lines; n++) {
        const line l = each[n] = make_line(s, c, n * s->twists.count);
        for (int i = 0; i < s->key_count; i++)
            if (is_shown(s, i)) p.cells[at++] = page_text(study_value(s, l.first, &s->keys[i]));
        if (asprintf(&p.cells[at++], "%" PRId64 "/%" PRId64, l.joined, s->twists.count) < 0 ||
            asprintf(&p.cells[at++], l.has_means ? "%.12g" : "-", l.particles) < 0)
            checked(NULL);
        for (int i = 0; i < c->count; i++) {
            p.cells[at++] = page_number(l.means[i].there ? &l.means[i] : NULL);
            stars |= l.means[i].there && !l.means[i].converged && isfinite(l.means[i].error);
            unknown |= l.means[i].there && !isfinite(l.means[i].error);
        }
        all &= l.has_means;
    }
    printf("\nmeans over %" PRId64 " twists\n", s->twists.count);
    page_print(&p);
    for (int64_t n = 0; n < lines; n++) print_missing(s, &each[n]), free(each[n].means);
    if (stars)
        printf("* the run of a twist is too short for its error bar, which is a lower "
               "bound\n");
    if (unknown)
        printf(
            "* without an error bar: that of a twist is not known, as the table of its run explains\n");
    page_free(&p);
    free(each);
    return all;
}

/* ---- As CSV ------------------------------------------------------------------------------------ */

static void write_line(FILE *out, const study *s, const table_columns *c, const line *l)
{
    for (int i = 0; i < s->key_count; i++)
        if (is_shown(s, i)) {
            cell_write(out, study_value(s, l->first, &s->keys[i]), "");
            fputc(',', out);
        }
    fprintf(out, "%" PRId64 ",%" PRId64, s->twists.count, l->joined);
    fprintf(out, l->has_means ? ",%.17g" : ",", l->particles);
    for (int i = 0; i < c->count; i++)
        if (l->means[i].there)
            page_write_csv(out, &l->means[i]);
        else
            fputs(",,,", out);
    fputc('\n', out);
}

int twist_table_write(const study *s, const table_columns *c, report *r)
{
    static const char *const ends[] = {"", " error", " star"};
    char *text, *path = study_file(s, -1, "twists.csv"), why[FILES_WHY];
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < s->key_count; i++)
        if (is_shown(s, i)) {
            cell_write(out, s->keys[i].name, "");
            fputc(',', out);
        }
    fputs("twists,joined,particles", out);
    for (int i = 0; i < c->count; i++)
        for (int part = 0; part < 3; part++) {
            fputc(',', out);
            cell_write(out, c->names[i], ends[part]);
        }
    fputc('\n', out);
    for (int64_t k = 0; k < s->point_count; k += s->twists.count) {
        line l = make_line(s, c, k);
        write_line(out, s, c, &l);
        free(l.means);
    }
    fclose(out);
    int code = files_write_text(path, checked(text), why);
    if (code)
        report_error(r, code, NULL, 0, "cannot write %s: %s", path, why);
    else
        printf("%s\n", path);
    free(text), free(path);
    return code;
}
