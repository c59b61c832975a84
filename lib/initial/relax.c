/* Takes hard particles that overlap apart, all at once.
 *
 * Every two that are closer than their contact distance push each other away by their overlap, and
 * particles have some inertia: steepest descent of sum (overlap)^2 with momentum (B. T. Polyak, USSR
 * Comput. Math. Math. Phys. 4, 1 (1964)), as for the soft disks and spheres of C. S. O'Hern, S. A.
 * Langer, A. J. Liu, S. R. Nagel, Phys. Rev. Lett. 88, 075507 (2002), quenched from a random state.
 * Below the density of jamming, 0.84 for disks and 0.64 for spheres, no overlap is left: at packing
 * fraction 0.716 after some 50 steps whatever the number of disks. Above it some are, and nothing is
 * promised.
 *
 * Particles are kept sorted by cells that are wider than the contact distance by a skin, and are
 * sorted anew when one has gone half of it. Each is moved by one thread, which adds up its
 * neighbours in the order of their cells: the result does not depend on the number of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "initial/initial.h"
#include "system/system.h"

#define MARGIN 1e-6  /* that contact distances are exceeded by: positions are rounded to float */
#define WANTED 1.005 /* pushed apart to so many contact distances: gaps are not all of one size */
#define SKIN 0.35    /* of the largest contact distance */
#define INERTIA 0.8
#define PUSH 1.2 /* of the mean over the neighbours that push */
enum { STEPS = 1000 };

typedef struct relaxation {
    const plugmc_system *system; /* with one walker */
    const contacts *contacts;
    cell_grid grid;
    double skin;      /* length */
    int in_a_field;   /* some places may be forbidden */
    double *all;      /* [particles][3]: of the caller */
    double *velocity; /* [particles][3] */
    plugmc_cells cells;
    double *x, *next; /* [particles][3] sorted: now, and after the step */
    double *v, *from; /* [particles][3] sorted; positions when they were sorted */
    int32_t *species; /* [particles] sorted */
} relaxation;

static int relaxation_make(relaxation *, const plugmc_system *, const contacts *,
                           double *positions);
static void relaxation_free(relaxation *);
static int sort(relaxation *);
static void unsort(const relaxation *);
static int64_t step_all(const relaxation *, double *farthest);

int relax(const plugmc_system *system, const contacts *contacts, double *positions, int *apart)
{
    plugmc_system one = *system;
    relaxation r;
    one.walkers = 1;
    *apart = 0;
    int code = relaxation_make(&r, &one, contacts, positions);
    if (!code) code = sort(&r);
    for (int step = 0; step < STEPS && !code; step++) {
        double farthest;
        *apart = step_all(&r, &farthest) == 0;
        if (*apart) break;
        double *swap = r.x;
        r.x = r.next;
        r.next = swap;
        if (2 * farthest < r.skin) continue;
        unsort(&r);
        code = sort(&r);
    }
    if (!code) unsort(&r);
    relaxation_free(&r);
    return code;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int has_forbidden_places(const plugmc_system *system)
{
    int found = system->box.domain != PLUGMC_DOMAIN_PERIODIC;
    for (int t = 0; t < system->term_count; t++)
        found |= plugmc_term_at(system, t)->sampled &&
                 plugmc_term_at(system, t)->plugin->potential->field;
    return found;
}

static int relaxation_make(relaxation *r, const plugmc_system *system, const contacts *contacts,
                           double *positions)
{
    const size_t numbers = 3 * (size_t)system->particles;
    *r = (relaxation){.system = system,
                      .contacts = contacts,
                      .all = positions,
                      .skin = SKIN * contacts->largest,
                      .in_a_field = has_forbidden_places(system)};
    r->grid =
        cell_grid_make(&system->box, 1, system->particles, contacts->largest * WANTED + r->skin);
    r->velocity = calloc(numbers, sizeof *r->velocity);
    r->x = malloc(numbers * sizeof *r->x);
    r->next = malloc(numbers * sizeof *r->next);
    r->v = malloc(numbers * sizeof *r->v);
    r->from = malloc(numbers * sizeof *r->from);
    r->species = malloc(numbers / 3 * sizeof *r->species);
    return r->velocity && r->x && r->next && r->v && r->from && r->species ? EXIT_DONE
                                                                           : EXIT_MEMORY;
}

static void relaxation_free(relaxation *r)
{
    host_cells_free(&r->cells);
    free(r->velocity);
    free(r->x);
    free(r->next);
    free(r->v);
    free(r->from);
    free(r->species);
}

/* ---- Sorting --------------------------------------------------------------------------------- */

static int sort(relaxation *r)
{
    const plugmc_system *system = r->system;
    host_cells_free(&r->cells);
    if (host_cells_build(system, &system->box, r->all, r->contacts->largest * WANTED + r->skin,
                         &r->cells))
        return EXIT_MEMORY;
#pragma omp parallel for schedule(static) num_threads(system->threads)
    for (int64_t k = 0; k < system->particles; k++) {
        const int64_t i = r->cells.order[k];
        memcpy(&r->x[3 * k], &r->cells.positions[3 * k], 3 * sizeof *r->x);
        memcpy(&r->from[3 * k], &r->cells.positions[3 * k], 3 * sizeof *r->x);
        memcpy(&r->v[3 * k], &r->velocity[3 * i], 3 * sizeof *r->v);
        r->species[k] = species_of(system, i);
    }
    return EXIT_DONE;
}

static void unsort(const relaxation *r)
{
    const plugmc_system *system = r->system;
#pragma omp parallel for schedule(static) num_threads(system->threads)
    for (int64_t k = 0; k < system->particles; k++) {
        double *to = &r->all[3 * (int64_t)r->cells.order[k]];
        memcpy(to, &r->x[3 * k], 3 * sizeof *to);
        plugmc_wrap(&system->box, to);
        memcpy(&r->velocity[3 * (int64_t)r->cells.order[k]], &r->v[3 * k], 3 * sizeof *r->v);
    }
}

/* ---- A step ---------------------------------------------------------------------------------- */

static double nearest_image(double x, double length)
{
    return x > 0.5 * length ? x - length : x < -0.5 * length ? x + length : x;
}

/* What the neighbours of a particle do to it. */
typedef struct pushes {
    double sum[3]; /* of overlaps, length */
    int count;
    int too_close; /* one is closer than contact */
} pushes;

/* Adds what entries `first` to `end` do to entry k. Two on one point part along x, the one with the
 * smaller number to the left. */
static void add_pushes(const relaxation *r, int64_t k, int64_t first, int64_t end, pushes *p)
{
    const plugmc_box *box = &r->system->box;
    const double *between = r->contacts->between + r->species[k] * r->contacts->species;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const double reach = r->contacts->largest * WANTED, *at = &r->x[3 * k];
    for (int64_t j = first; j < end; j++) {
        double d[3];
        for (int a = 0; a < 3; a++) {
            d[a] = at[a] - r->x[3 * j + a];
            if (periodic) d[a] = nearest_image(d[a], box->length[a]);
        }
        const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (square >= reach * reach || j == k) continue;
        const double contact = between[r->species[j]], distance = sqrt(square);
        const double overlap = contact * WANTED - distance;
        if (overlap <= 0) continue;
        if (distance == 0) d[0] = k < j ? -1 : 1;
        const double scale = overlap / (distance > 0 ? distance : 1);
        for (int a = 0; a < 3; a++) p->sum[a] += scale * d[a];
        p->count++;
        p->too_close |= distance < contact * (1 + MARGIN);
    }
}

/* Moves entry k. Returns the square of its distance from where it was sorted. Who would get to a
 * forbidden place stays. */
static double move(const relaxation *r, int64_t k, const pushes *p)
{
    const double push = p->count ? PUSH / p->count : 0;
    double *v = &r->v[3 * k], *to = &r->next[3 * k], square = 0;
    for (int a = 0; a < 3; a++) {
        v[a] = INERTIA * v[a] + push * p->sum[a];
        to[a] = r->x[3 * k + a] + v[a];
    }
    if (r->in_a_field) {
        double place[3] = {to[0], to[1], to[2]};
        plugmc_wrap(&r->system->box, place);
        if (forbidden(r->system, r->species[k], place)) {
            memcpy(to, &r->x[3 * k], 3 * sizeof *to);
            memset(v, 0, 3 * sizeof *v);
        }
    }
    for (int a = 0; a < 3; a++) {
        const double gone = to[a] - r->from[3 * k + a];
        square += gone * gone;
    }
    return square;
}

/* Entries next to each other in memory that may be neighbours of those of a cell. */
typedef struct runs {
    int count;
    int64_t first[27], end[27];
} runs;

/* Cells with consecutive numbers make one run. */
static void find_runs(const relaxation *r, int64_t cell, runs *out)
{
    const uint32_t *start = r->cells.start;
    int64_t around[27];
    const int n = cells_around(&r->grid, cell, around);
    out->count = 0;
    for (int i = 0; i < n; i++) {
        if (i == 0 || around[i] != around[i - 1] + 1) out->first[out->count++] = start[around[i]];
        out->end[out->count - 1] = start[around[i] + 1];
    }
}

/* Moves all. Returns how many were too close to another before; *farthest is how far one is from
 * where it was sorted. */
static int64_t step_all(const relaxation *r, double *farthest)
{
    const uint32_t *start = r->cells.start;
    int64_t close = 0;
    double most = 0;
#pragma omp parallel for schedule(static) num_threads(r->system->threads)                          \
    reduction(+ : close) reduction(max : most)
    for (int64_t c = 0; c < r->grid.cells; c++) {
        runs near;
        if (start[c] < start[c + 1]) find_runs(r, c, &near);
        for (int64_t k = start[c]; k < start[c + 1]; k++) {
            pushes p = {0};
            for (int i = 0; i < near.count; i++) add_pushes(r, k, near.first[i], near.end[i], &p);
            close += p.too_close;
            const double square = move(r, k, &p);
            if (square > most) most = square;
        }
    }
    *farthest = sqrt(most);
    return close;
}
