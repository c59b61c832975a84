/* Derived numbers and arrays by jackknife, and the table of results. */
#include "run/results.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* All quantities of an observable as one array in blocks. Arrays have theirs; scalars are
 * averaged over walkers and blocked alike. */
static int joint_blocks(const simulation *sim, const measurement *m, block_average *joint)
{
    const int walkers = sim->system.walkers;
    const quantity_record *first = &sim->output.quantities[m->first_quantity];
    const block_average *array = NULL;
    for (int k = 0; k < m->quantity_count; k++)
        if (first[k].length > 1) array = &first[k].blocks;
    if (block_average_init(joint, m->width)) return 1;
    double *row = calloc((size_t)m->width + 1, sizeof(double));
    if (!row) return 1;
    if (!array) { /* scalars only: their series say everything */
        for (int64_t s = 0; s < first->samples; s++) {
            for (int k = 0; k < m->quantity_count; k++) {
                row[k] = 0;
                for (int w = 0; w < walkers; w++) row[k] += first[k].series[s * walkers + w] / walkers;
            }
            block_average_add(joint, row);
        }
        free(row);
        return 0;
    }
    joint->per_block = array->per_block;
    joint->blocks = array->blocks;
    joint->in_last = array->in_last;
    int64_t at = 0;
    for (int k = 0; k < m->quantity_count; k++) {
        const quantity_record *q = &first[k];
        for (int64_t b = 0; b <= array->blocks; b++) {
            double *to = joint->sums + b * m->width + at;
            if (q->length > 1) {
                memcpy(to, q->blocks.sums + b * q->length, sizeof(double) * (size_t)q->length);
                continue;
            }
            int64_t begin = b * array->per_block;
            int64_t end = begin + (b < array->blocks ? array->per_block : array->in_last);
            *to = 0;
            for (int64_t s = begin; s < end; s++)
                for (int w = 0; w < walkers; w++) *to += q->series[s * walkers + w] / walkers;
        }
        at += q->length;
    }
    free(row);
    return 0;
}

static derived_record *derived_of(simulation *sim, const char *observable)
{
    for (int i = 0; i < sim->output.derived_count; i++)
        if (!strcmp(sim->output.derived[i].observable, observable)) return &sim->output.derived[i];
    return NULL;
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

void derive_results(simulation *sim)
{
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *m = &sim->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        const char *label = m->instance->section->section->label;
        derived_record *d = derived_of(sim, label);
        block_average joint = {0};
        int count = 0;
        int64_t numbers = 0;
        if (!o->derive || !d || !m->quantity_count) continue;
        while (d + count < sim->output.derived + sim->output.derived_count &&
               !strcmp(d[count].observable, label))
            numbers += d[count++].length;
        double *value = calloc(2 * (size_t)numbers + 1, sizeof(double)), *error = value + numbers;
        bool *converged = calloc((size_t)numbers + 1, sizeof *converged);
        for (int k = 0; k < count; k++) d[k].valid = false;
        if (!value || !converged) {
            free(value), free(converged);
            continue;
        }
        bool valid = !joint_blocks(sim, m, &joint) &&
                     !block_average_jackknife(&joint, o->derive, m->instance->data, numbers, value,
                                              error, converged);
        for (int64_t n = 0; n < 2 * numbers && !valid; n++) value[n] = NAN;
        int64_t at = 0;
        for (int k = 0; k < count; at += d[k++].length)
            take_derived(&d[k], value + at, error + at, converged + at, valid);
        block_average_free(&joint);
        free(value), free(converged);
    }
}

/* "9.1741(5)": a mean with its error in units of the last digits; "1e-17 +- 2e-18" if those are far away. */
static const char *with_error(double mean, double error, char text[64])
{
    if (!(error > 0) || !isfinite(error) || !isfinite(mean)) {
        snprintf(text, 64, "%.10g", mean);
        return text;
    }
    int decimals = 1 - (int)floor(log10(error));
    if (decimals < 0) decimals = 0;
    if (decimals > 15) /* more digits than a double has: rounding errors, as of a drift */
        snprintf(text, 64, "%.2g +- %.1g", mean, error);
    else
        snprintf(text, 64, "%.*f(%.0f)", decimals, mean, error * pow(10, decimals));
    return text;
}

/* Of the values that there are, how many errors are lower bounds. */
static int64_t count_bounds(const double *value, const bool *converged, int64_t length)
{
    int64_t count = 0;
    for (int64_t i = 0; i < length; i++) count += !converged[i] && isfinite(value[i]);
    return count;
}

static int64_t bounds_of_average(const block_average *blocks)
{
    const size_t length = (size_t)blocks->length;
    double *mean = checked(malloc(2 * length * sizeof *mean));
    bool *converged = checked(malloc(length * sizeof *converged));
    block_average_result(blocks, mean, mean + length, converged);
    int64_t count = count_bounds(mean, converged, blocks->length);
    free(mean), free(converged);
    return count;
}

static void print_array(const simulation *sim, const char *observable, const char *name,
                        const axes *a, int64_t bounds)
{
    char words[128];
    printf("%s.%s: %lld values against %s, in %s", observable, name, (long long)axes_length(a),
           axes_words(a, words, sizeof words), sim->output_path);
    if (bounds) printf("; %lld of their errors are lower bounds *", (long long)bounds);
    printf("\n");
}

/* Returns whether any of their errors are lower bounds. */
static bool print_arrays(const simulation *sim)
{
    const output_data *out = &sim->output;
    int64_t all = 0;
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        if (q->length < 2) continue;
        const int64_t bounds = bounds_of_average(&q->blocks);
        print_array(sim, q->observable, q->name, &q->axes, bounds);
        all += bounds;
    }
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        if (d->length < 2) continue;
        const int64_t bounds = count_bounds(d->values, d->each_converged, d->length);
        print_array(sim, d->observable, d->name, &d->axes, bounds);
        all += bounds;
    }
    return all > 0;
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
static void print_what_is_lacking(const simulation *sim)
{
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *m = &sim->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        const char *label = m->instance->section->section->label;
        bool invalid = false;
        for (int k = 0; k < sim->output.derived_count; k++) {
            const derived_record *d = &sim->output.derived[k];
            invalid |= !d->valid && !strcmp(d->observable, label);
        }
        if (!invalid || !says_what_is_lacking(o)) continue;
        block_average joint = {0};
        double *mean = checked(malloc(((size_t)m->width + 1) * sizeof *mean));
        if (joint_blocks(sim, m, &joint)) checked(NULL);
        block_average_mean(&joint, mean);
        const char *sentence =
            joint.blocks + joint.in_last ? o->lacking(m->instance->data, mean) : NULL;
        if (sentence) printf("too few data for %s: %s\n", label, sentence);
        block_average_free(&joint);
        free(mean);
    }
}

/* A table that is not the last one says so, first thing. */
static void print_unfinished(const simulation *sim)
{
    const run_section *run = &sim->config.run;
    if (sim->output.finished) return;
    printf("UNFINISHED: %llu of %llu sweeps, equilibration included\n",
           (unsigned long long)sim->output.sweep,
           (unsigned long long)(run->equilibrate + run->sweeps));
}

void print_results(const simulation *sim)
{
    const output_data *out = &sim->output;
    char text[64], time[32];
    bool bounds = false; /* is any error one? */
    const int wide = name_width(out);
    print_unfinished(sim);
    printf("%-*s %-22s %-12s %-12s %s\n", wide, "quantity", "mean(error)", "tau/sweeps", "samples", "unit");
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        char name[128], mark = ' ';
        if (q->length != 1) continue;
        snprintf(name, sizeof name, "%s.%s", q->observable, q->name);
        if (!q->samples) {
            printf("%-*s %-22s %-12s %-12d %s\n", wide, name, "none", "", 0, q->unit ? q->unit : "");
            continue;
        }
        estimate e = estimate_interleaved(q->series, q->samples, sim->system.walkers);
        if (!e.converged) {
            mark = '*';
            bounds = true;
        }
        snprintf(time, sizeof time, "%.4g", e.correlation_time * (double)q->period);
        printf("%-*s %-22s %-12s %-12lld %s%c\n", wide, name, with_error(e.mean, e.error, text),
               isnan(e.correlation_time) ? "none" : time, (long long)e.samples, q->unit ? q->unit : "", mark);
    }
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        char name[128];
        snprintf(name, sizeof name, "%s.%s", d->observable, d->name);
        if (d->length > 1) continue;
        if (!d->valid) {
            printf("%-*s %-22s\n", wide, name, "too few data");
            continue;
        }
        printf("%-*s %-22s %-12s %-12s %s%s\n", wide, name, with_error(d->value, d->error, text), "", "",
               d->unit ? d->unit : "", d->converged ? "" : "*");
        if (!d->converged) bounds = true;
    }
    if (print_arrays(sim)) bounds = true;
    if (out->counts.trials)
        printf("acceptance %.4f of %.4g trial moves, step %.6g; %.4g s\n",
               (double)out->counts.accepted / (double)out->counts.trials, (double)out->counts.trials,
               out->step, out->seconds);
    if (bounds)
        printf("* the run is too short for this error bar: it is a lower bound\n");
    print_what_is_lacking(sim);
    printf("%s\n", sim->output_path);
}
