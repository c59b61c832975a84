/* cpu.c: test insertions on the host, in double precision.
 *
 * Places are taken cell by cell: who may be near a place of a cell is gathered once for all of them, the
 * nearest first, so that most places of a dense fluid are given up after a few distances. Threads share
 * walkers, or the cells of one walker where there are fewer walkers than threads; sums run in the order of
 * cells and places, so the number of threads does not matter. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "widom.h"

/* Particles side by side in memory. */
typedef struct column {
    int64_t n;
    double *x, *y, *z, *charge, *diameter; /* [room for all] */
    int32_t *species;
    plugmc_orientation *orientation; /* NULL: there are no bodies */
} column;

/* What a thread needs of its own. */
typedef struct widom_room {
    /* of a walker */
    column present;  /* who is there, sorted by cell */
    int64_t *start;  /* [cells + 1]: of `present` */
    uint32_t *list;  /* [places], sorted by cell; NULL: they are drawn cell by cell */
    uint32_t *begin; /* [cells + 1]: of `list` */
    double *sums;    /* [cells] */
    int64_t cells;   /* room for so many */
    /* of a cell */
    column near;
    int64_t close; /* the first so many of `near` are looked at first */
} widom_room;

/* A walker whose places are tried. */
typedef struct trial {
    const widom *w;
    const widom_places *places;
    const plugmc_box *box;
    const widom_room *of; /* the walker's */
    const double *multipliers;
    plugmc_images images;
    int images_mode;
    int32_t walker;
} trial;

/* ---- Particles ------------------------------------------------------------------------------- */

static int make_column(column *c, const plugmc_host *host, int64_t n)
{
    double *numbers = host->allocate(host->context, 5 * (size_t)(n + 1) * sizeof *numbers);
    int32_t *species = host->allocate(host->context, (size_t)(n + 1) * sizeof *species);
    plugmc_orientation *orientation = NULL;
    const int bodies = host->system->bodies != 0;
    if (bodies) orientation = host->allocate(host->context, (size_t)(n + 1) * sizeof *orientation);
    *c = (column){
        0,       numbers,    numbers + n, numbers + 2 * n, numbers + 3 * n, numbers + 4 * n,
        species, orientation};
    return numbers && species && (orientation || !bodies) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

static plugmc_particles particles_of(const column *c)
{
    return (plugmc_particles){c->n, c->x, c->y, c->z, c->charge, c->diameter, c->species};
}

static void copy(column *to, int64_t k, const column *from, int64_t i)
{
    to->x[k] = from->x[i];
    to->y[k] = from->y[i];
    to->z[k] = from->z[i];
    to->charge[k] = from->charge[i];
    to->diameter[k] = from->diameter[i];
    to->species[k] = from->species[i];
    if (to->orientation) to->orientation[k] = from->orientation[i];
}

/* Whoever is there, in the order of cells. */
static void take_present(const widom *w, const plugmc_view *view, const plugmc_cells *cells,
                         int32_t walker, widom_room *room)
{
    const plugmc_system *system = w->system;
    const int64_t n = system->particles, *count = view->count + walker * system->species_count;
    const uint32_t *start = cells->start + walker * (cells->cells + 1);
    const uint32_t *order = cells->order + walker * n;
    const double *positions = cells->positions + 3 * walker * n;
    column *c = &room->present;
    c->n = 0;
    for (int64_t cell = 0; cell < cells->cells; cell++) {
        room->start[cell] = c->n;
        for (uint32_t k = start[cell]; k < start[cell + 1]; k++) {
            int32_t s = 0;
            while (order[k] >= system->first[s + 1]) s++;
            if (order[k] >= system->first[s] + count[s]) continue;
            c->x[c->n] = positions[3 * k];
            c->y[c->n] = positions[3 * k + 1];
            c->z[c->n] = positions[3 * k + 2];
            if (c->orientation)
                c->orientation[c->n] = view->orientations[walker * n + (int64_t)order[k]];
            c->charge[c->n] = plugmc_species_at(system, s)->charge;
            c->diameter[c->n] = plugmc_species_at(system, s)->diameter;
            c->species[c->n++] = s;
        }
    }
    room->start[cells->cells] = c->n;
}

/* Those who may be within reach of a place in the cell: first those whose square of the distance from it is
 * at most `close`. Both have a hair for rounding. */
static void gather(const trial *t, uint32_t cell, double close, column *near, int64_t *close_count)
{
    const widom_room *of = t->of;
    const widom_cell at = widom_cell_at(t->places, t->box, cell);
    const widom_range around = widom_around(t->places, t->box, &at);
    const double reach = t->places->reach * t->places->reach * (1 + 1e-9);
    int64_t n = 0, back = t->w->system->particles;
    for (int32_t i = 0; i < around.n[0] * around.n[1] * around.n[2]; i++) {
        const uint32_t other = widom_cell_around(t->places, &around, i);
        for (int64_t k = of->start[other]; k < of->start[other + 1]; k++) {
            const double r[3] = {of->present.x[k], of->present.y[k], of->present.z[k]};
            const double square = widom_square_from(t->box, &at, r);
            if (square <= close)
                copy(near, n++, &of->present, k);
            else if (square < reach)
                copy(near, --back, &of->present, k); /* from behind, backwards */
        }
    }
    *close_count = n;
    for (int64_t k = back; k < t->w->system->particles; k++) copy(near, n++, near, k);
    near->n = n;
}

/* ---- One test particle ----------------------------------------------------------------------- */

/* Whether one of the closest forbids the place. */
static int is_taken(const trial *t, const widom_room *room, const double *square, const double r[3])
{
    for (int64_t k = 0; k < room->close; k++) {
        const plugmc_separation s =
            plugmc_separate(r[0] - room->near.x[k], r[1] - room->near.y[k], r[2] - room->near.z[k],
                            &t->images, t->images_mode);
        if (s.r2 < square[room->near.species[k]]) return 1;
    }
    return 0;
}

/* exp(-dU/kT), without totals, at a place, of this number, that no hard core of a near one has taken. */
static double boltzmann_factor(const trial *t, const widom_room *room, uint32_t place,
                               const double r[3])
{
    const widom *w = t->w;
    const plugmc_species *species = plugmc_species_at(w->system, w->inserted);
    const plugmc_particle probe = {r[0],       r[1], r[2], species->charge, species->diameter,
                                   w->inserted};
    const plugmc_particles one = {
        1, &probe.x, &probe.y, &probe.z, &probe.charge, &probe.diameter, &probe.species};
    const plugmc_particles near = particles_of(&room->near), all = particles_of(&t->of->present);
    const int periodic = t->box->domain == PLUGMC_DOMAIN_PERIODIC;
    /* Movers number what they draw from 0 on: theirs in this sweep are others. */
    const plugmc_orientation turned =
        near.n && room->near.orientation
            ? plugmc_draw_orientation(t->places->seed, t->places->sweep, (uint32_t)t->walker,
                                      place | 1u << 31, t->box->dimension)
            : plugmc_upright(t->box->dimension);
    double growth = 0;
    for (int32_t k = 0; k < w->term_count; k++) {
        const widom_term *term = &w->terms[k];
        const double factor = widom_multiplier(w, t->multipliers, term->index);
        double energy = 0;
        int64_t forbidden = 0;
        if (term->field) forbidden += term->field->energy(term->of->instance, &one, &energy);
        if (term->near && term->near->functions & PLUGMC_PAIR_ENERGY)
            forbidden +=
                term->near->energy(term->of->instance, t->box, periodic, &probe, &near, &energy);
        if (term->body)
            forbidden += term->body->energy(term->of->instance, t->box, periodic, &probe, &turned,
                                            &near, room->near.orientation, &energy);
        if (term->far)
            forbidden +=
                term->far->energy(term->of->instance, t->box, periodic, &probe, &all, &energy);
        if (forbidden) return 0;
        if (factor != 0) growth += factor * energy; /* else it may be infinite */
    }
    return exp(-growth);
}

/* Sum over the places of a cell. */
static double sum_of_cell(const trial *t, uint32_t cell, widom_room *room)
{
    const widom_places *p = t->places;
    const widom *w = t->w;
    const uint32_t *list = p->per_cell ? NULL : t->of->list;
    const uint32_t first = list ? t->of->begin[cell] : cell * p->per_cell,
                   end = list ? t->of->begin[cell + 1] : first + p->per_cell;
    double sum = 0, widest = 0;
    if (first == end) return 0;
    for (int32_t s = 0; s < w->system->species_count; s++)
        widest = fmax(widest, w->square[WIDOM_HOPELESS][s]);
    room->near.n = room->close = 0;
    if (p->reach > 0) gather(t, cell, widest * (1 + 1e-9), &room->near, &room->close);
    const double *square =
        w->square[room->near.n <= w->near_limit ? WIDOM_HOPELESS : WIDOM_OVERLAP];
    for (uint32_t k = first; k < end; k++) {
        double r[3], f[3];
        const uint32_t place = list ? list[k] : k;
        widom_place(p, t->box, (uint32_t)t->walker, place, r, f);
        if (!is_taken(t, room, square, r)) sum += boltzmann_factor(t, room, place, r);
    }
    return sum;
}

/* ---- A walker -------------------------------------------------------------------------------- */

/* Uniform places, sorted by cell; within a cell in their order. */
static void sort_places(const widom_places *p, const plugmc_box *box, int32_t walker,
                        widom_room *room)
{
    double r[3], f[3];
    memset(room->begin, 0, ((size_t)p->cells + 1) * sizeof *room->begin);
    for (uint32_t k = 0; k < p->places; k++) {
        widom_place(p, box, (uint32_t)walker, k, r, f);
        room->begin[widom_cell_of(p, f)]++;
    }
    uint32_t before = 0;
    for (uint32_t c = 0; c < p->cells; c++) {
        const uint32_t here = room->begin[c];
        room->begin[c] = before;
        before += here;
    }
    for (uint32_t k = 0; k < p->places; k++) {
        widom_place(p, box, (uint32_t)walker, k, r, f);
        room->list[room->begin[widom_cell_of(p, f)]++] = k;
    }
    for (uint32_t c = p->cells; c > 0; c--) room->begin[c] = room->begin[c - 1];
    room->begin[0] = 0;
}

/* The mean over the places of a walker; rooms [threads], the first of them for what is of the walker. */
static double mean_of_walker(trial *t, const plugmc_view *view, const plugmc_cells *cells,
                             widom_room *rooms, int threads)
{
    const widom_places *p = t->places;
    take_present(t->w, view, cells, t->walker, rooms);
    if (!p->per_cell) sort_places(p, t->box, t->walker, rooms);
    t->of = rooms;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8) if (threads > 1)
    for (uint32_t cell = 0; cell < p->cells; cell++)
        rooms->sums[cell] = sum_of_cell(t, cell, &rooms[threads > 1 ? omp_get_thread_num() : 0]);
    double sum = 0;
    for (uint32_t cell = 0; cell < p->cells; cell++) sum += rooms->sums[cell];
    return sum / p->places;
}

/* ---- All walkers ----------------------------------------------------------------------------- */

/* Cells change with the box. Memory of the host is kept until the run ends, so room grows by steps. */
static int make_cell_room(widom_room *room, const plugmc_host *host, int64_t cells)
{
    if (room->cells >= cells) return PLUGMC_OK;
    const size_t n = (size_t)cells + (size_t)cells / 2 + 1;
    room->start = host->allocate(host->context, n * sizeof *room->start);
    room->begin = host->allocate(host->context, n * sizeof *room->begin);
    room->sums = host->allocate(host->context, n * sizeof *room->sums);
    if (!room->start || !room->begin || !room->sums)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld cells",
                          (long long)cells);
    room->cells = (int64_t)n - 1;
    return PLUGMC_OK;
}

int widom_insert_cpu(widom *w, const plugmc_host *host, const plugmc_view *view)
{
    const plugmc_system *system = w->system;
    const int side_by_side = system->walkers >= system->threads && system->threads > 1;
    const int outer = side_by_side ? system->threads : 1,
              inner = side_by_side ? 1 : system->threads;
    plugmc_cells cells = {.size = sizeof cells};
    widom_places places;
    const double *multipliers;
    size_t row;
    int code = widom_lay_out(w, host, view, &cells, &places);
    if (!code) code = widom_multipliers(w, host, PLUGMC_ON_HOST, &multipliers, &row);
    for (int i = 0; i < outer && !code; i++)
        code = make_cell_room(&w->rooms[i], host, places.cells);
    if (code) return code;
#pragma omp parallel for num_threads(outer) schedule(dynamic) if (outer > 1)
    for (int32_t walker = 0; walker < system->walkers; walker++) {
        const double *own =
            multipliers ? (const double *)((const char *)multipliers + (size_t)walker * row) : NULL;
        trial t = {.w = w,
                   .places = &places,
                   .box = &view->box[walker],
                   .multipliers = own,
                   .walker = walker};
        t.images_mode = plugmc_images_of(t.box, t.box->domain == PLUGMC_DOMAIN_PERIODIC, &t.images);
        w->found[walker] = mean_of_walker(&t, view, &cells,
                                          &w->rooms[outer > 1 ? omp_get_thread_num() : 0], inner);
    }
    return PLUGMC_OK;
}

int widom_prepare_cpu(widom *w, const plugmc_host *host)
{
    const int32_t threads = host->system->threads;
    const size_t places = w->placement == WIDOM_UNIFORM ? (size_t)w->insertions : 1;
    const int lists = host->system->walkers < threads ? host->system->walkers : threads;
    w->rooms = host->allocate(host->context, (size_t)threads * sizeof *w->rooms);
    int code = w->rooms ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int i = 0; i < threads && !code; i++) {
        widom_room *room = &w->rooms[i];
        code = make_column(&room->near, host, host->system->particles);
        if (i >= lists || code) continue;
        code = make_column(&room->present, host, host->system->particles);
        room->list = host->allocate(host->context, places * sizeof *room->list);
        if (!room->list) code = PLUGMC_ERROR_MEMORY;
    }
    return code ? host->fail(host->context, code,
                             "no memory for %lld test insertions among %lld particles",
                             (long long)w->insertions, (long long)host->system->particles)
                : PLUGMC_OK;
}
