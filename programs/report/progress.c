/* How the run went: steps while they were tuned, and speed over time. Files of earlier versions do not have them. */
#include <stdlib.h>
#include <string.h>

#include "page.h"

enum { MOST_FIGURES = 12, MOST_RUNGS = 6 };

/* ---- Tuning -------------------------------------------------------------------------------------------- */

static const move_record *move_like(const output_data *d, const move_record *like)
{
    for (int i = 0; i < d->move_count; i++) {
        const move_record *m = &d->moves[i];
        if (!strcmp(m->mover, like->mover) && !strcmp(m->name, like->name)) return m;
    }
    return NULL;
}

/* Of one rung: acceptance or step against sweeps. `x` and `y` have room for all tunings. */
static curve tunings_of(const move_record *m, int32_t rung, bool of_steps, double *x, double *y)
{
    int64_t n = 0;
    for (int64_t k = 0; k < m->tuning_count; k++) {
        const tuning_record *t = &m->tunings[k];
        if (t->rung != rung) continue;
        x[n] = (double)t->sweep;
        y[n++] = of_steps ? t->step : t->acceptance;
    }
    return (curve){.style = CURVE_LINE, .n = n, .x = x, .y = y};
}

/* Some rungs of one run, or the first one of each of several. */
static void put_tunings(page *p, const move_record *first, bool of_steps)
{
    double *places[2 * MOST_CURVES];
    int pieces = 0;
    char *name;
    figure f = {.x = "sweep", .unit = of_steps ? first->step_unit : ""};
    checked(asprintf(&name, "%s.%s", first->mover, first->name) < 0 ? NULL : name);
    f.name = name;
    f.words = of_steps ? "step, as it was tuned" : "acceptance before each tuning";
    for (int r = 0; r < p->count; r++) {
        const move_record *m = move_like(&p->runs[r].data, first);
        if (!m) continue;
        const int32_t shown = p->count > 1 ? 1 : m->rungs < MOST_RUNGS ? m->rungs : MOST_RUNGS;
        for (int32_t k = 0; k < shown; k++) {
            const size_t room = (size_t)m->tuning_count + 1;
            double *x = places[pieces++] = checked(calloc(room, sizeof *x));
            double *y = places[pieces++] = checked(calloc(room, sizeof *y));
            f.curves[f.count] =
                tunings_of(m, (int32_t)((int64_t)m->rungs * k / shown), of_steps, x, y);
            f.curves[f.count++].colour = p->count > 1 ? r : k;
        }
    }
    put_figure(p, &f);
    while (pieces) free(places[--pieces]);
    free(name);
}

void put_tuning(page *p)
{
    const output_data *d = &p->runs[0].data;
    int shown = 0;
    for (int i = 0; i < d->move_count && shown < MOST_FIGURES; i++) {
        if (!d->moves[i].tuning_count) continue;
        if (!shown++) put_html(p, "<h2>Tuning of steps</h2>\n<div class=\"grid\">\n");
        put_tunings(p, &d->moves[i], false);
        put_tunings(p, &d->moves[i], true);
    }
    if (shown) put_html(p, "</div>\n");
}

/* ---- Speed --------------------------------------------------------------------------------------------- */

static curve speed_of(const speed_record *speed, double *x, double *y)
{
    for (int k = 1; k < speed->count; k++) {
        x[k - 1] = 0.5 * (speed->seconds[k] + speed->seconds[k - 1]);
        y[k - 1] = (double)(speed->sweep[k] - speed->sweep[k - 1]) /
                   (speed->seconds[k] - speed->seconds[k - 1]);
    }
    return (curve){.style = CURVE_LINE, .n = speed->count - 1, .x = x, .y = y};
}

void put_speed(page *p)
{
    double *places = checked(calloc((size_t)p->count * 2 * SPEED_POINTS, sizeof *places));
    figure f = {.name = "speed", .unit = "sweeps/s", .x = "wall time / s"};
    f.words =
        "with equilibration, measuring and writing; parts that were resumed one after the other";
    for (int r = 0; r < p->count; r++) {
        const speed_record *speed = &p->runs[r].data.speed;
        double *x = places + (size_t)r * 2 * SPEED_POINTS;
        if (speed->count < 2) continue;
        f.curves[f.count] = speed_of(speed, x, x + SPEED_POINTS);
        f.curves[f.count++].colour = r;
    }
    if (f.count) {
        put_html(p, "<h2>Speed</h2>\n<div class=\"grid\">\n");
        put_figure(p, &f);
        put_html(p, "</div>\n");
    }
    free(places);
}
