/* Views: positions with cell lists that are built when they are asked for. */
#include "run/view.h"

#include <math.h>

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
    int code = host_cells_build(stage->system, view->positions, range, &stage->cells[slot]);
    stage->ranges[slot] = code ? NAN : range; /* equal to none */
    *out = stage->cells[slot];
    return code;
}

static int cells_on_device(const plugmc_view *view, double range, plugmc_cells *out)
{
    view_stage *stage = view->core;
    return gpu_cells_build(stage->gpu, stage->system,
                           (plugmc_device_pointer)(uintptr_t)view->positions, range, out);
}

static int energy_of_mover(const plugmc_view *view, double *energy)
{
    view_stage *stage = view->core;
    return stage->mover->mover->running_energy(stage->mover_instance, stage->mover_host, energy);
}

plugmc_view view_of(view_stage *stage, const double *positions, int on_device, uint64_t sweep)
{
    return (plugmc_view){
        .size = sizeof(plugmc_view),
        .sweep = sweep,
        .positions = positions,
        .on_device = on_device,
        .cells = on_device ? cells_on_device : cells_on_host,
        .core = stage,
        .running_energy = stage->mover && stage->mover->mover->running_energy ? energy_of_mover : NULL,
    };
}

void view_clear(view_stage *stage)
{
    for (int i = 0; i < stage->count; i++) host_cells_free(&stage->cells[i]);
    stage->count = 0;
}
