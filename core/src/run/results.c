/* Derived numbers and arrays by jackknife, and the table of results. */
#include "run/results.h"

#include <math.h>
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
static void take_derived(derived_record *d, const double *value, const double *error, bool valid)
{
    d->valid = valid && (d->length > 1 || !isnan(*value));
    if (d->length < 2) {
        d->value = *value;
        d->error = *error;
    } else {
        memcpy(d->values, value, (size_t)d->length * sizeof *value);
        memcpy(d->errors, error, (size_t)d->length * sizeof *error);
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
        for (int k = 0; k < count; k++) d[k].valid = false;
        if (!value) continue;
        bool valid = !joint_blocks(sim, m, &joint) &&
                     !block_average_jackknife(&joint, o->derive, m->instance->data, numbers, value,
                                              error);
        for (int64_t n = 0; n < 2 * numbers && !valid; n++) value[n] = NAN;
        int64_t at = 0;
        for (int k = 0; k < count; at += d[k++].length)
            take_derived(&d[k], value + at, error + at, valid);
        block_average_free(&joint);
        free(value);
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

static void print_array(const simulation *sim, const char *observable, const char *name,
                        int64_t length, const char *axis)
{
    if (length > 1)
        printf("%s.%s: %lld values against %s, in %s\n", observable, name, (long long)length,
               axis ? axis : "index", sim->output_path);
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

void print_results(const simulation *sim)
{
    const output_data *out = &sim->output;
    char text[64], time[32];
    int64_t short_runs = 0;
    const int wide = name_width(out);
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
            short_runs++;
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
        if (d->valid)
            printf("%-*s %-22s %-12s %-12s %s\n", wide, name, with_error(d->value, d->error, text), "", "", d->unit ? d->unit : "");
        else
            printf("%-*s %-22s\n", wide, name, "too few data");
    }
    for (int i = 0; i < out->quantity_count; i++)
        print_array(sim, out->quantities[i].observable, out->quantities[i].name,
                    out->quantities[i].length, out->quantities[i].axis);
    for (int i = 0; i < out->derived_count; i++)
        print_array(sim, out->derived[i].observable, out->derived[i].name, out->derived[i].length,
                    out->derived[i].axis);
    if (out->counts.trials)
        printf("acceptance %.4f of %.4g trial moves, step %.6g; %.4g s\n",
               (double)out->counts.accepted / (double)out->counts.trials, (double)out->counts.trials,
               out->step, out->seconds);
    if (short_runs)
        printf("* the run is too short for this error bar: it is a lower bound\n");
    printf("%s\n", sim->output_path);
}
