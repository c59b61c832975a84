/* body_pressure: the pressure of hard bodies, from their free paths.
 *
 * Move body i along an axis a of the box and hold everything else, its orientation too: where it may be is an interval, its
 * free path up plus that down, of length l. Let d_up be the component along a of the separation from i to the body that it
 * touches at the upper end, and d_down the same at the lower end, along the direction in which it goes there. As for disks
 * (hard_pressure, whose first lines have the derivation) the density of finding i at either end is 1/l, and the slope of the
 * gap by which two bodies come apart cancels, so that with V the volume
 *
 *     beta P_a V = N + 1/2 < sum_i (d_up + d_down) / l >.
 *
 * d is signed: a long body may be stopped by one whose centre is behind its own, and two that interlock pull the box
 * together. It is exact for any N, bodies of any shape and any mixture, also with hard disks or spheres; a body with nothing
 * in its way along the whole box adds nothing. What to know of the error bar is said in hard_pressure, too.
 *
 * Where the energy of bodies has steps, as that of patches, the density along the path goes as w = exp(-u / kT), and each step
 * is a wall that is not high: with I the integral of w along the path and x the component of the separation to i from the body
 * at whose step it is,
 *
 *     beta P_a V = N + 1/2 < sum_i (w_up d_up + w_down d_down + sum over steps (change of w) x) / I >.
 *
 * Free paths are those of the potentials (body_path in plugmc/body.h). A body goes down until it meets another one as far
 * as that one goes up until it meets the body. Few paths are followed: those to others in the cells around a body in the order of
 * what they are at least, until that is more than the shortest one. It is known from the spheres around two bodies, and from an
 * empty slab between them (plugmc_body.slab), which bounds paths along all axes and says in which directions there are none.
 */
#include <string.h>

#include <plugmc/everything.h>

#include "energy_line.h"
#include "walker_boxes.h"

typedef struct body_pressure {
    const plugmc_system *system;
    int32_t dimension, scalars;
    double range;    /* largest distance of two centres at contact, or with an energy, length */
    double energies; /* largest distance of two centres with an energy; 0: there is none */
    double *reach;   /* [species] of bodies; 0: not a body */
    double *contact; /* [species][species] of hard cores, length */
    double *near; /* [species][species] no contact beyond this distance, length; 0: none at all */
    double (*share)[3];       /* [walkers][particles] of the sum, along each axis */
    plugmc_particle *kinds;   /* [species] at the origin */
    int32_t *terms;           /* [bodies] sampled terms of bodies */
    const plugmc_body **body; /* [bodies] */
    int32_t bodies;
} body_pressure;

/* One walker. */
typedef struct task {
    const body_pressure *p;
    const plugmc_box *box;
    const plugmc_orientation *orientations; /* [particles] */
    const uint32_t *start, *order;
    const double *positions; /* [entries][3] */
    const int32_t *count;    /* of cells */
} task;

/* How far a body goes, and the component of the separation from it to the one that it then touches. */
typedef struct stop {
    double path, separation;
} stop;

/* Another body in the cells around one. Lengths. */
typedef struct neighbour {
    uint32_t entry;
    int32_t kind;
    double near;       /* no contact beyond this distance */
    double nearest[3]; /* to its nearest image */
    double aside[3];   /* square of its distance across each axis */
    int32_t box[3];    /* where the cell was looked at: 0, or 1 or -1 across an edge of the box */
    double
        slab; /* width of an empty slab between the two, if it is the nearest image; 0: not known */
    double normal[3]; /* of the slab, towards the neighbour */
    double bound;     /* the path is at least so long */
    int32_t image;    /* in which box ahead it is that the path is to */
    double ahead;     /* how far it is ahead there */
    int32_t looks;    /* how often the path was bounded better */
} neighbour;

/* Paths are bounded better so often before they are followed. */
enum { CLOSER = 1 };

/* What a thread needs. */
typedef struct workspace {
    energy_line line;
    neighbour *of;                    /* of one body */
    int32_t *column[3], in_column[3]; /* those that it can meet along each axis */
    neighbour **open;                 /* those whose paths may be the shortest */
    int32_t count, room;
    int lost; /* there was no memory */
} workspace;

/* ---- Two bodies ---------------------------------------------------------------------------- */

static int32_t kind_of(const plugmc_system *system, uint32_t particle)
{
    int32_t s = 0;
    while (particle >= system->first[s + 1]) s++;
    return s;
}

/* Until two spheres touch, of which the other one is `ahead` and `aside`. */
static double path_of_spheres(double contact, double ahead, double square_aside)
{
    const double square = contact * contact - square_aside;
    if (!(square > 0) || ahead + sqrt(square) <= 0) return INFINITY;
    return fmax(0, ahead - sqrt(square));
}

/* How far i goes along +axis until it touches j, which is at r from it. */
static double path_to(const task *t, int axis, uint32_t i, int32_t kind, uint32_t j, int32_t other,
                      const double r[3])
{
    const body_pressure *p = t->p;
    const plugmc_system *system = p->system;
    double path = INFINITY;
    const double contact = p->contact[kind * system->species_count + other];
    if (contact > 0)
        path = path_of_spheres(contact, r[axis],
                               r[0] * r[0] + r[1] * r[1] + r[2] * r[2] - r[axis] * r[axis]);
    if (!(p->reach[kind] > 0 && p->reach[other] > 0)) return path;
    const plugmc_particles one = {.n = 1,
                                  .x = &r[0],
                                  .y = &r[1],
                                  .z = &r[2],
                                  .charge = &p->kinds[other].charge,
                                  .diameter = &p->kinds[other].diameter,
                                  .species = &p->kinds[other].species};
    for (int32_t k = 0; k < p->bodies; k++) {
        double own;
        p->body[k]->paths(plugmc_term_at(system, p->terms[k])->instance, p->dimension, axis,
                          &p->kinds[kind], &t->orientations[i], &one, &t->orientations[j], &own);
        path = fmin(path, own);
    }
    return path;
}

/* The body at entry k, on its way to that at entry m, of which `aside` has the components across the axis: it is stopped there,
 * unless it is before. */
static void follow_path(const task *t, uint32_t k, uint32_t m, int axis, int up,
                        const double aside[3], double ahead, stop *first)
{
    const uint32_t i = t->order[k], j = t->order[m];
    const int32_t kind = kind_of(t->p->system, i), other = kind_of(t->p->system, j);
    double r[3], path;
    for (int d = 0; d < 3; d++) r[d] = d == axis ? ahead : up * aside[d];
    path = up > 0 ? path_to(t, axis, i, kind, j, other, r) : path_to(t, axis, j, other, i, kind, r);
    if (path < first->path) *first = (stop){path, ahead - path};
}

/* ---- One body ------------------------------------------------------------------------------- */

/* Cells beside one along a direction, three at most, and in which box each is seen: 0, or 1 or -1 across an edge. With fewer
 * than three all of them, in the box. */
static int32_t beside(const task *t, int32_t cell, int d, int32_t cells[3], int32_t box[3])
{
    const int32_t count = t->count[d], number = count < 3 ? count : 3;
    for (int32_t k = 0; k < number; k++) {
        const int32_t unwrapped = count < 3 ? k : cell + k - 1;
        box[k] = (unwrapped + count) / count - 1;
        cells[k] = unwrapped - box[k] * count;
    }
    return number;
}

static void own_cell(const task *t, uint32_t k, int32_t own[3])
{
    for (int d = 0; d < 3; d++) {
        const double length = d < t->p->dimension ? t->box->length[d] : 1;
        own[d] =
            plugmc_cell_along(t->positions[3 * (size_t)k + d], length / t->count[d], t->count[d]);
    }
}

/* An empty slab between the body at entry k and a neighbour at r from it: its width, 0 if none is known. */
static double slab_to(const task *t, uint32_t k, const neighbour *b, const double r[3],
                      double normal[3])
{
    const body_pressure *p = t->p;
    const uint32_t i = t->order[k];
    const int32_t kind = kind_of(p->system, i);
    const double apart[3] = {-r[0], -r[1], -r[2]};
    if (p->bodies > 1 || !PLUGMC_HAS(p->body[0], slab) || !p->body[0]->slab) return 0;
    if (p->contact[kind * p->system->species_count + b->kind] > 0) return 0;
    return p->body[0]->slab(plugmc_term_at(p->system, p->terms[0])->instance, p->dimension, apart,
                            &p->kinds[kind], &t->orientations[i], &p->kinds[b->kind],
                            &t->orientations[t->order[b->entry]], normal);
}

static int has_room(workspace *w)
{
    if (w->count < w->room) return 1;
    const int32_t room = 2 * w->room + 64;
    neighbour *of = realloc(w->of, (size_t)room * sizeof *of),
              **open = realloc(w->open, (size_t)room * sizeof *open);
    w->of = of ? of : w->of;
    w->open = open ? open : w->open;
    w->lost |= !of || !open;
    for (int a = 0; a < 3; a++) {
        int32_t *column = realloc(w->column[a], (size_t)room * sizeof *column);
        w->column[a] = column ? column : w->column[a];
        w->lost |= !column;
    }
    w->room = w->lost ? w->room : room;
    return !w->lost;
}

/* Adds the bodies of one cell that the body at entry k can meet along any axis. */
static void add_neighbours(const task *t, uint32_t k, uint32_t cell, const int32_t box[3],
                           workspace *w)
{
    const body_pressure *p = t->p;
    const double *from = t->positions + 3 * (size_t)k;
    const uint32_t i = t->order[k];
    const int32_t kind = kind_of(p->system, i);
    for (uint32_t m = t->start[cell]; m < t->start[cell + 1]; m++) {
        const double *to = t->positions + 3 * (size_t)m;
        const int32_t other = kind_of(p->system, t->order[m]);
        const double near = p->near[kind * p->system->species_count + other];
        double r[3] = {0, 0, 0};
        if (m == k) continue; /* its images move with it */
        if (!has_room(w)) return;
        neighbour *b = &w->of[w->count];
        for (int d = 0; d < p->dimension; d++)
            r[d] = plugmc_nearest_image(to[d] - from[d], t->box->length[d]);
        int meets = 0;
        for (int a = 0; a < p->dimension; a++) {
            b->aside[a] = 0;
            for (int d = 0; d < p->dimension; d++) b->aside[a] += d == a ? 0 : r[d] * r[d];
            if (b->aside[a] >= near * near) continue;
            w->column[a][w->in_column[a]++] = w->count;
            meets = 1;
        }
        if (!meets) continue;
        b->entry = m, b->kind = other, b->near = near, b->slab = 0;
        for (int d = 0; d < 3; d++) b->nearest[d] = r[d], b->box[d] = box[d];
        if (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < near * near)
            b->slab = slab_to(t, k, b, r, b->normal);
        w->count++;
    }
}

/* The neighbours of the body at entry k. */
static void find_neighbours(const task *t, uint32_t k, workspace *w)
{
    int32_t own[3], cells[3][3], number[3];
    int32_t box[3][3];
    own_cell(t, k, own);
    for (int d = 0; d < 3; d++) number[d] = beside(t, own[d], d, cells[d], box[d]);
    w->count = 0;
    for (int a = 0; a < 3; a++) w->in_column[a] = 0;
    for (int32_t z = 0; z < number[2]; z++)
        for (int32_t y = 0; y < number[1]; y++)
            for (int32_t x = 0; x < number[0]; x++) {
                const int32_t cell =
                    (cells[2][z] * t->count[1] + cells[1][y]) * t->count[0] + cells[0][x];
                const int32_t seen[3] = {box[0][x], box[1][y], box[2][z]};
                add_neighbours(t, k, (uint32_t)cell, seen, w);
            }
}

/* What the path to an image of a neighbour is at least, `ahead` of the body; INFINITY: it does not meet it. */
static double least_path(const neighbour *b, int axis, int up, double aside, double ahead)
{
    /* half of what the line has of the sphere in which the other one's centre can be */
    const double half = sqrt(b->near * b->near - aside) + 1e-9 * b->near;
    if (ahead <= -half) return INFINITY;
    if (!(b->slab > 0) || fabs(ahead - up * b->nearest[axis]) > b->near) return ahead - half;
    const double slope = up * b->normal[axis];
    if (!(slope > 0)) return INFINITY;
    const double bound = b->slab / slope * (1 - 1e-9);
    return bound > ahead - half ? bound : ahead - half;
}

/* Bounds the path to the first image of a neighbour that the body can meet, from the `image`-th box on. */
static void bound_path(const task *t, uint32_t k, neighbour *b, int axis, int up, int32_t image)
{
    /* along few cells its images a box behind and ahead can be nearer than those of others that were seen */
    const int32_t last = t->count[axis] < 3 ? 1 : 0;
    b->bound = INFINITY;
    for (b->image = image; b->image <= last; b->image++) {
        const double shift = (b->box[axis] + up * b->image) * t->box->length[axis];
        b->ahead = up * (t->positions[3 * (size_t)b->entry + axis] + shift -
                         t->positions[3 * (size_t)k + axis]);
        b->looks = 0;
        b->bound = least_path(b, axis, up, b->aside[axis], b->ahead);
        if (b->bound < INFINITY) return;
    }
}

/* Whether there is an empty slab between a neighbour and the body at the end of its bounded path, which bounds it better. */
static int bound_closer(const task *t, uint32_t k, neighbour *b, int axis, int up)
{
    double r[3] = {b->nearest[0], b->nearest[1], b->nearest[2]}, normal[3];
    r[axis] = up * (b->ahead - b->bound);
    const double slab = slab_to(t, k, b, r, normal), slope = up * normal[axis];
    if (!(slab > 0)) return 0;
    b->bound = slope > 0 ? b->bound + slab / slope * (1 - 1e-9) : INFINITY;
    return 1;
}

/* Goes along the axis until the body at entry k meets a neighbour: follows the path that is bounded least, as long as one may be
 * shorter than the shortest. */
static stop stop_among(const task *t, uint32_t k, int axis, int up, workspace *w)
{
    stop first = {INFINITY, 0};
    int32_t open = 0;
    neighbour *next = NULL;
    for (int32_t m = 0; m < w->in_column[axis]; m++) {
        neighbour *b = &w->of[w->column[axis][m]];
        bound_path(t, k, b, axis, up, t->count[axis] < 3 ? -1 : 0);
        if (!(b->bound < INFINITY)) continue;
        w->open[open++] = b;
        if (!next || b->bound < next->bound) next = b;
    }
    while (next) {
        int32_t left = 0;
        if (!(next->looks++ < CLOSER && bound_closer(t, k, next, axis, up))) {
            follow_path(t, k, next->entry, axis, up, next->nearest, next->ahead, &first);
            next->bound = INFINITY;
        }
        if (!(next->bound < INFINITY)) bound_path(t, k, next, axis, up, next->image + 1);
        next = NULL;
        for (int32_t m = 0; m < open; m++) {
            neighbour *b = w->open[m];
            if (!(b->bound < first.path)) continue;
            w->open[left++] = b;
            if (!next || b->bound < next->bound) next = b;
        }
        open = left;
    }
    return first;
}

/* What the body at entry k touches first among those of one cell. up: 1 or -1; shift: length, of the cell along the axis,
 * where it is seen across an edge of the box. */
static void look_into(const task *t, uint32_t k, int axis, int up, uint32_t cell, double shift,
                      stop *first)
{
    const body_pressure *p = t->p;
    const double *from = t->positions + 3 * (size_t)k;
    const int32_t kind = kind_of(p->system, t->order[k]);
    for (uint32_t m = t->start[cell]; m < t->start[cell + 1]; m++) {
        const double *to = t->positions + 3 * (size_t)m;
        neighbour b = {
            .near = p->near[kind * p->system->species_count + kind_of(p->system, t->order[m])]};
        double aside = 0;
        if (m == k) continue; /* its images move with it */
        for (int d = 0; d < p->dimension; d++) {
            if (d == axis) continue;
            b.nearest[d] = plugmc_nearest_image(to[d] - from[d], t->box->length[d]);
            aside += b.nearest[d] * b.nearest[d];
        }
        const double ahead = up * (to[axis] + shift - from[axis]);
        if (aside < b.near * b.near && least_path(&b, axis, up, aside, ahead) < first->path)
            follow_path(t, k, m, axis, up, b.nearest, ahead, first);
    }
}

/* Where the body at entry k is stopped along an axis: among its neighbours, or in layers of cells beyond, one after the other up
 * to its own one, a box ahead. */
static stop find_stop(const task *t, uint32_t k, int axis, int up, workspace *w)
{
    const int32_t count = t->count[axis];
    const double *at = t->positions + 3 * (size_t)k, width = t->box->length[axis] / count;
    int32_t own[3], columns[3][3], box[3][3], number[3];
    stop first = stop_among(t, k, axis, up, w);
    own_cell(t, k, own);
    for (int d = 0; d < 3; d++) number[d] = beside(t, own[d], d, columns[d], box[d]);
    number[axis] = 1;
    for (int32_t layer = 2; layer <= count && count > 2; layer++) {
        const int32_t unwrapped = own[axis] + up * layer,
                      boxes = (unwrapped + 2 * count) / count - 2;
        const double nearest =
            up > 0 ? unwrapped * width - at[axis] : at[axis] - (unwrapped + 1) * width;
        if (nearest - t->p->range >= first.path) break;
        columns[axis][0] = unwrapped - boxes * count;
        for (int32_t x = 0; x < number[0]; x++)
            for (int32_t y = 0; y < number[1]; y++)
                for (int32_t z = 0; z < number[2]; z++) {
                    const int32_t cell =
                        (columns[2][z] * t->count[1] + columns[1][y]) * t->count[0] + columns[0][x];
                    look_into(t, k, axis, up, (uint32_t)cell, boxes * t->box->length[axis], &first);
                }
    }
    return first;
}

/* ---- Steps of the energy ---------------------------------------------------------------------- */

/* What exp(-u) has of a term. */
static double multiplier_of(const plugmc_system *system, int32_t term)
{
    return system->weighted ? system->of_rungs[term] : 1 / system->temperature;
}

/* The places of a term's steps between i and j, at r from it, on the line from `from` to `to`, in their order. Returns how many. */
static int32_t places_of_steps(const task *t, int32_t which, uint32_t i, uint32_t j,
                               const double r[3], int axis, double from, double to,
                               double places[PLUGMC_MOST_STEPS])
{
    const body_pressure *p = t->p;
    const double apart[3] = {-r[0], -r[1], -r[2]};
    double steps[PLUGMC_MOST_STEPS];
    int32_t n = 0;
    const int32_t all =
        p->body[which]->steps(plugmc_term_at(p->system, p->terms[which])->instance, p->dimension,
                              axis, apart, &p->kinds[kind_of(p->system, i)], &t->orientations[i],
                              &p->kinds[kind_of(p->system, j)], &t->orientations[j], steps);
    for (int32_t k = 0; k < all; k++) {
        int32_t at = n;
        if (!(steps[k] > from && steps[k] < to)) continue;
        for (n++; at > 0 && places[at - 1] > steps[k]; at--) places[at] = places[at - 1];
        places[at] = steps[k];
    }
    return n;
}

/* The steps of a term between i and j, at r from it, on the line from `from` to `to`. */
static void add_steps_of_term(const task *t, int32_t which, uint32_t i, uint32_t j,
                              const double r[3], int axis, double from, double to,
                              energy_line *line)
{
    const body_pressure *p = t->p;
    const plugmc_system *system = p->system;
    const plugmc_term *term = plugmc_term_at(system, p->terms[which]);
    const plugmc_particle *own = &p->kinds[kind_of(system, i)],
                          *other = &p->kinds[kind_of(system, j)];
    double aside = 0, places[PLUGMC_MOST_STEPS], before = NAN;
    for (int d = 0; d < 3; d++) aside += d == axis ? 0 : r[d] * r[d];
    /* what the line has of the sphere beyond which there is no energy */
    const double half = sqrt(p->energies * p->energies - aside) + 1e-9 * p->energies,
                 first = fmax(from, r[axis] - half), last = fmin(to, r[axis] + half);
    const int32_t n = places_of_steps(t, which, i, j, r, axis, first, last, places);
    for (int32_t k = -1; k < n; k++) {
        const double at = k < 0 ? from : places[k], next = k + 1 < n ? places[k + 1] : to,
                     middle = (at + next) / 2;
        double x[3] = {r[0], r[1], r[2]}, energy = 0;
        x[axis] -= middle;
        const plugmc_particles one = {
            1, &x[0], &x[1], &x[2], &other->charge, &other->diameter, &other->species};
        const int64_t overlaps =
            p->body[which]->energy(term->instance, t->box, 0, own, &t->orientations[i], &one,
                                   &t->orientations[j], &energy);
        if (overlaps) energy = isnan(before) ? 0 : before; /* an interval as long as rounding */
        energy *= overlaps ? 1 : multiplier_of(system, p->terms[which]);
        if (k >= 0 && energy != before)
            energy_line_add(line, (energy_step){at, energy - before, at - r[axis]});
        before = energy;
    }
}

/* The steps between the body at entry k and those of one cell, with all their images. */
static void add_steps_of_cell(const task *t, uint32_t k, int axis, uint32_t cell, double from,
                              double to, energy_line *line)
{
    const body_pressure *p = t->p;
    const double *at = t->positions + 3 * (size_t)k, length = t->box->length[axis];
    for (uint32_t m = t->start[cell]; m < t->start[cell + 1]; m++) {
        double r[3] = {0, 0, 0}, aside = 0;
        if (m == k) continue;
        for (int d = 0; d < p->dimension; d++) {
            r[d] = t->positions[3 * (size_t)m + d] - at[d];
            if (d == axis) continue;
            r[d] = plugmc_nearest_image(r[d], t->box->length[d]);
            aside += r[d] * r[d];
        }
        if (aside >= p->energies * p->energies) continue;
        const double first = r[axis];
        for (int image = (int)ceil((from - p->energies - first) / length);
             first + image * length < to + p->energies; image++) {
            r[axis] = first + image * length;
            for (int32_t which = 0; which < p->bodies; which++)
                if (p->body[which]->functions & PLUGMC_BODY_ENERGY)
                    add_steps_of_term(t, which, t->order[k], t->order[m], r, axis, from, to, line);
        }
    }
}

/* The share of the body at entry k, stopped like this; NAN without memory. */
static double share_with_energies(const task *t, uint32_t k, int axis, stop down, stop up,
                                  energy_line *line)
{
    const body_pressure *p = t->p;
    const double at = t->positions[3 * (size_t)k + axis], length = t->box->length[axis];
    const int closed = !isfinite(up.path + down.path);
    const double from = closed ? 0 : -down.path, to = closed ? length : up.path;
    int32_t own[3], columns[3][3], box[3][3], number[3];
    line->count = 0;
    own_cell(t, k, own);
    for (int d = 0; d < 3; d++) number[d] = beside(t, own[d], d, columns[d], box[d]);
    number[axis] = 1;
    /* layers with a body whose energy can change, a little more for rounding */
    const int32_t count = t->count[axis];
    const double wide = p->energies * (1 + 1e-9);
    const int64_t lowest = (int64_t)floor((at + from - wide) / length * count),
                  highest = (int64_t)floor((at + to + wide) / length * count),
                  layers = highest - lowest + 1 < count ? highest - lowest + 1 : count;
    for (int64_t layer = lowest; layer < lowest + layers; layer++) {
        columns[axis][0] = (int32_t)((layer % count + count) % count);
        for (int32_t x = 0; x < number[0]; x++)
            for (int32_t y = 0; y < number[1]; y++)
                for (int32_t z = 0; z < number[2]; z++) {
                    const int32_t cell =
                        (columns[2][z] * t->count[1] + columns[1][y]) * t->count[0] + columns[0][x];
                    add_steps_of_cell(t, k, axis, (uint32_t)cell, from, to, line);
                }
    }
    if (line->lost) return NAN;
    return energy_line_share(line, from, to, closed ? 0 : down.separation,
                             closed ? 0 : up.separation);
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* What a share of the threads' work is: this many bodies of a walker. */
enum { TOGETHER = 16 };

/* Puts the share of bodies [k, end) of a walker into `share`. Returns how many cannot go anywhere. */
static int64_t find_shares(const task *t, uint32_t k, uint32_t end, workspace *w,
                           double (*share)[3])
{
    int64_t stuck = 0;
    for (; k < end; k++) {
        find_neighbours(t, k, w);
        for (int a = 0; a < t->p->dimension; a++) {
            const stop up = find_stop(t, k, a, 1, w), down = find_stop(t, k, a, -1, w);
            const double path = up.path + down.path;
            if (w->lost)
                share[k][a] = NAN;
            else if (t->p->energies > 0 && path > 0)
                share[k][a] = share_with_energies(t, k, a, down, up, &w->line);
            else
                share[k][a] = isfinite(path) ? (up.separation + down.separation) / path : 0;
            stuck += !(path > 0);
        }
    }
    return stuck;
}

static task task_of(const body_pressure *p, const plugmc_view *view, const plugmc_cells *cells,
                    int32_t w)
{
    const int64_t first = w * p->system->particles;
    return (task){p,
                  &view->box[w],
                  view->orientations + first,
                  cells->start + w * (cells->cells + 1),
                  cells->order + first,
                  cells->positions + 3 * first,
                  cells->count};
}

/* The shares of all bodies. Threads take parts of all walkers, which may be many and small. */
static int64_t find_all_shares(const body_pressure *p, const plugmc_view *view,
                               const plugmc_cells *cells)
{
    const plugmc_system *system = p->system;
    const int64_t parts = (system->particles + TOGETHER - 1) / TOGETHER;
    int64_t stuck = 0;
#pragma omp parallel num_threads(system->threads) reduction(+ : stuck)
    {
        workspace work = {.of = NULL};
#pragma omp for schedule(dynamic, 1)
        for (int64_t part = 0; part < parts * system->walkers; part++) {
            const int32_t w = (int32_t)(part / parts);
            const task t = task_of(p, view, cells, w);
            const uint32_t n = t.start[cells->cells], k = (uint32_t)(part % parts) * TOGETHER;
            stuck += find_shares(&t, k, n < k + TOGETHER ? n : k + TOGETHER, &work,
                                 p->share + w * system->particles);
        }
        free(work.line.steps);
        free(work.of);
        free(work.open);
        for (int a = 0; a < 3; a++) free(work.column[a]);
    }
    return stuck;
}

/* values [walkers][scalars]: the mean over the axes, then along each axis, then P V / (N kT). */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    body_pressure *p = instance;
    const plugmc_system *system = p->system;
    plugmc_cells cells = {.size = sizeof cells};
    int code = check_reach(host, view, p->range, "the largest distance of two bodies that touch");
    if (!code) code = view->cells(view, p->range, &cells);
    if (!code && find_all_shares(p, view, &cells))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "bodies overlap in the configuration after sweep %llu",
                          (unsigned long long)view->sweep);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const uint32_t n = cells.start[w * (cells.cells + 1) + cells.cells];
        const double(*share)[3] = p->share + w * system->particles;
        double sum[3] = {0}, *out = values + w * p->scalars;
        for (uint32_t k = 0; k < n; k++)
            for (int a = 0; a < p->dimension; a++) sum[a] += share[k][a];
        if (isnan(sum[0] + sum[1] + sum[2]))
            return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                              "no memory for the neighbours of a body");
        out[0] = 0;
        for (int a = 0; a < p->dimension; a++) {
            out[1 + a] = (n + 0.5 * sum[a]) / view->box[w].volume;
            out[0] += out[1 + a] / p->dimension;
        }
        out[1 + p->dimension] = n > 0 ? out[0] * view->box[w].volume / n : 1;
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const names[] = {"pressure", "pressure_x", "pressure_y", "pressure_z"},
                             *const docs[] = {"mean over the axes", "along x", "along y",
                                              "along z"};
    const int32_t dimension = ((const body_pressure *)instance)->dimension;
    if (index > dimension + 1) return 0;
    if (index > dimension) return plugmc_scalar(out, "compressibility_factor", "", "P V / (N kT)");
    return plugmc_scalar(out, names[index], dimension == 2 ? "kT/length^2" : "kT/length^3",
                         docs[index]);
}

/* ---- Preparation ---------------------------------------------------------------------------- */

/* An error if there is another force than that of hard bodies and hard cores. */
static int check_terms(const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    int bodies = 0;
    for (int32_t i = 0; i < system->term_count; i++) {
        const plugmc_term *term = plugmc_term_at(system, i);
        const plugmc_potential *p = term->plugin->potential;
        const plugmc_body *body = plugmc_body_of(term->plugin);
        if (!term->sampled) continue;
        if (p->field || p->total || plugmc_orbitals_of(term->plugin) ||
            (p->pair && p->pair->functions & PLUGMC_PAIR_ENERGY) ||
            (body && body->functions & PLUGMC_BODY_ENERGY &&
             !(PLUGMC_HAS(body, steps) && body->steps)))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "body_pressure is for hard bodies, and for energies of bodies that are "
                "constant but for steps (body_steps), but potential '%s' is sampled "
                "too",
                term->label);
        if (body && body->functions & PLUGMC_BODY_ENERGY && system->rungs > 1)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "body_pressure knows no ladders where potential '%s' has energies: "
                              "walkers differ in their weights",
                              term->label);
        if (body && !body->paths)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' does not tell how far its bodies can go until they "
                              "touch (body_path)",
                              term->label);
        bodies += body != NULL;
    }
    if (bodies) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "no sampled potential is of bodies: for hard disks and spheres there is "
                      "hard_pressure");
}

static void find_distances(body_pressure *p)
{
    const plugmc_system *system = p->system;
    const int32_t n = system->species_count;
    for (int32_t s = 0; s < n; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        p->kinds[s] = (plugmc_particle){
            .charge = species->charge, .diameter = species->diameter, .species = s};
    }
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_body *body = plugmc_body_of(term->plugin);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (body && term->sampled) {
            p->terms[p->bodies] = k;
            p->body[p->bodies++] = body;
        }
        for (int32_t ij = 0; ij < n * n && term->sampled; ij++) {
            const plugmc_particle *a = &p->kinds[ij / n], *b = &p->kinds[ij % n];
            const double one = body ? body->reach(term->instance, a) : 0,
                         other = body ? body->reach(term->instance, b) : 0;
            if (pair) p->contact[ij] = fmax(p->contact[ij], pair->contact(term->instance, a, b));
            p->reach[ij / n] = fmax(p->reach[ij / n], one);
            if (one > 0 && other > 0) p->near[ij] = fmax(p->near[ij], one + other);
            p->near[ij] = fmax(p->near[ij], p->contact[ij]);
            if (body && term->sampled && one > 0 && other > 0)
                p->energies = fmax(p->energies, body->range(term->instance));
            p->range = fmax(p->range, fmax(p->energies, p->near[ij]));
        }
    }
}

static int prepare(void *instance, const plugmc_host *host)
{
    body_pressure *p = instance;
    const plugmc_system *system = p->system = host->system;
    const size_t n = (size_t)system->species_count;
    p->dimension = system->box.dimension;
    p->scalars = p->dimension + 2;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC || system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the pressure of bodies needs a periodic, rectangular box");
    const int code = check_terms(host);
    if (code) return code;
    p->reach = host->allocate(host->context, n * sizeof *p->reach);
    p->contact = host->allocate(host->context, n * n * sizeof *p->contact);
    p->near = host->allocate(host->context, n * n * sizeof *p->near);
    p->kinds = host->allocate(host->context, n * sizeof *p->kinds);
    p->share = host->allocate(host->context, (size_t)system->walkers * (size_t)system->particles *
                                                 sizeof *p->share);
    const size_t terms = (size_t)system->term_count;
    p->terms = host->allocate(host->context, terms * sizeof *p->terms);
    p->body = host->allocate(host->context, terms * sizeof *p->body);
    if (!p->reach || !p->contact || !p->near || !p->kinds || !p->share || !p->terms || !p->body)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld particles",
                          (long long)system->particles);
    find_distances(p);
    for (int d = 0; d < p->dimension; d++)
        if (system->box.length[d] < 2 * p->range)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the box is %g long in %c, but bodies that are up to %g apart can "
                              "touch: it has to be twice as long",
                              system->box.length[d], "xyz"[d], p -> range);
    return PLUGMC_OK;
}

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"pressure", "kT/length^<dimension>", "mean over the axes", 0, 0},
    {"pressure_<axis>", "kT/length^<dimension>", "along x, y, z", 0, 0},
    {"compressibility_factor", "", "P V / (N kT)", 0, 0},
};

PLUGMC_PLUGIN(.name = "body_pressure",
              .summary =
                  "pressure of hard bodies, also with steps of energy, from their free paths",
              .reference = "Li et al., J. Chem. Phys. 157, 234111 (2022)",
              .instance_size = sizeof(body_pressure),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION),
              .prepare = prepare)
