/* Energies, and what observables have measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "border.h"
#include "energy/anew.h"
#include "engine/sync.h"
#include "engine/moves.h"
#include "parallel/team.h"
#include "records/results.h"

/* ---- Energies --------------------------------------------------------------------------------- */

/* The configuration as it is. */
static int show(engine *engine, shown_configuration *out)
{
    const plugmc_state *state = &engine->current.state.face;
    void *counts = NULL, *orientations = NULL;
    int code = sync_positions(engine, PLUGMC_ON_HOST, &out->positions);
    if (!code) code = sync_boxes(engine, &out->boxes);
    if (code) return code;
    code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &counts, NULL);
    if (!code && engine->system.bodies)
        code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST, PLUGMC_READ,
                            &orientations, NULL);
    out->counts = counts;
    out->orientations = orientations;
    return context_exit_code(&engine_asking(engine)->context, code, "reading the configuration");
}

/* -ln p by the sampled terms. */
static int add_up(engine *engine, const double *energy, double *sums)
{
    const plugmc_state *state = &engine->current.state.face;
    const int32_t terms = engine->system.term_count;
    void *rows = NULL;
    const int code =
        state->array(state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ, &rows, NULL);
    const double *multiplier = rows;
    for (int32_t w = 0; w < engine->system.walkers && !code;
         w++, multiplier += engine->ladder.width) {
        sums[w] = 0;
        for (int32_t t = 0; t < terms; t++)
            if (multiplier[t] != 0) sums[w] += multiplier[t] * energy[w * terms + t];
    }
    return context_exit_code(&engine_asking(engine)->context, code, "reading the configuration");
}

typedef struct wanted_energies {
    double *of_terms, *sums;
} wanted_energies;

static int find_energies(plugmc_engine *e, void *argument)
{
    const wanted_energies *w = argument;
    engine *engine = &e->session.engine;
    shown_configuration now = {0};
    instance *asking = engine_asking(engine);
    const size_t n = (size_t)(engine->system.walkers * engine->system.term_count);
    double *energy = calloc(n + 1, sizeof *energy);
    if (!energy) return report_error(&e->report, EXIT_MEMORY, NULL, 0, "no memory for energies");
    int code = show(engine, &now);
    if (!code) {
        code = energies_anew(&asking->host, &now, energy);
        code = context_exit_code(&asking->context, code, "adding up energies");
    }
    if (!code && w->of_terms) memcpy(w->of_terms, energy, n * sizeof *energy);
    if (!code && w->sums) code = add_up(engine, energy, w->sums);
    free(energy);
    return code;
}

int plugmc_engine_energies(plugmc_engine *e, double *of_terms, double *sums)
{
    wanted_energies w = {of_terms, sums};
    return border_cross(e, OPEN, find_energies, &w);
}

/* ---- Measurements ----------------------------------------------------------------------------- */

/* All: averages over the samples so far. */
static int find_averages(plugmc_engine *e)
{
    session *s = &e->session;
    if (e->averaged && e->averaged_at == s->sweep) return 0;
    int code = moves_refresh(&s->engine);
    if (!code && team_leads()) code = find_results(&s->records);
    e->averaged = !code;
    e->averaged_at = s->sweep;
    return code;
}

static int count_quantities(plugmc_engine *e, void *count)
{
    const output_data *out = &e->session.records.output;
    *(int32_t *)count = out->quantity_count + out->derived_count;
    return find_averages(e);
}

int plugmc_engine_quantities(plugmc_engine *e, int32_t *count)
{
    int32_t unused;
    return border_cross(e, OPEN, count_quantities, count ? count : &unused);
}

/* Of an array, as its observable has measured it for all walkers. NULL: it is measured on rungs, or with weights, of
 * which averages alone are kept. */
static const double *last_array(plugmc_engine *e, const quantity_record *q)
{
    const records *r = &e->session.records;
    const int index = (int)(q - r->output.quantities);
    const measurement *m = r->measurements;
    while (m->first_quantity + m->quantity_count <= index) m++;
    if (e->session.engine.system.rungs > 1 || m->weight >= 0) return NULL;
    const int32_t walkers = e->session.engine.system.walkers;
    int64_t before = 0;
    for (int k = m->first_quantity; k < index; k++) before += r->output.quantities[k].length;
    double *room = realloc(e->last, sizeof *room * (size_t)(walkers * q->length));
    if (!room) return NULL;
    e->last = room;
    for (int32_t w = 0; w < walkers; w++)
        memcpy(room + w * q->length, m->values + w * m->width + before,
               sizeof *room * (size_t)q->length);
    return room;
}

static void set_shape(plugmc_engine_quantity *out, const axes *axes)
{
    out->rank = axes->rank;
    for (int d = 0; d < axes->rank && d < 4; d++) out->shape[d] = axes->shape[d];
}

static bool any_is_bound(const bool *converged, int64_t n)
{
    for (int64_t i = 0; i < n && converged; i++)
        if (!converged[i]) return true;
    return false;
}

static void show_quantity(plugmc_engine *e, const quantity_record *q, plugmc_engine_quantity *out)
{
    *out = (plugmc_engine_quantity){.observable = q->observable,
                                    .name = q->name,
                                    .unit = q->unit,
                                    .meaning = q->doc,
                                    .length = q->length,
                                    .samples = q->samples,
                                    .walkers = q->walkers,
                                    .correlation_time = NAN};
    set_shape(out, &q->axes);
    if (!q->samples || !e->session.records.averaged) return;
    if (q->length == 1) {
        out->last = q->series + (q->samples - 1) * q->walkers;
        out->mean = &q->found.scalar.mean;
        out->error = &q->found.scalar.error;
        out->error_is_lower_bound = !q->found.scalar.converged;
        out->correlation_time = q->found.scalar.correlation_time * (double)q->period;
    } else {
        out->last = last_array(e, q);
        out->mean = q->found.means;
        out->error = q->found.errors;
        out->error_is_lower_bound = any_is_bound(q->found.each_converged, q->length);
    }
}

static void show_derived(const derived_record *d, plugmc_engine_quantity *out)
{
    const bool array = d->length > 1;
    *out = (plugmc_engine_quantity){.observable = d->observable,
                                    .name = d->name,
                                    .unit = d->unit,
                                    .meaning = d->doc,
                                    .length = array ? d->length : 1,
                                    .correlation_time = NAN};
    set_shape(out, &d->axes);
    if (!d->valid) return;
    out->mean = array ? d->values : &d->value;
    out->error = array ? d->errors : &d->error;
    out->error_is_lower_bound = array ? any_is_bound(d->each_converged, d->length) : !d->converged;
}

typedef struct wanted_quantity {
    int32_t k;
    plugmc_engine_quantity *out;
} wanted_quantity;

static int find_quantity(plugmc_engine *e, void *argument)
{
    const wanted_quantity *w = argument;
    const output_data *out = &e->session.records.output;
    const int code = find_averages(e);
    if (code) return code;
    if (w->k < 0 || w->k >= out->quantity_count + out->derived_count || !w->out)
        return report_error(&e->report, EXIT_USAGE, NULL, 0, "there is no quantity number %d",
                            w->k);
    if (w->k < out->quantity_count)
        show_quantity(e, &out->quantities[w->k], w->out);
    else
        show_derived(&out->derived[w->k - out->quantity_count], w->out);
    return 0;
}

int plugmc_engine_quantity_at(plugmc_engine *e, int32_t k, plugmc_engine_quantity *out)
{
    wanted_quantity w = {k, out};
    return border_cross(e, OPEN, find_quantity, &w);
}
