/* event_chain: hard disks or spheres push each other along, and nothing is rejected.
 *
 * A particle sets off in some direction. It goes until it touches another one, which goes on in its place, and so on
 * until all of them together have gone as far as the chain is long (E. P. Bernard, W. Krauth, D. B. Wilson, Phys. Rev.
 * E 80, 056704 (2009)).
 *
 *   straight    All go along one axis, always upwards. There is no way back, but as many ways lead into each
 *               configuration as out of it: global balance, not detailed balance.
 *   reflected   Any direction v; who is touched goes on along 2 (v e) e - v, e from centre to centre. Seen from its
 *               end a chain is one of these again, which is detailed balance.
 *
 * The pressure follows from how far apart, along the chain, the centres of two that touch are (M. Michel, S. C. Kapfer,
 * W. Krauth, J. Chem. Phys. 140, 054116 (2014)):
 *
 *     beta P_a = rho (1 + < sum over contacts of s (v e) > / length of the chain),       v along a, s contact distance.   (1)
 *
 * Why: somebody who was drawn meets another one at rate sum_j delta(r_j - s) (v e)^+ a length, so the mean in (1) is
 * 1 / N sum over pairs of delta(r - s) s (v e)^2, the virial along a. In reflected chains all directions are as
 * probable all along. With s (v e) e_a^2 for s (v e), the mean over v is the virial along a over the dimension D:
 *
 *     beta P_a = rho (1 + D < sum over contacts of s (v e) e_a^2 > / length),                                             (2)
 *
 * and the mean of (2) over the axes is (1) again.
 *
 * A sweep is `chains` chains, by default as many as make N contacts or so in a fluid of this density. Their number does
 * not depend on what happens in them, or configurations after sweeps would not be fair samples. Of straight ones as
 * many go along each axis: along one after the other, and the next sweep begins with the one that the last ended with.
 *
 * Chain k of sweep s in walker w draws with plugmc_draw(seed, s, w, k, ORDER, 0): word 0 the particle, species by
 * species; plugmc_draw_in_ball(seed, s, w, k) has the direction of a reflected one. A straight one goes along the axis
 * number k D / chains + s / every, modulo D. A chain ends within its sweep.
 *
 * plain.c makes chains of any particles, disks.c straight ones of many equal disks, some ten times as fast.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_chain.h"

/* ---- Sweeps ------------------------------------------------------------------------------------------ */

static void set_off(const event_chain *e, const plugmc_host *host, flock *f, uint64_t s, uint32_t w,
                    uint32_t k, met *m)
{
    const plugmc_random random = plugmc_draw(host->seed, s, w, k, PLUGMC_PURPOSE_ORDER, 0);
    const int32_t i = f->number[plugmc_below(random.word[0], (uint32_t)f->count)];
    const int dimension = f->box.dimension;
    double v[3], square = 0;
    if (e->kind == STRAIGHT) {
        const uint64_t turns = s / (uint64_t)host->every;
        const int axis =
            (int)((k * (uint64_t)dimension / (uint64_t)e->chains + turns) % (uint64_t)dimension);
        if (f->disks.ready) {
            disks_turn(f, axis);
            disks_chain(e, f, i, m);
        } else {
            run_straight(e, f, i, axis, m);
        }
        f->along[axis]++;
        return;
    }
    plugmc_draw_in_ball(host->seed, s, w, k, dimension, v);
    for (int d = 0; d < 3; d++) square += v[d] * v[d];
    for (int d = 0; d < 3; d++) v[d] /= sqrt(square);
    run_reflected(e, f, i, v, m);
    for (int d = 0; d < dimension; d++) f->along[d]++;
}

static void run_chain(const event_chain *e, const plugmc_host *host, flock *f, uint64_t s,
                      uint32_t w, uint32_t k)
{
    const double density = (double)f->count / f->box.volume;
    double before[3];
    met m = {{0, 0, 0}, 0};
    memcpy(before, f->along, sizeof before);
    if (f->count)
        set_off(e, host, f, s, w, k, &m);
    else
        for (int d = 0; d < f->box.dimension; d++) f->along[d]++;
    for (int d = 0; d < 3; d++) {
        if (f->along[d] > before[d]) f->pressure[d] += density * (1 + m.sum[d] / e->length);
    }
    f->events += (double)m.events;
    f->measured++;
    f->chains++;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    event_chain *e = instance;
    const int32_t walkers = e->system->walkers, threads = e->system->threads;
    const uint64_t chains = (uint64_t)e->chains;
    int stopped = 0;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)                    \
    reduction(|                                                                                    \
              : stopped)
    for (int32_t w = 0; w < walkers; w++)
        for (uint64_t k = 0; k < n * chains && !stopped; k++) {
            stopped |= host->stopping(host->context);
            if (!stopped)
                run_chain(e, host, &e->flocks[w], first + k / chains, (uint32_t)w,
                          (uint32_t)(k % chains));
        }
    for (int32_t w = 0; w < walkers; w++) {
        e->counts[e->rung[w]].trials += (uint64_t)e->flocks[w].chains;
        e->counts[e->rung[w]].accepted += (uint64_t)e->flocks[w].chains;
        e->flocks[w].chains = 0;
    }
    return stopped ? PLUGMC_STOPPED : PLUGMC_OK;
}

/* ---- The configuration ------------------------------------------------------------------------------ */

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    event_chain *e = instance;
    const plugmc_system *system = e->system;
    const int kinds[] = {PLUGMC_STATE_BOX, PLUGMC_STATE_COUNT, PLUGMC_STATE_POSITION,
                         PLUGMC_STATE_RUNG};
    void *arrays[4];
    size_t row[4];
    int code = PLUGMC_OK;
    (void)changed;
    for (int k = 0; k < 4 && !code; k++)
        code = state->array(state, kinds[k], PLUGMC_ON_HOST, PLUGMC_READ, &arrays[k], &row[k]);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        flock *f = &e->flocks[w];
        const int64_t *count = (const int64_t *)((char *)arrays[1] + (size_t)w * row[1]);
        const double *positions = (const double *)((char *)arrays[2] + (size_t)w * row[2]);
        f->box = ((const plugmc_box *)arrays[0])[w];
        e->rung[w] = ((const int32_t *)arrays[3])[w];
        for (int d = 0; d < f->box.dimension; d++)
            if (f->box.length[d] <= 2 * e->largest * (1 + 1e-9))
                return host->fail(
                    host->context, PLUGMC_ERROR_INPUT,
                    "the box of walker %d is %g wide, but chains need more than two contact "
                    "distances of %g",
                    w, f->box.length[d], e->largest);
        f->hair = 1e-13;
        for (int d = 0; d < f->box.dimension; d++)
            f->hair = fmax(f->hair, 0x1p-50 * f->box.length[d] / e->largest);
        f->count = 0;
        for (int32_t s = 0; s < system->species_count; s++)
            for (int64_t i = system->first[s]; i < system->first[s] + count[s]; i++) {
                for (int d = 0; d < 3; d++) f->r[d][i] = positions[3 * i + d];
                f->number[f->count++] = (int32_t)i;
            }
        f->disks.ready = are_disks(e, f);
        if (f->disks.ready)
            code = disks_take(e, host, f, w);
        else
            lay_out(e, f);
    }
    return code;
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    event_chain *e = instance;
    double *positions;
    const int code =
        plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ | PLUGMC_WRITE, &positions);
    (void)host;
    for (int32_t w = 0; w < e->system->walkers && !code; w++) {
        flock *f = &e->flocks[w];
        if (f->disks.ready) disks_give(f);
        for (int64_t k = 0; k < f->count; k++) {
            const int64_t i = f->number[k];
            double *to = positions + 3 * (w * e->system->particles + i);
            for (int d = 0; d < 3; d++) to[d] = f->r[d][i];
        }
    }
    return code;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    event_chain *e = instance;
    const size_t bytes = (size_t)host->system->rungs * sizeof *out;
    memcpy(out, e->counts, bytes);
    if (clear) memset(e->counts, 0, bytes);
    return PLUGMC_OK;
}

/* ---- Preparation ------------------------------------------------------------------------------------ */

/* Contact distances of hard cores, and nothing else. */
static int find_contacts(event_chain *e, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (!p->pair || p->field || p->total || p->pair->functions & PLUGMC_PAIR_ENERGY)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "potential '%s' is not only a hard core: event chains support only hard cores",
                term->label);
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++) {
                const plugmc_species *A = plugmc_species_at(system, a),
                                     *B = plugmc_species_at(system, b);
                const plugmc_particle one = {.diameter = A->diameter,
                                             .charge = A->charge,
                                             .species = a},
                                      other = {.diameter = B->diameter,
                                               .charge = B->charge,
                                               .species = b};
                double *contact = &e->contact[a * n + b];
                *contact = fmax(*contact, p->pair->contact(term->instance, &one, &other));
                e->largest = fmax(e->largest, *contact);
            }
    }
    e->equal = 1;
    for (int32_t ab = 0; ab < n * n; ab++) e->equal &= e->contact[ab] == e->largest;
    return e->largest > 0 ? PLUGMC_OK
                          : host->fail(host->context, PLUGMC_ERROR_INPUT,
                                       "no potential of this run has a hard core");
}

static int make_flock(const event_chain *e, const plugmc_host *host, flock *f)
{
    const size_t n = (size_t)e->system->particles;
    f->number = host->allocate(host->context, n * sizeof *f->number);
    f->cell = host->allocate(host->context, n * sizeof *f->cell);
    f->next = host->allocate(host->context, n * sizeof *f->next);
    f->previous = host->allocate(host->context, n * sizeof *f->previous);
    f->head = host->allocate(host->context, (size_t)e->rooms * sizeof *f->head);
    for (int d = 0; d < 3; d++) f->r[d] = host->allocate(host->context, n * sizeof(double));
    return f->number && f->cell && f->next && f->previous && f->head && f->r[0] && f->r[1] &&
                   f->r[2]
               ? PLUGMC_OK
               : PLUGMC_ERROR_MEMORY;
}

/* Particles that chains are laid out for: not the room of the moment, where that grows. */
static double expected_particles(const plugmc_system *system)
{
    double n = 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        n += (double)(species->grows ? species->count : system->first[s + 1] - system->first[s]);
    }
    return fmax(1, n);
}

/* Contacts of a chain, a length, from the equation of state (disks: scaled particle theory; spheres: Carnahan,
 * Starling) and the mean of s (v e) at contact. It need not be right: it chooses how long a sweep is. */
static double contact_rate(const event_chain *e)
{
    const plugmc_system *system = e->system;
    const int dimension = system->box.dimension;
    double filled = 0, diameters = 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const double n = (double)plugmc_species_at(system, s)->count,
                     diameter = e->contact[s * system->species_count + s];
        filled += n * pow(diameter, dimension) * (dimension == 2 ? M_PI / 4 : M_PI / 6);
        diameters += n * diameter;
    }
    if (!(diameters > 0)) return 0;
    const double eta = fmin(filled / system->box.volume, 0.7), rest = 1 - eta,
                 mean = diameters / expected_particles(system),
                 excess = dimension == 2
                              ? 1 / (rest * rest) - 1
                              : (1 + eta + eta * eta - eta * eta * eta) / (rest * rest * rest) - 1;
    return excess / (mean * (dimension == 2 ? M_PI / 4 : 2.0 / 3));
}

/* A straight chain that goes round the box a whole number of times brings back whoever meets nobody. */
static void warn_of_whole_turns(const event_chain *e, const plugmc_host *host)
{
    const plugmc_box *box = &e->system->box;
    for (int d = 0; d < box->dimension && e->kind == STRAIGHT; d++) {
        const double turns = (double)e->length / box->length[d];
        if (!(turns > 0.5) || fabs(turns - rint(turns)) > 1e-6 * turns) continue;
        host->warn(host->context,
                   "length: %g is %g times the edge of the box along %c, so a particle "
                   "without contacts would return to its position: choose another length",
                   (double)e->length, rint(turns), "xyz"[d]);
        return;
    }
}

/* By default chains of some sqrt(N) contacts; and as many as make N. Where there are hardly any contacts the golden
 * mean keeps the length from being a whole number of edges: with 4 particles in a cube it would be two. */
static int choose_lengths(event_chain *e, const plugmc_host *host)
{
    const plugmc_box *box = &e->system->box;
    const double golden = (sqrt(5) - 1) / 2, n = expected_particles(e->system),
                 rate = contact_rate(e),
                 longest = golden * sqrt(n) * pow(box->volume, 1.0 / box->dimension);
    const int64_t axes = e->kind == STRAIGHT ? box->dimension : 1;
    if (!(e->length > 0)) e->length = (real)fmin(longest, sqrt(n) / rate);
    warn_of_whole_turns(e, host);
    if (!e->chains)
        e->chains =
            axes * (int64_t)ceil(n / fmax(1, (double)e->length * rate) / (double)axes - 1e-9);
    if (e->chains % axes)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chains = %lld: the number must be the same along each of the %lld "
                          "axes, thus a multiple of %lld",
                          (long long)e->chains, (long long)axes, (long long)axes);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    event_chain *e = instance;
    const plugmc_system *system = e->system = host->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers,
                 kinds = (size_t)system->species_count;
    e->rooms = 2 * system->particles > 64 ? 2 * system->particles : 64;
    e->contact = host->allocate(host->context, kinds * kinds * sizeof *e->contact);
    e->species = host->allocate(host->context, n * sizeof *e->species);
    e->flocks = host->allocate(host->context, walkers * sizeof *e->flocks);
    e->rung = host->allocate(host->context, walkers * sizeof *e->rung);
    e->counts = host->allocate(host->context, (size_t)system->rungs * sizeof *e->counts);
    int code = e->contact && e->species && e->flocks && e->rung && e->counts ? PLUGMC_OK
                                                                             : PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < system->species_count && !code; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) e->species[i] = s;
    for (size_t w = 0; w < walkers && !code; w++) code = make_flock(e, host, &e->flocks[w]);
    if (code) return host->fail(host->context, code, "no memory for %zu particles", n * walkers);
    snprintf(e->unit, sizeof e->unit, "%s/length^%d",
             isnan(system->temperature) ? "kT" : plugmc_energy_unit(system), system->box.dimension);
    code = find_contacts(e, host);
    return code ? code : choose_lengths(e, host);
}

static void release(void *instance)
{
    event_chain *e = instance;
    for (int32_t w = 0; e->flocks && w < e->system->walkers; w++) disks_free(&e->flocks[w].disks);
}

/* ---- The pressure ----------------------------------------------------------------------------------- */

static const plugmc_listing listing[] = {
    {"pressure", "<energy>/length^<dimension>",
     "from contacts along the chains, mean over the axes", 0, 0},
    {"pressure_x", "<energy>/length^<dimension>", "from contacts, along x", 0, 0},
    {"pressure_y", "<energy>/length^<dimension>", "from contacts, along y", 0, 0},
    {"pressure_z", "<energy>/length^<dimension>", "from contacts, along z", 0, 0},
    {"reduced_pressure", "",
     "beta P d^2 in two dimensions, beta P d^3 in three, if there is a single contact "
     "distance d",
     0, 0},
    {"events", "", "contacts per chain", 0, 0},
};
enum { PRESSURE, REDUCED = 4, EVENTS };

/* The numbers of this run, in the order of the listing. */
static int numbers_of(const event_chain *e, int out[EVENTS + 1])
{
    int n = 0;
    for (int k = 0; k <= EVENTS; k++)
        if ((k != REDUCED || e->equal) && (k != 3 || e->system->box.dimension == 3)) out[n++] = k;
    return n;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const event_chain *e = instance;
    int numbers[EVENTS + 1];
    if (index >= numbers_of(e, numbers)) return 0;
    const int k = numbers[index];
    return plugmc_scalar(out, listing[k].name, k < REDUCED ? e->unit : "", listing[k].doc);
}

/* Since the last measurement. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    event_chain *e = instance;
    const int dimension = e->system->box.dimension;
    const double kT = isnan(e->system->temperature) ? 1 : e->system->temperature;
    int numbers[EVENTS + 1];
    const int n = numbers_of(e, numbers);
    (void)view;
    for (int32_t w = 0; w < e->system->walkers; w++) {
        flock *f = &e->flocks[w];
        double all[EVENTS + 1] = {0};
        if (!f->measured && e->asked)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "no chain was made since the last measurement: period must be "
                              "a multiple of every");
        for (int d = 0; d < dimension; d++) {
            all[1 + d] = f->pressure[d] / f->along[d];
            all[PRESSURE] += all[1 + d] / dimension;
        }
        all[REDUCED] = all[PRESSURE] * pow(e->largest, dimension);
        for (int k = 0; k <= 3; k++) all[k] *= kT;
        all[EVENTS] = f->events / f->measured;
        for (int k = 0; k < n; k++) values[w * n + k] = all[numbers[k]];
        memset(f->pressure, 0, sizeof f->pressure);
        memset(f->along, 0, sizeof f->along);
        f->events = f->measured = 0;
    }
    e->asked = 1;
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    event_chain *e = instance;
    int code = a->bytes(a, "asked", &e->asked, sizeof e->asked);
    (void)host;
    for (int32_t w = 0; w < e->system->walkers && !code; w++) {
        flock *f = &e->flocks[w];
        double sums[8] = {f->pressure[0], f->pressure[1], f->pressure[2], f->along[0],
                          f->along[1],    f->along[2],    f->events,      f->measured};
        code = plugmc_archive_walker(a, "contacts", w, sums, sizeof sums);
        memcpy(f->pressure, sums, sizeof f->pressure);
        memcpy(f->along, sums + 3, sizeof f->along);
        f->events = sums[6], f->measured = sums[7];
    }
    return code;
}

static const plugmc_observable observable = {.size = sizeof observable,
                                             .on_device = 1,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .listing = listing,
                                             .listing_count = PLUGMC_COUNT(listing),
                                             .listing_size = sizeof(plugmc_listing),
                                             .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                             .depends_on = PLUGMC_ON_MULTIPLIERS};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(event_chain, length, "0", 0, 1e12, "length",
                    "length of a chain, the sum of its displacements; 0: about sqrt(N) "
                    "contacts"),
    PLUGMC_CHOICE_KEY(event_chain, kind, "straight", "straight|reflected",
                      "straight: along an axis; reflected: the direction is reflected at "
                      "each contact"),
    PLUGMC_INTEGER_KEY(
        event_chain, chains, "0", 0, 1e9, "",
        "chains per walker and sweep, the same number along each axis if straight; 0: about "
        "N contacts"),
};

static const plugmc_move moves[] = {
    {.name = "chain", .doc = "moves a chain of particles, without rejection"}};

static const plugmc_driver driver = {.size = sizeof driver, .load = take, .store = give};

PLUGMC_PLUGIN(.name = "event_chain", .summary = "event chains of hard particles, without rejection",
              .reference = "Bernard, Krauth, Wilson, Phys. Rev. E 80, 056704 (2009)",
              PLUGMC_KEYS(event_chain, table),
              PLUGMC_MOVER_WITH(
                  moves,
                  .needs = PLUGMC_USES_PAIR | PLUGMC_NEEDS_FINITE_RANGE | PLUGMC_NEEDS_PERIODIC |
                           PLUGMC_NEEDS_RECTANGULAR | PLUGMC_RUNS_ON_CPU,
                  .changes = PLUGMC_CHANGED_POSITION,
                  .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                             PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                  .sweep = sweep, .counts = counts,
                  .good_for =
                      "dense hard disks and spheres on CPUs, where single moves change the order "
                      "slowly",
                  .driver = &driver),
              .observable = &observable, .release = release, .prepare = prepare, .archive = archive)
