/* gpu.c: sweeps on the GPU: the cells as laid out on the device (checkerboard.cu), and the launches. */
#include "checkerboard.h"

/* Of the counters of all rungs. */
static size_t counter_bytes(const checkerboard *me)
{
    return sizeof(uint64_t) * 2 * CB_COUNTERS * CB_KINDS * (size_t)me->system->rungs;
}

/* The layout on the device, see checkerboard.cu. */
int64_t device_cells(const checkerboard *me)
{
    return (int64_t)me->cells.m[1] * me->cells.m[2] * 2 * pitch(me);
}
int vector_floats(const checkerboard *me) { return me->cells.dimension == 3 ? 4 : 2; }
static size_t device_coordinate_bytes(const checkerboard *me)
{
    return sizeof(float) * vector_floats(me) * me->cells.walkers * device_cells(me) *
           me->cells.capacity;
}
int device_ids(const checkerboard *me) { return me->cells.ids && me->cells.dimension == 2; }
static size_t device_id_bytes(const checkerboard *me)
{
    return device_ids(me)
               ? sizeof(uint32_t) * me->cells.walkers * device_cells(me) * me->cells.capacity
               : 4;
}
static size_t device_count_bytes(const checkerboard *me)
{
    return (size_t)me->cells.walkers * device_cells(me);
}

static int allocate_on_device(checkerboard *me, const plugmc_host *host, device_store *s)
{
    TRY(host->gpu->allocate(host->context, device_coordinate_bytes(me), &s->coordinate));
    TRY(host->gpu->allocate(host->context, device_id_bytes(me), &s->id));
    TRY(host->gpu->allocate(host->context, device_count_bytes(me), &s->count));
    return PLUGMC_OK;
}

static int release_on_device(const plugmc_host *host, device_store *s)
{
    TRY(host->gpu->release(host->context, s->coordinate));
    TRY(host->gpu->release(host->context, s->id));
    TRY(host->gpu->release(host->context, s->count));
    return PLUGMC_OK;
}

static int copy_on_device(const checkerboard *me, const plugmc_host *host, const device_store *to,
                          const device_store *from)
{
    TRY(host->gpu->copy(host->context, to->coordinate, from->coordinate,
                        device_coordinate_bytes(me)));
    TRY(host->gpu->copy(host->context, to->id, from->id, device_id_bytes(me)));
    TRY(host->gpu->copy(host->context, to->count, from->count, device_count_bytes(me)));
    return PLUGMC_OK;
}

/* The store as laid out on the device, on the host. */
typedef struct staging {
    float *coordinate;
    uint32_t *id;
    uint8_t *count;
} staging;

static int allocate_staging(const checkerboard *me, const plugmc_host *host, staging *s)
{
    *s = (staging){(float *)calloc(device_coordinate_bytes(me), 1),
                   (uint32_t *)calloc(device_id_bytes(me), 1),
                   (uint8_t *)calloc(device_count_bytes(me), 1)};
    if (s->coordinate && s->id && s->count) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                      "no memory to exchange cells with the GPU");
}

static void free_staging(staging *s)
{
    free(s->coordinate);
    free(s->id);
    free(s->count);
}

/* Copies `now` to the staging layout, or back from it. */
static void rearrange(checkerboard *me, staging *s, int back)
{
    const int width = vector_floats(me), rows = me->cells.m[1] * me->cells.m[2] * 2;
#pragma omp parallel for collapse(2) num_threads(me->system->threads)
    for (int w = 0; w < me->cells.walkers; w++)
        for (int row = 0; row < rows; row++)
            for (int q = 0; q < me->cells.half; q++) {
                const int64_t word = (int64_t)row * me->cells.row + PAD + q;
                const int64_t cell = (int64_t)row * pitch(me) + q;
                uint8_t *count = &s->count[w * device_cells(me) + cell];
                uint8_t *host_count = &me->now.count[w * me->cells.plane + word];
                if (back)
                    *host_count = *count;
                else
                    *count = *host_count;
                /* empty ones too */
                for (int k = 0; k < (back ? *host_count : me->cells.capacity); k++) {
                    const int64_t slot =
                        ((w * device_cells(me) / pitch(me) + row) * me->cells.capacity + k) *
                            pitch(me) +
                        q;
                    uint32_t *id = &me->now.id[w * me->cells.axis + place_of(me, word, k)];
                    uint32_t *there = device_ids(me) ? &s->id[slot] : NULL;
                    if (me->cells.dimension == 3) there = (uint32_t *)&s->coordinate[slot * 4 + 3];
                    for (int a = 0; a < me->cells.dimension; a++) {
                        float *v = &me->now.coordinate[w * me->cells.walker + a * me->cells.axis +
                                                       place_of(me, word, k)];
                        float *u = &s->coordinate[slot * width + a];
                        if (back)
                            *v = *u;
                        else
                            *u = *v;
                    }
                    if (!there) continue;
                    if (back)
                        memcpy(id, there, sizeof *id);
                    else
                        memcpy(there, id, sizeof *id);
                }
            }
}

int upload_state(checkerboard *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    staging s;
    TRY(allocate_staging(me, host, &s));
    rearrange(me, &s, 0);
    int code = gpu->upload(host->context, me->device.now.coordinate, s.coordinate,
                           device_coordinate_bytes(me));
    if (!code) code = gpu->upload(host->context, me->device.now.id, s.id, device_id_bytes(me));
    if (!code)
        code = gpu->upload(host->context, me->device.now.count, s.count, device_count_bytes(me));
    if (!code)
        code = gpu->upload(host->context, me->device.origin, me->origin,
                           sizeof(int64_t) * 3 * me->cells.walkers);
    if (!code) code = gpu->synchronize(host->context);
    free_staging(&s);
    return code;
}

int download_state(checkerboard *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    staging s;
    TRY(allocate_staging(me, host, &s));
    int code = gpu->download(host->context, s.coordinate, me->device.now.coordinate,
                             device_coordinate_bytes(me));
    if (!code) code = gpu->download(host->context, s.id, me->device.now.id, device_id_bytes(me));
    if (!code)
        code = gpu->download(host->context, s.count, me->device.now.count, device_count_bytes(me));
    if (!code)
        code = gpu->download(host->context, me->origin, me->device.origin,
                             sizeof(int64_t) * 3 * me->cells.walkers);
    if (!code) {
        rearrange(me, &s, 1);
        normalise(me, &me->now);
    }
    free_staging(&s);
    return code;
}

/* Kernels and stores for the present number of slots. */
static int build_on_device(checkerboard *me, const plugmc_host *host)
{
    const int64_t cells =
        (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2] * me->cells.walkers;
    plugmc_gpu_source text = {.size = sizeof text};
    TRY(describe_kernels(me, host, &text));
    TRY(host->gpu->kernel(host->context, &text, "cb_plan_batch", &me->kernels.plan));
    TRY(host->gpu->kernel(host->context, &text, "cb_advance", &me->kernels.advance));
    if (me->patch.x) {
        TRY(host->gpu->kernel(host->context, &text, "cb_sweep", &me->kernels.sweep));
    } else {
        TRY(host->gpu->kernel(host->context, &text, "cb_subsweep", &me->kernels.subsweep));
        TRY(host->gpu->kernel(host->context, &text, "cb_shift", &me->kernels.shift));
    }
    if (CB_BODIES && me->others.spread)
        TRY(host->gpu->kernel(host->context, &text, "cb_carry", &me->kernels.carry));
    TRY(host->gpu->kernel(host->context, &text, "cb_number", &me->kernels.number));
    TRY(host->gpu->kernel(host->context, &text, "cb_store", &me->kernels.store));
    TRY(host->gpu->kernel(host->context, &text, "cb_find_slots", &me->kernels.slots));
    TRY(allocate_on_device(me, host, &me->device.now));
    TRY(allocate_on_device(me, host, &me->device.next));
    TRY(host->gpu->allocate(host->context, me->cells.ids ? 4 : sizeof(uint32_t) * cells,
                            &me->device.offset));
    me->kernels.enter = me->kernels.count = NULL;
    return PLUGMC_OK;
}

/* The stores change places. */
static void swap_on_device(checkerboard *me)
{
    device_store t = me->device.now;
    me->device.now = me->device.next;
    me->device.next = t;
    me->graphs.swapped = !me->graphs.swapped;
}

/* Sweep i of a batch of n, block by block. */
static int launch_patches(checkerboard *me, const plugmc_host *host, int n, int i)
{
    uint64_t key = me->seed.key;
    const uint32_t block[3] = {(uint32_t)block_size(me), 1, 1};
    const uint32_t patches[3] = {blocks_for(me->cells.m[0], me->patch.x),
                                 blocks_for(me->cells.m[1], me->patch.y),
                                 (uint32_t)me->cells.walkers};
    void *arguments[] = {&key,
                         &me->device.base,
                         &me->device.plans,
                         &n,
                         &i,
                         &me->device.conditions,
                         &me->device.now.coordinate,
                         &me->device.now.id,
                         &me->device.now.count,
                         &me->device.next.coordinate,
                         &me->device.next.id,
                         &me->device.next.count,
                         &me->device.counts,
                         &me->device.trouble};
    TRY(host->gpu->launch(host->context, me->kernels.sweep, patches, block, 0, arguments));
    swap_on_device(me);
    return PLUGMC_OK;
}

/* Sweep i of a batch of n, sub-sweep by sub-sweep, and the cell shift. Where several processes sweep a walker it is
 * number `at` of the sweeps for which cells of others are here. */
static int launch_subsweeps(checkerboard *me, const plugmc_host *host, int n, int i, int at)
{
    const plugmc_gpu *gpu = host->gpu;
    uint64_t key = me->seed.key;
    const int threads = block_size(me);
    const uint32_t block[3] = {(uint32_t)threads, 1, 1};
    const int row = me->cells.dimension == 3 ? me->cells.m[1] : 1; /* rows of a layer */
    const int64_t cells = (int64_t)me->cells.half * (row > 1 ? row / 2 : 1) * me->cells.walkers;
    const cb_plan any = {.axis = 0}; /* the same layers of all parities */
    for (int part = 0; part < 1 << me->cells.dimension; part++) {
        cb_window window = window_of(me, &any, at, part);
        const uint32_t flat[3] = {blocks_for(cells * window.active, cells_a_block(me)), 1, 1};
        const uint32_t rows[3] = {blocks_for(me->cells.half, threads), (uint32_t)window.active,
                                  (uint32_t)me->cells.walkers};
        if (!window.active) continue; /* a domain of one layer */
        void *arguments[] = {&key,
                             &me->device.base,
                             &me->device.plans,
                             &n,
                             &i,
                             &part,
                             &me->device.conditions,
                             &me->device.now.coordinate,
                             &me->device.now.id,
                             &me->device.now.count,
                             &me->device.counts,
                             &me->device.trouble,
                             CB_BODIES ? (void *)&me->device.orientations : &window,
                             &window};
        TRY(gpu->launch(host->context, me->kernels.subsweep, tiled(me) ? rows : flat, block, 0,
                        arguments));
    }
    if (!me->set.shift_cells) return PLUGMC_OK;
    cb_window window = window_of(me, &any, at, CB_OF_SHIFT);
    const uint32_t all[3] = {blocks_for(me->cells.half, 32),
                             (uint32_t)((window.active * row + 3) / 4),
                             (uint32_t)me->cells.walkers};
    const uint32_t shifters[3] = {256, 1, 1};
    void *arguments[] = {&me->device.plans,
                         &n,
                         &i,
                         &me->device.now.coordinate,
                         &me->device.now.id,
                         &me->device.now.count,
                         &me->device.next.coordinate,
                         &me->device.next.id,
                         &me->device.next.count,
                         &me->device.trouble,
                         &window};
    TRY(gpu->launch(host->context, me->kernels.shift, all, shifters, 0, arguments));
    swap_on_device(me);
    return PLUGMC_OK;
}

/* Launches of `n` sweeps; n is even or 1, and after an odd number the stores have changed places. */
static int launch_sweeps(checkerboard *me, const plugmc_host *host, int n)
{
    const plugmc_gpu *gpu = host->gpu;
    uint64_t key = me->seed.key;
    uint64_t advance = (uint64_t)n;
    const uint32_t walkers[3] = {(uint32_t)me->cells.walkers, 1, 1}, batch[3] = {(uint32_t)n, 1, 1};
    const uint32_t one[3] = {1, 1, 1};
    void *plan[] = {&key, &me->device.base, &me->device.plans, &me->device.origin};
    TRY(gpu->launch(host->context, me->kernels.plan, walkers, batch, 0, plan));
    for (int i = 0; i < n; i++)
        TRY(me->patch.x ? launch_patches(me, host, n, i) : launch_subsweeps(me, host, n, i, 0));
    void *advance_by[] = {&me->device.base, &advance};
    return gpu->launch(host->context, me->kernels.advance, one, one, 0, advance_by);
}

/* The same where several processes sweep a walker, which bring cells of each other. */
static int launch_spread(checkerboard *me, const plugmc_host *host, uint64_t first, int n)
{
    const plugmc_gpu *gpu = host->gpu;
    uint64_t key = me->seed.key;
    uint64_t advance = (uint64_t)n;
    const uint32_t one[3] = {1, 1, 1}, batch[3] = {(uint32_t)n, 1, 1};
    void *plan[] = {&key, &me->device.base, &me->device.plans, &me->device.origin};
    void *advance_by[] = {&me->device.base, &advance};
    TRY(gpu->launch(host->context, me->kernels.plan, one, batch, 0, plan));
    for (int i = 0; i < n; i++) {
        const int at = i % me->others.at_once, left = n - i;
        if (at == 0)
            TRY(bring_around(me, host, first + (uint64_t)i,
                             left < me->others.at_once ? left : me->others.at_once));
        TRY(launch_subsweeps(me, host, n, i, at));
    }
    return gpu->launch(host->context, me->kernels.advance, one, one, 0, advance_by);
}

int upload_conditions(checkerboard *me, const plugmc_host *host)
{
    const size_t bytes = conditions_bytes(me);
    void *packed = me->device.packed;
    pack_conditions(me, me->each.of, packed);
    if (me->device.all_there && !memcmp(packed, me->device.uploaded, bytes)) return PLUGMC_OK;
    me->device.packed = me->device.uploaded;
    me->device.uploaded = packed;
    me->device.all_there = 1;
    return host->gpu->upload(host->context, me->device.conditions, packed, bytes);
}

/* A graph of `n` sweeps, an even number, from the store that is `now`; recorded if it is not there. */
static int launch_graph(checkerboard *me, const plugmc_host *host, plugmc_graph **graph, int n)
{
    if (!*graph) {
        TRY(host->gpu->graph_begin(host->context));
        TRY(launch_sweeps(me, host, n));
        TRY(host->gpu->graph_end(host->context, graph));
    }
    return host->gpu->graph_launch(host->context, *graph);
}

static int forget(const plugmc_host *host, plugmc_graph *graph[2])
{
    for (int i = 0; i < 2; i++) {
        if (graph[i]) TRY(host->gpu->graph_release(host->context, graph[i]));
        graph[i] = NULL;
    }
    return PLUGMC_OK;
}

/* Whether `n` sweeps, fewer than a batch, have a graph of their own: beside another mover as many are
 * asked for every time. */
static int has_few(checkerboard *me, const plugmc_host *host, uint64_t n, int *few)
{
    const int again = n == me->graphs.asked_before;
    me->graphs.asked_before = n;
    *few = again && n >= 4 && n < BATCH && n % 2 == 0;
    if (!*few || n == me->graphs.few_sweeps) return PLUGMC_OK;
    me->graphs.few_sweeps = n;
    return forget(host, me->graphs.few);
}

/* *n: sweeps that are left; 0, unless the run is to stop. */
static int launch_batches(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t *n)
{
    int few;
    for (; me->others.spread && *n > 0; first += BATCH) {
        const int some = *n < BATCH ? (int)*n : BATCH;
        TRY(launch_spread(me, host, first, some));
        *n -= (uint64_t)some;
    }
    TRY(has_few(me, host, *n, &few));
    for (; *n >= BATCH && !host->stopping(host->context); *n -= BATCH)
        TRY(launch_graph(me, host, &me->graphs.whole[me->graphs.swapped], BATCH));
    if (few) {
        TRY(launch_graph(me, host, &me->graphs.few[me->graphs.swapped], (int)*n));
        *n = 0;
    }
    while (*n > 0 && !host->stopping(host->context)) {
        const int some = *n >= BATCH ? BATCH : *n > 1 ? (int)*n & ~1 : 1;
        TRY(launch_sweeps(me, host, some));
        *n -= (uint64_t)some;
    }
    return PLUGMC_OK;
}

static int sweep_on_device(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    uint64_t left = n;
    /* launches count on by themselves, so sweeps that follow each other need no new number */
    if (!me->graphs.counts_on || first != me->graphs.next_sweep)
        TRY(host->gpu->upload(host->context, me->device.base, &first, sizeof first));
    me->graphs.counts_on = 0;
    TRY(upload_conditions(me, host));
    TRY(launch_batches(me, host, first, &left));
    me->graphs.counts_on = left == 0;
    me->graphs.next_sweep = first + n;
    return PLUGMC_OK;
}

/* Copies the state to the snapshot, or back from it. */
static int snapshot(checkerboard *me, const plugmc_host *host, int back)
{
    const plugmc_gpu *gpu = host->gpu;
    size_t origin = sizeof(int64_t) * 3 * me->cells.walkers;
    TRY(back ? copy_on_device(me, host, &me->device.now, &me->device.snapshot)
             : copy_on_device(me, host, &me->device.snapshot, &me->device.now));
    if (CB_BODIES) TRY(copy_orientations(me, host, back));
    TRY(gpu->copy(host->context, back ? me->device.origin : me->device.saved_origin,
                  back ? me->device.saved_origin : me->device.origin, origin));
    return gpu->copy(host->context, back ? me->device.counts : me->device.saved_counts,
                     back ? me->device.saved_counts : me->device.counts, counter_bytes(me));
}

int rebuild_on_device(checkerboard *me, const plugmc_host *host)
{
    TRY(forget(host, me->graphs.whole));
    TRY(forget(host, me->graphs.few));
    TRY(release_on_device(host, &me->device.now));
    TRY(release_on_device(host, &me->device.next));
    TRY(release_on_device(host, &me->device.snapshot));
    TRY(host->gpu->release(host->context, me->device.offset));
    me->device.snapshot = (device_store){0};
    me->device.packed = host->allocate(host->context, conditions_bytes(me));
    me->device.uploaded = host->allocate(host->context, conditions_bytes(me));
    if (!me->device.packed || !me->device.uploaded)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for steps of walkers");
    TRY(build_on_device(me, host));
    return me->cells.bounded ? PLUGMC_OK : allocate_on_device(me, host, &me->device.snapshot);
}

/* More room for particles near a cell. */
static int more_near(checkerboard *me, const plugmc_host *host)
{
    const int most = most_near(me), more = me->cells.near + me->cells.near / 2;
    if (me->cells.near == most)
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "more than %d particles within the range of one cell, the limit on a GPU: the "
            "system has collapsed, or its density or the range of the potential is too large "
            "for mover '" CB_NAME "' on a GPU",
            most);
    me->cells.near = more < most ? more : most;
    return PLUGMC_OK;
}

/* More room for what overflowed: 1 slots a cell, 2 particles near a cell; the state is kept. */
static int grow_on_gpu(checkerboard *me, const plugmc_host *host, int what)
{
    TRY(download_state(me, host));
    if (what == 1)
        TRY(grow(me, host));
    else
        TRY(more_near(me, host));
    TRY(rebuild_on_device(me, host));
    TRY(upload_state(me, host));
    return host->gpu->fill(host->context, me->device.trouble, 0, sizeof(cb_trouble));
}

/* Geometry bounds what a cell holds, and there are no energies: nothing can go wrong but by a fault. That
 * is looked for when positions are given, not after every few sweeps, for which a GPU would have to wait;
 * and what is found then is told the next time, or when moves are counted, which is before anything is written. */
static int cannot_fail(const checkerboard *me) { return me->cells.bounded && !me->cells.energies; }

static int report_overlaps(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_STATE,
                      "a cell contains more hard particles than fit: they overlap");
}

int look_for_overlaps(checkerboard *me, const plugmc_host *host)
{
    if (!cannot_fail(me)) return PLUGMC_OK; /* seen to before */
    if (me->looked) TRY(host->gpu->arrive(host->context));
    if (me->trouble.overflow) return report_overlaps(host);
    me->looked = 1;
    return host->gpu->download_later(host->context, &me->trouble, me->device.trouble,
                                     sizeof me->trouble);
}

int sweep_on_gpu(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    cb_trouble trouble;
    if (cannot_fail(me)) return sweep_on_device(me, host, first, n);
    if (!me->cells.bounded && !me->device.snapshot.count)
        TRY(allocate_on_device(me, host, &me->device.snapshot));
    if (!me->cells.bounded) TRY(snapshot(me, host, 0));
    for (;;) {
        TRY(sweep_on_device(me, host, first, n));
        TRY(host->gpu->download(host->context, &trouble, me->device.trouble, sizeof trouble));
        int64_t of_each[] = {trouble.overflow, (int64_t)trouble.lost};
        TRY(of_all(me, host, of_each, 2));
        trouble.overflow = (int32_t)of_each[0];
        trouble.lost = (uint64_t)of_each[1];
        if (!trouble.overflow) break;
        if (me->cells.bounded) return report_overlaps(host);
        TRY(snapshot(me, host, 1));
        TRY(grow_on_gpu(me, host, trouble.overflow));
        TRY(snapshot(me, host, 0));
    }
    me->lost = trouble.lost - 1;
    return trouble.lost ? report_lost(me, host) : PLUGMC_OK;
}

int quanta_on_gpu(checkerboard *me, const plugmc_host *host, double quantum[3], void *arguments[3])
{
    for (int a = 0; a < 3; a++) {
        quantum[a] = me->each.of[0].width[a] / CB_QUANTA;
        arguments[a] = &quantum[a];
    }
    if (!me->each.boxes_change) return PLUGMC_OK;
    arguments[0] = &me->device.conditions;
    return upload_conditions(me, host);
}

int store_on_gpu(checkerboard *me, const plugmc_host *host, domain which,
                 plugmc_device_pointer positions)
{
    const plugmc_gpu *gpu = host->gpu;
    int64_t cells = (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2] * me->cells.walkers;
    TRY(look_for_overlaps(me, host));
    if (!me->cells.ids) {
        const uint32_t parts[3] = {blocks_for(cells / me->cells.walkers, CB_PART),
                                   (uint32_t)me->cells.walkers, 1};
        const uint32_t scan[3] = {CB_SCAN, 1, 1};
        void *arguments[] = {&me->device.now.count, &which, &me->device.offset};
        TRY(gpu->launch(host->context, me->kernels.number, parts, scan, 0, arguments));
    }
    double quantum[3];
    void *quanta[3];
    TRY(quanta_on_gpu(me, host, quantum, quanta));
    long long particles = me->system->particles;
    const uint32_t grid[3] = {blocks_for(cells, 128), 1, 1}, block[3] = {128, 1, 1};
    void *arguments[] = {&me->device.now.coordinate,
                         &me->device.now.id,
                         &me->device.now.count,
                         &me->device.origin,
                         &me->device.offset,
                         &which,
                         &positions,
                         &particles,
                         quanta[0],
                         quanta[1],
                         quanta[2]};
    return gpu->launch(host->context, me->kernels.store, grid, block, 0, arguments);
}

int counts_on_gpu(checkerboard *me, const plugmc_host *host, int clear)
{
    uint64_t counters[CB_COUNTERS][2];
    cb_trouble trouble = {0};
    if (cannot_fail(me))
        TRY(host->gpu->download(host->context, &trouble, me->device.trouble, sizeof trouble));
    if (trouble.overflow) return report_overlaps(host);
    for (int k = 0; k < CB_KINDS * me->system->rungs; k++) {
        TRY(host->gpu->download(host->context, counters,
                                me->device.counts + (size_t)k * sizeof counters, sizeof counters));
        me->counts[k] = (plugmc_counts){0, 0};
        for (int i = 0; i < CB_COUNTERS; i++) {
            me->counts[k].trials += counters[i][0];
            me->counts[k].accepted += counters[i][1];
        }
    }
    return clear ? host->gpu->fill(host->context, me->device.counts, 0, counter_bytes(me))
                 : PLUGMC_OK;
}

int prepare_on_gpu(checkerboard *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    TRY(gpu->allocate(host->context, sizeof(int64_t) * 3 * me->cells.walkers, &me->device.origin));
    TRY(gpu->allocate(host->context, sizeof(cb_plan) * BATCH * me->cells.walkers,
                      &me->device.plans));
    TRY(gpu->allocate(host->context, sizeof(uint64_t), &me->device.base));
    me->graphs.counts_on = 0;
    TRY(gpu->allocate(host->context, conditions_bytes(me), &me->device.conditions));
    TRY(gpu->allocate(host->context, counter_bytes(me), &me->device.counts));
    TRY(gpu->allocate(host->context, sizeof(cb_trouble), &me->device.trouble));
    TRY(gpu->allocate(host->context, sizeof(double) * 3, &me->device.widths));
    TRY(gpu->allocate(host->context, sizeof(int64_t) * 3 * me->cells.walkers,
                      &me->device.saved_origin));
    TRY(gpu->allocate(host->context, counter_bytes(me), &me->device.saved_counts));
    me->device.packed = host->allocate(host->context, conditions_bytes(me));
    me->device.uploaded = host->allocate(host->context, conditions_bytes(me));
    if (!me->device.packed || !me->device.uploaded)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for steps of walkers");
    TRY(build_on_device(me, host));
    return me->cells.bounded ? PLUGMC_OK : allocate_on_device(me, host, &me->device.snapshot);
}
