/* paths.c: how far a body can go along an axis until it touches another one, for body_pressure.
 *
 * Few paths are followed: those to others in the cells around a body in the order of what they are at least, until that is more
 * than the shortest one. It is known from the spheres around two bodies, and from an empty slab between them (plugmc_body.slab),
 * which bounds paths along all axes and says in which directions there are none. Beyond are layers of cells, one after the
 * other.
 */
#include <stdlib.h>

#include "body_pressure.h"

/* ---- Two bodies ---------------------------------------------------------------------------- */

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
int32_t body_pressure_beside(const task *t, int32_t cell, int d, int32_t cells[3], int32_t box[3])
{
    const int32_t count = t->count[d], number = count < 3 ? count : 3;
    for (int32_t k = 0; k < number; k++) {
        const int32_t unwrapped = count < 3 ? k : cell + k - 1;
        box[k] = (unwrapped + count) / count - 1;
        cells[k] = unwrapped - box[k] * count;
    }
    return number;
}

void body_pressure_own_cell(const task *t, uint32_t k, int32_t own[3])
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
void body_pressure_find_neighbours(const task *t, uint32_t k, workspace *w)
{
    int32_t own[3], cells[3][3], number[3];
    int32_t box[3][3];
    body_pressure_own_cell(t, k, own);
    for (int d = 0; d < 3; d++) number[d] = body_pressure_beside(t, own[d], d, cells[d], box[d]);
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
stop body_pressure_find_stop(const task *t, uint32_t k, int axis, int up, workspace *w)
{
    const int32_t count = t->count[axis];
    const double *at = t->positions + 3 * (size_t)k, width = t->box->length[axis] / count;
    int32_t own[3], columns[3][3], box[3][3], number[3];
    stop first = stop_among(t, k, axis, up, w);
    body_pressure_own_cell(t, k, own);
    for (int d = 0; d < 3; d++) number[d] = body_pressure_beside(t, own[d], d, columns[d], box[d]);
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
