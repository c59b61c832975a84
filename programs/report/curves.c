/* What was measured, as curves: traces with running means and blocks, autocorrelation, functions such as g(r). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "archive/averages.h"

enum { POINTS = 400, BLOCKS = 20, MOST_TRACES = 24, MOST_ARRAYS = 24, MOST_LINES = 6 };

/* ---- Memory of a figure -------------------------------------------------------------------------------- */

/* Arrays of curves, freed together. */
typedef struct pieces {
    double *all[4 * MOST_CURVES];
    int count;
} pieces;

static double *piece(pieces *m, int64_t n)
{
    return m->all[m->count++] = checked(calloc((size_t)n + 1, sizeof(double)));
}

static void free_pieces(pieces *m)
{
    for (int i = 0; i < m->count; i++) free(m->all[i]);
}

/* ---- The same quantity of other runs ------------------------------------------------------------------- */

static const quantity_record *quantity_like(const output_data *d, const quantity_record *like)
{
    for (int i = 0; i < d->quantity_count; i++) {
        const quantity_record *q = &d->quantities[i];
        if (!strcmp(q->observable, like->observable) && !strcmp(q->name, like->name) &&
            (q->length == 1) == (like->length == 1))
            return q;
    }
    return NULL;
}

static const derived_record *derived_like(const output_data *d, const derived_record *like)
{
    for (int i = 0; i < d->derived_count; i++) {
        const derived_record *r = &d->derived[i];
        if (!strcmp(r->observable, like->observable) && !strcmp(r->name, like->name)) return r;
    }
    return NULL;
}

static char *full_name(const char *observable, const char *name)
{
    char *text;
    return checked(asprintf(&text, "%s.%s", observable, name) < 0 ? NULL : text);
}

/* ---- Traces -------------------------------------------------------------------------------------------- */

static double sweep_after(const output_data *d, const quantity_record *q, double samples)
{
    return (double)d->equilibrate + samples * (double)q->period;
}

/* Means of `parts` equal pieces of the series, at the middle of each. */
static curve means_of_parts(pieces *m, const output_data *d, const quantity_record *q,
                            const double *mean, int64_t parts)
{
    if (parts > q->samples) parts = q->samples;
    double *x = piece(m, parts), *y = piece(m, parts);
    for (int64_t k = 0; k < parts; k++) {
        const int64_t from = k * q->samples / parts, to = (k + 1) * q->samples / parts;
        for (int64_t i = from; i < to; i++) y[k] += mean[i] / (double)(to - from);
        x[k] = sweep_after(d, q, 0.5 * (double)(from + to + 1));
    }
    return (curve){.n = parts, .x = x, .y = y};
}

static curve running_mean(pieces *m, const output_data *d, const quantity_record *q,
                          const double *mean)
{
    const int64_t points = q->samples < POINTS ? q->samples : POINTS;
    double *x = piece(m, points), *y = piece(m, points), sum = 0;
    int64_t i = 0;
    for (int64_t k = 0; k < points; k++) {
        const int64_t to = (k + 1) * q->samples / points;
        for (; i < to; i++) sum += mean[i] - mean[0];
        y[k] = mean[0] + sum / (double)to;
        x[k] = sweep_after(d, q, (double)to);
    }
    return (curve){.style = CURVE_LINE, .n = points, .x = x, .y = y};
}

static void put_trace(page *p, const quantity_record *first)
{
    pieces m = {0};
    char *name = full_name(first->observable, first->name);
    figure f = {.name = name, .unit = first->unit, .x = "sweep"};
    f.words = p->count == 1 ? "trace (thin), running mean and means of 20 blocks" : "running means";
    for (int r = 0; r < p->count; r++) {
        const output_data *d = &p->runs[r].data;
        const quantity_record *q = quantity_like(d, first);
        if (!q || !q->samples) continue;
        double *mean = checked(averages_over_walkers(q));
        if (p->count == 1) {
            f.curves[f.count] = means_of_parts(&m, d, q, mean, POINTS);
            f.curves[f.count++].style = CURVE_THIN;
            f.curves[f.count] = means_of_parts(&m, d, q, mean, BLOCKS);
            f.curves[f.count].colour = 2;
            f.curves[f.count++].style = CURVE_POINTS;
        }
        f.curves[f.count] = running_mean(&m, d, q, mean);
        f.curves[f.count++].colour = p->count == 1 ? 1 : r;
        free(mean);
    }
    put_figure(p, &f);
    free_pieces(&m);
    free(name);
}

static void put_autocorrelation(page *p, const quantity_record *first)
{
    pieces m = {0};
    char *name = full_name(first->observable, first->name);
    figure f = {.name = name, .words = "autocorrelation", .x = "lag / sweeps"};
    for (int r = 0; r < p->count; r++) {
        const quantity_record *q = quantity_like(&p->runs[r].data, first);
        const autocorrelation *a = q ? &q->found.correlation : NULL;
        if (!a || a->count < 2) continue;
        double *x = piece(&m, a->count);
        for (int64_t i = 0; i < a->count; i++) x[i] = (double)(a->lag[i] * q->period);
        f.curves[f.count++] = (curve){.colour = r, .n = a->count, .x = x, .y = a->value};
    }
    put_figure(p, &f);
    free_pieces(&m);
    free(name);
}

static void say_left_out(page *p, const char *what, int left_out)
{
    if (!left_out) return;
    put_html(p, "<p class=\"faint\">");
    put_text(p, "%d more %s in the file: plugmc analyse --print shows them.", left_out, what);
    put_html(p, "</p>\n");
}

void put_series(page *p)
{
    const output_data *d = &p->runs[0].data;
    int shown = 0, left_out = 0;
    for (int both = 0; both < 2; both++) {
        shown = 0;
        put_html(p, both ? "<h2>Autocorrelation</h2>\n<div class=\"grid\">\n"
                         : "<h2>Traces</h2>\n<div class=\"grid\">\n");
        for (int i = 0; i < d->quantity_count; i++) {
            const quantity_record *q = &d->quantities[i];
            if (q->length != 1 || !q->samples || q->found.scalar.variance == 0) continue;
            if (shown++ >= MOST_TRACES)
                left_out += !both;
            else if (both)
                put_autocorrelation(p, q);
            else
                put_trace(p, q);
        }
        put_html(p, "</div>\n");
        if (!both) say_left_out(p, "numbers are", left_out);
    }
}

/* ---- Arrays -------------------------------------------------------------------------------------------- */

/* What is drawn of a measured or a derived array. */
typedef struct array {
    const axes *axes;
    const double *value, *error;
} array;

static array of_quantity(const quantity_record *q)
{
    return q ? (array){&q->axes, q->found.means, q->found.errors} : (array){0};
}

static array of_derived(const derived_record *d)
{
    return d && d->length > 1 ? (array){&d->axes, d->values, d->errors} : (array){0};
}

static const double *places_of(pieces *m, const axes *a, int axis)
{
    const int64_t n = a->shape[axis];
    if (a->values[axis]) return a->values[axis];
    double *index = piece(m, n);
    for (int64_t i = 0; i < n; i++) index[i] = (double)i;
    return index;
}

/* Along the last axis; of several, some lines, the other axes at places evenly spread. */
static void add_lines(figure *f, pieces *m, const array *of, int colour, int lines)
{
    const int last = of->axes->rank - 1;
    const int64_t n = of->axes->shape[last], all = axes_length(of->axes) / n;
    const double *x = places_of(m, of->axes, last);
    if (lines > all) lines = (int)all;
    for (int k = 0; k < lines; k++) {
        const int64_t at = all * k / lines * n;
        const int own = lines > 1 ? k : colour;
        f->curves[f->count++] = (curve){CURVE_BAND, own, n, x, of->value + at, of->error + at};
        f->curves[f->count++] = (curve){CURVE_LINE, own, n, x, of->value + at, NULL};
    }
}

static void put_array(page *p, const char *observable, const char *name, const char *unit,
                      const array *of)
{
    pieces m = {0};
    char *full = full_name(observable, name), words[256], along[128];
    const axes *a = of[0].axes;
    figure f = {.name = full, .unit = unit, .words = words};
    f.x = a->names[a->rank - 1] ? a->names[a->rank - 1] : "index";
    if (a->rank > 1)
        snprintf(words, sizeof words, "against %s: some lines along the last axis",
                 axes_words(a, along, sizeof along));
    else
        snprintf(words, sizeof words, "against %s, with standard errors", f.x);
    for (int r = 0; r < p->count; r++)
        if (of[r].axes && of[r].axes->rank == a->rank)
            add_lines(&f, &m, &of[r], r, a->rank > 1 && p->count == 1 ? MOST_LINES : 1);
    put_figure(p, &f);
    free_pieces(&m);
    free(full);
}

void put_arrays(page *p)
{
    const output_data *d = &p->runs[0].data;
    array of[MOST_RUNS];
    int shown = 0, left_out = 0;
    for (int i = 0; i < d->quantity_count + d->derived_count; i++) {
        const quantity_record *q = i < d->quantity_count ? &d->quantities[i] : NULL;
        const derived_record *v = q ? NULL : &d->derived[i - d->quantity_count];
        if ((q ? q->length : v->length) < 2) continue;
        if (shown == 0) put_html(p, "<h2>Functions</h2>\n<div class=\"grid\">\n");
        for (int r = 0; r < p->count; r++)
            of[r] = q ? of_quantity(quantity_like(&p->runs[r].data, q))
                      : of_derived(derived_like(&p->runs[r].data, v));
        if (shown++ >= MOST_ARRAYS)
            left_out++;
        else
            put_array(p, q ? q->observable : v->observable, q ? q->name : v->name,
                      q ? q->unit : v->unit, of);
    }
    if (shown) put_html(p, "</div>\n");
    say_left_out(p, "functions are", left_out);
}
