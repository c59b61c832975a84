/* See variational_on_device.h. */
#include "quantum/variational_on_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variational_task.h"

PLUGMC_EMBED(text_of_task, PLUGMC_QUANTUM_SOURCE "/variational_task.h");
PLUGMC_EMBED(text_of_free_numbers, PLUGMC_QUANTUM_SOURCE "/variational.cu");

_Static_assert(sizeof(variational_place) == sizeof(plugmc_nonlocal_point) &&
                   offsetof(variational_place, energy) == offsetof(plugmc_nonlocal_point, energy),
               "places are those of plugmc/wave.h");

enum { ADD_THREADS = 256, MOST_WARPS = 4 }; /* of a block that sums */

struct variational_device {
    const plugmc_host *host;
    const plugmc_system *system;
    const plugmc_state *state; /* of the species */
    plugmc_kernel *values, *kinetic, *places, *ranges, *add;
    int64_t sums, *first;                        /* first: [parts] */
    uint32_t warps;                              /* of a block */
    plugmc_device_pointer range, of_parts, rows; /* rows [2][walkers][sums] */
    double *host_rows;
};

/* ---- Opening ---------------------------------------------------------------------------------- */

static int64_t sums_of(const variational_parameters *f, const plugmc_system *system, int64_t *first)
{
    for (int k = 0; k < f->parts; k++)
        for (int32_t t = 0; t < system->term_count; t++)
            if (plugmc_term_at(system, t)->instance == f->part[k].owner->data)
                first[k] = fuse_variational_sums(system, t);
    return fuse_variational_sums(system, system->term_count);
}

int variational_device_text(plugmc_gpu_source *out, char **joined)
{
    if (asprintf(joined, "%s%s", text_of_task, text_of_free_numbers) < 0) *joined = NULL;
    *out = (plugmc_gpu_source){.size = sizeof *out,
                               .name = "variational.cu",
                               .source = *joined,
                               .fuse = PLUGMC_FUSE_SAMPLED | PLUGMC_FUSE_VARIATIONAL,
                               .double_precision = 1,
                               .contract = 1};
    return *joined ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

static int find_kernels(variational_device *d)
{
    const plugmc_host *host = d->host;
    plugmc_gpu_source text;
    char *joined;
    if (variational_device_text(&text, &joined))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a GPU source");
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"variational_values", &d->values},
                  {"variational_kinetic", &d->kinetic},
                  {"variational_places", &d->places},
                  {"variational_ranges", &d->ranges},
                  {"variational_add", &d->add}};
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, wanted[i].name, wanted[i].kernel);
    free(joined);
    return code;
}

static int take_memory(variational_device *d)
{
    const size_t walkers = (size_t)d->system->walkers, sums = (size_t)d->sums,
                 particles = (size_t)d->system->particles;
    const struct {
        plugmc_device_pointer *at;
        size_t bytes;
    } arrays[] = {{&d->range, 2 * walkers * particles * sizeof(int32_t)},
                  {&d->of_parts, walkers * VARIATIONAL_PARTS * sums * sizeof(double)},
                  {&d->rows, 2 * walkers * sums * sizeof(double)}};
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !code; i++)
        code = d->host->gpu->allocate(d->host->context, arrays[i].bytes, arrays[i].at);
    d->host_rows = checked(malloc(2 * walkers * sums * sizeof *d->host_rows));
    return code;
}

int variational_device_open(variational_parameters *f, const plugmc_host *host,
                            const plugmc_state *state)
{
    const uint32_t shared = (uint32_t)host->gpu->shared_per_block;
    for (int k = 0; k < f->parts; k++)
        if (!f->part[k].facet->functions) return PLUGMC_OK;
    variational_device *d = checked(calloc(1, sizeof *d));
    *d = (variational_device){.host = host,
                              .system = host->system,
                              .state = state,
                              .first = checked(calloc((size_t)f->parts, sizeof *d->first))};
    d->sums = sums_of(f, host->system, d->first);
    const int64_t of_warp = d->sums * VARIATIONAL_WARP * (int64_t)sizeof(double);
    if (!of_warp || of_warp > shared) {
        variational_device_close(d);
        return PLUGMC_OK;
    }
    f->device = d;
    d->warps = (uint32_t)(shared / of_warp < MOST_WARPS ? shared / of_warp : MOST_WARPS);
    const int code = find_kernels(d);
    return code ? code : take_memory(d);
}

void variational_device_close(variational_device *d)
{
    if (!d) return;
    free(d->first), free(d->host_rows); /* memory on the device goes with it */
    free(d);
}

int64_t variational_device_sums(const variational_device *d) { return d->sums; }
int64_t variational_device_first(const variational_device *d, int k) { return d->first[k]; }

/* ---- Evaluating ------------------------------------------------------------------------------- */

static int launch_threads(const variational_device *d, plugmc_kernel *kernel, int64_t threads,
                          void **arguments)
{
    const uint32_t grid[3] = {(uint32_t)((threads + ADD_THREADS - 1) / ADD_THREADS), 1, 1},
                   block[3] = {ADD_THREADS, 1, 1};
    return d->host->gpu->launch(d->host->context, kernel, grid, block, 0, arguments);
}

/* One of the three kernels, added up into, or to, rows [walkers][sums]. */
static int sum(const variational_device *d, plugmc_kernel *kernel, variational_task *task,
               int32_t more, plugmc_device_pointer rows)
{
    const int64_t warps = (int64_t)task->walkers * VARIATIONAL_PARTS;
    const uint32_t grid[3] = {(uint32_t)((warps + d->warps - 1) / d->warps), 1, 1},
                   block[3] = {d->warps * VARIATIONAL_WARP, 1, 1},
                   shared =
                       d->warps * VARIATIONAL_WARP * (uint32_t)(d->sums * (int64_t)sizeof(double));
    plugmc_device_pointer parts = d->of_parts;
    const int code = d->host->gpu->launch(d->host->context, kernel, grid, block, shared,
                                          (void *[]){task, &parts});
    return code ? code
                : launch_threads(d, d->add, task->walkers * d->sums,
                                 (void *[]){task, &more, &parts, &rows});
}

static void *at(plugmc_device_pointer pointer) { return (void *)(uintptr_t)pointer; }

int variational_device_evaluate(variational_device *d, const plugmc_view *view, const double *drift,
                                const plugmc_nonlocal_point *places, int64_t count,
                                const double **values, const double **slopes)
{
    const plugmc_host *host = d->host;
    const size_t row = (size_t)d->system->walkers * (size_t)d->sums;
    const plugmc_device_pointer second = d->rows + row * sizeof(double);
    void *species = NULL;
    int code = d->state->array(d->state, PLUGMC_STATE_SPECIES, PLUGMC_ON_DEVICE, PLUGMC_READ,
                               &species, NULL);
    variational_task task = {.particles = (int32_t)d->system->particles,
                             .walkers = d->system->walkers,
                             .sums = (int32_t)d->sums,
                             .place_count = count,
                             .positions = view->positions,
                             .drift = drift,
                             .species = species,
                             .boxes = view->device_box,
                             .places = (const variational_place *)(const void *)places,
                             .range = at(d->range)};
    if (!code) code = sum(d, d->values, &task, 0, d->rows);
    if (!code) code = sum(d, d->kinetic, &task, 0, second);
    if (!code && count) {
        code = host->gpu->fill(host->context, d->range, 0,
                               2 * sizeof(int32_t) * (size_t)task.walkers * (size_t)task.particles);
        if (!code) code = launch_threads(d, d->ranges, count, (void *[]){&task});
        if (!code) code = sum(d, d->places, &task, 1, second);
    }
    if (!code)
        code = host->gpu->download(host->context, d->host_rows, d->rows, 2 * row * sizeof(double));
    *values = d->host_rows;
    *slopes = d->host_rows + row;
    return code;
}
