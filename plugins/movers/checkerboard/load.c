/* load.c: positions that are on the device into cells there, see load.cu; and the slots that they have come to. */
#include "checkerboard.h"

static int build(checkerboard *me, const plugmc_host *host)
{
    plugmc_gpu_source text = {.size = sizeof text};
    if (me->kernels.enter) return PLUGMC_OK;
    TRY(describe_load(me, host, &text));
    TRY(host->gpu->kernel(host->context, &text, "cb_touch", &me->kernels.touch));
    TRY(host->gpu->kernel(host->context, &text, "cb_fill", &me->kernels.fill));
    return host->gpu->kernel(host->context, &text, "cb_enter", &me->kernels.enter);
}

/* In the order of their numbers, in every cell. */
static int enter_and_fill(checkerboard *me, const plugmc_host *host,
                          plugmc_device_pointer positions)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t cells = (size_t)me->cells.walkers * (size_t)device_cells(me);
    /* lists in the other store, which has room for two words a slot at least */
    plugmc_device_pointer list = me->device.next.coordinate;
    plugmc_device_pointer length = list + sizeof(uint32_t) * cells * (size_t)me->cells.capacity;
    plugmc_device_pointer overflow = me->device.trouble;
    long long particles = me->system->particles;
    const uint32_t block[3] = {128, 1, 1};
    const uint32_t each[3] = {blocks_for(particles * me->cells.walkers, 128), 1, 1};
    const uint32_t every[3] = {
        blocks_for((int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2] * me->cells.walkers,
                   128),
        1, 1};
    void *enter[] = {
        &positions, &particles, &me->device.conditions, &me->device.widths, &me->device.origin,
        &list,      &length};
    void *fill[] = {&positions,
                    &particles,
                    &me->device.conditions,
                    &me->device.widths,
                    &me->device.origin,
                    &list,
                    &length,
                    &me->device.now.coordinate,
                    &me->device.now.id,
                    &me->device.now.count,
                    &overflow};
    TRY(gpu->upload(host->context, me->device.widths, me->each.of[0].width,
                    sizeof me->each.of[0].width));
    TRY(gpu->fill(host->context, length, 0, sizeof(uint32_t) * cells));
    TRY(gpu->launch(host->context, me->kernels.enter, each, block, 0, enter));
    TRY(gpu->launch(host->context, me->kernels.fill, every, block, 0, fill));
    if (!parts_touching(me)) return PLUGMC_OK;
    return find_touching(me, host, me->device.conditions,
                         me->device.trouble + offsetof(cb_trouble, touching), 0);
}

int find_touching(checkerboard *me, const plugmc_host *host, plugmc_device_pointer conditions,
                  plugmc_device_pointer touching, int each)
{
    const uint32_t block[3] = {128, 1, 1};
    const uint32_t every[3] = {
        blocks_for((int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2] * me->cells.walkers,
                   128),
        1, 1};
    void *arguments[] = {&conditions,        &me->device.now.coordinate,
                         &me->device.now.id, &me->device.now.count,
                         &touching,          &each};
    TRY(build(me, host));
    return host->gpu->launch(host->context, me->kernels.touch, every, block, 0, arguments);
}

int load_on_gpu(checkerboard *me, const plugmc_host *host, plugmc_device_pointer positions,
                int *loaded)
{
    const plugmc_gpu *gpu = host->gpu;
    cb_trouble trouble;
    TRY(build(me, host));
    TRY(upload_conditions(me, host));
    TRY(enter_and_fill(me, host, positions));
    TRY(gpu->download(host->context, &trouble, me->device.trouble, sizeof trouble));
    *loaded = !trouble.overflow && !trouble.touching;
    return *loaded ? PLUGMC_OK
                   : gpu->fill(host->context, me->device.trouble, 0, sizeof(cb_trouble));
}

int find_slots_on_gpu(checkerboard *me, const plugmc_host *host, uint8_t *slots)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t bytes = (size_t)me->cells.walkers * (size_t)me->system->particles;
    const int64_t cells =
        (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2] * me->cells.walkers;
    const uint32_t grid[3] = {blocks_for(cells, 128), 1, 1}, block[3] = {128, 1, 1};
    long long particles = me->system->particles;
    if (!me->device.slots) TRY(gpu->allocate(host->context, bytes, &me->device.slots));
    void *arguments[] = {&me->device.now.coordinate, &me->device.now.id, &me->device.now.count,
                         &me->device.origin,         &particles,         &me->device.slots};
    TRY(gpu->fill(host->context, me->device.slots, 0, bytes));
    TRY(gpu->launch(host->context, me->kernels.slots, grid, block, 0, arguments));
    return gpu->download(host->context, slots, me->device.slots, bytes);
}
