/* Views: positions with cell lists that are built when they are asked for. */
#include "run/view.h"

#include <math.h>

#include "crash.h"
#include "run/context.h"
#include "system/system.h"

static int cells_on_host(const plugmc_view *view, double range, plugmc_cells *out)
{
    view_stage *stage = view->core;
    for (int i = 0; i < stage->count; i++)
        if (stage->ranges[i] == range) {
            *out = stage->cells[i];
            return PLUGMC_OK;
        }
    int slot = stage->count < HOST_CELLS ? stage->count++ : HOST_CELLS - 1;
    host_cells_free(&stage->cells[slot]);
    int code =
        host_cells_build(stage->system, view->box, view->positions, range, &stage->cells[slot]);
    stage->ranges[slot] = code ? NAN : range; /* equal to none */
    *out = stage->cells[slot];
    return code;
}

static int cells_on_device(const plugmc_view *view, double range, plugmc_cells *out)
{
    view_stage *stage = view->core;
    return gpu_cells_build(stage->gpu, stage->system, view, range, out);
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
        if (!term->sampled || !is_constant(term->plugin->potential)) continue;
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
    int code = stage->mover->running_energy(stage->mover_instance, stage->mover_host, energy);
    crash_called_within(outer);
    return code ? code : add_constants(view, energy);
}

static int inverses_of_mover(const plugmc_view *view, plugmc_inverses *out)
{
    const view_stage *stage = view->core;
    const crash_record outer = crash_calling(stage->mover_host->context->section, "inverses");
    const int code = stage->mover->inverses(stage->mover_instance, stage->mover_host, out);
    crash_called_within(outer);
    return code;
}

int view_of(view_stage *stage, const double *positions, int on_device, uint64_t sweep,
            plugmc_view *out)
{
    const plugmc_state *state = stage->state;
    void *box = NULL, *there = NULL, *count = NULL;
    int code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &box, NULL);
    if (!code)
        code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &count, NULL);
    if (!code && on_device)
        code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_DEVICE, PLUGMC_READ, &there, NULL);
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
        .running_energy = stage->mover && stage->mover->running_energy ? energy_of_mover : NULL,
        .inverses = stage->mover && stage->mover->inverses ? inverses_of_mover : NULL,
    };
    return code;
}

void view_clear(view_stage *stage)
{
    for (int i = 0; i < stage->count; i++) host_cells_free(&stage->cells[i]);
    stage->count = 0;
}
