/* load.c: positions that are on the device into cells there, see load.cu. */
#include "checkerboard.h"

static int build(checkerboard *me, const plugmc_host *host)
{
    plugmc_gpu_source text = {.size = sizeof text};
    if (me->k_enter) return PLUGMC_OK;
    TRY(describe_load(me, host, &text));
    TRY(host->gpu->kernel(host->context, &text, "cb_touch", &me->k_touch));
    TRY(host->gpu->kernel(host->context, &text, "cb_fill", &me->k_fill));
    return host->gpu->kernel(host->context, &text, "cb_enter", &me->k_enter);
}

/* In the order of their numbers, in every cell. */
static int enter_and_fill(checkerboard *me, const plugmc_host *host,
                          plugmc_device_pointer positions)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t cells = (size_t)me->walkers * (size_t)device_cells(me);
    /* lists in the other store, which has room for two words a slot at least */
    plugmc_device_pointer list = me->on_next.coordinate;
    plugmc_device_pointer length = list + sizeof(uint32_t) * cells * (size_t)me->capacity;
    plugmc_device_pointer overflow = me->d_trouble;
    long long particles = me->system->particles;
    const uint32_t block[3] = {128, 1, 1};
    const uint32_t each[3] = {blocks_for(particles * me->walkers, 128), 1, 1};
    const uint32_t every[3] = {
        blocks_for((int64_t)me->m[0] * me->m[1] * me->m[2] * me->walkers, 128), 1, 1};
    void *enter[] = {&positions, &particles, &me->d_conditions, &me->d_widths, &me->d_origin,
                     &list,      &length};
    void *fill[] = {
        &positions, &particles, &me->d_conditions,      &me->d_widths,  &me->d_origin,
        &list,      &length,    &me->on_now.coordinate, &me->on_now.id, &me->on_now.count,
        &overflow};
    TRY(gpu->upload(host->context, me->d_widths, me->of[0].width, sizeof me->of[0].width));
    TRY(gpu->fill(host->context, length, 0, sizeof(uint32_t) * cells));
    TRY(gpu->launch(host->context, me->k_enter, each, block, 0, enter));
    TRY(gpu->launch(host->context, me->k_fill, every, block, 0, fill));
    if (!parts_touching(me)) return PLUGMC_OK;
    return find_touching(me, host, me->d_conditions, me->d_trouble + offsetof(cb_trouble, touching),
                         0);
}

int find_touching(checkerboard *me, const plugmc_host *host, plugmc_device_pointer conditions,
                  plugmc_device_pointer touching, int each)
{
    const uint32_t block[3] = {128, 1, 1};
    const uint32_t every[3] = {
        blocks_for((int64_t)me->m[0] * me->m[1] * me->m[2] * me->walkers, 128), 1, 1};
    void *arguments[] = {
        &conditions, &me->on_now.coordinate, &me->on_now.id, &me->on_now.count, &touching, &each};
    TRY(build(me, host));
    return host->gpu->launch(host->context, me->k_touch, every, block, 0, arguments);
}

int load_on_gpu(checkerboard *me, const plugmc_host *host, plugmc_device_pointer positions,
                int *loaded)
{
    const plugmc_gpu *gpu = host->gpu;
    cb_trouble trouble;
    TRY(build(me, host));
    TRY(upload_conditions(me, host));
    TRY(enter_and_fill(me, host, positions));
    TRY(gpu->download(host->context, &trouble, me->d_trouble, sizeof trouble));
    *loaded = !trouble.overflow && !trouble.touching;
    return *loaded ? PLUGMC_OK : gpu->fill(host->context, me->d_trouble, 0, sizeof(cb_trouble));
}
