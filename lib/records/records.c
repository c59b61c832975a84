/* What observables measure, as the file and the table have it. See records.h; measuring.c fills it. */
#include "records/records.h"

#include <stdlib.h>
#include <string.h>

#include "archive/averages.h"
#include "archive/trajectory.h"
#include "base/crash.h"
#include "engine/listing.h"
#include "engine/refusals.h"
#include "plugin/answers.h"

static char *copy_text(const char *text) { return text ? checked(strdup(text)) : NULL; }

static int no_memory_for(const records *records, const char *label)
{
    return report_error(records->engine->report, EXIT_MEMORY, NULL, 0,
                        "no memory for what '%s' measures", label);
}

/* What `plugmc info` tells must be true. */
static int check_listed(records *records, const measurement *m, const plugmc_quantity *q,
                        bool derived)
{
    const instance *instance = m->instance;
    if (listing_has(instance->plugin->observable, q, derived)) return 0;
    return report_error(records->engine->report, EXIT_INTERNAL, instance->context.file,
                        instance->context.line,
                        "[%s] gives '%s' in '%s', which the listing of the plugin does not have",
                        instance->section->section->name, q->name, q->unit ? q->unit : "");
}

/* "energy", or "energy@0.7" on a rung of a ladder. */
static char *name_on(const records *records, const char *name, int32_t rung)
{
    char suffix[LADDER_SUFFIX], *full;
    if (asprintf(&full, "%s%s", name, ladder_suffix(&records->engine->ladder, rung, suffix)) < 0)
        checked(NULL);
    return full;
}

/* The unit that people read, and for the first rung the scale to it of q's values, behind the `width` there
 * are. */
static char *unit_of(const records *records, measurement *m, const plugmc_quantity *q, int32_t rung,
                     double **scales, int64_t *width)
{
    double scale;
    const int64_t length = plugmc_quantity_length(q), before = *width;
    char *text = units_words(&records->engine->config.units, q->unit ? q->unit : "",
                             records->engine->system.box.dimension,
                             records->engine->system.temperature, &scale);
    if (rung > 0) return text;
    *width += length;
    *scales = checked(realloc(*scales, (size_t)*width * sizeof **scales));
    for (int64_t i = before; i < *width; i++) (*scales)[i] = scale;
    m->scaled |= scale != 1;
    return text;
}

static int add_quantity(records *records, measurement *m, const plugmc_quantity *q, int32_t rung)
{
    output_data *out = &records->output;
    const char *label = m->instance->section->section->label;
    out->quantities = checked(
        realloc(out->quantities, sizeof *out->quantities * (size_t)(out->quantity_count + 1)));
    quantity_record *record = &out->quantities[out->quantity_count++];
    *record = (quantity_record){.observable = copy_text(label),
                                .name = name_on(records, q->name, rung),
                                .walkers = records->engine->processes.all_walkers /
                                           records->engine->system.rungs,
                                .unit = unit_of(records, m, q, rung, &m->scales, &m->width),
                                .doc = copy_text(q->doc),
                                .length = plugmc_quantity_length(q),
                                .period = m->period};
    if (rung == 0) m->quantity_count++;
    return axes_copy(&record->axes, q) ||
                   (record->length > 1 && block_average_init(&record->blocks, record->length))
               ? no_memory_for(records, label)
               : 0;
}

static int add_derived(records *records, measurement *m, const plugmc_quantity *q, int32_t rung)
{
    output_data *out = &records->output;
    const char *label = m->instance->section->section->label;
    out->derived =
        checked(realloc(out->derived, sizeof *out->derived * (size_t)(out->derived_count + 1)));
    derived_record *record = &out->derived[out->derived_count++];
    *record = (derived_record){
        .observable = copy_text(label),
        .name = name_on(records, q->name, rung),
        .unit = unit_of(records, m, q, rung, &m->derived_scales, &m->derived_width),
        .doc = copy_text(q->doc),
        .length = plugmc_quantity_length(q)};
    if (axes_copy(&record->axes, q)) return no_memory_for(records, label);
    if (record->length < 2) return 0;
    record->values = calloc((size_t)record->length, sizeof(double));
    record->errors = calloc((size_t)record->length, sizeof(double));
    record->each_converged = calloc((size_t)record->length, sizeof(bool));
    return record->values && record->errors && record->each_converged
               ? 0
               : no_memory_for(records, label);
}

/* All of one list, measured or derived, for a rung. */
static int add_list(records *records, measurement *m, enum quantity_list which, int32_t rung)
{
    char why[512];
    const plugmc_observable *observable = m->instance->plugin->observable;
    int code = 0;
    for (int k = 0; !code; k++) {
        plugmc_quantity q;
        int more =
            ask_quantity(observable, m->instance->data, which, k, &q, (sentence){why, sizeof why});
        if (more == 0) return 0;
        if (more < 0) return refuse_answer(m->instance, EXIT_PLUGIN, why);
        code = check_listed(records, m, &q, which == QUANTITIES_DERIVED);
        if (code) return code;
        code = which == QUANTITIES_MEASURED ? add_quantity(records, m, &q, rung)
                                            : add_derived(records, m, &q, rung);
    }
    return code;
}

/* The mean weight of walkers at each measurement, where a mover changes it. */
static void add_weight(records *records, measurement *m)
{
    output_data *out = &records->output;
    bool weighted = false;
    m->weight = -1;
    for (int k = 0; k < records->engine->mover_count; k++)
        weighted |= (records->engine->movers[k].mover->changes & PLUGMC_CHANGED_WALKER_WEIGHT) != 0;
    if (!weighted || out->quantity_count == m->first_quantity) return;
    for (int i = m->first_quantity; i < out->quantity_count; i++) out->quantities[i].walkers = 1;
    m->weight = out->quantity_count;
    out->quantities = checked(
        realloc(out->quantities, sizeof *out->quantities * (size_t)(out->quantity_count + 1)));
    out->quantities[out->quantity_count++] =
        (quantity_record){.observable = copy_text(m->instance->section->section->label),
                          .name = copy_text("weight"),
                          .walkers = 1,
                          .unit = copy_text(""),
                          .doc = copy_text("mean weight of walkers in averages"),
                          .length = 1,
                          .period = m->period,
                          .weighs = true};
}

static int add_quantities(records *records, measurement *m)
{
    m->first_quantity = records->output.quantity_count;
    context_calling(&m->instance->context, "quantity");
    int code = 0;
    for (int32_t r = 0; r < records->engine->system.rungs && !code; r++)
        code = add_list(records, m, QUANTITIES_MEASURED, r);
    add_weight(records, m);
    m->first_derived = records->output.derived_count;
    for (int32_t r = 0; r < records->engine->system.rungs && !code; r++)
        code = add_list(records, m, QUANTITIES_DERIVED, r);
    m->derived_count =
        (records->output.derived_count - m->first_derived) / records->engine->system.rungs;
    crash_called();
    if (code) return code;
    m->values = calloc((size_t)(records->engine->system.walkers * m->width) + 1, sizeof(double));
    return m->values ? 0 : no_memory_for(records, m->instance->section->section->label);
}

/* Of sections with the same label: of a mover that measures and an observable. */
static int check_names(const records *records)
{
    const char *label, *name;
    if (!output_names_clash(&records->output, &label, &name)) return 0;
    return report_error(records->engine->report, EXIT_INPUT, records->engine->config.ini.path, 0,
                        "two quantities are called '%s.%s': sections that measure need different "
                        "names, as in [observable NAME] with plugin = ...",
                        label, name);
}

/* Observables, and movers that measure, in the order of the file. */
int records_begin(records *records)
{
    const engine *engine = records->engine;
    int code = 0;
    records->measurements =
        checked(calloc((size_t)engine->instance_count + 1, sizeof *records->measurements));
    records->output.moves = engine->moves;
    records->output.move_count = engine->move_count;
    for (int i = 0; i < records->engine->instance_count && !code; i++) {
        instance *instance = &records->engine->instances[i];
        if (!instance->plugin->observable) continue;
        measurement *m = &records->measurements[records->measurement_count++];
        *m = (measurement){.instance = instance, .period = instance->section->period};
        if (m->period > records->engine->config.run.sweeps)
            report_warning(
                records->engine->report, instance->context.file, instance->context.line,
                "[%s] period = %lld is longer than the run, sweeps = %lld: nothing is measured",
                instance->section->section->name, (long long)m->period,
                (long long)records->engine->config.run.sweeps);
        code = add_quantities(records, m);
    }
    return code ? code : check_names(records);
}

/* ---- Series that somebody reads -------------------------------------------------------------- */

double *records_series(records *records, const quantity_record *q, int64_t capacity)
{
    const size_t bytes = sizeof(double) * (size_t)capacity;
    if (!records->lent || !q->series) return realloc(q->series, bytes);
    double **outgrown =
        realloc(records->outgrown, (size_t)(records->outgrown_count + 1) * sizeof *outgrown);
    if (outgrown) records->outgrown = outgrown;
    double *series = outgrown ? malloc(bytes) : NULL;
    if (!series) return NULL;
    memcpy(series, q->series, sizeof(double) * (size_t)(q->samples * q->walkers));
    outgrown[records->outgrown_count++] = q->series;
    return series;
}

void records_returned(records *records)
{
    for (int k = 0; k < records->outgrown_count; k++) free(records->outgrown[k]);
    free(records->outgrown);
    records->outgrown = NULL;
    records->outgrown_count = 0;
    records->lent = false;
}

/* ---- Release --------------------------------------------------------------------------------- */

static void free_output(output_data *out)
{
    for (int i = 0; i < out->quantity_count; i++) {
        quantity_record *q = &out->quantities[i];
        free(q->observable), free(q->name), free(q->unit), free(q->doc), free(q->series);
        axes_free(&q->axes);
        if (q->length > 1) block_average_free(&q->blocks);
        averages_free(q);
    }
    for (int i = 0; i < out->derived_count; i++) {
        derived_record *d = &out->derived[i];
        free(d->observable), free(d->name), free(d->unit), free(d->doc);
        free(d->values), free(d->errors), free(d->each_converged);
        axes_free(&d->axes);
    }
    free(out->quantities);
    free(out->derived);
    trajectory_free(&out->trajectory);
    free((char *)out->origin.user_ini);
    free((char *)out->origin.provenance);
    free((char *)out->origin.history);
}

void records_free(records *records)
{
    for (int i = 0; i < records->measurement_count; i++)
        free(records->measurements[i].values), free(records->measurements[i].scales),
            free(records->measurements[i].derived_scales);
    free(records->measurements);
    free_output(&records->output);
    records_returned(records);
}
