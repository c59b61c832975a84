/* Samples of runs: what of each configuration multiplies temperatures, pressures and couplings, and what else
 * was measured of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/comparison.h"
#include "input/reservoir_keys.h"
#include "reweight.h"
#include "archive/frozen.h"

/* A scalar of a file: values of rung r are those of first[r * per_rung]. */
typedef struct series {
    const quantity_record *first;
    int per_rung;
    double scale; /* from the unit of plugins to that of the file */
} series;

/* A run, and how its samples are counted: one of each walker each `period` sweeps of production. */
typedef struct source {
    const analysed *run;
    int64_t period, begin, count; /* begin: samples that are passed over; count: the rest */
    int32_t walkers;              /* of a rung, as its series have them */
} source;

static const quantity_record *record_of(const series *s, int32_t rung)
{
    return s->first + rung * s->per_rung;
}

static int64_t index_of(const source *from, const series *s, int64_t i)
{
    return (from->begin + i + 1) * from->period / s->first->period - 1;
}

static double value_of(const source *from, const series *s, int32_t rung, int64_t i, int32_t w)
{
    const quantity_record *q = record_of(s, rung);
    return q->series[index_of(from, s, i) * q->walkers + w];
}

/* The name without its rung. */
static size_t length_of_name(const session *session, const char *name)
{
    char suffix[LADDER_SUFFIX];
    return strlen(name) - strlen(ladder_suffix(&session->engine.ladder, 0, suffix));
}

/* A scalar called `name`, of a certain observable or (NULL) of any. */
static bool find_series(const session *session, const char *observable, const char *name,
                        series *out)
{
    for (int i = 0; i < session->records.measurement_count; i++) {
        const measurement *m = &session->records.measurements[i];
        int64_t place = 0;
        for (int k = 0; k < m->quantity_count; k++) {
            const quantity_record *q = &session->records.output.quantities[m->first_quantity + k];
            const size_t length = length_of_name(session, q->name);
            const bool same = strlen(name) == length && !strncmp(q->name, name, length) &&
                              (!observable || !strcmp(observable, q->observable));
            if (q->length == 1 && same) {
                *out = (series){q, m->quantity_count, m->scales[place]};
                return true;
            }
            place += q->length;
        }
    }
    return false;
}

/* ---- What files have in common ------------------------------------------------------------------------ */

typedef struct fitting {
    const analysed *first, *other;
    int code;
} fitting;

/* Keys that only say how, where and for how long, and those that multipliers are made of. */
static bool may_differ(const fitting *f, const char *section, const char *key)
{
    static const char *const any[] = {"run", "initial", "ladder"};
    const uint32_t changes =
        f->first->session.engine.system.changes & f->other->session.engine.system.changes;
    for (int i = 0; i < PLUGMC_COUNT(any); i++)
        if (!strcmp(section, any[i])) return true;
    if (!strncmp(section, "mover ", 6) || !strncmp(section, "observable ", 11)) return true;
    if (!strcmp(section, "box")) return changes & PLUGMC_CHANGED_BOX;
    if (!strncmp(section, "potential ", 10)) return !strcmp(key, "coupling");
    if (strncmp(section, "species ", 8) && strncmp(section, "molecule ", 9)) return false;
    if (is_reservoir_key(key) || !strcmp(key, "fugacity_coefficient")) return true;
    return (!strcmp(key, "count") && changes & PLUGMC_CHANGED_COUNT);
}

static void differs(void *argument, const char *section, const char *key, const char *one,
                    const char *other)
{
    fitting *f = argument;
    if (f->code || may_differ(f, section, key)) return;
    f->code = report_error(f->first->session.engine.report, EXIT_INPUT, f->other->path, 0,
                           "belongs to another system than %s: [%s]%s%s is %s there but %s "
                           "here",
                           f->first->path, section, *key ? " " : "", key,
                           one ? excerpt(one).text : "not there",
                           other ? excerpt(other).text : "not there");
}

static bool same_states(const ladder *a, const ladder *b)
{
    return a->rungs == b->rungs && a->width == b->width &&
           !memcmp(a->multipliers, b->multipliers,
                   (size_t)(a->rungs * a->width) * sizeof *a->multipliers);
}

static int check_fit(const analysed *first, const analysed *other)
{
    ini_file one = {0}, two = {0};
    report unheard = {.quiet = true};
    fitting f = {first, other, 0};
    f.code = ini_read_archived(first->path, first->configuration, &one, &unheard);
    if (!f.code) f.code = ini_read_archived(other->path, other->configuration, &two, &unheard);
    if (!f.code) ini_compare(&one, &two, differs, &f);
    ini_free(&one);
    ini_free(&two);
    char *file = f.code ? NULL : analysed_other_file(first, other, true);
    if (file)
        f.code = report_error(first->session.engine.report, EXIT_INPUT, other->path, 0,
                              "belongs to another system than %s: the %s was a different one "
                              "there",
                              first->path, file);
    free(file);
    if (f.code) return f.code;
    if (!same_states(&first->session.engine.ladder, &other->session.engine.ladder) ||
        !analysed_same_chain(first, other))
        return 0;
    return report_error(first->session.engine.report, EXIT_INPUT, other->path, 0,
                        "is the same chain as %s: the same seed at the same values", first->path);
}

/* ---- What is needed ------------------------------------------------------------------------------------ */

/* A hard core alone has no energy. */
static bool has_energy(const plugmc_term *term)
{
    const plugmc_potential *p = term->plugin->potential;
    return term->sampled &&
           (p->field || p->total || (p->pair && p->pair->functions & PLUGMC_PAIR_ENERGY));
}

/* What one column of a file is: a series, times the number of particles for energies; or a constant. */
typedef struct column {
    bool needed, per_particle, constant;
    double value; /* if it is constant */
    series of;
} column;

static int lacks(const analysed *run, const char *what, const char *how)
{
    return report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                        "does not contain %s of each configuration, which is needed: %s "
                        "records it",
                        what, how);
}

static int find_energy(const analysed *run, const plugmc_term *term, column *c)
{
    char *name, *what;
    if (!has_energy(term)) {
        c->constant = true;
        return 0;
    }
    checked(asprintf(&name, "energy_%s", term->label) < 0 ? NULL : name);
    c->per_particle = true;
    const bool found = find_series(&run->session, NULL, name, &c->of);
    free(name);
    if (found) return 0;
    checked(asprintf(&what, "the energy of potential '%s'", term->label) < 0 ? NULL : what);
    const int code = lacks(run, what, "[observable energy] with source = fresh");
    free(what);
    return code;
}

static int find_volume(const analysed *run, column *c)
{
    c->constant = !(run->session.engine.system.changes & PLUGMC_CHANGED_BOX);
    c->value = run->session.engine.system.box.volume;
    if (c->constant || find_series(&run->session, NULL, "volume", &c->of)) return 0;
    return lacks(run, "the volume", "[observable box_size]");
}

static int find_number(const analysed *run, int32_t s, column *c)
{
    const plugmc_species *species = plugmc_species_at(&run->session.engine.system, s);
    char *name;
    c->constant = !(run->session.engine.system.changes & PLUGMC_CHANGED_COUNT);
    c->value = (double)species->count;
    if (c->constant) return 0;
    checked(asprintf(&name, "N_%s", species->name) < 0 ? NULL : name);
    const bool found = find_series(&run->session, NULL, name, &c->of);
    free(name);
    return found ? 0 : lacks(run, "the number of each species", "[observable numbers]");
}

/* Columns of a file: those that are needed, and numbers where energies are a particle's. */
static int find_columns(const analysed *run, const bool *needed, column *columns)
{
    const plugmc_system *system = &run->session.engine.system;
    const int32_t terms = system->term_count;
    bool numbers = false;
    int code = 0;
    for (int32_t t = 0; t < terms && !code; t++) {
        columns[t] = (column){.needed = needed[t]};
        if (needed[t]) code = find_energy(run, plugmc_term_at(system, t), &columns[t]);
        numbers |= columns[t].per_particle;
    }
    columns[terms] = (column){.needed = needed[terms]};
    if (needed[terms] && !code) code = find_volume(run, &columns[terms]);
    for (int32_t s = 0; s < system->species_count && !code; s++) {
        column *c = &columns[terms + 1 + s];
        *c = (column){.needed = needed[terms + 1 + s]};
        if (c->needed || numbers) code = find_number(run, s, c);
    }
    return code;
}

static double column_value(const source *from, const column *c, int32_t rung, int64_t i, int32_t w)
{
    return c->constant ? c->value : value_of(from, &c->of, rung, i, w) / c->of.scale;
}

/* One row of extensive quantities. */
static void fill_row(const source *from, const column *columns, int32_t rung, int64_t i, int32_t w,
                     double *row)
{
    const plugmc_system *system = &from->run->session.engine.system;
    const int32_t terms = system->term_count;
    double particles = -1;
    for (int k = 0; k < terms + 1 + system->species_count; k++) {
        const column *c = &columns[k];
        row[k] = c->needed ? column_value(from, c, rung, i, w) : 0;
        if (!c->needed || !c->per_particle) continue;
        if (particles < 0) {
            particles = 0;
            for (int32_t s = 0; s < system->species_count; s++)
                particles += column_value(from, &columns[terms + 1 + s], rung, i, w);
        }
        if (particles > 0) row[k] *= particles; /* of an empty box it is the energy itself */
    }
}

/* ---- States -------------------------------------------------------------------------------------------- */

static char *name_of_state(const session *session, int32_t rung)
{
    char *name, suffix[LADDER_SUFFIX];
    const ladder *l = &session->engine.ladder;
    if (l->rank == 0)
        checked(asprintf(&name, "%s", session->output_path) < 0 ? NULL : name);
    else
        checked(asprintf(&name, "%s%s%s%s", l->keys[0], l->rank > 1 ? ", " : "",
                         l->rank > 1 ? l->keys[1] : "", ladder_suffix(l, rung, suffix)) < 0
                    ? NULL
                    : name);
    return name;
}

/* Number of the state with these multipliers, a new one if there is none. */
static int state_like(samples *s, const session *session, int32_t rung)
{
    const double *m = &session->engine.ladder.multipliers[rung * s->width];
    const size_t bytes = (size_t)s->width * sizeof *m;
    for (int k = 0; k < s->states; k++)
        if (!memcmp(&s->multipliers[k * s->width], m, bytes)) return k;
    s->multipliers = checked(realloc(s->multipliers, (size_t)(s->states + 1) * bytes));
    s->names = checked(realloc(s->names, (size_t)(s->states + 1) * sizeof *s->names));
    memcpy(&s->multipliers[s->states * s->width], m, bytes);
    s->names[s->states] = name_of_state(session, rung);
    return s->states++;
}

static void find_states(samples *s, const analysed *runs, int count)
{
    for (int r = 0; r < count; r++)
        for (int32_t k = 0; k < runs[r].session.engine.ladder.rungs; k++) {
            s->state = checked(realloc(s->state, (size_t)(s->strata + 1) * sizeof *s->state));
            s->state[s->strata++] = state_like(s, &runs[r].session, k);
        }
}

/* Columns whose multipliers differ between states or points. */
static void find_needed(const samples *s, const point *points, int count, bool *needed)
{
    for (int c = 0; c < s->width; c++) {
        needed[c] = false;
        for (int k = 0; k < s->states; k++)
            needed[c] |= s->multipliers[k * s->width + c] != s->multipliers[c];
        for (int k = 0; k < count; k++) needed[c] |= points[k].multipliers[c] != s->multipliers[c];
    }
}

/* ---- Samples ------------------------------------------------------------------------------------------- */

static int periods_differ(const analysed *run, const series *one, int64_t period)
{
    return report_error(
        run->session.engine.report, EXIT_INPUT, run->path, 0,
        "measures '%s' every %lld sweeps and other quantities every %lld: one period must be "
        "a multiple of the other, so that they share configurations",
        one->first->observable, (long long)one->first->period, (long long)period);
}

/* Number of walkers that every series has, on every rung: those of one configuration stand in one column. */
static int find_walkers(source *out, const series *all, int count)
{
    const analysed *run = out->run;
    out->walkers = count ? all[0].first->walkers : 0;
    for (int k = 0; k < count; k++)
        for (int32_t rung = 0; rung < run->session.engine.ladder.rungs; rung++) {
            const quantity_record *q = record_of(&all[k], rung);
            if (q->walkers == out->walkers) continue;
            return report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                                "'%s' of '%s' has %d walkers but '%s' has %d: they do not "
                                "belong to the same configurations",
                                q->name, q->observable, q->walkers, all[0].first->name,
                                out->walkers);
        }
    return 0;
}

/* As many as the rung with the fewest has. */
static int64_t samples_of(const source *from, const series *s)
{
    int64_t fewest = INT64_MAX;
    for (int32_t rung = 0; rung < from->run->session.engine.ladder.rungs; rung++) {
        const quantity_record *q = record_of(s, rung);
        if (q->samples < fewest) fewest = q->samples;
    }
    return fewest * s->first->period / from->period;
}

/* How the samples of a file are counted, so that all series have all of them. */
static int find_source(source *out, const analysed *run, const series *all, int count, int64_t from)
{
    const output_data *data = &run->session.records.output;
    *out = (source){.run = run, .period = 1};
    const int code = find_walkers(out, all, count);
    if (code) return code;
    for (int k = 0; k < count; k++)
        if (all[k].first->period > out->period) out->period = all[k].first->period;
    int64_t samples = count ? INT64_MAX : 0;
    for (int k = 0; k < count; k++) {
        if (out->period % all[k].first->period) return periods_differ(run, &all[k], out->period);
        const int64_t of_this = samples_of(out, &all[k]);
        if (of_this < samples) samples = of_this;
    }
    if (from > (int64_t)data->equilibrate)
        out->begin = (from - (int64_t)data->equilibrate) / out->period;
    out->count = samples - out->begin;
    if (out->count < 1)
        return report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                            "has no samples after sweep %lld", (long long)from);
    return 0;
}

/* Whether it can be reweighted, where energies count differently or (`alike`) by the same multipliers. */
static bool can_be_taken(const measurement *m, bool alike, report *r)
{
    const plugmc_observable *o = m->instance->plugin->observable;
    const int on = PLUGMC_HAS(o, depends_on) ? o->depends_on : PLUGMC_ON_CONFIGURATION;
    if (on == PLUGMC_ON_CONFIGURATION || (on == PLUGMC_ON_MULTIPLIERS && alike)) return true;
    report_warning(
        r, NULL, 0, "[%s] is skipped: %s", m->instance->section->section->name,
        on == PLUGMC_ON_MULTIPLIERS
            ? "its samples contain temperatures and couplings, so they cannot be reweighted"
            : "it describes how walkers move through the ladder, not configurations");
    return false;
}

/* Scalars that all files have. */
static void find_quantities(samples *s, const analysed *runs, int count, bool alike, report *r)
{
    const session *session = &runs[0].session;
    for (int i = 0; i < session->records.measurement_count; i++) {
        const measurement *m = &session->records.measurements[i];
        const bool taken = can_be_taken(m, alike, r);
        for (int k = 0; k < m->quantity_count && taken; k++) {
            const quantity_record *q = &session->records.output.quantities[m->first_quantity + k];
            char *name = checked(strndup(q->name, length_of_name(session, q->name)));
            bool everywhere = q->length == 1 && q->samples > 0;
            series unused;
            for (int f = 0; f < count && everywhere; f++)
                everywhere = find_series(&runs[f].session, q->observable, name, &unused);
            if (everywhere) {
                s->quantities = checked(realloc(s->quantities, (size_t)(s->quantity_count + 1) *
                                                                   sizeof *s->quantities));
                measured *new = &s->quantities[s->quantity_count++];
                *new = (measured){.unit = checked(strdup(q->unit ? q->unit : ""))};
                checked(asprintf(&new->name, "%s.%s", q->observable, name) < 0 ? NULL : new->name);
            }
            free(name);
        }
    }
}

static void series_of(const samples *s, const session *session, int k, series *out)
{
    const char *dot = strchr(s->quantities[k].name, '.');
    char *observable =
        checked(strndup(s->quantities[k].name, (size_t)(dot - s->quantities[k].name)));
    find_series(session, observable, dot + 1, out);
    free(observable);
}

/* g = squared error of the mean over what it would be of independent samples, the largest of what is needed; at
 * least 1. */
static double inefficiency(const source *from, const column *columns, int width, int32_t rung)
{
    double largest = 1;
    for (int c = 0; c < width; c++) {
        if (!columns[c].needed || columns[c].constant) continue;
        const quantity_record *q = record_of(&columns[c].of, rung);
        estimate e;
        autocorrelation unused;
        if (estimate_interleaved(q->series, q->samples, q->walkers, 0, &e, &unused)) continue;
        autocorrelation_free(&unused);
        const double stride = (double)(from->period / q->period);
        const double g = e.error * e.error * (double)e.samples / e.variance / stride;
        if (g > largest) largest = g;
    }
    return largest;
}

static int64_t rows_of(const source *from)
{
    return from->count * from->walkers * from->run->session.engine.ladder.rungs;
}

/* The samples of one file behind those that are there. */
static void add_file(samples *s, const source *from, const column *columns, const series *all,
                     int stratum)
{
    const ladder *l = &from->run->session.engine.ladder;
    const int64_t first_slice = s->first_slice[s->files];
    for (int32_t rung = 0; rung < l->rungs; rung++) {
        const double weight = 1 / inefficiency(from, columns, s->width, rung);
        for (int64_t i = 0; i < from->count; i++)
            for (int32_t w = 0; w < from->walkers; w++) {
                const int64_t n = s->count++;
                fill_row(from, columns, rung, i, w, &s->extensive[n * s->width]);
                s->stratum[n] = stratum + rung;
                s->slice[n] = first_slice + i;
                s->weight[n] = weight;
                for (int k = 0; k < s->quantity_count; k++)
                    s->quantities[k].value[n] = value_of(from, &all[k], rung, i, w);
            }
    }
    s->first_slice[++s->files] = first_slice + from->count;
}

static int make_room(samples *s, int64_t rows, report *r)
{
    const size_t n = (size_t)rows;
    s->extensive = calloc(n * (size_t)s->width, sizeof *s->extensive);
    s->stratum = calloc(n, sizeof *s->stratum);
    s->slice = calloc(n, sizeof *s->slice);
    s->weight = calloc(n, sizeof *s->weight);
    bool enough = s->extensive && s->stratum && s->slice && s->weight;
    for (int k = 0; k < s->quantity_count && enough; k++) {
        s->quantities[k].value = calloc(n, sizeof(double));
        enough = s->quantities[k].value != NULL;
    }
    return enough ? 0
                  : report_error(r, EXIT_MEMORY, NULL, 0, "no memory for %lld samples",
                                 (long long)rows);
}

static int add_files(samples *s, analysed *runs, int count, const bool *needed, int64_t from,
                     report *r)
{
    const int most = s->quantity_count + s->width;
    column *columns = checked(calloc((size_t)(count * s->width), sizeof *columns));
    series *all = checked(calloc((size_t)(count * most), sizeof *all));
    source *sources = checked(calloc((size_t)count, sizeof *sources));
    int64_t rows = 0;
    int code = 0, stratum = 0;
    for (int f = 0; f < count && !code; f++) {
        column *own = &columns[f * s->width];
        int n = s->quantity_count;
        for (int k = 0; k < n; k++) series_of(s, &runs[f].session, k, &all[f * most + k]);
        code = find_columns(&runs[f], needed, own);
        for (int c = 0; c < s->width && !code; c++)
            if (own[c].of.first) all[f * most + n++] = own[c].of;
        if (!code) code = find_source(&sources[f], &runs[f], &all[f * most], n, from);
        if (!code) rows += rows_of(&sources[f]);
    }
    if (!code) code = make_room(s, rows, r);
    s->first_slice = checked(calloc((size_t)count + 1, sizeof *s->first_slice));
    for (int f = 0; f < count && !code; f++) {
        add_file(s, &sources[f], &columns[f * s->width], &all[f * most], stratum);
        stratum += runs[f].session.engine.ladder.rungs;
    }
    free(columns);
    free(all);
    free(sources);
    return code;
}

static int refuse_weights(const analysed *run)
{
    return report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                        "has weights of macrostates (%s): reweight such a file alone",
                        run->session.engine.weighing->instance->loaded.name);
}

/* The file has weighted means over walkers, and energies of means say nothing of the configurations. */
static int refuse_weighted_walkers(const analysed *run)
{
    const output_data *data = &run->session.records.output;
    for (int i = 0; i < data->quantity_count; i++)
        if (data->quantities[i].weighs)
            return report_error(
                run->session.engine.report, EXIT_INPUT, run->path, 0,
                "its walkers have weights: '%s' is recorded as their weighted mean, and reweighting "
                "needs the value of each walker; plugmc analyse prints the averages of the run",
                data->quantities[i].observable);
    return 0;
}

bool reweight_is_frozen(const analysed *run)
{
    char words[FROZEN_WORDS];
    int count;
    frozen_moves *all = frozen_find(&run->session.records.output, &count);
    for (int i = 0; i < count; i++)
        report_warning(run->session.engine.report, run->path, 0,
                       "%s: no error bar can be relied on", frozen_words(&all[i], words));
    free(all);
    return count > 0;
}

int samples_gather(samples *s, analysed *runs, int count, point *points, int point_count,
                   int64_t from, report *r)
{
    *s = (samples){.width = runs[0].session.engine.ladder.width};
    int code = 0;
    for (int f = 0; f < count && !code; f++) {
        if (runs[f].session.engine.weighing) code = refuse_weights(&runs[f]);
        if (!code) code = refuse_weighted_walkers(&runs[f]);
        for (int k = 0; k < f && !code; k++) code = check_fit(&runs[k], &runs[f]);
    }
    if (!code) code = points_fill(&runs[0].session, points, point_count, r);
    if (code) return code;
    bool *needed = checked(calloc((size_t)s->width, sizeof *needed));
    find_states(s, runs, count);
    find_needed(s, points, point_count, needed);
    bool alike = true;
    for (int32_t t = 0; t < runs[0].session.engine.system.term_count; t++) alike &= !needed[t];
    find_quantities(s, runs, count, alike, r);
    for (int f = 0; f < count && !code; f++) s->frozen |= reweight_is_frozen(&runs[f]);
    code = add_files(s, runs, count, needed, from, r);
    free(needed);
    return code;
}

void samples_free(samples *s)
{
    for (int k = 0; k < s->quantity_count; k++)
        free(s->quantities[k].name), free(s->quantities[k].unit), free(s->quantities[k].value);
    for (int k = 0; k < s->states; k++) free(s->names[k]);
    free(s->quantities), free(s->names), free(s->extensive), free(s->stratum), free(s->slice);
    free(s->weight), free(s->state), free(s->multipliers), free(s->first_slice);
    *s = (samples){0};
}

int samples_find(const samples *s, const char *name, report *r)
{
    const char **names = checked(calloc((size_t)s->quantity_count + 1, sizeof *names));
    int found = -1;
    for (int k = 0; k < s->quantity_count; k++) {
        names[k] = s->quantities[k].name;
        if (!strcmp(name, names[k])) found = k;
    }
    const char *near = found < 0 ? nearest_name(name, names, s->quantity_count) : NULL;
    if (found < 0)
        report_error(r, EXIT_INPUT, NULL, 0, "no quantity '%s' is in all files%s%s%s",
                     excerpt(name).text, near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
    free(names);
    return found;
}
