/* Cells: the grid, and particles sorted by it. The rules are in geometry.h. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "system/geometry.h"
#include "system/system.h"

static double elsewhere[3] = {INFINITY, INFINITY, INFINITY};

void cell_grid_elsewhere(const double shortest[3])
{
    memcpy(elsewhere, shortest, sizeof elsewhere);
}

cell_grid cell_grid_make(const plugmc_box *boxes, int64_t walkers, int64_t particles, double range)
{
    const plugmc_box *box = boxes;
    const double most = 4.0 * (double)particles + 8;
    cell_grid grid = {.count = {1, 1, 1},
                      .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                      .origin = box->domain == PLUGMC_DOMAIN_SPHERE ? -box->radius : 0};
    for (int d = 0; d < box->dimension; d++) {
        double length = fmin(box->length[d], elsewhere[d]);
        for (int64_t w = 1; w < walkers; w++) length = fmin(length, boxes[w].length[d]);
        /* one cell in an oblique box: its cells would be oblique too */
        double fit = box->oblique ? 1 : floor(length / range);
        grid.count[d] = fit >= 1 ? (int32_t)fmin(fit, fmin(most, INT32_MAX)) : 1;
        /* the quotient may have been rounded up */
        while (grid.count[d] > 1 && length / grid.count[d] < range) grid.count[d]--;
    }
    while ((double)grid.count[0] * grid.count[1] * grid.count[2] > most) {
        int largest = 0;
        for (int d = 1; d < 3; d++)
            if (grid.count[d] > grid.count[largest]) largest = d;
        grid.count[largest] = (grid.count[largest] + 1) / 2;
    }
    grid.cells = (int64_t)grid.count[0] * grid.count[1] * grid.count[2];
    return cell_grid_in(&grid, box);
}

cell_grid cell_grid_in(const cell_grid *grid, const plugmc_box *box)
{
    cell_grid out = *grid;
    for (int d = 0; d < 3; d++) out.width[d] = box->length[d] / out.count[d];
    return out;
}

int64_t cell_of(const cell_grid *grid, const double position[3])
{
    int64_t c[3];
    for (int d = 0; d < 3; d++) {
        double at = (position[d] - grid->origin) / grid->width[d];
        c[d] = at < 0 || grid->count[d] == 1 ? 0
               : at < grid->count[d]         ? (int64_t)at
                                             : grid->count[d] - 1;
    }
    return c[0] + grid->count[0] * (c[1] + grid->count[1] * c[2]);
}

/* Cells c - 1, c, c + 1 of one direction, each once. */
static int line_around(const cell_grid *grid, int d, int64_t c, int64_t out[3])
{
    const int64_t count = grid->count[d];
    int n = 0;
    for (int64_t at = c - 1; at <= c + 1; at++) {
        int64_t other = at;
        if (grid->periodic && count >= 3)
            other = (at + count) % count;
        else if (at < 0 || at >= count)
            continue;
        out[n++] = other;
    }
    return n;
}

int cells_around(const cell_grid *grid, int64_t cell, int64_t out[27])
{
    int64_t x[3], y[3], z[3];
    int nx = line_around(grid, 0, cell % grid->count[0], x),
        ny = line_around(grid, 1, cell / grid->count[0] % grid->count[1], y),
        nz = line_around(grid, 2, cell / grid->count[0] / grid->count[1], z);
    int n = 0;
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                out[n++] = x[i] + grid->count[0] * (y[j] + grid->count[1] * z[k]);
    return n;
}

/* Where nobody is, positions are NaN: nobody is in a cell. */
enum { NO_CELL = UINT32_MAX };

static int64_t present(int64_t n, const double *positions)
{
    int64_t there = 0;
    for (int64_t i = 0; i < n; i++) there += !isnan(positions[3 * i]);
    return there;
}

/* Counting sort of one walker. `of` [n] gets the cell of each. A thread counts and places the particles
 * of its range of cells, in the order of their numbers, for which it looks at all of `of`: nobody waits
 * for anybody, and the result is that of one thread. start is [cells + 1]; it first holds how many are in
 * each cell, then the next free entry of each, and at last where it begins. */
static void sort_walker(int threads, int64_t n, const plugmc_box *box, const cell_grid *shape,
                        const double *positions, uint32_t *of, uint32_t *start, uint32_t *order,
                        double *sorted)
{
    const cell_grid own = cell_grid_in(shape, box), *grid = &own;
    start[grid->cells] = (uint32_t)present(n, positions);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            double at[3] = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]};
            plugmc_wrap(box, at);
            of[i] = isnan(at[0]) ? NO_CELL : (uint32_t)cell_of(grid, at);
        }
        const int64_t me = omp_get_thread_num(), all = omp_get_num_threads();
        const int64_t first = grid->cells * me / all, end = grid->cells * (me + 1) / all;
        uint32_t before = 0; /* particles in cells below `first` */
        memset(start + first, 0, (size_t)(end - first) * sizeof *start);
        for (int64_t i = 0; i < n; i++) {
            before += of[i] < first;
            if (of[i] >= first && of[i] < end) start[of[i]]++;
        }
        for (int64_t c = first, entry = before; c < end; c++) {
            const uint32_t count = start[c];
            start[c] = (uint32_t)entry;
            entry += count;
        }
        for (int64_t i = 0; i < n; i++) {
            if (of[i] < first || of[i] >= end) continue;
            const int64_t entry = start[of[i]]++;
            order[entry] = (uint32_t)i;
            memcpy(&sorted[3 * entry], &positions[3 * i], 3 * sizeof *sorted);
            plugmc_wrap(box, &sorted[3 * entry]);
        }
        for (int64_t c = end - 1; c > first; c--) start[c] = start[c - 1];
        if (end > first) start[first] = before;
    }
}

int host_cells_build(const plugmc_system *system, const plugmc_box *boxes, const double *positions,
                     double range, plugmc_cells *out)
{
    const cell_grid grid = cell_grid_make(boxes, system->walkers, system->particles, range);
    const int64_t n = system->particles;
    const size_t entries = (size_t)system->walkers * (size_t)n;
    uint32_t *start = malloc((size_t)system->walkers * (size_t)(grid.cells + 1) * sizeof *start);
    uint32_t *order = malloc((entries + 1) * sizeof *order);
    uint32_t *of = malloc((entries + 1) * sizeof *of);
    double *sorted = malloc((3 * entries + 1) * sizeof *sorted);
    const bool side_by_side = system->walkers >= system->threads, /* else one after the other */
        alone = side_by_side || n < FEW_FOR_THREADS;
    *out = (plugmc_cells){.size = sizeof *out,
                          .cells = grid.cells,
                          .start = start,
                          .order = order,
                          .positions = sorted};
    memcpy(out->count, grid.count, sizeof grid.count);
    if (!start || !order || !sorted || !of) {
        host_cells_free(out);
        free(of);
        return PLUGMC_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(static) num_threads(system->threads) if (side_by_side)
    for (int32_t w = 0; w < system->walkers; w++)
        sort_walker(alone ? 1 : system->threads, n, &boxes[w], &grid, positions + 3 * n * w,
                    of + n * w, start + (grid.cells + 1) * w, order + n * w, sorted + 3 * n * w);
    free(of);
    return PLUGMC_OK;
}

void host_cells_free(plugmc_cells *cells)
{
    free((void *)cells->start);
    free((void *)cells->order);
    free((void *)cells->positions);
    *cells = (plugmc_cells){.size = sizeof *cells};
}
