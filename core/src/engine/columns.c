/* Particles near a cell as batch functions take them. */
#include "engine/columns.h"

#include <stdlib.h>

int columns_take(columns *c, int64_t most, int single)
{
    const size_t size = single ? sizeof(float) : sizeof(double), n = (size_t)most;
    *c = (columns){.size = size,
                   .x = malloc(5 * n * size),
                   .species = malloc(n * sizeof(int32_t)),
                   .number = malloc(n * sizeof(int64_t))};
    if (!c->x || !c->species || !c->number) return 0;
    c->y = c->x + n * size;
    c->z = c->y + n * size;
    c->charge = c->z + n * size;
    c->diameter = c->charge + n * size;
    return 1;
}

void columns_free(columns *c)
{
    free(c->x);
    free(c->species);
    free(c->number);
}

static double get(const columns *c, const char *column, int64_t k)
{
    return c->size == sizeof(float) ? ((const float *)column)[k] : ((const double *)column)[k];
}

static void set(const columns *c, char *column, int64_t k, double value)
{
    if (c->size == sizeof(float))
        ((float *)column)[k] = (float)value;
    else
        ((double *)column)[k] = value;
}

static void append(columns *c, const plugmc_system *system, const plugmc_cells *cells, int64_t cell)
{
    for (uint32_t e = cells->start[cell]; e < cells->start[cell + 1]; e++, c->n++) {
        const int64_t i = cells->order[e];
        const int32_t kind = species_of(system, i);
        set(c, c->x, c->n, cells->positions[3 * e]);
        set(c, c->y, c->n, cells->positions[3 * e + 1]);
        set(c, c->z, c->n, cells->positions[3 * e + 2]);
        set(c, c->charge, c->n, plugmc_species_at(system, kind)->charge);
        set(c, c->diameter, c->n, plugmc_species_at(system, kind)->diameter);
        c->species[c->n] = kind;
        c->number[c->n] = i;
    }
}

int64_t columns_gather(columns *c, const plugmc_system *system, const plugmc_cells *cells,
                       const cell_grid *grid, int64_t cell)
{
    int64_t around[27];
    const int count = cells_around(grid, cell, around);
    c->n = 0;
    append(c, system, cells, cell);
    const int64_t own = c->n;
    for (int k = 0; k < count; k++)
        if (around[k] != cell) append(c, system, cells, around[k]);
    return own;
}

plugmc_particle column_particle(const columns *c, int64_t k)
{
    return (plugmc_particle){get(c, c->x, k),      get(c, c->y, k),        get(c, c->z, k),
                             get(c, c->charge, k), get(c, c->diameter, k), c->species[k]};
}

plugmc_particles column_slice(const columns *c, int64_t first, int64_t end)
{
    const size_t skip = (size_t)first * c->size;
    return (plugmc_particles){end - first,      c->x + skip,        c->y + skip,       c->z + skip,
                              c->charge + skip, c->diameter + skip, c->species + first};
}
