/* Observables at an event: they measure, and what they give is recorded. See measuring.h. */
#include "run/measuring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/averages.h"
#include "run/borrowing.h"
#include "run/refusals.h"
#include "run/watchdog.h"
#include "run/writing.h"
#include "system/geometry.h"
#include "system/system.h"
#include "parallel/team.h"

/* ---- Records --------------------------------------------------------------------------------------- */

static int make_room(simulation *sim, quantity_record *q)
{
    if (q->length == 1 && (q->samples + 1) * q->walkers > q->capacity) {
        int64_t capacity = 2 * q->capacity + 1024 * q->walkers;
        double *series = writing_series(sim, q, capacity);
        if (!series)
            return report_error(sim->report, EXIT_MEMORY, NULL, 0,
                                "no memory for the series of '%s'", q->name);
        q->series = series;
        q->capacity = capacity;
    }
    return 0;
}

/* A sample of one quantity: values [walkers][width] of all walkers, of which those on its rung count, in their
 * order. */
static int record_quantity(simulation *sim, const measurement *m, quantity_record *q, int32_t rung,
                           const int32_t *rungs, const double *values)
{
    double *mean = NULL;
    const int code = make_room(sim, q);
    if (code) return code;
    if (q->length > 1 && !(mean = calloc((size_t)q->length, sizeof(double))))
        return report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for '%s'", q->name);
    int32_t k = 0;
    for (int w = 0; w < sim->all_walkers; w++) {
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
static int record_weighted(simulation *sim, const measurement *m, const double *of_all,
                           const double *ln_weights)
{
    const int32_t walkers = sim->all_walkers;
    double *weights = checked(calloc((size_t)walkers, sizeof *weights)), all = 0;
    int code = 0;
    for (int32_t w = 0; w < walkers; w++) all += weights[w] = exp(ln_weights[w]);
    if (!(all > 0 && isfinite(all)))
        code = report_error(sim->report, EXIT_INTERNAL, NULL, 0,
                            "the weights of all walkers together are %g: no average can be taken",
                            all);
    for (int k = 0; k < m->quantity_count && !code; k++) {
        quantity_record *q = &sim->output.quantities[m->first_quantity + k];
        double *mean = checked(calloc((size_t)q->length, sizeof *mean));
        for (int32_t w = 0; w < walkers; w++)
            for (int64_t i = 0; i < q->length; i++)
                mean[i] += weights[w] / all * (of_all[w * m->width + i] - of_all[i]);
        for (int64_t i = 0; i < q->length; i++) {
            mean[i] += of_all[i]; /* from the first walker, so that constants are exact */
            if (q->length > 1) mean[i] *= all / walkers;
        }
        code = make_room(sim, q);
        if (!code && q->length == 1) q->series[q->samples] = mean[0];
        if (!code && q->length > 1) block_average_add(&q->blocks, mean);
        free(mean);
        q->samples += !code;
        of_all += q->length;
    }
    quantity_record *weight = &sim->output.quantities[m->weight];
    if (!code) code = make_room(sim, weight);
    if (!code) weight->series[weight->samples++] = all / walkers;
    free(weights);
    return code;
}

/* Appends a sample of all walkers to the records of an observable. `weights`: ln of them, or NULL. */
static int record_sample(simulation *sim, const measurement *m, const double *of_all,
                         const int32_t *rungs, const double *weights)
{
    int code = 0;
    if (weights) return record_weighted(sim, m, of_all, weights);
    for (int32_t r = 0; r < sim->system.rungs; r++) {
        const double *values = of_all;
        quantity_record *q = &sim->output.quantities[m->first_quantity + r * m->quantity_count];
        for (int k = 0; k < m->quantity_count && !code; k++, values += q++->length)
            code = record_quantity(sim, m, q, r, rungs, values);
    }
    return code;
}

/* All: rank 0 keeps what everybody has measured. */
static int record(simulation *sim, const measurement *m)
{
    const int32_t walkers = sim->system.walkers;
    void *values = m->values, *rungs = NULL, *weights = NULL, *all_weights = NULL;
    int code = 0;
    if (sim->system.rungs > 1)
        code = sim->state.face.array(&sim->state.face, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST,
                                     PLUGMC_READ, &rungs, NULL);
    if (!code && m->weight >= 0)
        code = sim->state.face.array(&sim->state.face, PLUGMC_STATE_WEIGHT, PLUGMC_ON_HOST,
                                     PLUGMC_READ, &weights, NULL);
    if (code) return EXIT_MEMORY;
    for (int64_t i = 0; m->scaled && i < walkers * m->width; i++)
        m->values[i] *= m->scales[i % m->width];
    if (team_now()->ranks == 1) return record_sample(sim, m, values, rungs, weights);
    const bool ladder = rungs != NULL, weighted = weights != NULL; /* in all processes alike */
    code = team_gather(0, m->values, sizeof(double) * (size_t)(walkers * m->width), &values);
    if (ladder && !code) code = team_gather(0, rungs, sizeof(int32_t) * (size_t)walkers, &rungs);
    if (weighted && !code)
        code = team_gather(0, weights, sizeof(double) * (size_t)walkers, &all_weights);
    if (values && !code) code = record_sample(sim, m, values, rungs, all_weights);
    free(values);
    if (ladder && team_leads() && !code) free(rungs);
    free(all_weights);
    return code;
}

/* All: the walkers of all processes, at rank 0. */
static int keep_frame(simulation *sim, uint64_t sweep, const double *positions)
{
    const bool moves = sim->system.changes & PLUGMC_CHANGED_BOX;
    const size_t walkers = (size_t)sim->system.walkers,
                 bytes = sizeof(double) * 3 * walkers * (size_t)sim->system.particles;
    const plugmc_box *now = NULL;
    void *copy = NULL, *boxes = NULL;
    int code = moves ? borrowing_boxes_of(sim, &now) : 0;
    if (!code) code = team_gather(0, positions, bytes, &copy);
    if (moves && !code) code = team_gather(0, now, walkers * sizeof *now, &boxes);
    if (code || !team_leads()) {
        free(copy), free(boxes);
        return code;
    }
    output_data *out = &sim->output;
    frame *frames = realloc(out->frames, sizeof *frames * (size_t)(out->frame_count + 1));
    if (frames) out->frames = frames;
    if (!frames) {
        free(copy), free(boxes);
        return report_error(sim->report, EXIT_MEMORY, NULL, 0,
                            "no memory for a frame of the trajectory");
    }
    out->frames[out->frame_count++] = (frame){sweep, copy, boxes};
    return 0;
}

/* Of trials, for the mover that weighs macrostates. */
static int gather_books(simulation *sim)
{
    instance *weighing = sim->weighing->instance;
    return context_exit_code(&weighing->context, bias_gather(&sim->hamiltonian, &weighing->host),
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
static int find_shortest_edges(simulation *sim, double shortest[3])
{
    const plugmc_box *boxes;
    int64_t bits[3];
    int code = borrowing_boxes_of(sim, &boxes);
    for (int d = 0; d < 3; d++) {
        shortest[d] = INFINITY;
        for (int32_t w = 0; w < sim->system.walkers && !code; w++)
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

/* ---- Measuring ----------------------------------------------------------------------------------- */

static bool on_device(const simulation *sim, const measurement *m)
{
    return sim->gpu && m->instance->plugin->observable->on_device;
}

static bool launches(const simulation *sim, const measurement *m)
{
    const plugmc_observable *o = m->instance->plugin->observable;
    return on_device(sim, m) && PLUGMC_HAS(o, launch) && o->launch;
}

static view_stage stage_of(simulation *sim)
{
    view_stage stage = {.system = &sim->system, .gpu = sim->gpu, .state = &sim->state.face};
    /* of several, none knows the energy after the others have moved; on a ladder they keep other sums */
    if (sim->mover_count == 1 && !sim->system.weighted) {
        stage.mover = sim->movers[0].mover;
        stage.mover_instance = sim->movers[0].instance->data;
        stage.mover_host = &sim->movers[0].instance->host;
    }
    return stage;
}

/* For a view without positions, where a mover that can sort what it holds cannot do it this time. */
static int bring(void *from, const double **positions)
{
    simulation *sim = from;
    int code = borrowing_give(sim);
    if (!code) *positions = state_positions(&sim->state, PLUGMC_ON_DEVICE, PLUGMC_READ, &code);
    return code;
}

/* A mover that holds a newer configuration than the state and can sort it, where all that measure want cells
 * alone; then it need not give positions. */
static bool can_lend_cells(const simulation *sim, uint64_t produced)
{
    const moving *m = sim->ahead;
    if (!m || !m->mover->fill_cells || team_now()->parts > 1 ||
        sim->system.box.domain != PLUGMC_DOMAIN_PERIODIC || sim->system.box.oblique)
        return false;
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *one = &sim->measurements[i];
        if (is_due(one, produced) && !one->instance->plugin->observable->reads_cells_alone)
            return false;
    }
    return true;
}

/* The positions that observables on the device see: none, where a mover lends cells. */
static int find_positions(simulation *sim, view_stage *stage, uint64_t produced, const double **out)
{
    moving *m = sim->ahead;
    if (!can_lend_cells(sim, produced)) return borrowing_positions(sim, PLUGMC_ON_DEVICE, out);
    stage->filler = (cell_filler){m->mover->fill_cells, m->instance->data, &m->instance->host};
    stage->bring = bring;
    stage->bring_from = sim;
    return 0;
}

/* The configuration as it is measured: all of it, or the share of this process. */
typedef struct scene {
    view_stage stage;
    const double *here,
        *there; /* positions on the host and on the device, NULL where nobody needs them */
    bool is_share;
} scene;

static int look(simulation *sim, measurement *m, scene *of, uint64_t sweep, plugmc_view *view)
{
    const bool device = on_device(sim, m);
    const int code = view_of(&of->stage, device ? of->there : of->here, device, sweep, view);
    return context_exit_code(&m->instance->context, code, "reading boxes");
}

/* How far from a share of the particles it looks; INFINITY: it measures all of them. */
static double reach_of(const simulation *sim, const measurement *m)
{
    const plugmc_observable *o = m->instance->plugin->observable;
    const bool splits = PLUGMC_HAS(o, reach) && o->reach && team_now()->parts > 1 &&
                        !o->writes_trajectory && (!sim->gpu || on_device(sim, m));
    return splits ? o->reach(m->instance->data) : INFINITY;
}

/* What an observable has to do on the GPU, which it does not wait for. */
static int launch(simulation *sim, measurement *m, scene *of, uint64_t sweep)
{
    plugmc_view view;
    int code = look(sim, m, of, sweep, &view);
    if (code) return code;
    context_calling(&m->instance->context, "launch");
    watchdog_plugin_begins();
    code = m->instance->plugin->observable->launch(m->instance->data, &m->instance->host, &view);
    watchdog_plugin_ended();
    return context_exit_code(&m->instance->context, code, "measuring");
}

/* The values of a view; those of a share are sums that are still to be completed. *unanswered: it does not see far
 * enough from its share. */
static int find_values(simulation *sim, measurement *m, scene *of, uint64_t sweep,
                       plugmc_view *view, int64_t *unanswered)
{
    int code = look(sim, m, of, sweep, view);
    if (code) return code;
    context_calling(&m->instance->context, "measure");
    watchdog_plugin_begins();
    code = m->instance->plugin->observable->measure(m->instance->data, &m->instance->host, view,
                                                    m->values);
    watchdog_plugin_ended();
    *unanswered = of->is_share && code == PLUGMC_UNANSWERED;
    return *unanswered ? context_exit_code(&m->instance->context, PLUGMC_OK, "measuring")
                       : context_exit_code(&m->instance->context, code, "measuring");
}

/* All: the values of processes that have one walker are added up, in their order. */
static int add_shares(simulation *sim, const measurement *m)
{
    const team *t = team_now();
    const size_t n = (size_t)(sim->system.walkers * m->width);
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
static int find_values_of_all(simulation *sim, measurement *m, scene *all, uint64_t sweep,
                              plugmc_view *view)
{
    int64_t unanswered;
    const double **positions = on_device(sim, m) ? &all->there : &all->here;
    int code = *positions
                   ? 0
                   : borrowing_positions(sim, on_device(sim, m) ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST,
                                         positions);
    if (!code && launches(sim, m)) {
        code = launch(sim, m, all, sweep);
        if (!code) code = arrive(m);
    }
    return code ? code : find_values(sim, m, all, sweep, view, &unanswered);
}

/* own: the share of this process, if the observable measures that; NULL: all particles. */
static int measure_one(simulation *sim, measurement *m, scene *all, scene *own, uint64_t produced)
{
    const plugmc_observable *o = m->instance->plugin->observable;
    const uint64_t sweep = produced + (uint64_t)sim->config.run.equilibrate;
    plugmc_view view;
    int64_t unanswered = 0;
    int code = find_values(sim, m, own ? own : all, sweep, &view, &unanswered);
    if (own) {
        code = team_largest(code, &unanswered, 1);
        if (!code && unanswered)
            code = find_values_of_all(sim, m, all, sweep, &view);
        else if (!code)
            code = add_shares(sim, m);
    }
    if (!code && PLUGMC_HAS(o, complete) && o->complete)
        o->complete(m->instance->data, &view, m->values);
    if (!code && produced) code = check_sample(sim, m);
    if (!code && produced) code = record(sim, m);
    return code;
}

bool measuring_can_wait(const simulation *sim, uint64_t produced)
{
    bool waits = false;
    const bool still = !sim->system.changes && sim->system.rungs == 1 && !sim->system.weighted;
    if (!still || !produced || sim->weighing || team_now()->ranks > 1) return false;
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *m = &sim->measurements[i];
        if (!is_due(m, produced)) continue;
        if (!launches(sim, m)) return false;
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

int measuring_finish(simulation *sim)
{
    const uint64_t produced = sim->launched;
    scene all = {.stage = stage_of(sim)};
    int code = 0;
    sim->launched = 0;
    for (int i = 0, first = 1; produced && i < sim->measurement_count && !code; i++) {
        measurement *m = &sim->measurements[i];
        if (!is_due(m, produced)) continue;
        if (first) code = arrive(m);
        first = 0;
        if (!code) code = measure_one(sim, m, &all, NULL, produced);
    }
    return code;
}

/* What of the configuration an observable measures. */
static scene *part_for(const simulation *sim, const measurement *m, scene *all, scene *own)
{
    return own->is_share && isfinite(reach_of(sim, m)) ? own : all;
}

/* Those that launch do so before anybody waits. */
static int launch_all(simulation *sim, scene *all, scene *own, uint64_t produced)
{
    measurement *last = NULL;
    int code = 0;
    for (int i = 0; i < sim->measurement_count && !code; i++) {
        measurement *m = &sim->measurements[i];
        if (!is_due(m, produced) || !launches(sim, m)) continue;
        code = launch(sim, m, part_for(sim, m, all, own),
                      produced + (uint64_t)sim->config.run.equilibrate);
        last = m;
    }
    if (code || !last) return code;
    if (measuring_can_wait(sim, produced)) {
        sim->launched = produced;
        return 0;
    }
    return arrive(last);
}

/* The share of this process, as deep as those who are due need it. */
static int bring_share(simulation *sim, scene *own, uint64_t produced)
{
    double farthest = -1;
    const double *positions;
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *m = &sim->measurements[i];
        const double reach = is_due(m, produced) ? reach_of(sim, m) : INFINITY;
        if (isfinite(reach) && reach > farthest) farthest = reach;
    }
    if (farthest < 0) return 0;
    const int code = borrowing_share(sim, farthest, &positions, &own->stage.share);
    *(sim->gpu ? &own->there : &own->here) = positions;
    own->is_share = positions != NULL; /* else all measure all */
    return code;
}

/* All particles, on the sides where somebody needs them; *device: whether anybody measures there. */
static int bring_all(simulation *sim, scene *all, scene *own, uint64_t produced, bool *device)
{
    bool here = false, there = false;
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *m = &sim->measurements[i];
        if (!is_due(m, produced)) continue;
        *device |= on_device(sim, m);
        if (part_for(sim, m, all, own) == own) continue;
        there |= on_device(sim, m);
        here |= !on_device(sim, m) || m->instance->plugin->observable->writes_trajectory;
    }
    const int code = here ? borrowing_positions(sim, PLUGMC_ON_HOST, &all->here) : 0;
    return code || !there ? code : find_positions(sim, &all->stage, produced, &all->there);
}

static bool any_is_due(const simulation *sim, uint64_t produced)
{
    bool due = false;
    for (int i = 0; i < sim->measurement_count; i++) due |= is_due(&sim->measurements[i], produced);
    return due;
}

int measuring(simulation *sim, uint64_t produced)
{
    scene all = {.stage = stage_of(sim)}, own = {.stage = stage_of(sim)};
    bool device = false;
    if (!any_is_due(sim, produced)) return 0;
    int code = bring_share(sim, &own, produced);
    if (!code) code = bring_all(sim, &all, &own, produced, &device);
    if (!code && sim->weighing) code = gather_books(sim);
    double shortest[3] = {INFINITY, INFINITY, INFINITY};
    if (!code && team_now()->ranks > 1 && sim->system.changes & PLUGMC_CHANGED_BOX)
        code = find_shortest_edges(sim, shortest);
    cell_grid_elsewhere(shortest);
    if (!code && device) code = launch_all(sim, &all, &own, produced);
    for (int i = 0; i < sim->measurement_count && !code && !sim->launched; i++) {
        measurement *m = &sim->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        if (!is_due(m, produced)) continue;
        if (o->writes_trajectory)
            code = keep_frame(sim, produced + (uint64_t)sim->config.run.equilibrate, all.here);
        if (o->measure && !code)
            code = measure_one(sim, m, &all, part_for(sim, m, &all, &own) == &own ? &own : NULL,
                               produced);
    }
    view_clear(&all.stage);
    view_clear(&own.stage);
    cell_grid_elsewhere((const double[3]){INFINITY, INFINITY, INFINITY});
    return code;
}
