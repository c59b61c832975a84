/* The grid of cells; the rules are in the header. */
#include "base/cell_grid.h"

#include <math.h>

cell_grid cell_grid_make(const plugmc_box *boxes, int64_t walkers, int64_t particles, double range)
{
    return cell_grid_make_beside(boxes, walkers, particles, range, NULL);
}

cell_grid cell_grid_make_beside(const plugmc_box *boxes, int64_t walkers, int64_t particles,
                                double range, const double *elsewhere)
{
    const plugmc_box *box = boxes;
    const double most = 4.0 * (double)particles + 8;
    cell_grid grid = {.count = {1, 1, 1},
                      .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                      .origin = box->domain == PLUGMC_DOMAIN_SPHERE ? -box->radius : 0};
    for (int d = 0; d < box->dimension; d++) {
        double length = elsewhere ? fmin(box->length[d], elsewhere[d]) : box->length[d];
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
