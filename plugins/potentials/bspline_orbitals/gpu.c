/* Orbitals on the GPU: points of a call sorted by the bricks of the grid that they are in, where that pays, and the
 * kernels of bspline_orbitals.cu. */
#include <stdlib.h>
#include <string.h>

#include "bspline_orbitals.h"

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(bspline_kernel, PLUGMC_KERNEL_FILE);

enum { LEAST_BATCH = 65536, MOST_POINTS = 1 << 22 }; /* points at once */

/* ---- Evaluation ------------------------------------------------------------------------------ */

static void *at_device(plugmc_device_pointer p) { return (void *)(uintptr_t)p; }

/* Points sorted by bricks of the grid: task->order. */
static int sort_points(const bspline_orbitals *b, const spline_kernels *k, spline_task *task)
{
    const plugmc_host *host = b->host;
    plugmc_device_pointer counts = b->gpu.counts, brick = b->gpu.brick, rank = b->gpu.rank,
                          order = b->gpu.order;
    uint32_t points = task->points, bricks = b->gpu.brick_count;
    const uint32_t grid[3] = {(points + 255) / 256, 1, 1}, block[3] = {256, 1, 1};
    const uint32_t one[3] = {1, 1, 1}, whole[3] = {1024, 1, 1};
    const uint32_t cleared[3] = {(bricks + 255) / 256, 1, 1};
    int code =
        host->gpu->launch(host->context, k->clear, cleared, block, 0, (void *[]){&counts, &bricks});
    if (!code)
        code = host->gpu->launch(host->context, k->bin, grid, block, 0,
                                 (void *[]){task, &counts, &brick, &rank});
    if (!code)
        code = host->gpu->launch(host->context, k->offsets, one, whole, 0,
                                 (void *[]){&counts, &bricks});
    if (!code)
        code = host->gpu->launch(host->context, k->places, grid, block, 0,
                                 (void *[]){&counts, &brick, &rank, &points, &order});
    task->order = at_device(order);
    return code;
}

/* Sorting pays when several points share the rows of their bricks, and a cache of 4 MB, which all GPUs have, does not
 * hold the table. */
static int worth_sorting(const bspline_orbitals *b, const spline_table *t, int64_t points)
{
    const int64_t places = (int64_t)b->grid.points[0] * b->grid.points[1] * b->grid.points[2];
    if (b->layout == LAYOUT_PLAIN) return 0;
    if (b->sort != SORT_AUTO) return b->sort == SORT_YES;
    return points >= 1024 && 8 * points >= places &&
           places * t->row * (int64_t)b->size > (int64_t)4 << 20;
}

/* The smallest power of two of threads that a row needs, up to a warp. */
static int32_t width_for(int64_t packs)
{
    int32_t width = 0;
    while (width < 5 && (1 << width) < packs) width++;
    return width;
}

static spline_task task_of(const bspline_orbitals *b, const spline_table *t,
                           const plugmc_orbital_request *q, int64_t first, int64_t points)
{
    const size_t number_size = (size_t)q->real_size * (size_t)b->parts;
    const int64_t packs = t->row * (int64_t)b->size / 16;
    const int64_t used = (b->wanted[q->species] * b->parts * (int64_t)b->size + 15) / 16;
    spline_task task = {
        .packs = (uint32_t)packs,
        .orbitals = b->wanted[q->species],
        .table = at_device(t->device),
        .phase = at_device(t->device_phase),
        .wave = at_device(t->device_wave),
        .positions = q->positions + 3 * first,
        .points = (uint32_t)points,
        .width = width_for(used),
        .pitch = q->pitch,
        .values = q->values ? (char *)q->values + number_size * (size_t)(first * q->pitch) : NULL,
        .gradients = q->gradients
                         ? (char *)q->gradients + number_size * (size_t)(3 * first * q->pitch)
                         : NULL,
        .laplacians =
            q->laplacians ? (char *)q->laplacians + number_size * (size_t)(first * q->pitch) : NULL,
    };
    task.chunks = (uint32_t)((used + (1 << task.width) - 1) >> task.width);
    memcpy(task.inverse, b->grid.inverse, sizeof task.inverse);
    memcpy(task.metric, b->grid.metric, sizeof task.metric);
    memcpy(task.slope, b->grid.slope, sizeof task.slope);
    for (int d = 0; d < 3; d++) {
        task.grid[d] = b->grid.points[d];
        task.bricks[d] = (int32_t)b->gpu.bricks[d];
    }
    return task;
}

static int launch_points(const bspline_orbitals *b, const spline_kernels *k, spline_task *task,
                         int derivatives, int sorted)
{
    const plugmc_host *host = b->host;
    if (b->layout == LAYOUT_PLAIN) {
        const uint32_t grid[3] = {task->points * (uint32_t)task->orbitals, 1, 1},
                       block[3] = {64, 1, 1};
        return host->gpu->launch(host->context, derivatives ? k->plain_everything : k->plain_values,
                                 grid, block, 0, (void *[]){task});
    }
    /* a fraction of the threads that the GPU holds: it waits for loads, not for memory */
    const int few = ((int64_t)task->points * task->chunks << task->width) <
                    (int64_t)host->gpu->multiprocessors * 256;
    plugmc_kernel *kernel = derivatives ? few ? k->everything_of_few : k->everything
                            : few       ? k->values_of_few
                                        : k->values;
    const uint32_t threads = few ? SPLINE_FEW : SPLINE_BLOCK;
    const uint32_t a_block = (few ? 32 : SPLINE_BLOCK) >> task->width; /* points */
    const uint32_t grid[3] = {(task->points + a_block - 1) / a_block * task->chunks, 1, 1};
    const uint32_t block[3] = {threads, 1, 1};
    int code = sorted ? sort_points(b, k, task) : PLUGMC_OK;
    return code ? code : host->gpu->launch(host->context, kernel, grid, block, 0, (void *[]){task});
}

/* Parts in place of whole orbitals, of `points` points. */
static int launch_parts(const bspline_orbitals *b, const spline_table *t, plugmc_kernel *kernel,
                        const spline_task *task)
{
    enum { THREADS = 128 };
    const struct {
        void *numbers;
        uint64_t rows;
    } all[] = {{task->values, task->points},
               {task->gradients, 3 * (uint64_t)task->points},
               {task->laplacians, task->points}};
    const void *single = at_device(t->device_single);
    uint32_t singles = (uint32_t)t->singles;
    int code = PLUGMC_OK;
    for (int i = 0; i < 3 && singles && !code; i++) {
        void *numbers = all[i].numbers;
        uint64_t rows = all[i].rows;
        int64_t pitch = task->pitch;
        const uint32_t grid[3] = {(uint32_t)((rows * singles + THREADS - 1) / THREADS), 1, 1},
                       block[3] = {THREADS, 1, 1};
        if (numbers)
            code = b->host->gpu->launch(b->host->context, kernel, grid, block, 0,
                                        (void *[]){&numbers, &rows, &pitch, &single, &singles});
    }
    return code;
}

/* In batches that fit into the memory for sorting, which cannot grow while a graph is recorded. */
int spline_evaluate_there(const bspline_orbitals *b, const spline_table *t,
                          const plugmc_orbital_request *q)
{
    const spline_kernels *k = &b->gpu.kernels[q->real_size == sizeof(double)];
    const int derivatives = q->gradients || q->laplacians,
              sorted = worth_sorting(b, t, q->points < b->gpu.batch ? q->points : b->gpu.batch);
    const int64_t batch = sorted || b->layout == LAYOUT_PLAIN ? b->gpu.batch : MOST_POINTS;
    int code = PLUGMC_OK;
    for (int64_t first = 0; first < q->points && !code; first += batch) {
        int64_t points = q->points - first < batch ? q->points - first : batch;
        spline_task task = task_of(b, t, q, first, points);
        code = launch_points(b, k, &task, derivatives, sorted);
        if (!code) code = launch_parts(b, t, k->parts, &task);
    }
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Two texts: results in float and in double. */
int spline_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    bspline_orbitals *b = instance;
    (void)host;
    snprintf(b->gpu.resident_define, sizeof b->gpu.resident_define, "BLOCKS_RESIDENT=%d",
             (int)b->resident);
    b->gpu.defines[0] = b->precision == PRECISION_DOUBLE ? "TABLE=double" : "TABLE=float";
    b->gpu.defines[1] = b->source.real ? "COMPLEX=0" : "COMPLEX=1";
    b->gpu.defines[2] = b->gpu.resident_define;
    plugmc_set_gpu_source(out, &(plugmc_gpu_source){.name = "bspline_orbitals.cu",
                                                    .source = bspline_kernel,
                                                    .defines = b->gpu.defines,
                                                    .double_precision = index == 1,
                                                    .overlap = 1,
                                                    .contract = 1});
    return index < 2;
}

/* phase and wave by orbital, as kernels want them. */
static int upload_table(const bspline_orbitals *b, spline_table *t, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t n = (size_t)t->count;
    const size_t points =
        (size_t)b->grid.points[0] * (size_t)b->grid.points[1] * (size_t)b->grid.points[2];
    const size_t numbers = b->layout == LAYOUT_PLAIN ? n * (size_t)b->parts : (size_t)t->row;
    const size_t bytes = points * numbers * b->size;
    if (n == 0) return PLUGMC_OK;
    double(*phase)[3] = malloc(n * sizeof *phase), (*wave)[4] = malloc(n * sizeof *wave);
    if (!phase || !wave) {
        free(phase);
        free(wave);
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu phases", n);
    }
    for (size_t l = 0; l < n; l++) {
        memcpy(phase[l], t->phase[t->k_of[l]], sizeof phase[l]);
        memcpy(wave[l], t->wave[t->k_of[l]], sizeof wave[l]);
    }
    int code = gpu->allocate(host->context, bytes, &t->device);
    if (!code) code = gpu->allocate(host->context, n * sizeof *phase, &t->device_phase);
    if (!code) code = gpu->allocate(host->context, n * sizeof *wave, &t->device_wave);
    if (!code && t->singles) {
        const size_t singles = 2 * (size_t)t->singles * sizeof *t->single;
        code = gpu->allocate(host->context, singles, &t->device_single);
        if (!code) code = gpu->upload(host->context, t->device_single, t->single, singles);
    }
    if (!code) code = gpu->upload(host->context, t->device, t->numbers, bytes);
    if (!code) code = gpu->upload(host->context, t->device_phase, phase, n * sizeof *phase);
    if (!code) code = gpu->upload(host->context, t->device_wave, wave, n * sizeof *wave);
    free(phase);
    free(wave);
    return code;
}

int spline_prepare_gpu(bspline_orbitals *b, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const int64_t electrons = (int64_t)host->system->walkers * host->system->particles;
    int code = PLUGMC_OK;
    b->gpu.brick_count = 1;
    for (int d = 0; d < 3; d++) {
        b->gpu.bricks[d] = (uint32_t)(b->grid.points[d] + SPLINE_BRICK - 1) / SPLINE_BRICK;
        b->gpu.brick_count *= b->gpu.bricks[d];
    }
    for (int i = 0; i < 2 && !code; i++) {
        spline_kernels *k = &b->gpu.kernels[i];
        const struct {
            const char *name;
            plugmc_kernel **out;
        } wanted[] = {{"values", &k->values},
                      {"everything", &k->everything},
                      {"values_of_few", &k->values_of_few},
                      {"everything_of_few", &k->everything_of_few},
                      {"plain_values", &k->plain_values},
                      {"plain_everything", &k->plain_everything},
                      {"clear", &k->clear},
                      {"bin", &k->bin},
                      {"offsets", &k->offsets},
                      {"places", &k->places},
                      {"parts", &k->parts}};
        plugmc_gpu_source text = {.size = sizeof text};
        spline_gpu_source(b, host, i, &text);
        for (int n = 0; n < PLUGMC_COUNT(wanted) && !code; n++)
            code = gpu->kernel(host->context, &text, wanted[n].name, wanted[n].out);
    }
    for (int s = 0; s < 2 && !code; s++) code = upload_table(b, &b->tables[s], host);
    b->gpu.batch = electrons > LEAST_BATCH ? electrons : LEAST_BATCH;
    /* a grid of blocks has an end, and the plain layout has a block for each orbital of a point */
    if (b->gpu.batch > MOST_POINTS) b->gpu.batch = MOST_POINTS;
    if (b->layout == LAYOUT_PLAIN) b->gpu.batch = LEAST_BATCH;
    const size_t bytes = (size_t)b->gpu.batch * sizeof(uint32_t);
    if (!code)
        code = gpu->allocate(host->context, b->gpu.brick_count * sizeof(uint32_t), &b->gpu.counts);
    if (!code) code = gpu->allocate(host->context, bytes, &b->gpu.brick);
    if (!code) code = gpu->allocate(host->context, bytes, &b->gpu.rank);
    if (!code) code = gpu->allocate(host->context, bytes, &b->gpu.order);
    return code;
}
