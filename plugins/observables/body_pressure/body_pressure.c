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
 * as that one goes up until it meets the body (paths.c). Steps of energies are in steps.c.
 */
#include <string.h>

#include "../walker_boxes.h"
#include "body_pressure.h"

/* ---- All of them ---------------------------------------------------------------------------- */

/* What a share of the threads' work is: this many bodies of a walker. */
enum { TOGETHER = 16 };

/* Puts the share of bodies [k, end) of a walker into `share`. Returns how many cannot go anywhere. */
static int64_t find_shares(const task *t, uint32_t k, uint32_t end, workspace *w,
                           double (*share)[3])
{
    int64_t stuck = 0;
    for (; k < end; k++) {
        body_pressure_find_neighbours(t, k, w);
        for (int a = 0; a < t->p->dimension; a++) {
            const stop up = body_pressure_find_stop(t, k, a, 1, w),
                       down = body_pressure_find_stop(t, k, a, -1, w);
            const double path = up.path + down.path;
            if (w->lost)
                share[k][a] = NAN;
            else if (t->p->energies > 0 && path > 0)
                share[k][a] = body_pressure_with_energies(t, k, a, down, up, &w->line);
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
