/* Tables of the page: what was run, its results, what to be careful about, where it ran and whom to cite. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "archive/averages.h"
#include "archive/frozen.h"
#include "records/numbers.h"
#include "records/results.h"

/* ---- Summary ------------------------------------------------------------------------------------------- */

static void put_run(page *p, const shown *run, int k)
{
    const output_data *d = &run->data;
    const run_section *r = &run->config.run;
    put_html(p, "<li>");
    if (p->count > 1) fprintf(p->out, "<span class=\"key k%d\"></span>", k);
    put_html(p, "<b>");
    put_text(p, "%s", run->name);
    put_html(p, "</b>: ");
    put_text(p, "%lld particles%s in %d dimensions", (long long)d->particles,
             run->system.walkers > 1 ? " a walker" : "", run->system.box.dimension);
    if (run->system.walkers > 1) put_text(p, ", %d walkers", run->system.walkers);
    put_text(p, "; %llu sweeps of %lld, the first %lld for equilibration; seed %lld; %.4g s",
             (unsigned long long)d->sweep, (long long)(r->equilibrate + r->sweeps),
             (long long)r->equilibrate, (long long)r->seed, d->seconds);
    if (*r->author) put_text(p, "; by %s", r->author);
    put_html(p, "</li>\n");
}

void put_summary(page *p)
{
    put_html(p, "<h1>");
    for (int r = 0; r < p->count; r++) put_text(p, r ? ", %s" : "%s", p->runs[r].name);
    put_html(p, "</h1>\n<ul>\n");
    for (int r = 0; r < p->count; r++) put_run(p, &p->runs[r], r);
    put_html(p, "</ul>\n");
}

/* ---- Warnings ------------------------------------------------------------------------------------------ */

static const double FAR = 4, FEW_ACCEPTED = 0.01;

static int count_of_bounds(const output_data *d)
{
    int bounds = 0;
    for (int i = 0; i < d->quantity_count; i++) {
        const quantity_record *q = &d->quantities[i];
        bounds += q->length == 1 && q->samples && !q->found.scalar.converged;
    }
    for (int i = 0; i < d->derived_count; i++)
        bounds += d->derived[i].length < 2 && d->derived[i].valid && !d->derived[i].converged;
    return bounds;
}

static void warn_of_length(page *p, const shown *run)
{
    const output_data *d = &run->data;
    const int bounds = count_of_bounds(d);
    if (!bounds || frozen_any(d)) return;
    put_html(p, "<li>");
    put_text(
        p,
        "%s: %d error bar%s (marked *) %s: the run is too short for %s and should be %.6g times longer, at least.",
        run->name, bounds, bounds > 1 ? "s" : "",
        bounds > 1 ? "are lower bounds" : "is a lower bound", bounds > 1 ? "them" : "it",
        averages_times_longer(d));
    if (d->slowest)
        put_text(p, " %s.%s changes slowest, with a correlation time of %.4g sweeps.",
                 d->slowest->observable, d->slowest->name,
                 d->slowest->found.scalar.correlation_time * (double)d->slowest->period);
    put_html(p, "</li>\n");
}

/* What was never accepted, and walkers that stand still. */
static void warn_of_frozen(page *p, const shown *run)
{
    char words[FROZEN_WORDS];
    int count;
    frozen_moves *all = frozen_find(&run->data, &count);
    for (int i = 0; i < count; i++) {
        put_html(p, "<li>");
        put_text(p, "%s: %s. No error bar can be relied on (*).", run->name,
                 frozen_words(&all[i], words));
        put_html(p, "</li>\n");
    }
    free(all);
    for (int i = 0; i < run->data.quantity_count; i++) {
        const quantity_record *q = &run->data.quantities[i];
        if (q->length != 1 || !q->found.still) continue;
        put_html(p, "<li>");
        put_text(p, "%s: %s.%s has kept its first value through production in %d of %d walkers.",
                 run->name, q->observable, q->name, q->found.still, q->walkers);
        put_html(p, "</li>\n");
    }
}

static void warn_of_drifts(page *p, const shown *run)
{
    for (int i = 0; i < run->data.quantity_count; i++) {
        const quantity_record *q = &run->data.quantities[i];
        if (q->length != 1 || !q->samples || !(fabs(q->found.halves) > FAR)) continue;
        put_html(p, "<li>");
        put_text(
            p,
            "%s: %s.%s is %.1f standard errors %s in the second half of the run than in the first: was it in "
            "equilibrium?",
            run->name, q->observable, q->name, fabs(q->found.halves),
            q->found.halves > 0 ? "higher" : "lower");
        put_html(p, "</li>\n");
    }
}

static double share_accepted(const move_record *m, int32_t rung)
{
    const plugmc_counts *c = &m->counts[rung];
    return c->trials ? (double)c->accepted / (double)c->trials : NAN;
}

static void warn_of_moves(page *p, const shown *run)
{
    for (int i = 0; i < run->data.move_count; i++) {
        const move_record *m = &run->data.moves[i];
        double least = INFINITY;
        for (int32_t r = 0; r < m->rungs; r++) least = fmin(least, share_accepted(m, r));
        if (!(least < FEW_ACCEPTED) || (least == 0 && frozen_any(&run->data))) continue;
        put_html(p, "<li>");
        put_text(p, "%s: of the trial moves of %s.%s only %.2g in a hundred are accepted.",
                 run->name, m->mover, m->name, 100 * least);
        put_html(p, "</li>\n");
    }
}

static void warn_of_missing(page *p, const shown *run)
{
    int missing = 0;
    for (int i = 0; i < run->data.derived_count; i++) {
        const derived_record *d = &run->data.derived[i];
        if (d->valid) continue;
        put_html(p, missing ? ", " : "<li>");
        if (!missing++) put_text(p, "%s: there are too few data for ", run->name);
        put_text(p, "%s.%s", d->observable, d->name);
    }
    if (missing) put_html(p, ".</li>\n");
}

static void warn_of_all(page *p)
{
    for (int r = 0; r < p->count; r++) {
        if (!p->runs[r].data.finished) {
            put_html(p, "<li>");
            put_text(p, "%s: the run is not finished.", p->runs[r].name);
            put_html(p, "</li>\n");
        }
        warn_of_frozen(p, &p->runs[r]);
        warn_of_length(p, &p->runs[r]);
        warn_of_drifts(p, &p->runs[r]);
        warn_of_moves(p, &p->runs[r]);
        warn_of_missing(p, &p->runs[r]);
    }
}

void put_warnings(page *p)
{
    char *text;
    size_t size;
    page apart = *p;
    apart.out = checked(open_memstream(&text, &size));
    warn_of_all(&apart);
    fclose(apart.out);
    put_html(p, "<h2>What to be careful about</h2>\n");
    checked(text);
    if (*text) {
        put_html(p, "<ul class=\"warnings\">\n");
        put_html(p, text);
        put_html(p, "</ul>\n");
    } else {
        put_html(
            p,
            "<p class=\"faint\">The run is finished, its errors are sound, and its two halves agree.</p>\n");
    }
    free(text);
}

/* ---- Results ------------------------------------------------------------------------------------------- */

static void put_cell(page *p, const number *n)
{
    char text[64];
    put_html(p, "<td class=\"number\">");
    put_text(p, "%s",
             isnan(n->value) ? "none" : with_error(n->value, n->error, n->converged, text));
    put_html(p, "</td>");
}

/* Of all runs. */
typedef struct found {
    number *all;
    int count;
} found;

/* The cells of all runs, and the difference of each from the first in standard errors. */
static void put_row(page *p, const found *runs, const number *first)
{
    put_html(p, "<tr><td>");
    put_text(p, "%s.", first->observable);
    put_html(p, "<wbr>"); /* a line of a telephone may end here */
    put_text(p, "%s", first->name);
    put_html(p, "</td>");
    for (int r = 0; r < p->count; r++) {
        const number *n = number_like(runs[r].all, runs[r].count, first);
        if (n)
            put_cell(p, n);
        else
            put_html(p, "<td></td>");
        if (r == 0) continue;
        const double z = n ? (n->value - first->value) / hypot(n->error, first->error) : NAN;
        put_html(p, "<td class=\"number\">");
        if (isfinite(z)) put_text(p, "%.2f", z);
        put_html(p, "</td>");
    }
    put_html(p, "<td>");
    put_text(p, "%s", first->unit);
    put_html(p, "</td>");
    if (p->count == 1) {
        put_html(p, "<td class=\"number\">");
        if (isfinite(first->correlation_time))
            put_text(p, "%s%.4g", first->time_is_bound ? "<" : "", first->correlation_time);
        put_html(p, "</td>");
    }
    put_html(p, "</tr>\n");
}

void put_results(page *p)
{
    found runs[MOST_RUNS];
    for (int r = 0; r < p->count; r++) runs[r].all = numbers_of(&p->runs[r].data, &runs[r].count);
    put_html(p, "<h2>Results</h2>\n");
    put_wide(p, false);
    put_html(p, "<table><tr><th>quantity</th>");
    for (int r = 0; r < p->count; r++) {
        put_html(p, "<th>");
        if (p->count > 1) fprintf(p->out, "<span class=\"key k%d\"></span>", r);
        put_text(p, "%s", p->count > 1 ? p->runs[r].name : "mean(error)");
        put_html(p, r ? "</th><th>z</th>" : "</th>");
    }
    put_html(p, "<th>unit</th>");
    put_html(p, p->count == 1 ? "<th>correlation time/sweeps</th></tr>\n" : "</tr>\n");
    for (int k = 0; k < runs[0].count; k++) put_row(p, runs, &runs[0].all[k]);
    put_html(
        p,
        "</table></div>\n<p class=\"faint\">The digits in brackets are the standard error in units of the last "
        "digits; * marks one that is a lower bound, or not known where there are no brackets.");
    if (p->count > 1) put_html(p, " z: difference from the first run in standard errors.");
    put_html(p, "</p>\n");
    for (int r = 0; r < p->count; r++) free(runs[r].all);
}

/* ---- Moves --------------------------------------------------------------------------------------------- */

static void put_move(page *p, const shown *run, const move_record *m)
{
    for (int32_t r = 0; r < m->rungs; r++) {
        put_html(p, "<tr><td>");
        if (p->count > 1) put_text(p, "%s: ", run->name);
        put_text(p, "%s.", m->mover);
        put_html(p, "<wbr>");
        put_text(p, "%s", m->name);
        if (m->rungs > 1) put_text(p, ", rung %d", r);
        put_html(p, "</td><td class=\"number\">");
        if (m->counts[r].trials) put_text(p, "%.4f", share_accepted(m, r));
        put_html(p, "</td><td class=\"number\">");
        put_text(p, "%.4g", (double)m->counts[r].trials);
        put_html(p, "</td><td>");
        if (m->step_unit) put_text(p, "%.6g %s", m->steps[r], m->step_unit);
        put_html(p, "</td></tr>\n");
    }
}

void put_moves(page *p)
{
    put_html(p, "<h2>Trial moves</h2>\n");
    put_wide(p, false);
    put_html(p, "<table><tr><th>kind</th><th>acceptance</th><th>trials</th><th>step</th></tr>\n");
    for (int r = 0; r < p->count; r++)
        for (int i = 0; i < p->runs[r].data.move_count; i++)
            put_move(p, &p->runs[r], &p->runs[r].data.moves[i]);
    put_html(p, "</table></div>\n");
}

/* ---- Origin -------------------------------------------------------------------------------------------- */

static void put_folded(page *p, const char *title, const char *name, const char *text)
{
    put_html(p, "<details><summary>");
    put_text(p, p->count > 1 ? "%s: %s" : "%s", title, name);
    put_html(p, "</summary><pre>");
    put_text(p, "%s", text ? text : "");
    put_html(p, "</pre></details>\n");
}

/* Lines "reference: ..." of what made the run, each once. */
static void put_references(page *p)
{
    static const char begin[] = "reference: ";
    put_html(
        p,
        "<h2>How to cite</h2>\n<p>Name plugmc with the version and commit below, and the papers of what was "
        "used:</p>\n<ul>\n");
    char *seen = checked(strdup("\n"));
    for (int r = 0; r < p->count; r++) {
        char *text = checked(strdup(
                 p->runs[r].data.origin.provenance ? p->runs[r].data.origin.provenance : "")),
             *rest = text, *line;
        while ((line = strsep(&rest, "\n"))) {
            char *whole, *more;
            if (strncmp(line, begin, strlen(begin))) continue;
            checked(asprintf(&whole, "\n%s\n", line) < 0 ? NULL : whole);
            if (!strstr(seen, whole)) {
                put_html(p, "<li>");
                put_text(p, "%s", line + strlen(begin));
                put_html(p, "</li>\n");
                checked(asprintf(&more, "%s%s", seen, whole + 1) < 0 ? NULL : more);
                free(seen);
                seen = more;
            }
            free(whole);
        }
        free(text);
    }
    free(seen);
    put_html(p, "</ul>\n");
}

void put_origin(page *p)
{
    put_references(p);
    put_html(p, "<h2>What was run, and where</h2>\n");
    for (int r = 0; r < p->count; r++) {
        const shown *run = &p->runs[r];
        put_folded(p, "Configuration, with the origin of every value", run->name,
                   run->data.origin.effective_ini);
        put_folded(p, "Program, plugins, machine", run->name,
                   run->data.origin.history ? run->data.origin.history
                                            : run->data.origin.provenance);
    }
}
