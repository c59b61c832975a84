/* pair_sums: what the observables share that add up over all pairs of a configuration (energy,
 * virial_pressure): particles side by side in memory, the cells around a cell, and what a GPU and
 * the host hand each other. */
#ifndef PLUGMC_PAIR_SUMS_H
#define PLUGMC_PAIR_SUMS_H

#include <stdlib.h>

#include <plugmc/everything.h>

#include "bring_to_host.h"

/* Particles sorted by cell, or as they are numbered, one walker at a time. */
typedef struct sorted_particles {
    double *x, *y, *z, *charge, *diameter; /* [particles] */
    int32_t *species;                      /* [particles] */
} sorted_particles;

/* The view of the run, and one on the host if that is another and somebody needs it. */
typedef struct views {
    const plugmc_view *given, *on_host;
} views;

/* Memory for all particles of the system. */
static inline int prepare_particles(sorted_particles *s, const plugmc_host *host)
{
    const size_t n = (size_t)host->system->particles;
    double *column = host->allocate(host->context, 5 * n * sizeof *column);
    *s = (sorted_particles){column,         column + n,     column + 2 * n,
                            column + 3 * n, column + 4 * n, NULL};
    s->species = host->allocate(host->context, n * sizeof *s->species);
    return column && s->species
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu particles", n);
}

/* Particle k is one of a species at a place. */
static inline void take_particle(const sorted_particles *s, const plugmc_system *system, int64_t k,
                                 int32_t species, const double place[3])
{
    s->x[k] = place[0];
    s->y[k] = place[1];
    s->z[k] = place[2];
    s->charge[k] = plugmc_species_at(system, species)->charge;
    s->diameter[k] = plugmc_species_at(system, species)->diameter;
    s->species[k] = species;
}

/* Particles of a walker as they are in cells. Returns how many are there. */
static inline int64_t take_sorted(const sorted_particles *s, const plugmc_system *system,
                                  const plugmc_cells *cells, int64_t walker)
{
    const int64_t n = cells->start[walker * (cells->cells + 1) + cells->cells];
    const uint32_t *order = cells->order + walker * system->particles;
    const double *positions = cells->positions + 3 * walker * system->particles;
#pragma omp parallel for num_threads(system->threads) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        int32_t species = 0;
        while (order[k] >= system->first[species + 1]) species++;
        take_particle(s, system, k, species, positions + 3 * k);
    }
    return n;
}

/* As they are numbered, without those that are not there. */
static inline int64_t take_numbered(const sorted_particles *s, const plugmc_system *system,
                                    const plugmc_view *view, int64_t walker)
{
    const int64_t *count = view->count + walker * system->species_count;
    const double *positions = view->positions + 3 * walker * system->particles;
    int64_t n = 0;
    for (int32_t species = 0; species < system->species_count; species++) {
        const int64_t first = system->first[species], there = count[species];
#pragma omp parallel for num_threads(system->threads) schedule(static)
        for (int64_t k = 0; k < there; k++)
            take_particle(s, system, n + k, species, positions + 3 * (first + k));
        n += there;
    }
    return n;
}

/* How many particles a walker has. */
static inline int64_t particles_of(const plugmc_system *system, const plugmc_view *view,
                                   int64_t walker)
{
    int64_t n = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        n += view->count[walker * system->species_count + s];
    return n;
}

static inline plugmc_particles particles_from(const sorted_particles *s, int64_t first, int64_t n)
{
    return (plugmc_particles){n,
                              s->x + first,
                              s->y + first,
                              s->z + first,
                              s->charge + first,
                              s->diameter + first,
                              s->species + first};
}

static inline plugmc_particle particle_at(const sorted_particles *s, int64_t k)
{
    return (plugmc_particle){s->x[k],      s->y[k],        s->z[k],
                             s->charge[k], s->diameter[k], s->species[k]};
}

/* The cells around one, itself included, and where the particles of each begin. */
typedef struct cells_around {
    int32_t count;
    int64_t cell[27];
    const uint32_t *start; /* of a walker */
} cells_around;

static inline cells_around cells_around_one(const plugmc_cells *cells, const uint32_t *start,
                                            int64_t cell)
{
    const int32_t *count = cells->count;
    const int32_t x = (int32_t)(cell % count[0]), y = (int32_t)(cell / count[0] % count[1]),
                  z = (int32_t)(cell / count[0] / count[1]);
    const int32_t nx = plugmc_cells_around(count[0]), ny = plugmc_cells_around(count[1]),
                  nz = plugmc_cells_around(count[2]);
    cells_around out = {.count = nx * ny * nz, .start = start};
    for (int32_t i = 0; i < out.count; i++) {
        const int64_t row = plugmc_cell_around(z, i / (nx * ny), count[2]) * (int64_t)count[1] +
                            plugmc_cell_around(y, i / nx % ny, count[1]);
        out.cell[i] = row * count[0] + plugmc_cell_around(x, i % nx, count[0]);
    }
    return out;
}

/* The particles after k, which is in the cell itself, in the i-th of the cells around it. */
static inline plugmc_particles particles_after(const sorted_particles *s,
                                               const cells_around *around, int32_t i, int64_t k)
{
    const uint32_t *start = around->start + around->cell[i];
    const int64_t first = start[0] > k ? start[0] : k + 1;
    return particles_from(s, first, start[1] - first);
}

/* ---- Rigid molecules --------------------------------------------------------------------------- */

/* Where the particles of a walker are in the arrays of sorted_particles: NULL without rigid molecules. */
typedef struct sorted_ranks {
    int64_t *rank;          /* [particles]; -1: it is not there */
    const uint32_t *number; /* [particles] of the entries */
    uint32_t *own;          /* [particles] room for these */
} sorted_ranks;

static inline int prepare_ranks(sorted_ranks *r, const plugmc_host *host)
{
    const size_t n = (size_t)host->system->particles;
    *r = (sorted_ranks){0};
    if (!host->system->molecules) return PLUGMC_OK;
    r->rank = host->allocate(host->context, n * sizeof *r->rank);
    r->own = host->allocate(host->context, n * sizeof *r->own);
    return r->rank && r->own
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu particles", n);
}

/* After take_sorted with `order` of the walker, or with NULL after take_numbered. */
static inline void take_ranks(sorted_ranks *r, const plugmc_system *system, const plugmc_view *view,
                              int64_t walker, const uint32_t *order)
{
    const int64_t *count = view->count + walker * system->species_count;
    int64_t n = 0;
    if (!r->rank) return;
    r->number = order ? order : r->own;
    for (int64_t i = 0; i < system->particles; i++) r->rank[i] = -1;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t k = 0; k < count[s]; k++) r->own[n++] = (uint32_t)(system->first[s] + k);
    for (int64_t k = 0; k < n; k++) r->rank[r->number[k]] = k;
}

/* The entries of the molecule of entry k that come after entry `after`, ascending; with after < k that of k itself is among
 * them. Returns how many there are. */
static inline int32_t siblings_after(const sorted_ranks *r, const plugmc_system *system, int64_t k,
                                     int64_t after, int64_t out[PLUGMC_MOST_SITES])
{
    int32_t n = 0;
    if (!r->rank) return 0;
    const int64_t i = r->number[k];
    if (system->molecule[i] < 0) return 0;
    int64_t within;
    const plugmc_molecule *kind =
        plugmc_molecule_at(system->molecules, system->molecule[i], &within);
    for (int32_t a = 0; a < kind->sites; a++) {
        const int64_t entry = r->rank[plugmc_site_number(kind, within, a)];
        int32_t l = n;
        if (entry <= after) continue;
        for (; l > 0 && out[l - 1] > entry; l--) out[l] = out[l - 1];
        out[l] = entry;
        n++;
    }
    return n;
}

/* Cuts what comes before the next sibling off the range *first ... end - 1 and returns it; *first becomes the entry after that
 * sibling. Call it until *first is end or more. */
static inline plugmc_particles next_without_siblings(const sorted_particles *s, int64_t *first,
                                                     int64_t end, const int64_t *siblings,
                                                     int32_t n)
{
    int64_t stop = end;
    for (int32_t l = n - 1; l >= 0; l--)
        if (siblings[l] >= *first && siblings[l] < stop) stop = siblings[l];
    const plugmc_particles others = particles_from(s, *first, stop - *first);
    *first = stop + 1;
    return others;
}

/* Offsets [particles][3] of all sites of a walker from the first sites of their molecules, length; 0 of other particles. */
static inline void take_offsets(const plugmc_system *system, const plugmc_view *view,
                                int64_t walker, double (*out)[3])
{
    const plugmc_molecules *all = system->molecules;
    const plugmc_orientation *turned = view->orientations + walker * system->particles;
    for (int64_t i = 0; i < system->particles; i++) out[i][0] = out[i][1] = out[i][2] = 0;
    for (int32_t k = 0; k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        const int64_t n =
            plugmc_molecules_of_kind(kind, view->count + walker * system->species_count);
        for (int64_t m = 0; m < n; m++)
            for (int32_t a = 1; a < kind->sites; a++)
                plugmc_turn_vector(&turned[plugmc_site_number(kind, m, 0)], kind->place[a],
                                   out[plugmc_site_number(kind, m, a)]);
    }
}

/* Particles of a walker that a box takes along one by one: molecules, and particles in none of them. */
static inline int64_t centres_of(const plugmc_system *system, const plugmc_view *view,
                                 int64_t walker)
{
    const plugmc_molecules *all = system->molecules;
    const int64_t *count = view->count + walker * system->species_count;
    int64_t sites = 0;
    const int64_t molecules = all ? plugmc_molecules_present(all, count, &sites) : 0;
    return particles_of(system, view, walker) - sites + molecules;
}

/* The kernel `name` of a text; species [particles] uint16_t and `bytes` for its sums on the device,
 * `bytes` for them on the host. */
static inline int prepare_sums(const plugmc_host *host, const plugmc_gpu_source *text,
                               const char *name, size_t bytes, plugmc_kernel **kernel,
                               plugmc_device_pointer *species, plugmc_device_pointer *sums,
                               double **on_host)
{
    const plugmc_gpu *gpu = host->gpu;
    const plugmc_system *system = host->system;
    const size_t n = (size_t)system->particles;
    uint16_t *list = malloc(n * sizeof *list);
    *on_host = host->allocate(host->context, bytes);
    int code = *on_host && list ? PLUGMC_OK
                                : host->fail(host->context, PLUGMC_ERROR_MEMORY,
                                             "no memory for the sums of %zu particles", n);
    for (int32_t s = 0; s < system->species_count && !code; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) list[i] = (uint16_t)s;
    if (!code) code = gpu->kernel(host->context, text, name, kernel);
    if (!code) code = gpu->allocate(host->context, bytes, sums);
    if (!code) code = gpu->allocate(host->context, n * sizeof *list, species);
    if (!code) code = gpu->upload(host->context, *species, list, n * sizeof *list);
    free(list);
    return code;
}

#endif
