/* Device side of plugmc_view.cells: the grid of system/geometry.h, sorted by cells.cu. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cells_grid.h"
#include "gpu/device.h"
#include "system/geometry.h"

PLUGMC_EMBED(plugmc_text_cells_grid, PLUGMC_INCLUDE_PATH "/../../src/gpu/cells_grid.h");
PLUGMC_EMBED(plugmc_text_cells, PLUGMC_INCLUDE_PATH "/../../src/gpu/cells.cu");

/* Results for this range, with room enough. Kept apart for each range: observables of one view may
 * ask for several. */
static gpu_cells *find_cells(gpu *g, double range)
{
    gpu_cells *c = g->cells;
    while (c && c->range != range) c = c->next;
    if (c) return c;
    c = checked(calloc(1, sizeof *c));
    c->range = range;
    c->next = g->cells;
    g->cells = c;
    return c;
}

/* Replaces *buffer if it has less room than asked for. */
static int make_room(gpu *g, plugmc_device_pointer *buffer, size_t room, size_t entries,
                     size_t each)
{
    if (*buffer && room >= entries) return PLUGMC_OK;
    int code = gpu_release(g, *buffer);
    *buffer = 0;
    return code ? code : gpu_allocate(g, entries * each, buffer);
}

static int make_buffers(gpu *g, gpu_cells *c, size_t starts, size_t entries, size_t counts)
{
    gpu_cells_scratch *s = &g->scratch;
    const struct {
        plugmc_device_pointer *buffer;
        size_t room, entries, each;
    } buffers[] = {
        {&c->start, c->starts, starts, sizeof(uint32_t)},
        {&c->order, c->entries, entries, sizeof(uint32_t)},
        {&c->positions, c->entries, entries, 3 * sizeof(double)},
        {&s->keys[0], s->entries, entries, sizeof(uint32_t)},
        {&s->keys[1], s->entries, entries, sizeof(uint32_t)},
        {&s->order, s->entries, entries, sizeof(uint32_t)},
        {&s->counts, s->count_entries, counts, sizeof(uint32_t)},
        {&s->sums, s->count_entries / CELLS_DIGITS, counts / CELLS_DIGITS, sizeof(uint32_t)},
    };
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0] && !code; i++)
        code =
            make_room(g, buffers[i].buffer, buffers[i].room, buffers[i].entries, buffers[i].each);
    if (code) return code;
    if (c->starts < starts) c->starts = starts;
    if (c->entries < entries) c->entries = entries;
    if (s->entries < entries) s->entries = entries;
    if (s->count_entries < counts) s->count_entries = counts;
    return PLUGMC_OK;
}

static int find_kernels(gpu *g)
{
    gpu_cells_kernels *k = &g->sorting;
    char *text = NULL;
    if (k->gather) return PLUGMC_OK;
    if (asprintf(&text, "%s%s", plugmc_text_cells_grid, plugmc_text_cells) < 0)
        return gpu_fail(g, PLUGMC_ERROR_MEMORY, "out of host memory");
    const plugmc_kernel_text source = {.size = sizeof source, .name = "cells.cu", .text = text};
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"cells_bin", &k->bin},      {"cells_count", &k->count},
                  {"cells_sums", &k->sums},    {"cells_places", &k->places},
                  {"cells_move", &k->move},    {"cells_start", &k->start},
                  {"cells_gather", &k->gather}};
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !code; i++)
        code = gpu_kernel(g, &source, wanted[i].name, wanted[i].kernel);
    free(text);
    return code;
}

static int launch(gpu *g, plugmc_kernel *kernel, uint64_t blocks, void **arguments)
{
    const uint32_t grid[3] = {(uint32_t)blocks, 1, 1}, block[3] = {CELLS_THREADS, 1, 1};
    if (blocks > INT32_MAX)
        return gpu_fail(g, PLUGMC_ERROR_MEMORY,
                        "too many particles and walkers for cells on a GPU");
    return gpu_launch(g, kernel, grid, block, 0, arguments);
}

/* Sorts into c->order; *sorted_keys are the cells in that order. */
static int sort(gpu *g, cells_grid *grid, uint64_t walkers, gpu_cells *c,
                plugmc_device_pointer *sorted_keys)
{
    const gpu_cells_kernels *k = &g->sorting;
    gpu_cells_scratch *s = &g->scratch;
    plugmc_device_pointer orders[2] = {c->order, s->order}, none = 0;
    const uint64_t parts = ((uint64_t)CELLS_DIGITS * grid->tiles + CELLS_TILE - 1) / CELLS_TILE;
    int passes = 1, code = PLUGMC_OK;
    while (passes < 4 && (grid->cells - 1) >> (8 * passes)) passes++;
    for (int pass = 0; pass < passes && !code; pass++) {
        uint32_t shift = 8 * (uint32_t)pass;
        /* the last pass writes orders[0] */
        plugmc_device_pointer *to = &orders[(passes - 1 - pass) % 2];
        plugmc_device_pointer *from = pass ? &orders[(passes - pass) % 2] : &none;
        plugmc_device_pointer *keys = &s->keys[pass % 2], *to_keys = &s->keys[(pass + 1) % 2];
        code =
            launch(g, k->count, walkers * grid->tiles, (void *[]){grid, keys, &shift, &s->counts});
        if (!code)
            code = launch(g, k->sums, walkers * parts, (void *[]){grid, &s->counts, &s->sums});
        if (!code)
            code = launch(g, k->places, walkers * parts, (void *[]){grid, &s->sums, &s->counts});
        if (!code)
            code = launch(g, k->move, walkers * grid->tiles,
                          (void *[]){grid, &shift, &s->counts, keys, from, to_keys, to});
        *sorted_keys = *to_keys;
    }
    return code;
}

int gpu_cells_build(gpu *g, const plugmc_system *system, const plugmc_view *view, double range,
                    plugmc_cells *out)
{
    const cell_grid shape = cell_grid_make(view->box, system->walkers, system->particles, range);
    cells_grid grid = {.origin = shape.origin,
                       .count = {shape.count[0], shape.count[1], shape.count[2]},
                       .particles = (uint32_t)system->particles,
                       .tiles = (uint32_t)((system->particles + CELLS_TILE - 1) / CELLS_TILE),
                       .cells = (uint32_t)shape.cells};
    const double *positions = view->positions;
    const plugmc_box *boxes = view->device_box;
    const uint64_t walkers = (uint64_t)system->walkers;
    const uint64_t blocks = walkers * grid.tiles, entries = walkers * grid.particles;
    uint64_t starts = walkers * ((uint64_t)grid.cells + 1);
    gpu_cells *c = find_cells(g, range);
    const gpu_cells_kernels *k = &g->sorting;
    plugmc_device_pointer keys = 0;

    g->caller = NULL;
    if (shape.cells >= UINT32_MAX)
        return gpu_fail(g, PLUGMC_ERROR_INPUT,
                        "%lld cells are too many for a GPU: 2^32 - 2 are "
                        "the most",
                        (long long)shape.cells);
    int code = find_kernels(g);
    if (!code) code = make_buffers(g, c, starts, entries, blocks * CELLS_DIGITS);
    if (!code)
        code =
            launch(g, k->bin, blocks, (void *[]){&grid, &boxes, &positions, &g->scratch.keys[0]});
    if (!code) code = sort(g, &grid, walkers, c, &keys);
    if (!code)
        code = launch(g, k->start, (starts + CELLS_THREADS - 1) / CELLS_THREADS,
                      (void *[]){&grid, &starts, &keys, &c->start});
    if (!code)
        code = launch(g, k->gather, blocks,
                      (void *[]){&grid, &boxes, &positions, &c->order, &c->positions});
    if (code) return code;

    *out = (plugmc_cells){.size = sizeof *out,
                          .cells = shape.cells,
                          .start = (const uint32_t *)(uintptr_t)c->start,
                          .order = (const uint32_t *)(uintptr_t)c->order,
                          .positions = (const double *)(uintptr_t)c->positions};
    memcpy(out->count, shape.count, sizeof out->count);
    return PLUGMC_OK;
}
