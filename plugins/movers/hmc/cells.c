/* Forces of pairs from cells, where lists do not serve: in oblique boxes, without a range, and for potentials that
 * have no `slopes`.
 *
 * Particles are sorted by cell and within a cell by their number; a particle's neighbours are those within reach in
 * the cells around, in a fixed order of the cells. Each pair is computed twice, once for either particle. Energies
 * are summed particle by particle in the order of their numbers. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "cpu.h"
#include "neighbours.h"
#include "rigid.h"

/* Particles as plugmc_particles wants them. */
typedef struct particle_arrays {
    double *x, *y, *z, *charge, *diameter;
    int32_t *species;
} particle_arrays;

/* Room of one thread, [particles]. */
typedef struct workspace {
    particle_arrays around, near; /* those in the cells around a cell; of these, those in reach */
    int64_t *around_at;           /* their places among the sorted ones */
    double *square;               /* distance^2 */
    int32_t *in_reach;            /* which of those around */
} workspace;

struct hmc_cell_forces {
    int32_t count[3];
    int64_t cells;
    particle_arrays sorted; /* [walkers][particles], by cell */
    int32_t *order;         /* [walkers][particles]: which particle */
    int32_t *start;         /* [walkers][cells + 1] */
    int32_t *cell;          /* [walkers][particles] */
    workspace *work;        /* [threads] */
};

/* ---- Cells ----------------------------------------------------------------------------------- */

/* By cell, and in a cell by number. */
static void sort_walker(const hmc *h, int32_t w)
{
    const hmc_cpu *c = h->cpu;
    const hmc_cell_forces *g = h->cpu->cells;
    const int64_t n = h->system->particles;
    int32_t *start = g->start + w * (g->cells + 1), *cell = g->cell + w * n,
            *order = g->order + w * n;
    memset(start, 0, (size_t)(g->cells + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *place = c->place + 3 * (w * n + i);
        int32_t at[3];
        for (int d = 0; d < 3; d++)
            at[d] = (int32_t)plugmc_mulhi((uint32_t)(place[d] >> 32), (uint32_t)g->count[d]);
        cell[i] = (at[2] * g->count[1] + at[1]) * g->count[0] + at[0];
        start[cell[i] + 1]++;
    }
    for (int64_t k = 0; k < g->cells; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++) order[start[cell[i]]++] = (int32_t)i;
    for (int64_t k = g->cells; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = order[k], to = w * n + k;
        const double *r = c->positions + 3 * (w * n + i);
        const plugmc_species *species = plugmc_species_at(h->system, c->species[i]);
        g->sorted.x[to] = r[0];
        g->sorted.y[to] = r[1];
        g->sorted.z[to] = r[2];
        g->sorted.charge[to] = species->charge;
        g->sorted.diameter[to] = species->diameter;
        g->sorted.species[to] = c->species[i];
    }
}

static void copy_particle(const particle_arrays *from, int64_t k, const particle_arrays *to,
                          int64_t m)
{
    to->x[m] = from->x[k];
    to->y[m] = from->y[k];
    to->z[m] = from->z[k];
    to->charge[m] = from->charge[k];
    to->diameter[m] = from->diameter[k];
    to->species[m] = from->species[k];
}

/* Everyone in the cells around one; returns how many. */
static int64_t gather_around(const hmc *h, int32_t w, int64_t cell, const workspace *work)
{
    const hmc_cell_forces *g = h->cpu->cells;
    const int32_t *start = g->start + w * (g->cells + 1);
    const int64_t walker = w * h->system->particles;
    int32_t x[3], y[3], z[3];
    const int nx = line_around((int32_t)(cell % g->count[0]), g->count[0], x);
    const int ny = line_around((int32_t)(cell / g->count[0] % g->count[1]), g->count[1], y);
    const int nz = line_around((int32_t)(cell / g->count[0] / g->count[1]), g->count[2], z);
    int64_t found = 0;
    for (int i = 0; i < nx * ny * nz; i++) {
        const int64_t other =
            ((int64_t)z[i / (nx * ny)] * g->count[1] + y[i / nx % ny]) * g->count[0] + x[i % nx];
        for (int64_t k = start[other]; k < start[other + 1]; k++) {
            copy_particle(&g->sorted, walker + k, &work->around, found);
            work->around_at[found++] = k;
        }
    }
    return found;
}

/* Of `found` in reach of sorted particle `own` those that are not of its molecule; returns how many. */
static int64_t without_own_molecule(const hmc *h, int32_t w, int64_t own, int64_t found,
                                    const workspace *work)
{
    const int32_t *order = h->cpu->cells->order + w * h->system->particles;
    int64_t kept = 0;
    for (int64_t k = 0; k < found; k++)
        if (!hmc_together(h, order[own], order[work->around_at[work->in_reach[k]]]))
            work->in_reach[kept++] = work->in_reach[k];
    return kept;
}

/* Of those around, everyone in reach of sorted particle `own` but itself. In an oblique box
 * nearest images are left to the potentials, and everyone around is near. */
static plugmc_particles gather_near(const hmc *h, int32_t w, const plugmc_box *box,
                                    const double r[3], int64_t own, int64_t around,
                                    const workspace *work)
{
    const particle_arrays *near = &work->near;
    const double reach_square =
        box->oblique ? INFINITY : h->sampled.reach * h->sampled.reach * (1 + 1e-9);
    const double *square = work->square;
    const int64_t *at = work->around_at;
    int32_t *in_reach = work->in_reach;
    int64_t found = 0;
    if (!box->oblique)
        squares(box->length, r, work->around.x, work->around.y, work->around.z, around,
                work->square);
    else
        memset(work->square, 0, (size_t)around * sizeof *work->square);
    for (int64_t k = 0; k < around; k++) { /* without a branch, which nobody could predict */
        in_reach[found] = (int32_t)k;
        found += (square[k] < reach_square) & (at[k] != own);
    }
    if (h->rigid) found = without_own_molecule(h, w, own, found, work);
    for (int64_t k = 0; k < found; k++) copy_particle(&work->around, in_reach[k], near, k);
    return (plugmc_particles){found,        near->x,        near->y,      near->z,
                              near->charge, near->diameter, near->species};
}

/* ---- Forces and energies --------------------------------------------------------------------- */

/* Of particle `own` of the sorted ones, from pairs and fields. */
static void particle_forces(const hmc *h, int32_t w, int64_t own, int64_t around,
                            const workspace *work)
{
    const hmc_cpu *c = h->cpu;
    const hmc_cell_forces *g = h->cpu->cells;
    const plugmc_box *box = &h->box[w];
    const int64_t walker = w * h->system->particles, at = walker + own, i = walker + g->order[at];
    const plugmc_particle probe = {g->sorted.x[at],        g->sorted.y[at],
                                   g->sorted.z[at],        g->sorted.charge[at],
                                   g->sorted.diameter[at], g->sorted.species[at]};
    plugmc_derivatives pairs = {0}, fields = {0};
    if (h->sampled.pair_count) {
        const double r[3] = {probe.x, probe.y, probe.z};
        const plugmc_particles near = gather_near(h, w, box, r, own, around, work);
        for (int t = 0; t < h->sampled.pair_count; t++) {
            plugmc_derivatives one = {0}, *sum = h->ladder.weight ? &one : &pairs;
            h->sampled.pairs[t]->plugin->potential->pair->derivatives(
                h->sampled.pairs[t]->instance, box, 1, 0, &probe, &near, sum);
            if (h->ladder.weight) hmc_cpu_add_weighted(h, w, h->sampled.pairs[t], &one, &pairs);
        }
    }
    const int forbidden = hmc_cpu_add_fields(h, w, &probe, &fields);
    for (int d = 0; d < 3; d++)
        c->force[3 * i + d] = d < h->dimension ? -(pairs.gradient[d] + fields.gradient[d]) : 0;
    c->share[i] = forbidden ? INFINITY : 0.5 * pairs.energy + fields.energy;
}

void hmc_cells_forces(hmc *h)
{
    const hmc_cpu *c = h->cpu;
    const hmc_cell_forces *g = h->cpu->cells;
    const int64_t walkers = h->system->walkers;
#pragma omp parallel num_threads(c->threads)
    {
        const workspace *work = &g->work[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (int32_t w = 0; w < (int32_t)walkers; w++) sort_walker(h, w);
#pragma omp for schedule(dynamic, 8)
        for (int64_t k = 0; k < walkers * g->cells; k++) {
            const int32_t w = (int32_t)(k / g->cells);
            const int64_t cell = k % g->cells;
            const int32_t *start = g->start + w * (g->cells + 1);
            if (start[cell] == start[cell + 1]) continue;
            const int64_t around = h->sampled.pair_count ? gather_around(h, w, cell, work) : 0;
            for (int64_t own = start[cell]; own < start[cell + 1]; own++)
                particle_forces(h, w, own, around, work);
        }
    }
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static void take_arrays(const plugmc_host *host, particle_arrays *a, size_t n, int *code)
{
    double **columns[] = {&a->x, &a->y, &a->z, &a->charge, &a->diameter};
    for (int k = 0; k < PLUGMC_COUNT(columns); k++)
        *columns[k] = hmc_cpu_take(host, n, sizeof(double), code);
    a->species = hmc_cpu_take(host, n, sizeof *a->species, code);
}

static int take_workspaces(hmc_cell_forces *g, const plugmc_host *host, int32_t threads, size_t n)
{
    int code = PLUGMC_OK;
    g->work = hmc_cpu_take(host, (size_t)threads, sizeof *g->work, &code);
    for (int32_t t = 0; t < threads && !code; t++) {
        workspace *work = &g->work[t];
        take_arrays(host, &work->around, n, &code);
        take_arrays(host, &work->near, n, &code);
        work->around_at = hmc_cpu_take(host, n, sizeof *work->around_at, &code);
        work->square = hmc_cpu_take(host, n, sizeof *work->square, &code);
        work->in_reach = hmc_cpu_take(host, n, sizeof *work->in_reach, &code);
    }
    return code;
}

void hmc_cells_boxes(hmc *h)
{
    hmc_cell_forces *g = h->cpu->cells;
    hmc_cells(h, h->sampled.reach, most_cells(h), g->count);
    g->cells = (int64_t)g->count[0] * g->count[1] * g->count[2];
}

int hmc_cells_prepare(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers,
                 all = n * walkers;
    int code = PLUGMC_OK;
    hmc_cell_forces *g = h->cpu->cells = hmc_cpu_take(host, 1, sizeof *g, &code);
    if (code) return code;
    hmc_cells_boxes(h);
    /* boxes that change may be cut into more */
    const size_t cells =
        system->changes & PLUGMC_CHANGED_BOX ? (size_t)most_cells(h) : (size_t)g->cells;
    take_arrays(host, &g->sorted, all, &code);
    g->order = hmc_cpu_take(host, all, sizeof *g->order, &code);
    g->cell = hmc_cpu_take(host, all, sizeof *g->cell, &code);
    g->start = hmc_cpu_take(host, walkers * (cells + 1), sizeof *g->start, &code);
    return code ? code : take_workspaces(g, host, h->cpu->threads, n);
}
