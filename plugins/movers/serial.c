/* serial: one trial move after the other, on the CPU; what every faster mover is compared with.
 *
 * The algorithm of N. Metropolis, A. W. Rosenbluth, M. N. Rosenbluth, A. H. Teller, E. Teller,
 * J. Chem. Phys. 21, 1087 (1953): a particle is displaced by a vector uniform in the disk (ball)
 * of radius `step`, and the move is accepted with probability min(1, exp(-change of energy / kT)).
 * One sweep is N trial moves a walker. Everything is in double precision, and every energy change
 * is computed anew: nothing is cached that could go wrong.
 *
 * Random numbers, so that another mover can take the same decisions. Trial t = 0 ... N - 1 of
 * sweep s in walker w uses, with D(purpose, draw) = plugmc_draw(seed, s, w, t, purpose, draw):
 *   particle      sequential: t; random: plugmc_below(D(ORDER, 0).word[0], N)
 *   displacement  step * v, where v is that of plugmc_draw_in_ball(seed, s, w, t)
 *   acceptance    change <= 0, or u < exp(-change) with u = plugmc_uniform_double(word[0], word[1])
 *                 from D(ACCEPT, 0); an overlap, a place outside of the domain or one that a field
 *                 forbids is rejected whatever u
 *
 * Terms of finite range look only at the particles in the cells around. These are taken cell by
 * cell in the order of the offsets and within a cell in the order of their index, so that the
 * rounding of a sum depends on the configuration alone: not on how it came about, nor on the
 * number of threads. A run that is resumed goes on bit for bit.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "choose_cells.h"
#include "displacement_step.h"

enum { ORDER_RANDOM, ORDER_SEQUENTIAL };

/* A pair term that is sampled. */
typedef struct pair_term {
    const plugmc_pair *pair;
    const void *instance;
} pair_term;

/* Particles as plugmc_particles wants them. */
typedef struct particle_arrays {
    double *x, *y, *z, *charge, *diameter;
    int32_t *species;
} particle_arrays;

typedef struct walker {
    int32_t index;
    particle_arrays all;    /* [particles]; wrapped into the box */
    particle_arrays around; /* [particles]: those near a position, copied */
    int32_t *head;          /* [cells]: first particle of a cell, or -1 */
    int32_t *next;          /* [particles]: next one of the cell, of larger index, or -1 */
    plugmc_counts counts;
    int code;               /* what went wrong in a sweep, and where: see report_failure */
    const char *label;
    uint64_t sweep;
    int64_t particle;
} walker;

typedef struct serial {
    int32_t order;
    real step, target_acceptance; /* length, 1 */
    const plugmc_system *system;
    uint64_t seed; /* of its random draws */
    int short_count, long_count, total_count, field_count;
    int short_energies; /* terms of finite range that are not only hard */
    pair_term *short_range, *long_range; /* finite range; every pair */
    const plugmc_term **totals, **fields;
    double reach; /* of the terms of finite range, length */
    int32_t count[3];
    double width[3]; /* of a cell, length */
    int64_t cells;
    walker *walkers; /* [walkers] */
} serial;

static void trial_move(const serial *, walker *, uint64_t sweep, uint32_t trial);
static int report_failure(const serial *, const plugmc_host *);

/* A few trial moves take less time than anyone waits for; where every pair or the whole system is
 * computed, as in a total, one may take a second. */
static int64_t trials_between_looks(const serial *s)
{
    return s->total_count ? 1 : s->long_count ? 2 : 8;
}

/* Up to the sweep `last`, or until the run is stopped: then returns 1. */
static int sweep_walker(const serial *s, const plugmc_host *host, walker *w, uint64_t first,
                        uint64_t last)
{
    const int64_t n = s->system->particles, some = trials_between_looks(s);
    for (uint64_t sweep = first; sweep <= last; sweep++)
        for (int64_t t = 0; t < n && !w->code; t++) {
            if (t % some == 0 && host->stopping(host->context)) return 1;
            trial_move(s, w, sweep, (uint32_t)t);
        }
    return 0;
}

/* Totals are called one at a time, from the main thread, as plugin.h promises. */
static int serial_sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    serial *s = instance;
    const int threads = s->total_count ? 1 : s->system->threads > 0 ? s->system->threads
                                                                    : omp_get_max_threads();
    int stopped = 0;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1) reduction(| : stopped)
    for (int32_t w = 0; w < s->system->walkers; w++)
        stopped |= sweep_walker(s, host, &s->walkers[w], first, first + n - 1);
    return stopped ? PLUGMC_STOPPED : report_failure(s, host);
}

/* ---- One trial move -------------------------------------------------------------------------- */

static void displace(const serial *, const walker *, uint64_t sweep, uint32_t trial, double to[3]);
static int inside(const serial *, const double position[3]);
static int parts_change(const serial *, walker *, int64_t i, const double to[3], double *change);
static int totals_change(const serial *, walker *, int64_t i, const double to[3], double *change);
static int totals_settle(const serial *, walker *, int accepted);
static void move(const serial *, walker *, int64_t i, const double to[3]);

static void trial_move(const serial *s, walker *w, uint64_t sweep, uint32_t trial)
{
    const plugmc_system *system = s->system;
    const uint32_t index = (uint32_t)w->index;
    int64_t i = trial;
    plugmc_random random = plugmc_draw(s->seed, sweep, index, trial, PLUGMC_PURPOSE_ORDER, 0);
    if (s->order == ORDER_RANDOM) i = plugmc_below(random.word[0], (uint32_t)system->particles);
    double to[3] = {w->all.x[i], w->all.y[i], w->all.z[i]}, change = 0;
    w->sweep = sweep;
    w->particle = i;
    w->counts.trials++;
    displace(s, w, sweep, trial, to);
    if (!inside(s, to) || !parts_change(s, w, i, to, &change)) return;
    if (totals_change(s, w, i, to, &change)) return;
    if (!(change > -INFINITY)) { /* it goes there, so that it is found */
        w->code = PLUGMC_ERROR_STATE;
        w->label = NULL;
        move(s, w, i, to);
        return;
    }
    random = plugmc_draw(s->seed, sweep, index, trial, PLUGMC_PURPOSE_ACCEPT, 0);
    int accepted = change <= 0 ||
                   plugmc_uniform_double(random.word[0], random.word[1]) < exp(-change);
    if (totals_settle(s, w, accepted) || !accepted) return;
    move(s, w, i, to);
    w->counts.accepted++;
}

static void displace(const serial *s, const walker *w, uint64_t sweep, uint32_t trial, double to[3])
{
    const plugmc_box *box = &s->system->box;
    double v[3];
    plugmc_draw_in_ball(s->seed, sweep, (uint32_t)w->index, trial, box->dimension, v);
    for (int d = 0; d < box->dimension; d++) to[d] += s->step * v[d];
    plugmc_wrap(box, to);
}

static int inside(const serial *s, const double r[3])
{
    const plugmc_box *box = &s->system->box;
    return box->domain == PLUGMC_DOMAIN_PERIODIC ||
           r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= box->radius * box->radius;
}

/* ---- Energy change --------------------------------------------------------------------------- */

static plugmc_particles near(const serial *, walker *, int64_t i, const double position[3]);

static plugmc_particle particle_at(const walker *w, int64_t i, const double r[3])
{
    return (plugmc_particle){r[0], r[1], r[2], w->all.charge[i], w->all.diameter[i],
                             w->all.species[i]};
}

/* Particles begin ... end - 1. */
static plugmc_particles slice(const particle_arrays *a, int64_t begin, int64_t end)
{
    return (plugmc_particles){end - begin,        a->x + begin,        a->y + begin,
                              a->z + begin,       a->charge + begin,   a->diameter + begin,
                              a->species + begin};
}

/* Energy of particle i at a position with everyone near; returns with how many it overlaps. */
static int64_t near_energy(const serial *s, walker *w, int64_t i, const double at[3],
                           double *energy)
{
    const plugmc_box *box = &s->system->box;
    const plugmc_particle probe = particle_at(w, i, at);
    const plugmc_particles others = near(s, w, i, at);
    int64_t overlaps = 0;
    for (int t = 0; t < s->short_count; t++) {
        const pair_term *term = &s->short_range[t];
        overlaps += term->pair->energy(term->instance, box, box->domain == PLUGMC_DOMAIN_PERIODIC,
                                       &probe, &others, energy);
    }
    return overlaps;
}

/* Change of the terms without a range: everyone before i, then everyone after. Returns with how
 * many i overlaps at the new position. */
static int64_t far_change(const serial *s, const walker *w, int64_t i, const double from[3],
                          const double to[3], double *change)
{
    int64_t overlaps = 0;
    const plugmc_box *box = &s->system->box;
    const plugmc_particle probe = particle_at(w, i, from);
    const plugmc_particles others[2] = {slice(&w->all, 0, i),
                                        slice(&w->all, i + 1, s->system->particles)};
    for (int t = 0; t < s->long_count; t++)
        for (int half = 0; half < 2; half++) {
            const pair_term *term = &s->long_range[t];
            overlaps +=
                term->pair->change(term->instance, box, box->domain == PLUGMC_DOMAIN_PERIODIC,
                                   &probe, to, &others[half], change);
        }
    return overlaps;
}

/* One-body energy; returns how many fields forbid the position. */
static int64_t field_energy(const serial *s, const walker *w, int64_t i, const double r[3],
                        double *energy)
{
    const plugmc_particles one = {1, &r[0], &r[1], &r[2], &w->all.charge[i], &w->all.diameter[i],
                                  &w->all.species[i]};
    int64_t forbidden = 0;
    for (int t = 0; t < s->field_count; t++)
        forbidden += s->fields[t]->plugin->potential->field->energy(s->fields[t]->instance, &one,
                                                                    energy);
    return forbidden;
}

/* Change of all pair and field terms if particle i goes to `to`; returns 0 if it cannot be there.
 * Hard particles have no energy at the old place that would have to be known. */
static int parts_change(const serial *s, walker *w, int64_t i, const double to[3], double *change)
{
    const double from[3] = {w->all.x[i], w->all.y[i], w->all.z[i]};
    double field_from = 0, field_to = 0, near_from = 0, near_to = 0, far = 0;
    if (field_energy(s, w, i, to, &field_to) || near_energy(s, w, i, to, &near_to) ||
        far_change(s, w, i, from, to, &far))
        return 0;
    field_energy(s, w, i, from, &field_from);
    if (s->short_energies) near_energy(s, w, i, from, &near_from);
    *change += (field_to - field_from) + (near_to - near_from) + far;
    return 1;
}

/* Every total is asked for the change and told what came of it. Return 0, or the error of one. */
static int totals_change(const serial *s, walker *w, int64_t i, const double to[3], double *change)
{
    for (int t = 0; t < s->total_count && !w->code; t++) {
        double own = 0;
        const plugmc_total *total = s->totals[t]->plugin->potential->total;
        w->code = total->change(s->totals[t]->instance, w->index, i, to, &own);
        w->label = s->totals[t]->label;
        *change += own;
    }
    return w->code;
}

static int totals_settle(const serial *s, walker *w, int accepted)
{
    for (int t = 0; t < s->total_count && !w->code; t++) {
        const plugmc_total *total = s->totals[t]->plugin->potential->total;
        w->code = total->settle(s->totals[t]->instance, w->index, accepted);
        w->label = s->totals[t]->label;
    }
    return w->code;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* As wide as the reach of the terms, and a hair more, for rounding; one if there is nothing to look
 * for. */
static void cells_choose(serial *s)
{
    const double width = s->reach > 0 ? s->reach * (1 + 1e-12) : INFINITY;
    s->cells = choose_cells(s->system, width, s->count, s->width);
}

static void cell_coordinates(const serial *s, const double r[3], int32_t c[3])
{
    const plugmc_box *box = &s->system->box;
    const double origin = box->domain == PLUGMC_DOMAIN_SPHERE ? -box->radius : 0;
    for (int d = 0; d < 3; d++) {
        double at = s->count[d] > 1 ? (r[d] - origin) / s->width[d] : 0;
        c[d] = at < s->count[d] ? (int32_t)at : s->count[d] - 1;
    }
}

static int64_t cell_number(const serial *s, const int32_t c[3])
{
    return c[0] + s->count[0] * (c[1] + (int64_t)s->count[1] * c[2]);
}

static int64_t cell_of(const serial *s, const double r[3])
{
    int32_t c[3];
    cell_coordinates(s, r, c);
    return cell_number(s, c);
}

/* Kept in order of the index. */
static void cell_add(const serial *s, walker *w, int64_t i)
{
    if (s->reach == 0) return;
    const double r[3] = {w->all.x[i], w->all.y[i], w->all.z[i]};
    int32_t *link = &w->head[cell_of(s, r)];
    while (*link >= 0 && *link < i) link = &w->next[*link];
    w->next[i] = *link;
    *link = (int32_t)i;
}

static void cell_remove(const serial *s, walker *w, int64_t i)
{
    if (s->reach == 0) return;
    const double r[3] = {w->all.x[i], w->all.y[i], w->all.z[i]};
    int32_t *link = &w->head[cell_of(s, r)];
    while (*link != i) link = &w->next[*link];
    *link = w->next[i];
}

static void move(const serial *s, walker *w, int64_t i, const double to[3])
{
    cell_remove(s, w, i);
    w->all.x[i] = to[0];
    w->all.y[i] = to[1];
    w->all.z[i] = to[2];
    cell_add(s, w, i);
}

/* Coordinates c - 1, c, c + 1 of the cells around in one direction, each cell once. */
static int line_around(const serial *s, int d, int32_t c, int32_t out[3])
{
    const int32_t count = s->count[d];
    const int periodic = s->system->box.domain == PLUGMC_DOMAIN_PERIODIC && count >= 3;
    int n = 0;
    for (int32_t other = c - 1; other <= c + 1; other++)
        if (periodic || (other >= 0 && other < count)) out[n++] = (other + count) % count;
    return n;
}

/* Everyone but i in the cells around a position. */
static plugmc_particles near(const serial *s, walker *w, int64_t i, const double position[3])
{
    const particle_arrays *all = &w->all, *out = &w->around;
    int32_t c[3], around[3][3];
    int n[3];
    int64_t found = 0;
    if (s->reach == 0) return slice(out, 0, 0);
    cell_coordinates(s, position, c);
    for (int d = 0; d < 3; d++) n[d] = line_around(s, d, c[d], around[d]);
    for (int cell = 0; cell < n[0] * n[1] * n[2]; cell++) {
        const int32_t other[3] = {around[0][cell % n[0]], around[1][cell / n[0] % n[1]],
                                  around[2][cell / n[0] / n[1]]};
        for (int32_t j = w->head[cell_number(s, other)]; j >= 0; j = w->next[j]) {
            if (j == i) continue;
            out->x[found] = all->x[j];
            out->y[found] = all->y[j];
            out->z[found] = all->z[j];
            out->charge[found] = all->charge[j];
            out->diameter[found] = all->diameter[j];
            out->species[found++] = all->species[j];
        }
    }
    return slice(out, 0, found);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Range of a pair term: of its energy and of its hard cores. */
static double pair_reach(const plugmc_system *system, const plugmc_term *term)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    double reach = pair->range(term->instance);
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = 0; b < system->species_count; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a), *sb = plugmc_species_at(system, b);
            plugmc_particle pa = {0, 0, 0, sa->charge, sa->diameter, a},
                            pb = {0, 0, 0, sb->charge, sb->diameter, b};
            reach = fmax(reach, pair->contact(term->instance, &pa, &pb));
        }
    return reach;
}

/* Sorts the sampled terms by what has to be done for them. */
static int sort_terms(serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    const size_t terms = (size_t)system->term_count + 1;
    s->short_range = host->allocate(host->context, terms * sizeof *s->short_range);
    s->long_range = host->allocate(host->context, terms * sizeof *s->long_range);
    s->totals = host->allocate(host->context, terms * sizeof *s->totals);
    s->fields = host->allocate(host->context, terms * sizeof *s->fields);
    if (!s->short_range || !s->long_range || !s->totals || !s->fields)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d terms",
                          system->term_count);
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *potential = term->plugin->potential;
        if (!term->sampled) continue;
        if (potential->field) s->fields[s->field_count++] = term;
        if (potential->pair) {
            const pair_term pair = {potential->pair, term->instance};
            const double reach = pair_reach(system, term);
            if (isfinite(reach)) {
                s->short_range[s->short_count++] = pair;
                s->short_energies += (potential->pair->functions & PLUGMC_PAIR_ENERGY) != 0;
                s->reach = fmax(s->reach, reach);
            } else {
                s->long_range[s->long_count++] = pair;
            }
        }
        const plugmc_total *total = potential->total;
        if ((potential->pair || potential->field) && !(total && total->beside_parts)) continue;
        if (total && !plugmc_follows_positions(total)) continue;
        if (!total)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' gives neither pair, field nor total energies",
                              term->label);
        if (!total->start || !total->change || !total->settle)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' gives only the energy of whole configurations, not "
                              "the change when one particle moves",
                              term->label);
        s->totals[s->total_count++] = term;
    }
    return PLUGMC_OK;
}

/* One block of memory for the numbers of all walkers and one for the integers. Charges, diameters
 * and species are the same for all. */
static int serial_prepare(void *instance, const plugmc_host *host)
{
    serial *s = instance;
    const plugmc_system *system = s->system = host->system;
    s->seed = host->seed;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers;
    int code = sort_terms(s, host);
    if (code) return code;
    cells_choose(s);
    double *number = host->allocate(host->context, (8 * walkers + 2) * n * sizeof *number);
    int32_t *integer = host->allocate(
        host->context, (((size_t)s->cells + 2 * n) * walkers + n) * sizeof *integer);
    s->walkers = host->allocate(host->context, walkers * sizeof *s->walkers);
    if (!number || !integer || !s->walkers)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %zu walkers of %zu particles", walkers, n);

    double *charge = number, *diameter = number + n;
    int32_t *species = integer;
    for (int32_t a = 0; a < system->species_count; a++)
        for (int64_t i = system->first[a]; i < system->first[a + 1]; i++) {
            charge[i] = plugmc_species_at(system, a)->charge;
            diameter[i] = plugmc_species_at(system, a)->diameter;
            species[i] = a;
        }
    number += 2 * n;
    integer += n;
    for (int32_t k = 0; k < system->walkers; k++, number += 8 * n, integer += s->cells + 2 * n)
        s->walkers[k] = (walker){
            .index = k,
            .all = {number, number + n, number + 2 * n, charge, diameter, species},
            .around = {number + 3 * n, number + 4 * n, number + 5 * n, number + 6 * n,
                       number + 7 * n, integer},
            .next = integer + n,
            .head = integer + 2 * n,
        };
    return PLUGMC_OK;
}

/* ---- Positions in and out -------------------------------------------------------------------- */

static int serial_give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const serial *s = instance;
    const int64_t n = s->system->particles;
    double *positions;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_WRITE, &positions);
    (void)host;
    for (int32_t k = 0; k < s->system->walkers && !code; k++)
        for (int64_t i = 0; i < n; i++) {
            double *to = &positions[3 * (k * n + i)];
            to[0] = s->walkers[k].all.x[i];
            to[1] = s->walkers[k].all.y[i];
            to[2] = s->walkers[k].all.z[i];
        }
    return code;
}

static int serial_take(void *instance, const plugmc_host *host, const plugmc_state *state,
                       uint32_t changed)
{
    serial *s = instance;
    const int64_t n = s->system->particles;
    double *positions;
    (void)changed; /* positions are all that can */
    int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    for (int32_t k = 0; k < s->system->walkers && !code; k++) {
        walker *w = &s->walkers[k];
        for (int64_t c = 0; c < s->cells; c++) w->head[c] = -1;
        for (int64_t i = n - 1; i >= 0; i--) {
            double r[3];
            memcpy(r, &positions[3 * (k * n + i)], sizeof r);
            plugmc_wrap(&s->system->box, r);
            w->all.x[i] = r[0];
            w->all.y[i] = r[1];
            w->all.z[i] = r[2];
            cell_add(s, w, i);
        }
        w->code = PLUGMC_OK;
    }
    plugmc_view view;
    if (!code) code = host->view(host->context, positions, 0, &view);
    for (int t = 0; t < s->total_count && !code; t++) {
        const plugmc_total *total = s->totals[t]->plugin->potential->total;
        code = total->start(s->totals[t]->instance, &view);
    }
    return code;
}

/* ---- The rest -------------------------------------------------------------------------------- */

static int report_failure(const serial *s, const plugmc_host *host)
{
    for (int32_t k = 0; k < s->system->walkers; k++) {
        const walker *w = &s->walkers[k];
        if (w->code && w->label)
            return host->fail(host->context, w->code,
                              "potential '%s' could not tell its energy change when particle %lld "
                              "of walker %d moved in sweep %llu",
                              w->label, (long long)w->particle, k, (unsigned long long)w->sweep);
        const plugmc_not_a_number where = {.size = sizeof where, .walker = k,
                                           .particle = w->particle, .sweep = w->sweep};
        if (w->code) return host->not_a_number(host->context, &where);
    }
    return PLUGMC_OK;
}

static int serial_counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    serial *s = instance;
    (void)host;
    *out = (plugmc_counts){0, 0};
    for (int32_t k = 0; k < s->system->walkers; k++) {
        out->trials += s->walkers[k].counts.trials;
        out->accepted += s->walkers[k].counts.accepted;
        if (clear) s->walkers[k].counts = (plugmc_counts){0, 0};
    }
    return PLUGMC_OK;
}

static double serial_step(const void *instance, int32_t move, int32_t rung)
{
    (void)move, (void)rung;
    return ((const serial *)instance)->step;
}

static int serial_set_step(void *instance, const plugmc_host *host, int32_t move, int32_t rung,
                           double step)
{
    (void)move, (void)rung;
    return take_step(host, step, &((serial *)instance)->step);
}

static double serial_target(const void *instance, int32_t move)
{
    (void)move;
    return ((const serial *)instance)->target_acceptance;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(serial, order, "random", "random|sequential",
                      "which particle moves: a random one each time, or one after the other"),
    PLUGMC_REAL_KEY(serial, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a trial move, uniform in the disk or ball"),
    PLUGMC_REAL_KEY(serial, target_acceptance, "0", 0, 1, "",
                    "acceptance to tune step to during equilibration; 0: step stays as it is"),
};

static const plugmc_move moves[] = {{"displacement", "one particle goes elsewhere", "length"}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL | PLUGMC_RUNS_ON_CPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .follows = PLUGMC_CHANGED_POSITION,
    .take = serial_take,
    .sweep = serial_sweep,
    .give = serial_give,
    .moves = moves, .move_count = PLUGMC_COUNT(moves), .move_size = sizeof(plugmc_move),
    .counts = serial_counts,
    .step = serial_step,
    .set_step = serial_set_step,
    .target_acceptance = serial_target,
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "serial",
              .summary = "one Metropolis trial move after the other, on the CPU: the reference",
              .reference = "Metropolis et al., J. Chem. Phys. 21, 1087 (1953)",
              .instance_size = sizeof(serial), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover,
              .prepare = serial_prepare);
