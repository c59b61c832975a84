/* Derived numbers and arrays by jackknife, and the table of results. */
#include "records/results.h"
#include "base/crash.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "archive/averages.h"
#include "archive/frozen.h"
#include "engine/reservoirs.h"

/* ---- Derived numbers ------------------------------------------------------------------------ */

/* An observable on a rung. */
typedef struct on_rung {
    const records *records;
    const measurement *m;
    int32_t rung;
} on_rung;

static const quantity_record *quantities_of(const on_rung *o)
{
    return &o->records->output.quantities[o->m->first_quantity + o->rung * o->m->quantity_count];
}

static const quantity_record *array_of(const on_rung *o)
{
    const quantity_record *first = quantities_of(o);
    for (int k = 0; k < o->m->quantity_count; k++)
        if (first[k].length > 1) return &first[k];
    return NULL;
}

/* Means of all quantities of an observable, [width]. */
static void means_of(const on_rung *o, double *mean)
{
    for (int k = 0; k < o->m->quantity_count; k++) {
        const quantity_record *q = &quantities_of(o)[k];
        if (q->length == 1) *mean = q->found.scalar.mean;
        if (q->length > 1) memcpy(mean, q->found.means, sizeof *mean * (size_t)q->length);
        mean += q->length;
    }
}

/* Of scalars, all walkers apart unless they hang together. */
static int blocks_of_scalars(const on_rung *o, block_means *out)
{
    const quantity_record *first = quantities_of(o);
    const int count = o->m->quantity_count;
    const double **series = calloc((size_t)count, sizeof *series);
    int code = !series, walkers = 1;
    for (int k = 0; k < count && !code; k++) {
        series[k] = averages_series(&o->records->output, &first[k], &walkers);
        code = !series[k];
    }
    if (!code) code = block_means_of_series(out, series, count, first->samples, walkers);
    for (int k = 0; k < count && series; k++)
        if (series[k] != first[k].series) free((void *)series[k]);
    free(series);
    return code;
}

/* The part of one quantity in blocks [blocks][width] as long as those of an array. */
static int put_array(const on_rung *o, const quantity_record *q, const block_average *array,
                     int64_t width, double *to)
{
    block_average blocks;
    int code;
    const bool own = averages_blocks(&o->records->output, q, &blocks, &code);
    for (int64_t b = 0; b < array->blocks && !code; b++)
        for (int64_t i = 0; i < q->length; i++)
            to[b * width + i] = blocks.sums[b * q->length + i] / (double)array->per_block;
    if (own) block_average_free(&blocks);
    return code;
}

static int put_scalar(const on_rung *o, const quantity_record *q, const block_average *array,
                      int64_t width, double *to)
{
    int walkers;
    const double *found = averages_series(&o->records->output, q, &walkers), *series = found;
    if (!found && q->samples) return 1;
    if (walkers == 1 && q->walkers > 1) series = q->series; /* all of it, in its own order */
    const int64_t each = array->per_block * q->walkers;
    for (int64_t b = 0; b < array->blocks; b++)
        for (int64_t s = b * each; s < (b + 1) * each; s++)
            to[b * width] += series[s] / (double)each;
    if (found != q->series) free((void *)found);
    return 0;
}

/* With arrays, whose blocks are averages over walkers: scalars are averaged likewise. */
static int blocks_with_arrays(const on_rung *o, block_means *out)
{
    const measurement *m = o->m;
    const block_average *array = &array_of(o)->blocks;
    int code = block_means_init(out, array->blocks, 1, m->width);
    double *to = out->block;
    if (code) return 1;
    means_of(o, out->mean);
    for (int k = 0; k < m->quantity_count && !code; k++) {
        const quantity_record *q = &quantities_of(o)[k];
        code = q->length > 1 ? put_array(o, q, array, m->width, to)
                             : put_scalar(o, q, array, m->width, to);
        to += q->length;
    }
    if (code) block_means_free(out);
    return code;
}

/* A scalar that cannot be found although others can is NaN. */
static void take_derived(derived_record *d, const double *value, const double *error,
                         const bool *converged, bool valid)
{
    d->valid = valid && (d->length > 1 || !isnan(*value));
    if (d->length < 2) {
        d->value = *value;
        d->error = *error;
        d->converged = *converged;
    } else {
        memcpy(d->values, value, (size_t)d->length * sizeof *value);
        memcpy(d->errors, error, (size_t)d->length * sizeof *error);
        memcpy(d->each_converged, converged, (size_t)d->length * sizeof *converged);
    }
}

/* What plugins told, from means in the units of the run. */
static void unscale(const measurement *m, const double *means, double *told)
{
    for (int64_t i = 0; i < m->width; i++) told[i] = m->scaled ? means[i] / m->scales[i] : means[i];
}

typedef struct deriving {
    const measurement *m;
    double *told; /* [width] */
} deriving;

static int derive_in_units(void *argument, const double *means, double *out)
{
    const deriving *d = argument;
    const instance *instance = d->m->instance;
    unscale(d->m, means, d->told);
    const int code = instance->plugin->observable->derive(instance->data, d->told, out);
    for (int64_t i = 0; i < d->m->derived_width && !code; i++) out[i] *= d->m->derived_scales[i];
    return code;
}

/* Does any of its numbers not vary in some walkers? */
static bool stands_still(const on_rung *o)
{
    bool still = false;
    for (int k = 0; k < o->m->quantity_count; k++) still |= quantities_of(o)[k].found.still > 0;
    return still;
}

/* The `count` records from d on, which have `numbers` values together. */
static int derive_from(const on_rung *on, derived_record *d, int count, int64_t numbers)
{
    const measurement *m = on->m;
    const bool arrays = array_of(on) != NULL;
    const run_length run = averages_run_length(&on->records->output, arrays);
    const bool frozen = frozen_any(&on->records->output), still = stands_still(on);
    double *value = calloc(2 * (size_t)numbers + 1, sizeof(double)), *error = value + numbers;
    bool *converged = calloc((size_t)numbers + 1, sizeof *converged);
    block_means blocks = {0};
    deriving deriving = {m, malloc(((size_t)m->width + 1) * sizeof(double))};
    int code = !value || !converged || !deriving.told;
    bool valid = false;
    if (!code && quantities_of(on)->samples > 0) {
        code = arrays ? blocks_with_arrays(on, &blocks) : blocks_of_scalars(on, &blocks);
        context_calling(&m->instance->context, "derive");
        valid = !code && !jackknife(&blocks, derive_in_units, &deriving, numbers,
                                    on->records->output.blocks, value, error, converged);
        crash_called();
    }
    for (int64_t n = 0; !code && n < numbers; n++) {
        if (!valid) value[n] = error[n] = NAN;
        error[n] *= run.widening;
        if (error[n] > 0 && (!run.enough || still)) converged[n] = false;
        if (frozen) frozen_doubt(value[n], &error[n], &converged[n]);
    }
    for (int64_t k = 0, at = 0; !code && k < count; at += d[k++].length)
        take_derived(&d[k], value + at, error + at, converged + at, valid);
    block_means_free(&blocks);
    free(value), free(converged), free(deriving.told);
    return code;
}

static int derive_on(const records *records, const measurement *m, int32_t rung)
{
    const on_rung on = {records, m, rung};
    derived_record *d = &records->output.derived[m->first_derived + rung * m->derived_count];
    int64_t numbers = 0;
    for (int k = 0; k < m->derived_count; k++) numbers += d[k].length;
    return derive_from(&on, d, m->derived_count, numbers);
}

int find_results(records *records)
{
    int code = averages_find(&records->output);
    for (int i = 0; i < records->measurement_count; i++) {
        const measurement *m = &records->measurements[i];
        if (!m->instance->plugin->observable->derive || !m->derived_count || !m->quantity_count)
            continue;
        for (int32_t r = 0; r < records->engine->system.rungs && !code; r++)
            code = derive_on(records, m, r);
    }
    records->averaged = !code;
    if (!code) return 0;
    return report_error(records->engine->report, EXIT_MEMORY, NULL, 0,
                        "no memory for the averages of the run");
}

/* ---- The table ------------------------------------------------------------------------------ */

/* More digits than these are not those of a double. */
enum { MOST_DIGITS = 15, SHOWN_OF_EXACT = 12 };

const char *with_error(double mean, double error, bool converged, char text[64])
{
    const char *star = converged ? "" : "*";
    if (!(error > 0) || !isfinite(error) || !isfinite(mean)) {
        snprintf(text, 64, "%.*g%s", SHOWN_OF_EXACT, mean, star);
        return text;
    }
    int decimals = 1 - (int)floor(log10(error));
    if (decimals < 0) decimals = 0;
    int digits = mean != 0 ? decimals + 1 + (int)floor(log10(fabs(mean))) : 1;
    if (digits > MOST_DIGITS)
        digits = SHOWN_OF_EXACT;
    else if (decimals <= MOST_DIGITS)
        digits = 0;
    if (digits)
        snprintf(text, 64, "%.*g +- %.1g%s", digits > 1 ? digits : 1, mean, error, star);
    else
        snprintf(text, 64, "%.*f(%.0f)%s", decimals, mean, error * pow(10, decimals), star);
    return text;
}

/* Sweeps; "<5" where samples are independent, and all that is known is that it is less. */
static const char *tau_of(const quantity_record *q, char text[32])
{
    const double samples = q->found.scalar.correlation_time;
    if (isnan(samples)) return "none";
    snprintf(text, 32, "%s%.4g", samples <= 0.5 ? "<" : "", samples * (double)q->period);
    return text;
}

/* Of the values of an array, how many errors are lower bounds, and how many are not known. */
typedef struct doubts {
    int64_t bounds, unknown;
} doubts;

/* None where they are so few, one in FEW_OF, that chance makes as many of sound ones. */
static doubts doubts_of(const double *value, const double *error, const bool *converged,
                        int64_t length)
{
    enum { FEW_OF = 50 };
    doubts d = {0, 0};
    for (int64_t i = 0; i < length; i++) {
        if (converged[i] || !isfinite(value[i])) continue;
        if (isnan(error[i]))
            d.unknown++;
        else
            d.bounds++;
    }
    return (d.bounds + d.unknown) * FEW_OF > length ? d : (doubts){0, 0};
}

static void print_array(const char *where, const char *observable, const char *name, const axes *a,
                        doubts d)
{
    char words[128];
    printf("%s.%s: %lld values against %s, %s", observable, name, (long long)axes_length(a),
           axes_words(a, words, sizeof words), where);
    if (d.bounds) printf("; %lld of their errors are lower bounds *", (long long)d.bounds);
    if (d.unknown) printf("; %lld of their errors are not known *", (long long)d.unknown);
    printf("\n");
}

/* Returns whether any of their errors are lower bounds. */
static bool print_arrays(const output_data *out, const char *where)
{
    bool any = false;
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        if (q->length < 2) continue;
        const doubts found =
            doubts_of(q->found.means, q->found.errors, q->found.each_converged, q->length);
        print_array(where, q->observable, q->name, &q->axes, found);
        any |= found.bounds || found.unknown;
    }
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        if (d->length < 2) continue;
        const doubts found = doubts_of(d->values, d->errors, d->each_converged, d->length);
        print_array(where, d->observable, d->name, &d->axes, found);
        any |= found.bounds || found.unknown;
    }
    return any;
}

/* Of the first column: 32 or the longest name of a number. */
static int name_width(const output_data *out)
{
    size_t wide = 32;
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        size_t length = strlen(q->observable) + 1 + strlen(q->name);
        if (q->length == 1 && length > wide) wide = length;
    }
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        size_t length = strlen(d->observable) + 1 + strlen(d->name);
        if (d->length < 2 && length > wide) wide = length;
    }
    return (int)(wide < 127 ? wide : 127); /* names are cut there */
}

static bool says_what_is_lacking(const plugmc_observable *o)
{
    return o->size >= offsetof(plugmc_observable, lacking) + sizeof o->lacking && o->lacking;
}

/* Below the table, for observables whose derived numbers could not be found. */
static void print_what_is_lacking(const records *records)
{
    for (int i = 0; i < records->measurement_count; i++) {
        const measurement *m = &records->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        const char *label = m->instance->section->section->label;
        bool invalid = false;
        for (int k = 0; k < records->output.derived_count; k++) {
            const derived_record *d = &records->output.derived[k];
            invalid |= !d->valid && !strcmp(d->observable, label);
        }
        const on_rung on = {records, m, 0};
        if (!invalid || !says_what_is_lacking(o) || !quantities_of(&on)->samples) continue;
        double *mean = checked(malloc(((size_t)m->width + 1) * sizeof *mean));
        means_of(&on, mean);
        unscale(m, mean, mean);
        context_calling(&m->instance->context, "lacking");
        const char *sentence = o->lacking(m->instance->data, mean);
        if (sentence) printf("too few data for %s: %s\n", label, sentence); /* its memory */
        crash_called();
        free(mean);
    }
}

/* Returns whether any error is a lower bound, as the other parts of the table do. */
static bool print_scalars(const output_data *out, int wide)
{
    char text[64], time[32], name[128];
    bool bounds = false;
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        const estimate *e = &q->found.scalar;
        const char *unit = q->unit ? q->unit : "";
        if (q->length != 1) continue;
        snprintf(name, sizeof name, "%s.%s", q->observable, q->name);
        if (!q->samples) {
            printf("%-*s %-22s %-12s %-12d %s\n", wide, name, "none", "", 0, unit);
            continue;
        }
        bounds = bounds || !e->converged;
        printf("%-*s %-22s %-12s %-12lld %s\n", wide, name,
               with_error(e->mean, e->error, e->converged, text), tau_of(q, time),
               (long long)e->samples, unit);
    }
    return bounds;
}

static bool print_derived(const output_data *out, int wide)
{
    char text[64], name[128];
    bool bounds = false;
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        if (d->length > 1) continue;
        snprintf(name, sizeof name, "%s.%s", d->observable, d->name);
        if (!d->valid) {
            printf("%-*s %-22s\n", wide, name, "too few data");
            continue;
        }
        bounds = bounds || !d->converged;
        printf("%-*s %-22s %-12s %-12s %s\n", wide, name,
               with_error(d->value, d->error, d->converged, text), "", "", d->unit ? d->unit : "");
    }
    return bounds;
}

/* Why there is a star; returns whether moves are the reason, and not the length of the run. */
static bool explain_frozen(const output_data *out)
{
    char words[FROZEN_WORDS];
    int count;
    frozen_moves *all = frozen_find(out, &count);
    for (int i = 0; i < count; i++)
        printf("* %s: no error bar can be relied on\n", frozen_words(&all[i], words));
    free(all);
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        if (q->length == 1 && q->found.still)
            printf(
                "* %s.%s has kept its first value through production in %d of %d walkers: its error is %s\n",
                q->observable, q->name, q->found.still, q->walkers,
                q->found.still == q->walkers ? "not known" : "a lower bound");
    }
    return count > 0;
}

/* What the star means, and whose time is too long, if that is the reason. */
static void explain_bounds(const output_data *out)
{
    const quantity_record *q = out->slowest;
    printf("* the run is too short for this error bar: it is a lower bound\n");
    printf("  the run should be %.6g times longer, at least", averages_times_longer(out));
    if (!averages_run_length(out, true).enough)
        printf(": %s.%s changes slowest, tau = %.4g sweeps", q->observable, q->name,
               q->found.scalar.correlation_time * (double)q->period);
    printf("\n");
}

/* Standard errors; of a thousand series without drift less than one. */
static const double FAR = 4;

static void warn_of_drifts(const output_data *out)
{
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        if (q->length == 1 && q->samples && fabs(q->found.halves) > FAR)
            printf("%s.%s: the second half of the run is %.1f standard errors %s the first: was it "
                   "in equilibrium?\n",
                   q->observable, q->name, fabs(q->found.halves),
                   q->found.halves > 0 ? "above" : "below");
    }
}

/* "0.4981", or "0.31 to 0.52" where rungs differ. */
static const char *acceptance_of(const move_record *move, double *trials, char text[32])
{
    double least = 1, most = 0;
    *trials = 0;
    for (int32_t r = 0; r < move->rungs; r++) {
        const plugmc_counts *c = &move->counts[r];
        if (!c->trials) continue;
        least = fmin(least, (double)c->accepted / (double)c->trials);
        most = fmax(most, (double)c->accepted / (double)c->trials);
        *trials += (double)c->trials;
    }
    if (least >= most) /* one rung, or one pair of rungs */
        snprintf(text, 32, "%.4f", most);
    else
        snprintf(text, 32, "%.4f to %.4f", least, most);
    return text;
}

static const char *steps_of(const move_record *move, char text[64])
{
    double least = move->steps[0], most = least;
    text[0] = 0;
    if (!move->step_unit) return text;
    for (int32_t r = 0; r < move->rungs; r++) {
        least = fmin(least, move->steps[r]);
        most = fmax(most, move->steps[r]);
    }
    if (least < most)
        snprintf(text, 64, ", step %.6g to %.6g", least, most);
    else
        snprintf(text, 64, ", step %.6g", least);
    return text;
}

/* A line for each kind of move, with its name where there are several; then the time. */
static void print_moves(const output_data *out)
{
    char acceptance[32], step[64], name[128] = "";
    for (int i = 0; i < out->move_count; i++) {
        const move_record *move = &out->moves[i];
        double trials;
        acceptance_of(move, &trials, acceptance);
        if (out->move_count > 1) snprintf(name, sizeof name, " of %s.%s", move->mover, move->name);
        if (trials > 0)
            printf("acceptance %s of %.4g trial moves%s%s", acceptance, trials, name,
                   steps_of(move, step));
        else if (*name)
            printf("no trial moves%s", name);
        else
            continue;
        if (i + 1 == out->move_count) printf("; %.4g s", out->seconds);
        printf("\n");
    }
}

/* A table that is not the last one says so, first thing. */
static void print_unfinished(const records *records)
{
    const run_section *run = &records->engine->config.run;
    if (records->output.finished) return;
    printf("UNFINISHED: %llu of %llu sweeps, equilibration included\n",
           (unsigned long long)records->output.sweep,
           (unsigned long long)(run->equilibrate + run->sweeps));
}

void print_table(const records *records, const char *where)
{
    const output_data *out = &records->output;
    const int wide = name_width(out);
    printf("%-*s %-22s %-12s %-12s %s\n", wide, "quantity", "mean(error)", "tau/sweeps", "samples",
           "unit");
    bool bounds = print_scalars(out, wide);
    if (print_derived(out, wide)) bounds = true;
    if (print_arrays(out, where)) bounds = true;
    print_moves(out);
    reservoirs_write(stdout, records->engine, "");
    const bool frozen = explain_frozen(out);
    if (bounds && !frozen) explain_bounds(out);
    warn_of_drifts(out);
    print_what_is_lacking(records);
}

void print_results(const records *records, const char *path)
{
    char *where;
    checked(asprintf(&where, "in %s", path) < 0 ? NULL : where);
    print_unfinished(records);
    print_table(records, where);
    printf("%s\n", path);
    free(where);
}
