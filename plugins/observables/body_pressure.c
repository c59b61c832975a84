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
 * as that one goes up until it meets the body.
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
    double (*share)[3];     /* [walkers][particles] of the sum, along each axis */
    plugmc_particle *kinds; /* [species] at the origin */
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
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_body *body = term->sampled ? plugmc_body_of(term->plugin) : NULL;
        double own;
        if (!body) continue;
        body->paths(term->instance, p->dimension, axis, &p->kinds[kind], &t->orientations[i], &one,
                    &t->orientations[j], &own);
        path = fmin(path, own);
    }
    return path;
}

/* ---- One body ------------------------------------------------------------------------------- */

static int32_t kind_of(const plugmc_system *system, uint32_t particle)
{
    int32_t s = 0;
    while (particle >= system->first[s + 1]) s++;
    return s;
}

/* What the body at entry k touches first among those of one cell. up: 1 or -1; shift: length, of the cell along the axis,
 * where it is seen across an edge of the box. */
static void look_into(const task *t, uint32_t k, int axis, int up, uint32_t cell, double shift,
                      stop *first)
{
    const body_pressure *p = t->p;
    const double *from = t->positions + 3 * (size_t)k;
    const uint32_t i = t->order[k];
    const int32_t kind = kind_of(p->system, i);
    for (uint32_t m = t->start[cell]; m < t->start[cell + 1]; m++) {
        const double *to = t->positions + 3 * (size_t)m;
        const uint32_t j = t->order[m];
        const int32_t other = kind_of(p->system, j);
        const double near = p->near[kind * p->system->species_count + other];
        double r[3] = {0, 0, 0}, aside = 0;
        if (m == k) continue; /* its images move with it */
        for (int d = 0; d < p->dimension; d++) {
            if (d == axis) continue;
            r[d] = plugmc_nearest_image(to[d] - from[d], t->box->length[d]);
            aside += r[d] * r[d];
        }
        const double ahead = up * (to[axis] + shift - from[axis]);
        if (aside >= near * near) continue;
        /* half of what the line has of the sphere in which the other one's centre can be */
        const double half = sqrt(near * near - aside) + 1e-9 * near;
        if (ahead - half >= first->path || ahead <= -half) continue;
        r[axis] = ahead;
        for (int d = 0; d < 3 && up < 0; d++)
            if (d != axis) r[d] = -r[d];
        const double path = up > 0 ? path_to(t, axis, i, kind, j, other, r)
                                   : path_to(t, axis, j, other, i, kind, r);
        if (path < first->path) *first = (stop){path, ahead - path};
    }
}

/* Cells beside one along a direction: as many as there are, three at most. */
static int32_t beside(int32_t cell, int32_t count, int32_t out[3])
{
    if (count < 3) {
        for (int32_t k = 0; k < count; k++) out[k] = k;
        return count;
    }
    for (int32_t k = 0; k < 3; k++) out[k] = (cell + count + k - 1) % count;
    return 3;
}

/* Where the body at entry k is stopped along an axis. Layers of cells are looked at one after the other, from that behind the
 * body to its own one again, a box ahead. */
static stop find_stop(const task *t, uint32_t k, int axis, int up)
{
    const body_pressure *p = t->p;
    const double *at = t->positions + 3 * (size_t)k;
    int32_t own[3], columns[3][3], number[3];
    stop first = {INFINITY, 0};
    for (int d = 0; d < 3; d++) {
        const double length = d < p->dimension ? t->box->length[d] : 1;
        own[d] = plugmc_cell_along(at[d], length / t->count[d], t->count[d]);
        number[d] = beside(own[d], t->count[d], columns[d]);
    }
    const int32_t count = t->count[axis];
    const double width = t->box->length[axis] / count;
    number[axis] = 1;
    for (int32_t layer = -1; layer <= count; layer++) {
        const int32_t unwrapped = own[axis] + up * layer,
                      boxes = (unwrapped + 2 * count) / count - 2;
        const double nearest =
            up > 0 ? unwrapped * width - at[axis] : at[axis] - (unwrapped + 1) * width;
        if (nearest - p->range >= first.path) break;
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

/* The steps of a term between the body at entry k and another one, at r from it, on the line from `from` to `to`. */
static void add_steps_of_term(const task *t, uint32_t i, uint32_t j, const double r[3], int axis,
                              int32_t number, double from, double to, energy_line *line)
{
    const plugmc_system *system = t->p->system;
    const plugmc_term *term = plugmc_term_at(system, number);
    const plugmc_body *body = plugmc_body_of(term->plugin);
    const plugmc_particle *own = &t->p->kinds[kind_of(system, i)],
                          *other = &t->p->kinds[kind_of(system, j)];
    const double apart[3] = {-r[0], -r[1], -r[2]};
    double steps[PLUGMC_MOST_STEPS], before = NAN;
    energy_line own_steps = {.steps = NULL};
    const int32_t n = body->steps(term->instance, t->p->dimension, axis, apart, own,
                                  &t->orientations[i], other, &t->orientations[j], steps);
    energy_line_add(&own_steps, (energy_step){.at = from});
    for (int32_t k = 0; k < n; k++)
        if (steps[k] > from && steps[k] < to)
            energy_line_add(&own_steps, (energy_step){.at = steps[k]});
    line->lost |= own_steps.lost;
    if (!own_steps.lost)
        qsort(own_steps.steps, (size_t)own_steps.count, sizeof *own_steps.steps,
              energy_line_compare);
    for (int64_t k = 0; k < own_steps.count && !line->lost; k++) {
        const double at = own_steps.steps[k].at,
                     next = k + 1 < own_steps.count ? own_steps.steps[k + 1].at : to,
                     middle = (at + next) / 2;
        double x[3] = {r[0], r[1], r[2]}, energy = 0;
        x[axis] -= middle;
        const plugmc_particles one = {
            1, &x[0], &x[1], &x[2], &other->charge, &other->diameter, &other->species};
        const int64_t overlaps = body->energy(term->instance, t->box, 0, own, &t->orientations[i],
                                              &one, &t->orientations[j], &energy);
        if (overlaps) energy = isnan(before) ? 0 : before; /* an interval as long as rounding */
        energy *= overlaps ? 1 : multiplier_of(system, number);
        if (k && energy != before)
            energy_line_add(line, (energy_step){at, energy - before, at - r[axis]});
        before = energy;
    }
    free(own_steps.steps);
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
            for (int32_t term = 0; term < p->system->term_count; term++) {
                const plugmc_term *one = plugmc_term_at(p->system, term);
                const plugmc_body *body = one->sampled ? plugmc_body_of(one->plugin) : NULL;
                if (body && body->functions & PLUGMC_BODY_ENERGY)
                    add_steps_of_term(t, t->order[k], t->order[m], r, axis, term, from, to, line);
            }
        }
    }
}

/* The share of the body at entry k, stopped like this; NAN without memory. */
static double share_with_energies(const task *t, uint32_t k, int axis, stop down, stop up,
                                  energy_line *line)
{
    const body_pressure *p = t->p;
    const double *at = t->positions + 3 * (size_t)k;
    const int closed = !isfinite(up.path + down.path);
    const double from = closed ? 0 : -down.path, to = closed ? t->box->length[axis] : up.path;
    int32_t columns[3][3], number[3];
    line->count = 0;
    for (int d = 0; d < 3; d++) {
        const double length = d < p->dimension ? t->box->length[d] : 1;
        const int32_t own = plugmc_cell_along(at[d], length / t->count[d], t->count[d]);
        number[d] = d == axis ? t->count[d] : beside(own, t->count[d], columns[d]);
    }
    for (int32_t x = 0; x < number[0]; x++)
        for (int32_t y = 0; y < number[1]; y++)
            for (int32_t z = 0; z < number[2]; z++) {
                const int32_t cx = axis == 0 ? x : columns[0][x],
                              cy = axis == 1 ? y : columns[1][y],
                              cz = axis == 2 ? z : columns[2][z];
                const int32_t cell = (cz * t->count[1] + cy) * t->count[0] + cx;
                add_steps_of_cell(t, k, axis, (uint32_t)cell, from, to, line);
            }
    if (line->lost) return NAN;
    return energy_line_share(line, from, to, closed ? 0 : down.separation,
                             closed ? 0 : up.separation);
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* What a share of the threads' work is: this many bodies of a walker. */
enum { TOGETHER = 16 };

/* Puts the share of bodies [k, end) of a walker into `share`. Returns how many cannot go anywhere. */
static int64_t find_shares(const task *t, uint32_t k, uint32_t end, energy_line *line,
                           double (*share)[3])
{
    int64_t stuck = 0;
    for (; k < end; k++)
        for (int a = 0; a < t->p->dimension; a++) {
            const stop up = find_stop(t, k, a, 1), down = find_stop(t, k, a, -1);
            const double path = up.path + down.path;
            if (t->p->energies > 0 && path > 0)
                share[k][a] = share_with_energies(t, k, a, down, up, line);
            else
                share[k][a] = isfinite(path) ? (up.separation + down.separation) / path : 0;
            stuck += !(path > 0);
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
        energy_line line = {.steps = NULL};
#pragma omp for schedule(dynamic, 1)
        for (int64_t part = 0; part < parts * system->walkers; part++) {
            const int32_t w = (int32_t)(part / parts);
            const task t = task_of(p, view, cells, w);
            const uint32_t n = t.start[cells->cells], k = (uint32_t)(part % parts) * TOGETHER;
            stuck += find_shares(&t, k, n < k + TOGETHER ? n : k + TOGETHER, &line,
                                 p->share + w * system->particles);
        }
        free(line.steps);
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
                              "no memory for the steps of energies");
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
    if (!p->reach || !p->contact || !p->near || !p->kinds || !p->share)
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
