/* lend.c: particles into cells that others want, without giving positions first, see lend.cu. */
#include "checkerboard.h"

/* As lend.cu has it. */
typedef struct wanted {
    int count[3];
    const plugmc_box *box;
    uint32_t *start, *order;
    double *positions;
    plugmc_device_pointer entry;
    long long particles;
} wanted;

static int build(checkerboard *me, const plugmc_host *host)
{
    plugmc_gpu_source text = {.size = sizeof text};
    if (me->k_count) return PLUGMC_OK;
    TRY(describe_load(me, host, &text));
    TRY(host->gpu->kernel(host->context, &text, "cb_place_wanted", &me->k_place));
    return host->gpu->kernel(host->context, &text, "cb_count_wanted", &me->k_count);
}

int lend_cells(void *instance, const plugmc_host *host, const plugmc_cell_filling *filling)
{
    checkerboard *me = (checkerboard *)instance;
    const plugmc_gpu *gpu = host->gpu;
    const int64_t own = (int64_t)me->m[0] * me->m[1] * me->m[2] * me->walkers;
    const uint32_t block[3] = {128, 1, 1}, of_own[3] = {blocks_for(own, 128), 1, 1};
    wanted w = {.box = filling->box,
                .start = filling->start,
                .order = filling->order,
                .positions = filling->positions,
                .entry = me->on_next.coordinate, /* two words a slot, which nobody needs now */
                .particles = me->system->particles};
    double quantum[3];
    void *quanta[3];
    if (me->spread) return PLUGMC_UNANSWERED;
    memcpy(w.count, filling->count, sizeof w.count);
    TRY(build(me, host));
    TRY(quanta_on_gpu(me, host, quantum, quanta));
    if (!filling->placing) {
        void *arguments[] = {&w,
                             &me->on_now.coordinate,
                             &me->on_now.count,
                             &me->d_origin,
                             quanta[0],
                             quanta[1],
                             quanta[2]};
        TRY(look_for_overlaps(me, host));
        return gpu->launch(host->context, me->k_count, of_own, block, 0, arguments);
    }
    void *arguments[] = {&w,
                         &me->on_now.coordinate,
                         &me->on_now.id,
                         &me->on_now.count,
                         &me->d_origin,
                         quanta[0],
                         quanta[1],
                         quanta[2]};
    return gpu->launch(host->context, me->k_place, of_own, block, 0, arguments);
}
