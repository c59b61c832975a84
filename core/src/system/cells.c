/* Particles sorted by cell on the host. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "system/geometry.h"
#include "system/system.h"

/* Where nobody is, positions are NaN, and who is at infinity has none in the box: both are in no cell. */
enum { NO_CELL = UINT32_MAX };

/* Counting sort of one walker. `of` [n] gets the cell of each. A thread counts and places the particles
 * of its range of cells, in the order of their numbers, for which it looks at all of `of`: nobody waits
 * for anybody, and the result is that of one thread. start is [cells + 1]; it first holds how many are in
 * each cell, then the next free entry of each, and at last where it begins. */
static void sort_walker(int threads, int64_t n, const plugmc_box *box, const cell_grid *shape,
                        const double *positions, uint32_t *of, uint32_t *start, uint32_t *order,
                        double *sorted)
{
    const cell_grid own = cell_grid_in(shape, box), *grid = &own;
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
        uint32_t next = before;
        for (int64_t c = first; c < end; c++) {
            const uint32_t count = start[c];
            start[c] = next;
            next += count;
        }
        if (end == grid->cells) start[end] = next;
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
    return host_cells_build_beside(system, boxes, positions, range, NULL, out);
}

int host_cells_build_beside(const plugmc_system *system, const plugmc_box *boxes,
                            const double *positions, double range, const double *elsewhere,
                            plugmc_cells *out)
{
    const cell_grid grid =
        cell_grid_make_beside(boxes, system->walkers, system->particles, range, elsewhere);
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
