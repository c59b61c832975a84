/* Device side of plugmc_view.cells: the grid of system/geometry.h, sorted by cells.cu. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells_grid.h"
#include "gpu/device.h"
#include "base/cell_grid.h"

PLUGMC_EMBED(plugmc_text_cells_grid, PLUGMC_GPU_SOURCE "/cells_grid.h");
PLUGMC_EMBED(plugmc_text_cells, PLUGMC_GPU_SOURCE "/cells.cu");

enum {
    FEW = 32,    /* particles a cell on average, each of which looks at all others of its cell */
    VERY_FEW = 8 /* and which a mover puts in order one after the other */
};

/* Results for this range, with room enough. Kept apart for each range: observables of one view may
 * ask for several. */
static gpu_cells *find_cells(gpu *g, double range)
{
    gpu_cells *c = g->cells.cells;
    while (c && c->range != range) c = c->next;
    if (c) return c;
    c = checked(calloc(1, sizeof *c));
    c->range = range;
    c->next = g->cells.cells;
    g->cells.cells = c;
    return c;
}

uint64_t gpu_cells_built(const gpu *g, double range)
{
    for (const gpu_cells *c = g->cells.cells; c; c = c->next)
        if (c->range == range) return c->built;
    return 0;
}

double gpu_cells_known(const gpu *g, double range, double most)
{
    double known = range;
    for (const gpu_cells *c = g->cells.cells; c; c = c->next)
        if (c->built && c->range > known && c->range <= most) known = c->range;
    return known;
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

/* Blocks for n numbers. */
static uint64_t parts_of(uint64_t n) { return (n + CELLS_PART - 1) / CELLS_PART; }

/* starts, entries, counts: of all walkers; told: parts of starts or counts, whichever are more. */
static int make_buffers(gpu *g, gpu_cells *c, size_t starts, size_t entries, size_t counts,
                        size_t told)
{
    gpu_cells_scratch *s = &g->cells.scratch;
    const struct {
        plugmc_device_pointer *buffer;
        size_t room, entries, each;
    } buffers[] = {
        {&c->start, c->starts, starts, sizeof(uint32_t)},
        {&c->counts, c->starts, starts, sizeof(uint32_t)},
        {&c->order, c->entries, entries, sizeof(uint32_t)},
        {&c->positions, c->entries, entries, 3 * sizeof(double)},
        {&s->keys[0], s->entries, entries, sizeof(uint32_t)},
        {&s->keys[1], s->entries, entries, sizeof(uint32_t)},
        {&s->order, s->entries, entries, sizeof(uint32_t)},
        {&s->counts, s->count_entries, counts, sizeof(uint32_t)},
        {&s->told, s->told_entries, told, sizeof(uint64_t)},
        {&s->ticket, 1, 1, sizeof(uint32_t)},
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
    if (s->told_entries < told) s->told_entries = told;
    return PLUGMC_OK;
}

static int find_kernels(gpu *g)
{
    gpu_cells_kernels *k = &g->cells.sorting;
    char *text = NULL;
    if (k->gather) return PLUGMC_OK;
    if (asprintf(&text, "%s%s", plugmc_text_cells_grid, plugmc_text_cells) < 0)
        return gpu_fail(g, PLUGMC_ERROR_MEMORY, "out of host memory");
    const plugmc_gpu_source source = {
        .size = sizeof source, .name = "cells.cu", .source = text, .overlap = 1};
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"cells_bin", &k->bin},       {"cells_count", &k->count},
                  {"cells_places", &k->places}, {"cells_move", &k->move},
                  {"cells_start", &k->start},   {"cells_scatter", &k->scatter},
                  {"cells_settle", &k->settle}, {"cells_gather", &k->gather}};
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

/* What is sorted, and into what. */
typedef struct sorting {
    cells_grid grid;
    uint64_t walkers, blocks, starts; /* numbers of `start` */
    const plugmc_box *boxes;
    const double *positions; /* both on the device */
    gpu_cells *to;
} sorting;

/* `n` counts a walker become places, in the same array or in another, and then the counts 0. */
static int find_places(gpu *g, uint64_t walkers, uint32_t n, plugmc_device_pointer *counts,
                       plugmc_device_pointer *places)
{
    enum { MOST_LAUNCHES = 1 << 30 }; /* that can be told apart */
    gpu_cells_scratch *s = &g->cells.scratch;
    const uint64_t blocks = walkers * parts_of(n);
    uint32_t drawn = s->drawn;
    int code = PLUGMC_OK;
    if (++s->launches == MOST_LAUNCHES) {
        s->launches = 1;
        code = gpu_clear(g, s->told, s->told_entries * sizeof(uint64_t));
    }
    s->drawn += (uint32_t)blocks;
    return code
               ? code
               : launch(g, g->cells.sorting.places, blocks,
                        (void *[]){&n, &s->launches, &s->ticket, &drawn, &s->told, counts, places});
}

/* One thread a particle: more of them hide better how long memory takes. */
static int sort_by_counting(gpu *g, sorting *by)
{
    const gpu_cells_kernels *k = &g->cells.sorting;
    gpu_cells_scratch *s = &g->cells.scratch;
    gpu_cells *c = by->to;
    plugmc_device_pointer *cell = &s->keys[0], *slot = &s->keys[1], *loose = &s->order;
    by->grid.tiles = (by->grid.particles + CELLS_THREADS - 1) / CELLS_THREADS;
    by->blocks = by->walkers * by->grid.tiles;
    int code = launch(g, k->bin, by->blocks,
                      (void *[]){&by->grid, &by->boxes, &by->positions, cell, slot, &c->counts});
    if (!code) code = find_places(g, by->walkers, by->grid.cells + 1, &c->counts, &c->start);
    if (!code)
        code =
            launch(g, k->scatter, by->blocks, (void *[]){&by->grid, cell, slot, &c->start, loose});
    if (!code)
        code = launch(g, k->settle, by->blocks,
                      (void *[]){&by->grid, &by->boxes, &by->positions, cell, &c->start, loose,
                                 &c->order, &c->positions});
    return code;
}

/* Passes into c->order; *sorted_keys are the cells in that order. */
static int pass_by_digits(gpu *g, sorting *by, plugmc_device_pointer *sorted_keys)
{
    const gpu_cells_kernels *k = &g->cells.sorting;
    gpu_cells_scratch *s = &g->cells.scratch;
    cells_grid *grid = &by->grid;
    plugmc_device_pointer orders[2] = {by->to->order, s->order}, none = 0;
    int passes = 1, code = PLUGMC_OK;
    while (passes < 4 && grid->cells >> (8 * passes)) passes++;
    for (int pass = 0; pass < passes && !code; pass++) {
        uint32_t shift = 8 * (uint32_t)pass;
        /* the last pass writes orders[0] */
        plugmc_device_pointer *to = &orders[(passes - 1 - pass) % 2];
        plugmc_device_pointer *from = pass ? &orders[(passes - pass) % 2] : &none;
        plugmc_device_pointer *keys = &s->keys[pass % 2], *to_keys = &s->keys[(pass + 1) % 2];
        code = launch(g, k->count, by->blocks, (void *[]){grid, keys, &shift, &s->counts});
        if (!code)
            code = find_places(g, by->walkers, CELLS_DIGITS * grid->tiles, &s->counts, &s->counts);
        if (!code)
            code = launch(g, k->move, by->blocks,
                          (void *[]){grid, &shift, &s->counts, keys, from, to_keys, to});
        *sorted_keys = *to_keys;
    }
    return code;
}

static int sort_by_digits(gpu *g, sorting *by)
{
    const gpu_cells_kernels *k = &g->cells.sorting;
    gpu_cells *c = by->to;
    plugmc_device_pointer keys = 0, none = 0;
    int code = launch(
        g, k->bin, by->blocks,
        (void *[]){&by->grid, &by->boxes, &by->positions, &g->cells.scratch.keys[0], &none, &none});
    if (!code) code = pass_by_digits(g, by, &keys);
    if (!code)
        code = launch(g, k->start, (by->starts + CELLS_THREADS - 1) / CELLS_THREADS,
                      (void *[]){&by->grid, &by->starts, &keys, &c->start});
    if (!code)
        code = launch(g, k->gather, by->blocks,
                      (void *[]){&by->grid, &by->boxes, &by->positions, &c->order, &c->positions});
    return code;
}

/* What has to be sorted for this range, and room for it. */
static int begin_sorting(gpu *g, const plugmc_system *system, const plugmc_view *view, double range,
                         const double *elsewhere, sorting *by)
{
    const cell_grid shape =
        cell_grid_make_beside(view->box, system->walkers, system->particles, range, elsewhere);
    const cells_grid grid = {.origin = shape.origin,
                             .count = {shape.count[0], shape.count[1], shape.count[2]},
                             .particles = (uint32_t)system->particles,
                             .tiles = (uint32_t)((system->particles + CELLS_TILE - 1) / CELLS_TILE),
                             .cells = (uint32_t)shape.cells};
    *by = (sorting){.grid = grid,
                    .walkers = (uint64_t)system->walkers,
                    .boxes = view->device_box,
                    .positions = view->positions,
                    .to = find_cells(g, range)};
    by->blocks = by->walkers * grid.tiles;
    by->starts = by->walkers * ((uint64_t)grid.cells + 1);
    const uint64_t counts = by->blocks * CELLS_DIGITS,
                   parts = parts_of((uint64_t)grid.cells + 1) +
                           parts_of(CELLS_DIGITS * (uint64_t)grid.tiles);
    g->caller = NULL;
    if (shape.cells >= UINT32_MAX)
        return gpu_fail(g, PLUGMC_ERROR_INPUT,
                        "%lld cells are too many for a GPU: the limit is 2^32 - 2",
                        (long long)shape.cells);
    const int code = find_kernels(g);
    return code ? code
                : make_buffers(g, by->to, by->starts, by->walkers * grid.particles, counts,
                               by->walkers * parts);
}

static void hand_out(gpu *g, const sorting *by, plugmc_cells *out)
{
    const gpu_cells *c = by->to;
    by->to->built = ++g->cells.sorts;
    *out = (plugmc_cells){.size = sizeof *out,
                          .cells = by->grid.cells,
                          .start = (const uint32_t *)(uintptr_t)c->start,
                          .order = (const uint32_t *)(uintptr_t)c->order,
                          .positions = (const double *)(uintptr_t)c->positions};
    memcpy(out->count, by->grid.count, sizeof out->count);
}

int gpu_cells_build(gpu *g, const plugmc_system *system, const plugmc_view *view, double range,
                    const double *elsewhere, plugmc_cells *out)
{
    sorting by;
    int code = begin_sorting(g, system, view, range, elsewhere, &by);
    if (!code)
        code = by.grid.particles / by.grid.cells < FEW ? sort_by_counting(g, &by)
                                                       : sort_by_digits(g, &by);
    if (!code) hand_out(g, &by, out);
    return code;
}

int gpu_cells_fill(gpu *g, const plugmc_system *system, const plugmc_view *view, double range,
                   const double *elsewhere, const cell_filler *filler, plugmc_cells *out)
{
    sorting by;
    int code = begin_sorting(g, system, view, range, elsewhere, &by);
    if (code) return code;
    if (by.grid.particles / by.grid.cells >= VERY_FEW) return PLUGMC_UNANSWERED;
    plugmc_cell_filling filling = {.size = sizeof filling,
                                   .box = by.boxes,
                                   .start = (uint32_t *)(uintptr_t)by.to->counts,
                                   .order = (uint32_t *)(uintptr_t)by.to->order,
                                   .positions = (double *)(uintptr_t)by.to->positions};
    memcpy(filling.count, by.grid.count, sizeof filling.count);
    code = filler->fill(filler->instance, filler->host, &filling);
    g->caller = NULL;
    if (!code) code = find_places(g, by.walkers, by.grid.cells + 1, &by.to->counts, &by.to->start);
    filling.placing = 1;
    filling.start = (uint32_t *)(uintptr_t)by.to->start;
    if (!code) code = filler->fill(filler->instance, filler->host, &filling);
    if (!code) hand_out(g, &by, out);
    return code;
}
