/* Observables at an event: they measure, and what they give is recorded. See measuring.h. */
#include "records/measuring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/averages.h"
#include "plugin/answers.h"
#include "engine/sync.h"
#include "engine/refusals.h"
#include "engine/view.h"
#include "engine/watchdog.h"
#include "system/geometry.h"
#include "system/system.h"
#include "parallel/team.h"
#include "energy/bias.h"

/* ---- Records --------------------------------------------------------------------------------------- */

static int make_room(records *records, quantity_record *q)
{
    if (q->length == 1 && (q->samples + 1) * q->walkers > q->capacity) {
        int64_t capacity = 2 * q->capacity + 1024 * q->walkers;
        double *series = records_series(records, q, capacity);
        if (!series)
            return report_error(records->engine->report, EXIT_MEMORY, NULL, 0,
                                "no memory for the series of '%s'", q->name);
        q->series = series;
        q->capacity = capacity;
    }
    return 0;
}

/* A sample of one quantity: values [walkers][width] of all walkers, of which those on its rung count, in their
 * order. */
static int record_quantity(records *records, const measurement *m, quantity_record *q, int32_t rung,
                           const int32_t *rungs, const double *values)
{
    double *mean = NULL;
    const int code = make_room(records, q);
    if (code) return code;
    if (q->length > 1 && !(mean = calloc((size_t)q->length, sizeof(double))))
        return report_error(records->engine->report, EXIT_MEMORY, NULL, 0, "no memory for '%s'",
                            q->name);
    int32_t k = 0;
    for (int w = 0; w < records->engine->processes.all_walkers; w++) {
        if (rungs && rungs[w] != rung) continue;
        if (q->length == 1) q->series[q->samples * q->walkers + k] = values[w * m->width];
        for (int64_t i = 0; q->length > 1 && i < q->length; i++)
            mean[i] += values[w * m->width + i] / q->walkers;
        k++;
    }
    if (mean) block_average_add(&q->blocks, mean);
    free(mean);
    q->samples++;
    return 0;
}

/* The same with ln of the weights of all walkers [walkers]: as of one walker, their weighted mean. */
static int record_weighted(records *records, const measurement *m, const double *of_all,
                           const double *ln_weights)
{
    const int32_t walkers = records->engine->processes.all_walkers;
    double *weights = checked(calloc((size_t)walkers, sizeof *weights)), all = 0;
    int code = 0;
    for (int32_t w = 0; w < walkers; w++) all += weights[w] = exp(ln_weights[w]);
    if (!(all > 0 && isfinite(all)))
        code = report_error(records->engine->report, EXIT_INTERNAL, NULL, 0,
                            "the weights of all walkers together are %g: no average can be taken",
                            all);
    for (int k = 0; k < m->quantity_count && !code; k++) {
        quantity_record *q = &records->output.quantities[m->first_quantity + k];
        double *mean = checked(calloc((size_t)q->length, sizeof *mean));
        for (int32_t w = 0; w < walkers; w++)
            for (int64_t i = 0; i < q->length; i++)
                mean[i] += weights[w] / all * (of_all[w * m->width + i] - of_all[i]);
        for (int64_t i = 0; i < q->length; i++) {
            mean[i] += of_all[i]; /* from the first walker, so that constants are exact */
            if (q->length > 1) mean[i] *= all / walkers;
        }
        code = make_room(records, q);
        if (!code && q->length == 1) q->series[q->samples] = mean[0];
        if (!code && q->length > 1) block_average_add(&q->blocks, mean);
        free(mean);
        q->samples += !code;
        of_all += q->length;
    }
    quantity_record *weight = &records->output.quantities[m->weight];
    if (!code) code = make_room(records, weight);
    if (!code) weight->series[weight->samples++] = all / walkers;
    free(weights);
    return code;
}

/* Appends a sample of all walkers to the records of an observable. `weights`: ln of them, or NULL. */
static int record_sample(records *records, const measurement *m, const double *of_all,
                         const int32_t *rungs, const double *weights)
{
    int code = 0;
    if (weights) return record_weighted(records, m, of_all, weights);
    for (int32_t r = 0; r < records->engine->system.rungs; r++) {
        const double *values = of_all;
        quantity_record *q = &records->output.quantities[m->first_quantity + r * m->quantity_count];
        for (int k = 0; k < m->quantity_count && !code; k++, values += q++->length)
            code = record_quantity(records, m, q, r, rungs, values);
    }
    return code;
}

/* All: rank 0 keeps what everybody has measured. */
static int record(records *records, const measurement *m)
{
    const int32_t walkers = records->engine->system.walkers;
    void *values = m->values, *rungs = NULL, *weights = NULL, *all_weights = NULL;
    int code = 0;
    if (records->engine->system.rungs > 1)
        code = records->engine->current.state.face.array(&records->engine->current.state.face,
                                                         PLUGMC_STATE_RUNG, PLUGMC_ON_HOST,
                                                         PLUGMC_READ, &rungs, NULL);
    if (!code && m->weight >= 0)
        code = records->engine->current.state.face.array(&records->engine->current.state.face,
                                                         PLUGMC_STATE_WEIGHT, PLUGMC_ON_HOST,
                                                         PLUGMC_READ, &weights, NULL);
    if (code) return EXIT_MEMORY;
    for (int64_t i = 0; m->scaled && i < walkers * m->width; i++)
        m->values[i] *= m->scales[i % m->width];
    if (team_now()->ranks == 1) return record_sample(records, m, values, rungs, weights);
    const bool ladder = rungs != NULL, weighted = weights != NULL; /* in all processes alike */
    code = team_gather(0, m->values, sizeof(double) * (size_t)(walkers * m->width), &values);
    if (ladder && !code) code = team_gather(0, rungs, sizeof(int32_t) * (size_t)walkers, &rungs);
    if (weighted && !code)
        code = team_gather(0, weights, sizeof(double) * (size_t)walkers, &all_weights);
    if (values && !code) code = record_sample(records, m, values, rungs, all_weights);
    free(values);
    if (ladder && team_leads() && !code) free(rungs);
    free(all_weights);
    return code;
}

/* All: those of all processes, at rank 0. */
static int gather_orientations(records *records, int code, void **all)
{
    const plugmc_state *state = &records->engine->current.state.face;
    const plugmc_system *system = &records->engine->system;
    void *own = NULL;
    if (!code &&
        state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST, PLUGMC_READ, &own, NULL))
        code = EXIT_MEMORY;
    return team_gather(
        code, own, sizeof(plugmc_orientation) * (size_t)(system->walkers * system->particles), all);
}

/* All: those of all processes, at rank 0. */
static int gather_weights(records *records, int code, void **all)
{
    const plugmc_state *state = &records->engine->current.state.face;
    void *own = NULL;
    if (!code && state->array(state, PLUGMC_STATE_WEIGHT, PLUGMC_ON_HOST, PLUGMC_READ, &own, NULL))
        code = EXIT_MEMORY;
    code = team_gather(code, own, sizeof(double) * (size_t)records->engine->system.walkers, all);
    double *weights = *all;
    for (int32_t w = 0; !code && weights && w < records->engine->processes.all_walkers; w++)
        weights[w] = exp(weights[w]);
    return code;
}

/* All: the walkers of all processes, at rank 0. */
static int keep_frame(records *records, uint64_t sweep, const double *positions)
{
    const uint32_t changes = records->engine->system.changes;
    const bool moves = changes & PLUGMC_CHANGED_BOX;
    const size_t walkers = (size_t)records->engine->system.walkers,
                 bytes = sizeof(double) * 3 * walkers * (size_t)records->engine->system.particles;
    const plugmc_box *now = NULL;
    void *copy = NULL, *boxes = NULL, *orientations = NULL, *weights = NULL;
    int code = moves ? sync_boxes(records->engine, &now) : 0;
    if (!code) code = team_gather(0, positions, bytes, &copy);
    if (moves && !code) code = team_gather(0, now, walkers * sizeof *now, &boxes);
    if (records->engine->system.bodies) code = gather_orientations(records, code, &orientations);
    if (changes & PLUGMC_CHANGED_WALKER_WEIGHT) code = gather_weights(records, code, &weights);
    if (code || !team_leads()) {
        free(copy), free(boxes), free(orientations), free(weights);
        return code;
    }
    output_data *out = &records->output;
    frame *frames =
        realloc(out->trajectory.frames, sizeof *frames * (size_t)(out->trajectory.frame_count + 1));
    if (frames) out->trajectory.frames = frames;
    if (!frames) {
        free(copy), free(boxes), free(orientations), free(weights);
        return report_error(records->engine->report, EXIT_MEMORY, NULL, 0,
                            "no memory for a frame of the trajectory");
    }
    out->trajectory.frames[out->trajectory.frame_count++] =
        (frame){sweep, copy, boxes, orientations, weights};
    return 0;
}

/* Of trials, for the mover that weighs macrostates. */
static int gather_transitions(records *records)
{
    instance *weighing = records->engine->weighing->instance;
    return context_exit_code(&weighing->context,
                             bias_gather(&records->engine->current.hamiltonian, &weighing->host),
                             "measuring");
}

/* Movers that measure are asked once when production begins, and what they say is thrown away: they tell
 * what has happened since they were asked last. */
static bool is_due(const measurement *m, uint64_t produced)
{
    return produced ? produced % (uint64_t)m->period == 0
                    : m->instance->plugin->kind == PLUGMC_MOVER;
}

/* All: the shortest edges of any walker's box. As bit patterns doubles above 0 are in order. */
static int find_shortest_edges(records *records, double shortest[3])
{
    const plugmc_box *boxes;
    int64_t bits[3];
    int code = sync_boxes(records->engine, &boxes);
    for (int d = 0; d < 3; d++) {
        shortest[d] = INFINITY;
        for (int32_t w = 0; w < records->engine->system.walkers && !code; w++)
            shortest[d] = fmin(shortest[d], boxes[w].length[d]);
        memcpy(&bits[d], &shortest[d], sizeof bits[d]);
        bits[d] = -bits[d];
    }
    code = team_largest(code, bits, 3);
    for (int d = 0; d < 3; d++) {
        bits[d] = -bits[d];
        memcpy(&shortest[d], &bits[d], sizeof bits[d]);
    }
    return code;
}

/* For views that observables ask for by themselves. */
static void set_elsewhere(records *records, const double *shortest)
{
    for (int i = 0; i < records->measurement_count; i++)
        records->measurements[i].instance->context.stage->elsewhere = shortest;
}

/* ---- Measuring ----------------------------------------------------------------------------------- */

static bool on_device(const records *records, const measurement *m)
{
    return records->engine->device.gpu && m->instance->plugin->observable->on_device;
}

static bool launches(const records *records, const measurement *m)
{
    return on_device(records, m) && plugmc_offered(m->instance->plugin, PLUGMC_MEASURES_LATER);
}

static view_stage stage_of(records *records)
{
    view_stage stage = {.system = &records->engine->system,
                        .gpu = records->engine->device.gpu,
                        .state = &records->engine->current.state.face};
    /* of several, none knows the energy after the others have moved; on a ladder they keep other sums */
    if (records->engine->mover_count == 1 && !records->engine->system.weighted) {
        const instance *mover = records->engine->movers[0].instance;
        stage.driver = mover->plugin->mover->driver;
        stage.lends = plugmc_offered(mover->plugin, PLUGMC_LENDS_INVERSES);
        stage.mover_instance = records->engine->movers[0].instance->data;
        stage.mover_host = &records->engine->movers[0].instance->host;
    }
    return stage;
}

/* For a view without positions, where a mover that can sort what it holds cannot do it this time. */
static int bring(void *from, const double **positions)
{
    records *records = from;
    int code = sync_store(records->engine);
    if (!code)
        *positions =
            state_positions(&records->engine->current.state, PLUGMC_ON_DEVICE, PLUGMC_READ, &code);
    return code;
}

/* A mover that holds a newer configuration than the state and can sort it, where all that measure want cells
 * alone; then it need not give positions. */
static bool can_lend_cells(const records *records, uint64_t produced)
{
    const mover_slot *m = records->engine->current.ahead;
    if (!m || !plugmc_offered(m->instance->plugin, PLUGMC_FILLS_CELLS) || team_now()->parts > 1 ||
        records->engine->system.box.domain != PLUGMC_DOMAIN_PERIODIC ||
        records->engine->system.box.oblique)
        return false;
    for (int i = 0; i < records->measurement_count; i++) {
        const measurement *one = &records->measurements[i];
        const plugmc_measures_later *later =
            plugmc_offered(one->instance->plugin, PLUGMC_MEASURES_LATER);
        if (is_due(one, produced) && !(later && later->reads_cells_alone)) return false;
    }
    return true;
}

/* The positions that observables on the device see: none, where a mover lends cells. */
static int find_positions(records *records, view_stage *stage, uint64_t produced,
                          const double **out)
{
    mover_slot *m = records->engine->current.ahead;
    if (!can_lend_cells(records, produced))
        return sync_positions(records->engine, PLUGMC_ON_DEVICE, out);
    const plugmc_fills_cells *fills = plugmc_offered(m->instance->plugin, PLUGMC_FILLS_CELLS);
    stage->filler = (cell_filler){fills->fill_cells, m->instance->data, &m->instance->host};
    stage->bring = bring;
    stage->bring_from = records;
    return 0;
}

/* The configuration as it is measured: all of it, or the share of this process. */
typedef struct scene {
    view_stage stage;
    const double *here,
        *there; /* positions on the host and on the device, NULL where nobody needs them */
    bool is_share;
} scene;

static int look(records *records, measurement *m, scene *of, uint64_t sweep, plugmc_view *view)
{
    const bool device = on_device(records, m);
    const int code = view_of(&of->stage, device ? of->there : of->here, device, sweep, view);
    return context_exit_code(&m->instance->context, code, "reading boxes");
}

/* How far from a share of the particles it looks; INFINITY: it measures all of them. */
static double reach_of(const records *records, const measurement *m)
{
    const plugmc_measures_shares *shares =
        plugmc_offered(m->instance->plugin, PLUGMC_MEASURES_SHARES);
    const bool splits = shares && team_now()->parts > 1 &&
                        !m->instance->plugin->observable->writes_trajectory &&
                        (!records->engine->device.gpu || on_device(records, m));
    return splits ? shares->reach(m->instance->data) : INFINITY;
}

/* What an observable has to do on the GPU, which it does not wait for. */
static int launch(records *records, measurement *m, scene *of, uint64_t sweep)
{
    plugmc_view view;
    int code = look(records, m, of, sweep, &view);
    if (code) return code;
    context_calling(&m->instance->context, "launch");
    watchdog_plugin_begins();
    const plugmc_measures_later *later = plugmc_offered(m->instance->plugin, PLUGMC_MEASURES_LATER);
    code = later->launch(m->instance->data, &m->instance->host, &view);
    watchdog_plugin_ended();
    return context_exit_code(&m->instance->context, code, "measuring");
}

/* The values of a view; those of a share are sums that are still to be completed. *unanswered: it does not see far
 * enough from its share. */
static int find_values(records *records, measurement *m, scene *of, uint64_t sweep,
                       plugmc_view *view, int64_t *unanswered)
{
    int code = look(records, m, of, sweep, view);
    if (code) return code;
    const plugmc_observable *o = m->instance->plugin->observable;
    if (!o->measure) return code; /* it writes a trajectory alone */
    /* so that a value that is not written is seen (check_sample) */
    for (int64_t i = 0; i < records->engine->system.walkers * m->width; i++) m->values[i] = NAN;
    context_calling(&m->instance->context, "measure");
    watchdog_plugin_begins();
    code = o->measure(m->instance->data, &m->instance->host, view, m->values);
    watchdog_plugin_ended();
    *unanswered = of->is_share && code == PLUGMC_UNANSWERED;
    return *unanswered ? context_exit_code(&m->instance->context, PLUGMC_OK, "measuring")
                       : context_exit_code(&m->instance->context, code, "measuring");
}

/* All: the values of processes that have one walker are added up, in their order. */
static int add_shares(records *records, const measurement *m)
{
    const team *t = team_now();
    const size_t n = (size_t)(records->engine->system.walkers * m->width);
    double *all = checked(calloc(n * (size_t)t->ranks, sizeof *all));
    const double *of_parts = all + (size_t)(t->rank - t->part) * n;
    const int code =
        team_share(0, m->values, n * sizeof *all, all, n * (size_t)t->ranks * sizeof *all);
    for (size_t i = 0; i < n && !code; i++) {
        m->values[i] = 0;
        for (int32_t p = 0; p < t->parts; p++) m->values[i] += of_parts[(size_t)p * n + i];
    }
    free(all);
    return code;
}

static int arrive(const measurement *);

/* All: of all particles after all, since somebody could not do with a share. */
static int find_values_of_all(records *records, measurement *m, scene *all, uint64_t sweep,
                              plugmc_view *view)
{
    int64_t unanswered;
    const double **positions = on_device(records, m) ? &all->there : &all->here;
    int code =
        *positions
            ? 0
            : sync_positions(records->engine,
                             on_device(records, m) ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST, positions);
    if (!code && launches(records, m)) {
        code = launch(records, m, all, sweep);
        if (!code) code = arrive(m);
    }
    return code ? code : find_values(records, m, all, sweep, view, &unanswered);
}

/* The values that an observable has just measured: no NaN or infinity comes into an average. */
static int check_sample(const records *records, const measurement *m)
{
    const quantity_record *q = &records->output.quantities[m->first_quantity];
    int64_t wrong = first_not_finite(m->values, records->engine->system.walkers * m->width), at;
    char why[400], which[32] = "";
    if (wrong < 0) return 0;
    for (at = wrong % m->width; at >= q->length; q++) at -= q->length;
    if (q->length > 1) snprintf(which, sizeof which, "value %lld of ", (long long)at);
    snprintf(why, sizeof why, "%s'%s' is %g in walker %lld: such a value has no average%s", which,
             q->name, m->values[wrong], (long long)(wrong / m->width),
             isnan(m->values[wrong]) ? "; values are NaN until `measure` writes them" : "");
    return refuse_answer(m->instance, EXIT_INTERNAL, why);
}

/* own: the share of this process, if the observable measures that; NULL: all particles. */
static int measure_one(records *records, measurement *m, scene *all, scene *own, uint64_t produced)
{
    const plugmc_measures_shares *shares =
        plugmc_offered(m->instance->plugin, PLUGMC_MEASURES_SHARES);
    const uint64_t sweep = produced + (uint64_t)records->engine->config.run.equilibrate;
    plugmc_view view;
    int64_t unanswered = 0;
    int code = find_values(records, m, own ? own : all, sweep, &view, &unanswered);
    if (own) {
        code = team_largest(code, &unanswered, 1);
        if (!code && unanswered)
            code = find_values_of_all(records, m, all, sweep, &view);
        else if (!code)
            code = add_shares(records, m);
    }
    if (!code && shares && shares->complete) shares->complete(m->instance->data, &view, m->values);
    if (!code && produced) code = check_sample(records, m);
    if (!code && produced) code = record(records, m);
    return code;
}

bool measuring_can_wait(const records *records, uint64_t produced)
{
    bool waits = false;
    const bool still = !records->engine->system.changes && records->engine->system.rungs == 1 &&
                       !records->engine->system.weighted;
    if (!still || !produced || records->engine->weighing || team_now()->ranks > 1) return false;
    for (int i = 0; i < records->measurement_count; i++) {
        const measurement *m = &records->measurements[i];
        if (!is_due(m, produced)) continue;
        if (!launches(records, m)) return false;
        waits = true;
    }
    return waits;
}

/* What was launched is there. */
static int arrive(const measurement *m)
{
    const plugmc_host *host = &m->instance->host;
    context_calling(&m->instance->context, "launch");
    return context_exit_code(&m->instance->context, host->gpu->arrive(host->context), "measuring");
}

int measuring_finish(records *records)
{
    const uint64_t produced = records->launched;
    scene all = {.stage = stage_of(records)};
    int code = 0;
    records->launched = 0;
    for (int i = 0, first = 1; produced && i < records->measurement_count && !code; i++) {
        measurement *m = &records->measurements[i];
        if (!is_due(m, produced)) continue;
        if (first) code = arrive(m);
        first = 0;
        if (!code) code = measure_one(records, m, &all, NULL, produced);
    }
    return code;
}

/* What of the configuration an observable measures. */
static scene *part_for(const records *records, const measurement *m, scene *all, scene *own)
{
    return own->is_share && isfinite(reach_of(records, m)) ? own : all;
}

/* Those that launch do so before anybody waits. */
static int launch_all(records *records, scene *all, scene *own, uint64_t produced)
{
    measurement *last = NULL;
    int code = 0;
    for (int i = 0; i < records->measurement_count && !code; i++) {
        measurement *m = &records->measurements[i];
        if (!is_due(m, produced) || !launches(records, m)) continue;
        code = launch(records, m, part_for(records, m, all, own),
                      produced + (uint64_t)records->engine->config.run.equilibrate);
        last = m;
    }
    if (code || !last) return code;
    if (measuring_can_wait(records, produced)) {
        records->launched = produced;
        return 0;
    }
    return arrive(last);
}

/* The share of this process, as deep as those who are due need it. */
static int bring_share(records *records, scene *own, uint64_t produced)
{
    double farthest = -1;
    const double *positions;
    for (int i = 0; i < records->measurement_count; i++) {
        const measurement *m = &records->measurements[i];
        const double reach = is_due(m, produced) ? reach_of(records, m) : INFINITY;
        if (isfinite(reach) && reach > farthest) farthest = reach;
    }
    if (farthest < 0) return 0;
    const int code = sync_share(records->engine, farthest, &positions, &own->stage.share);
    *(records->engine->device.gpu ? &own->there : &own->here) = positions;
    own->is_share = positions != NULL; /* else all measure all */
    return code;
}

/* All particles, on the sides where somebody needs them; *device: whether anybody measures there. */
static int bring_all(records *records, scene *all, scene *own, uint64_t produced, bool *device)
{
    bool here = false, there = false;
    for (int i = 0; i < records->measurement_count; i++) {
        const measurement *m = &records->measurements[i];
        if (!is_due(m, produced)) continue;
        *device |= on_device(records, m);
        if (part_for(records, m, all, own) == own) continue;
        there |= on_device(records, m);
        here |= !on_device(records, m) || m->instance->plugin->observable->writes_trajectory;
    }
    const int code = here ? sync_positions(records->engine, PLUGMC_ON_HOST, &all->here) : 0;
    return code || !there ? code : find_positions(records, &all->stage, produced, &all->there);
}

static bool any_is_due(const records *records, uint64_t produced)
{
    bool due = false;
    for (int i = 0; i < records->measurement_count; i++)
        due |= is_due(&records->measurements[i], produced);
    return due;
}

int measuring(records *records, uint64_t produced)
{
    scene all = {.stage = stage_of(records)}, own = {.stage = stage_of(records)};
    bool device = false;
    if (!any_is_due(records, produced)) return 0;
    int code = bring_share(records, &own, produced);
    if (!code) code = bring_all(records, &all, &own, produced, &device);
    if (!code && records->engine->weighing) code = gather_transitions(records);
    double shortest[3];
    const bool beside =
        team_now()->ranks > 1 && records->engine->system.changes & PLUGMC_CHANGED_BOX;
    if (!code && beside) code = find_shortest_edges(records, shortest);
    all.stage.elsewhere = own.stage.elsewhere = beside ? shortest : NULL;
    set_elsewhere(records, all.stage.elsewhere);
    if (!code && device) code = launch_all(records, &all, &own, produced);
    for (int i = 0; i < records->measurement_count && !code && !records->launched; i++) {
        measurement *m = &records->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        if (!is_due(m, produced)) continue;
        if (o->writes_trajectory)
            code = keep_frame(records, produced + (uint64_t)records->engine->config.run.equilibrate,
                              all.here);
        if (o->measure && !code)
            code = measure_one(records, m, &all,
                               part_for(records, m, &all, &own) == &own ? &own : NULL, produced);
    }
    view_clear(&all.stage);
    view_clear(&own.stage);
    set_elsewhere(records, NULL);
    return code;
}
