/* spme_device.c: the mesh on a GPU: memory, kernels (coulomb_spme.cu), transforms (cuFFT) and the
 * order in which they are launched. Nothing here waits for the device. */
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "spme.h"

#include "../../join_texts.h"
#include "spme_task.h"

PLUGMC_EMBED(spme_task_text, SPME_TASK_FILE);
PLUGMC_EMBED(spme_kernels, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(spme_spreading, SPME_SPREADING_FILE);
PLUGMC_EMBED(spme_gathering, SPME_GATHERING_FILE);

/* ---- cuFFT, which is opened when it is needed -------------------------------------------- */

typedef int fft_plan;
typedef int fft_result; /* 0: success */

enum { FFT_R2C = 0x2a, FFT_C2R = 0x2c, FFT_D2Z = 0x6a, FFT_Z2D = 0x6c };

typedef struct fft_api {
    fft_result (*create)(fft_plan *);
    fft_result (*make)(fft_plan, int rank, long long *n, long long *inembed, long long istride,
                       long long idist, long long *onembed, long long ostride, long long odist,
                       int type, long long batch, size_t *work);
    fft_result (*set_stream)(fft_plan, void *stream);
    fft_result (*forward)(fft_plan, void *from, void *to);
    fft_result (*backward)(fft_plan, void *from, void *to);
    fft_result (*destroy)(fft_plan);
} fft_api;

static const char *fft_words(fft_result result)
{
    static const char *const words[] = {
        "success",       "invalid plan",   "not enough GPU memory", "invalid type",
        "invalid value", "internal error", "execution failed",      "setup failed",
        "invalid size",  "unaligned data"};
    return result >= 0 && result < PLUGMC_COUNT(words) ? words[result] : "unknown error";
}

static int fft_failed(const spme *m, const char *doing, fft_result result)
{
    return m->host->fail(m->host->context, PLUGMC_ERROR_DEVICE,
                         "cuFFT fails %s of %d x %d x %d points in %d walkers: %s (%d)", doing,
                         m->set.grid[0], m->set.grid[1], m->set.grid[2], m->host->system->walkers,
                         fft_words(result), result);
}

/* ---- Kernels ----------------------------------------------------------------------------- */

enum {
    BIN,
    SPREAD,
    GATHER,
    PLACEMENT,
    ACCUMULATION,
    OVERFLOW_LIST,
    TO_REAL,
    ONE_BY_ONE,
    SOLVE,
    SUM,
    BALANCE,
    EXCLUDE,
    TABLES,
    KERNELS
};

/* And the way of spreading that has it, or -1 for both. */
static const struct {
    const char *name;
    int spreading;
} kernels[KERNELS] = {
    [BIN] = {"bin", SPME_SORTED},
    [SPREAD] = {"spread", SPME_SORTED},
    [GATHER] = {"gather_forces", SPME_SORTED},
    [PLACEMENT] = {"placement", SPME_GATHER},
    [ACCUMULATION] = {"accumulation", SPME_GATHER},
    [OVERFLOW_LIST] = {"overflow", SPME_GATHER},
    [TO_REAL] = {"to_real", SPME_GATHER},
    [ONE_BY_ONE] = {"forces_one_by_one", SPME_GATHER},
    [SOLVE] = {"solve", -1},
    [SUM] = {"sum_forces", -1},
    [BALANCE] = {"balance_forces", -1},
    [EXCLUDE] = {"exclude", -1},
    [TABLES] = {"fill_tables", -1},
};

typedef struct spme_device_mesh {
    spme_task task; /* but for what a request asks for */
    plugmc_kernel *kernel[KERNELS];
    fft_api fft;
    fft_plan forward, backward;
    int plans;        /* how many of the two are made */
    double *constant; /* [walkers][2], for the host: spme_task.own_constant */
    plugmc_device_pointer not_finite;
} spme_device_mesh;

int spme_gpu_source(spme *m, const plugmc_host *host, plugmc_gpu_source *out)
{
    const char *text =
        join_texts(host, (const char *const[]){spme_task_text, spme_kernels, spme_spreading,
                                               spme_gathering, NULL});
    if (!text) return PLUGMC_ERROR_MEMORY;
    plugmc_set_gpu_source(out,
                          &(plugmc_gpu_source){.name = "coulomb_spme.cu",
                                               .source = text,
                                               .defines = m->define_list,
                                               .double_precision = m->set.precision == SPME_DOUBLE,
                                               .overlap = 1,
                                               .contract = 1});
    return PLUGMC_OK;
}

/* A block for each `threads` of n, in every walker. */
static int launch(const spme *m, int kernel, spme_task *task, uint64_t n, uint32_t threads)
{
    const plugmc_gpu *gpu = m->host->gpu;
    const uint32_t grid[3] = {(uint32_t)((n + threads - 1) / threads),
                              (uint32_t)m->host->system->walkers, 1};
    const uint32_t block[3] = {threads, 1, 1};
    return gpu->launch(m->host->context, m->on_device->kernel[kernel], grid, block, 0,
                       (void *[]){task});
}

static int launch_blocks(const spme *m, int kernel, spme_task *task, uint64_t blocks,
                         uint32_t threads)
{
    return launch(m, kernel, task, blocks * threads, threads);
}

/* ---- The energy -------------------------------------------------------------------------- */

static int take_boxes(const spme *, spme_task *, const plugmc_view *);
static int put_constants(const spme *, const plugmc_view *);
static int spread_sorted(const spme *, spme_task *);
static int spread_gathered(const spme *, spme_task *);
static int forces_of(const spme *, spme_task *);

int spme_device_energy(spme *m, const plugmc_total_request *request)
{
    const spme_device_mesh *d = m->on_device;
    spme_task task = d->task;
    task.positions = request->view->positions;
    task.energy = request->energy;
    task.forces = request->forces;
    task.virial = request->virial;
    task.box = request->view->device_box;
    int code = m->limit.stretch > 0 ? take_boxes(m, &task, request->view) : PLUGMC_OK;
    if (!code && m->counts_change) code = put_constants(m, request->view);
    if (!code)
        code =
            m->set.spreading == SPME_SORTED ? spread_sorted(m, &task) : spread_gathered(m, &task);
    if (!code && m->exclusions.first)
        code = launch(m, EXCLUDE, &task, task.particles, SPME_EXCLUDE_THREADS);
    if (code) return code;
    fft_result result = d->fft.forward(d->forward, task.grid, task.waves);
    if (result) return fft_failed(m, "at the transform", result);
    code = launch_blocks(m, SOLVE, &task, task.solve_blocks, SPME_SOLVE_THREADS);
    if (code || !request->forces) return code;
    result = d->fft.backward(d->backward, task.waves, task.grid);
    return result ? fft_failed(m, "at the transform back", result) : forces_of(m, &task);
}

/* Those of the host are as they are when this is called; a recorded launch goes by the device's. */
static int take_boxes(const spme *m, spme_task *task, const plugmc_view *view)
{
    const int32_t *grid = m->set.grid;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < m->host->system->walkers && !code; w++)
        code = spme_check_box(m, &view->box[w], w);
    return code ? code
                : launch(m, TABLES, task, (uint64_t)(grid[0] + grid[1] + grid[2]),
                         SPME_TABLE_THREADS);
}

static int put_constants(const spme *m, const plugmc_view *view)
{
    const size_t walkers = (size_t)m->host->system->walkers;
    double *constant = m->on_device->constant;
    for (size_t w = 0; w < walkers; w++)
        spme_constants(m, view->box[w].volume, spme_counts_of(m, view, (int64_t)w),
                       &constant[2 * w], &constant[2 * w + 1]);
    return m->host->gpu->upload(m->host->context,
                                (plugmc_device_pointer)(uintptr_t)m->on_device->task.own_constant,
                                constant, 2 * walkers * sizeof *constant);
}

/* Threads of a block that has a tile, as coulomb_spme.cu has it. */
static uint32_t spread_threads(const spme *m, const spme_task *task)
{
    if (task->tiles >= SPME_FEW_TILES) return SPME_SPREAD_THREADS;
    return SPME_SPREAD_THREADS *
           (m->set.precision == SPME_DOUBLE ? SPME_MORE_SPREAD_DOUBLE : SPME_MORE_SPREAD);
}

static uint32_t force_threads(const spme_task *task)
{
    return SPME_FORCE_THREADS * (task->tiles < SPME_FEW_TILES ? SPME_MORE_FORCE : 1);
}

static int spread_sorted(const spme *m, spme_task *task)
{
    int code = launch(m, BIN, task, task->particles, SPME_BIN_THREADS);
    return code ? code : launch_blocks(m, SPREAD, task, task->tiles, spread_threads(m, task));
}

static int spread_gathered(const spme *m, spme_task *task)
{
    const int32_t *grid = m->set.grid;
    const uint64_t rows = (uint64_t)grid[1] * (uint64_t)grid[2];
    int code = m->host->gpu->fill(m->host->context, m->on_device->not_finite, 0,
                                  (size_t)m->host->system->walkers * sizeof(uint32_t));
    if (!code) code = launch(m, PLACEMENT, task, task->particles, SPME_SORT_THREADS);
    if (!code) code = launch_blocks(m, ACCUMULATION, task, rows, (uint32_t)grid[0]);
    if (!code) code = launch(m, OVERFLOW_LIST, task, task->particles / 4 + 1, SPME_SORT_THREADS);
    return code ? code : launch(m, TO_REAL, task, rows * (uint64_t)grid[0], SPME_SORT_THREADS);
}

static int forces_of(const spme *m, spme_task *task)
{
    int code = m->set.spreading == SPME_SORTED
                   ? launch_blocks(m, GATHER, task, task->tiles, force_threads(task))
                   : launch(m, ONE_BY_ONE, task, task->particles, SPME_SORT_THREADS);
    if (code || !task->balance) return code;
    code = launch_blocks(m, SUM, task, SPME_BALANCE_BLOCKS, SPME_SORT_THREADS);
    return code ? code : launch(m, BALANCE, task, task->particles, SPME_SORT_THREADS);
}

/* ---- Preparation ------------------------------------------------------------------------- */

static int open_fft(spme *);
static int get_kernels(spme *);
static int fill_task(spme *);
static int take_memory(spme *);
static int fill_memory(spme *);
static int make_plans(spme *);

int spme_device_prepare(spme *m)
{
    const plugmc_host *host = m->host;
    m->on_device = host->allocate(host->context, sizeof *m->on_device);
    if (!m->on_device)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a mesh");
    m->on_device->constant = host->allocate(host->context, 2 * (size_t)host->system->walkers *
                                                               sizeof *m->on_device->constant);
    if (!m->on_device->constant)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a mesh");
    int code = open_fft(m);
    if (!code) code = get_kernels(m);
    if (!code) code = fill_task(m);
    if (!code) code = take_memory(m);
    if (!code) code = fill_memory(m);
    return code ? code : make_plans(m);
}

static int open_fft(spme *m)
{
    const int single = m->set.precision == SPME_SINGLE;
    fft_api *api = &m->on_device->fft;
    void *library;
    int code = m->host->gpu->library(m->host->context, "cufft", &library);
    if (code) return code;
    const struct {
        const char *name;
        void *function;
    } symbols[] = {{"cufftCreate", &api->create},
                   {"cufftMakePlanMany64", &api->make},
                   {"cufftSetStream", &api->set_stream},
                   {single ? "cufftExecR2C" : "cufftExecD2Z", &api->forward},
                   {single ? "cufftExecC2R" : "cufftExecZ2D", &api->backward},
                   {"cufftDestroy", &api->destroy}};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found)
            return m->host->fail(m->host->context, PLUGMC_ERROR_DEVICE,
                                 "the cuFFT found has no '%s'", symbols[i].name);
        memcpy(symbols[i].function, &found, sizeof found);
    }
    return PLUGMC_OK;
}

static int get_kernels(spme *m)
{
    plugmc_gpu_source text = {.size = sizeof text};
    int code = spme_gpu_source(m, m->host, &text);
    for (int k = 0; k < KERNELS && !code; k++)
        if ((k != TABLES || m->limit.stretch > 0) &&
            (kernels[k].spreading < 0 || kernels[k].spreading == m->set.spreading))
            code = m->host->gpu->kernel(m->host->context, &text, kernels[k].name,
                                        &m->on_device->kernel[k]);
    return code;
}

/* Room in a bin, so that in a gas hardly one in 10^4 needs a page more. */
static uint32_t page_size(double mean)
{
    return (uint32_t)((mean + 4 * sqrt(mean) + 4) / 8 + 1) * 8;
}

static uint64_t tiles_along(int32_t points, int32_t size)
{
    return (uint64_t)(points + size - 1) / (uint64_t)size;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static int fill_task(spme *m)
{
    const plugmc_system *system = m->host->system;
    const int32_t *grid = m->set.grid;
    spme_task *t = &m->on_device->task;
    /* M_n(n / 2), where it is largest */
    static const double highest[] = {
        [4] = 2.0 / 3, [5] = 115.0 / 192, [6] = 11.0 / 20, [7] = 5887.0 / 11520, [8] = 151.0 / 315};
    double charge = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        charge = fmax(charge, fabs(plugmc_species_at(system, s)->charge));
    const uint64_t waves = (uint64_t)(grid[0] / 2 + 1) * (uint64_t)grid[1] * (uint64_t)grid[2];
    const uint64_t tiles = tiles_along(grid[0], SPME_TILE_X) * tiles_along(grid[1], SPME_TILE_Y) *
                           tiles_along(grid[2], SPME_TILE_Z);
    const uint32_t page = page_size((double)system->particles / (double)tiles);
    *t = (spme_task){
        .volume = m->charges.volume,
        .factor = m->start.factor,
        .constant = m->start.constant,
        .constant_virial = m->start.constant_virial,
        .bjerrum_length = m->set.bjerrum_length,
        .alpha = m->set.alpha,
        .cutoff = m->set.cutoff,
        .largest = charge * pow(highest[m->set.order], 3),
        .unit = exp2(ceil(log2(charge * (double)system->particles)) - 62),
        .particles = (uint32_t)system->particles,
        .tiles = (uint32_t)tiles,
        .page = page,
        /* half as many again as can be needed, so that few are tried before a free one */
        .pages = (uint32_t)system->particles / page * 3 / 2 + 1,
        .solve_blocks = (uint32_t)smaller((waves + SPME_SOLVE_THREADS - 1) / SPME_SOLVE_THREADS,
                                          SPME_SOLVE_BLOCKS),
        .exclude_blocks =
            m->exclusions.first
                ? (uint32_t)((system->particles + SPME_EXCLUDE_THREADS - 1) / SPME_EXCLUDE_THREADS)
                : 0,
        .balance = m->set.balance_forces,
    };
    for (int d = 0; d < 3; d++) {
        t->length[d] = m->charges.length[d];
        t->inverse_length[d] = 1 / m->charges.length[d];
    }
    return PLUGMC_OK;
}

/* Memory of the device: where its pointer goes, how much. 0 bytes: none is needed. */
static int take_memory(spme *m)
{
    const plugmc_host *host = m->host;
    const int32_t *grid = m->set.grid;
    spme_task *t = &m->on_device->task;
    const size_t walkers = (size_t)host->system->walkers, particles = walkers * t->particles;
    const size_t tiles = walkers * t->tiles, pages = walkers * t->pages,
                 records = (tiles + pages) * t->page;
    const size_t real_size = m->set.precision == SPME_SINGLE ? 4 : 8;
    const size_t rows = walkers * (size_t)grid[1] * (size_t)grid[2],
                 points = rows * (size_t)grid[0];
    const size_t waves = rows * (size_t)(grid[0] / 2 + 1);
    const size_t partial = SPME_PARTIAL * sizeof(double);
    const size_t table = 3 * real_size * (size_t)(grid[0] + grid[1] + grid[2]);
    const int sorted = m->set.spreading == SPME_SORTED;
    const spme_exclusions *x = &m->exclusions;
    const struct {
        void *to;
        size_t bytes;
    } wanted[] = {
        {&t->charge, t->particles * sizeof(double)},
        {&t->table, table},
        {&t->own_table, (m->limit.stretch > 0) * walkers * (table + real_size)},
        {&t->own_constant, (size_t)m->counts_change * 2 * walkers * sizeof(double)},
        {&t->count, sorted * tiles * sizeof(uint32_t)},
        {&t->owner, sorted * pages * sizeof(spme_u64)},
        {&t->records, sorted * records * 4 * real_size},
        {&t->index, sorted * records * sizeof(uint32_t)},
        {&t->ticket, walkers * sizeof(uint32_t)},
        {&t->grid, points * real_size},
        {&t->waves, waves * 2 * real_size},
        {&t->partial, walkers * t->solve_blocks * partial},
        {&t->excluded, walkers * t->exclude_blocks * partial},
        {&t->first, x->first ? (t->particles + 1) * sizeof(uint32_t) : 0},
        {&t->partner, x->first ? x->first[t->particles] * sizeof(uint32_t) : 0},
        {&t->unbalanced, t->balance ? 3 * particles * sizeof(double) : 0},
        {&t->mean, t->balance ? 3 * walkers * SPME_BALANCE_BLOCKS * sizeof(double) : 0},
        {&t->occupant, !sorted * points * sizeof(uint32_t)},
        {&t->overflow, !sorted * (particles + walkers) * sizeof(uint32_t)},
        {&t->fixed, !sorted * points * sizeof(spme_u64)},
        {&t->not_finite, !sorted * walkers * sizeof(uint32_t)},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        plugmc_device_pointer at = 0;
        int code =
            wanted[i].bytes ? host->gpu->allocate(host->context, wanted[i].bytes, &at) : PLUGMC_OK;
        if (code) return code;
        void *pointer = (void *)(uintptr_t)at;
        memcpy(wanted[i].to, &pointer, sizeof pointer);
    }
    m->on_device->not_finite = (plugmc_device_pointer)(uintptr_t)t->not_finite;
    return PLUGMC_OK;
}

/* Tables in the precision of the mesh: as spme_task says. */
static int upload_tables(spme *m, void *to)
{
    const plugmc_host *host = m->host;
    const size_t n = (size_t)m->set.grid[0] + (size_t)m->set.grid[1] + (size_t)m->set.grid[2];
    double *in_double = host->allocate(host->context, 3 * n * sizeof *in_double);
    float *in_single = host->allocate(host->context, 3 * n * sizeof *in_single);
    if (!in_double || !in_single)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu waves", n);
    for (size_t d = 0, at = 0; d < 3; d++)
        for (size_t k = 0; k < (size_t)m->set.grid[d]; k++, at++) {
            in_double[2 * at] = m->start.table[d].weight[k];
            in_double[2 * at + 1] = m->start.table[d].square[k];
            in_double[2 * n + at] = m->start.table[d].strain[k];
        }
    for (size_t i = 0; i < 3 * n; i++) in_single[i] = (float)in_double[i];
    const int single = m->set.precision == SPME_SINGLE;
    return host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)to,
                             single ? (void *)in_single : (void *)in_double,
                             3 * n * (single ? sizeof *in_single : sizeof *in_double));
}

static int fill_memory(spme *m)
{
    const plugmc_host *host = m->host;
    const spme_task *t = &m->on_device->task;
    const spme_exclusions *x = &m->exclusions;
    int code = upload_tables(m, (void *)(uintptr_t)t->table);
    if (!code)
        code = host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)t->charge,
                                 m->charge, t->particles * sizeof *m->charge);
    if (code || !x->first) return code;
    code = host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)t->first, x->first,
                             (t->particles + 1) * sizeof *x->first);
    return code ? code
                : host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)t->partner,
                                    x->partner, x->first[t->particles] * sizeof *x->partner);
}

static int make_plan(spme *m, int type, fft_plan *plan)
{
    const fft_api *api = &m->on_device->fft;
    const int32_t *grid = m->set.grid;
    long long n[3] = {grid[2], grid[1], grid[0]};
    size_t work;
    fft_result result = api->create(plan);
    if (result) return fft_failed(m, "to start a transform", result);
    m->on_device->plans++;
    result = api->make(*plan, 3, n, NULL, 1, 0, NULL, 1, 0, type, m->host->system->walkers, &work);
    if (!result) result = api->set_stream(*plan, m->host->gpu->stream(m->host->context));
    return result ? fft_failed(m, "to plan a transform", result) : PLUGMC_OK;
}

static int make_plans(spme *m)
{
    const int single = m->set.precision == SPME_SINGLE;
    int code = make_plan(m, single ? FFT_R2C : FFT_D2Z, &m->on_device->forward);
    return code ? code : make_plan(m, single ? FFT_C2R : FFT_Z2D, &m->on_device->backward);
}

void spme_device_release(spme *m)
{
    const spme_device_mesh *d = m->on_device;
    if (d && d->plans > 0) d->fft.destroy(d->forward);
    if (d && d->plans > 1) d->fft.destroy(d->backward);
}
