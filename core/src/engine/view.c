/* Views: positions with cell lists that are built when they are asked for. */
#include "engine/view.h"

#include <math.h>
#include <string.h>

#include "base/crash.h"
#include "base/context.h"
#include "system/system.h"

/* Lists for `range`, or for a larger one up to `most`; NULL: there are none. */
static const plugmc_cells *find_cells(const cell_lists *v, const gpu *there, double range,
                                      double most)
{
    for (int i = 0; i < v->count; i++) {
        if (!(v->ranges[i] == range || (v->ranges[i] > range && v->ranges[i] <= most))) continue;
        if (!there || gpu_cells_built(there, v->ranges[i]) == v->built[i]) return &v->cells[i];
    }
    return NULL;
}

/* A plugin may know fewer members than we do. */
static void hand_out(const plugmc_cells *found, plugmc_cells *out)
{
    const uint32_t size = out->size;
    memcpy(out, found, size < sizeof *found ? size : sizeof *found);
    out->size = size;
}

static double most_of(const plugmc_cells *out) { return PLUGMC_HAS(out, most) ? out->most : 0; }

static int cells_on_host(const plugmc_view *view, double range, plugmc_cells *out)
{
    view_stage *stage = view->core;
    cell_lists *v = &stage->here;
    const plugmc_cells *found = find_cells(v, NULL, range, most_of(out));
    int code = PLUGMC_OK;
    if (!found) {
        const int slot = v->count < KEPT_CELLS ? v->count++ : KEPT_CELLS - 1;
        host_cells_free(&v->cells[slot]);
        code = host_cells_build_beside(stage->system, view->box, view->positions, range,
                                       stage->elsewhere, &v->cells[slot]);
        v->ranges[slot] = code ? NAN : range; /* equal to none */
        found = &v->cells[slot];
    }
    hand_out(found, out);
    return code;
}

/* Of what a mover holds, where positions have not been given and it can sort. */
static int build_on_device(view_stage *stage, const plugmc_view *view, double range,
                           plugmc_cells *out)
{
    plugmc_view seen = plugmc_view_copy(view);
    if (!view->positions) {
        const crash_record outer =
            crash_calling(stage->filler.host->context->section, "fill_cells");
        int code = gpu_cells_fill(stage->gpu, stage->system, view, range, stage->elsewhere,
                                  &stage->filler, out);
        crash_called_within(outer);
        if (code != PLUGMC_UNANSWERED) return code;
        code = stage->bring(stage->bring_from, &seen.positions);
        if (code) return code;
    }
    return gpu_cells_build(stage->gpu, stage->system, &seen, range, stage->elsewhere, out);
}

/* What was asked for earlier will be asked for again: whoever is content with larger cells begins with them. */
static int cells_on_device(const plugmc_view *view, double range, plugmc_cells *out)
{
    view_stage *stage = view->core;
    cell_lists *v = &stage->there;
    const plugmc_cells *found = find_cells(v, stage->gpu, range, most_of(out));
    int code = PLUGMC_OK;
    if (!found) {
        const int slot = v->count < KEPT_CELLS ? v->count++ : KEPT_CELLS - 1;
        const double taken = gpu_cells_known(stage->gpu, range, most_of(out));
        code = build_on_device(stage, view, taken, &v->cells[slot]);
        v->ranges[slot] = code ? NAN : taken;
        v->built[slot] = gpu_cells_built(stage->gpu, taken);
        found = &v->cells[slot];
    }
    hand_out(found, out);
    return code;
}

/* Energies that positions do not change. Movers leave them out. */
static int add_constants(const plugmc_view *view, double *energy)
{
    const view_stage *stage = view->core;
    const plugmc_view nowhere = {.size = sizeof nowhere, .box = view->box, .count = view->count};
    const plugmc_total_request request = {
        .size = sizeof request, .view = &nowhere, .energy = energy};
    int code = PLUGMC_OK;
    for (int32_t t = 0; t < stage->system->term_count && !code; t++) {
        const plugmc_term *term = plugmc_term_at(stage->system, t);
        if (!term->sampled || !is_constant(term->plugin)) continue;
        const crash_record outer = crash_calling_potential(term->label, "energy");
        code = term->plugin->potential->total->energy(term->instance, &request);
        crash_called_within(outer);
    }
    return code;
}

static int energy_of_mover(const plugmc_view *view, double *energy)
{
    const view_stage *stage = view->core;
    const crash_record outer = crash_calling(stage->mover_host->context->section, "running_energy");
    int code = stage->driver->running_energy(stage->mover_instance, stage->mover_host, energy);
    crash_called_within(outer);
    return code ? code : add_constants(view, energy);
}

static int inverses_of_mover(const plugmc_view *view, plugmc_inverses *out)
{
    const view_stage *stage = view->core;
    const crash_record outer = crash_calling(stage->mover_host->context->section, "inverses");
    const int code = stage->lends->inverses(stage->mover_instance, stage->mover_host, out);
    crash_called_within(outer);
    return code;
}

int view_of(view_stage *stage, const double *positions, int on_device, uint64_t sweep,
            plugmc_view *out)
{
    const plugmc_state *state = stage->state;
    void *box = NULL, *there = NULL, *count = NULL, *orientations = NULL;
    int code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &box, NULL);
    if (!code)
        code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &count, NULL);
    if (!code && on_device)
        code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_DEVICE, PLUGMC_READ, &there, NULL);
    if (!code && stage->system->bodies && !stage->without_orientations)
        code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST, PLUGMC_READ,
                            &orientations, NULL);
    *out = (plugmc_view){
        .size = sizeof(plugmc_view),
        .sweep = sweep,
        .positions = positions,
        .on_device = on_device,
        .cells = on_device ? cells_on_device : cells_on_host,
        .core = stage,
        .box = box,
        .device_box = there,
        .count = count,
        .running_energy = stage->driver && stage->driver->running_energy ? energy_of_mover : NULL,
        .inverses = stage->lends ? inverses_of_mover : NULL,
        .share = stage->share,
        .orientations = orientations,
    };
    return code;
}

void view_clear(view_stage *stage)
{
    for (int i = 0; i < stage->here.count; i++) host_cells_free(&stage->here.cells[i]);
    stage->here.count = stage->there.count = 0;
}
