/* event_chain: hard disks or spheres push each other along, and nothing is rejected.
 *
 * A particle and one of the directions +x, +y (+z) are drawn. The particle goes until it touches another one, which
 * goes on in its place, and so on until all of them together have gone as far as the chain is long (E. P. Bernard,
 * W. Krauth, D. B. Wilson, Phys. Rev. E 80, 056704 (2009), "straight" event chains). There is no way back, but as many
 * ways lead into each configuration as out of it: global balance, not detailed balance. In "reflected" chains any
 * direction v is drawn, and who is touched goes on along 2 (v e) e - v, e from centre to centre: seen from the end a
 * chain is one of these again, which is detailed balance. The pressure follows from
 * how far apart, along the chain, the centres of two that touch are (M. Michel, S. C. Kapfer, W. Krauth, J. Chem.
 * Phys. 140, 054116 (2014)):
 *
 *     beta P = rho (1 + < sum over contacts of that distance > / length of the chain).
 *
 * Particles stop a hair before they touch (1e-13 of the contact distance), so that rounding makes no overlap; the hair
 * is kept in the box's unit by the next chain. Unlike sizes are what the potentials say (plugmc_pair.contact).
 *
 * Chain k of sweep s in walker w draws with plugmc_draw(seed, s chains + k, w, 0, ORDER, 0): word 0 the particle,
 * species by species, word 1 the direction; of reflected ones plugmc_draw_in_ball(seed, s chains + k, w, 0) has the
 * direction. A chain ends within its sweep.
 */
#include <math.h>
#include <plugmc/plugin.h>
#include <stdio.h>
#include <string.h>

enum { STRAIGHT, REFLECTED }; /* kind */

/* A walker. */
typedef struct hard_flock {
    plugmc_box box;
    int64_t count;   /* particles that are there */
    int32_t *number; /* [count]: of these */
    double *r[3];    /* [capacity] each */
    int32_t cells[3];
    double width[3];          /* of a cell, length */
    int32_t *cell;            /* [capacity] */
    int32_t *head;            /* [cells]: first particle, -1: none */
    int32_t *next, *previous; /* [capacity] */
    int64_t chains;           /* of this call */
    double sum, gone; /* of distances between centres, of chains, since the last measurement */
    int64_t events, measured_chains; /* likewise */
} hard_flock;

typedef struct event_chain {
    real length; /* parameters */
    int64_t chains;
    int32_t kind;
    const plugmc_system *system;
    double *contact;  /* [species][species] */
    double largest;   /* of these */
    int32_t *species; /* [capacity] */
    int64_t rooms;    /* cells that there is room for */
    hard_flock *flocks;
    int32_t *rung;
    plugmc_counts *counts; /* [rungs] */
    char units[2][32];
} event_chain;

static const double HAIR = 1e-13;

/* ---- Cells ----------------------------------------------------------------------------------------- */

static int32_t cell_along(const hard_flock *f, int d, double r)
{
    const int32_t k = (int32_t)(r / f->width[d]);
    return k < f->cells[d] ? k : f->cells[d] - 1;
}

static void put(hard_flock *f, int32_t i, int32_t cell)
{
    f->cell[i] = cell;
    f->previous[i] = -1;
    f->next[i] = f->head[cell];
    if (f->head[cell] >= 0) f->previous[f->head[cell]] = i;
    f->head[cell] = i;
}

static void pick(hard_flock *f, int32_t i)
{
    if (f->previous[i] >= 0)
        f->next[f->previous[i]] = f->next[i];
    else
        f->head[f->cell[i]] = f->next[i];
    if (f->next[i] >= 0) f->previous[f->next[i]] = f->previous[i];
}

/* Not narrower than the largest contact distance, as many as there is room for. */
static void lay_out(const event_chain *e, hard_flock *f)
{
    const int dimension = f->box.dimension;
    const double most = floor(pow((double)e->rooms, 1.0 / dimension) + 1e-9);
    int64_t all = 1;
    for (int d = 0; d < 3; d++) {
        const double fits = floor(f->box.length[d] / (e->largest * (1 + 1e-9)));
        f->cells[d] = d < dimension ? (int32_t)fmax(1, fmin(fits, most)) : 1;
        f->width[d] = f->box.length[d] / f->cells[d];
        all *= f->cells[d];
    }
    for (int64_t k = 0; k < all; k++) f->head[k] = -1;
    for (int64_t k = 0; k < f->count; k++) {
        const int32_t i = f->number[k];
        int32_t cell = 0;
        for (int d = dimension - 1; d >= 0; d--)
            cell = cell * f->cells[d] + cell_along(f, d, f->r[d][i]);
        put(f, i, cell);
    }
}

/* ---- One step of a chain --------------------------------------------------------------------------- */

/* What is ahead: who is met first, after which distance, and how far apart the centres then are. */
typedef struct meeting {
    int32_t who; /* -1: nobody */
    double distance, apart;
} meeting;

/* Looks at the particles of a cell, for i that goes along `axis`. */
static void look_into(const event_chain *e, const hard_flock *f, int32_t i, int axis, int32_t cell,
                      meeting *m)
{
    const double *own = &e->contact[e->species[i] * e->system->species_count];
    for (int32_t j = f->head[cell]; j >= 0; j = f->next[j]) {
        double ahead = 0, beside = 0;
        for (int d = 0; d < f->box.dimension; d++) {
            double apart = f->r[d][j] - f->r[d][i];
            apart -= f->box.length[d] * rint(apart / f->box.length[d]);
            if (d == axis)
                ahead = apart;
            else
                beside += apart * apart;
        }
        const double contact = own[e->species[j]], square = contact * contact - beside;
        if (j == i || ahead <= 0 || square <= 0) continue;
        const double apart = sqrt(square), distance = fmax(0, ahead - apart - HAIR * contact);
        if (distance < m->distance) *m = (meeting){j, distance, apart};
    }
}

/* Cells of one direction around number k: itself and those beside it, each once. */
static int beside(int32_t k, int32_t n, int32_t out[3])
{
    if (n < 3) {
        for (int i = 0; i < n; i++) out[i] = i;
        return n;
    }
    out[0] = (k + n - 1) % n, out[1] = k, out[2] = (k + 1) % n;
    return 3;
}

/* Who is met before `most`, which is not beyond the end of the cell: it is in this cell or the next one along
 * the axis, or in those beside these. */
static meeting look_ahead(const event_chain *e, const hard_flock *f, int32_t i, int axis,
                          double most)
{
    const int32_t own = f->cell[i], *n = f->cells;
    const int32_t at[3] = {own % n[0], own / n[0] % n[1], own / n[0] / n[1]};
    int32_t along[3][3];
    int many[3];
    meeting m = {-1, most, 0};
    for (int d = 0; d < 3; d++) many[d] = beside(at[d], n[d], along[d]);
    if (n[axis] >= 3) { /* nobody behind */
        along[axis][0] = at[axis];
        along[axis][1] = (at[axis] + 1) % n[axis];
        many[axis] = 2;
    }
    for (int z = 0; z < many[2]; z++)
        for (int y = 0; y < many[1]; y++)
            for (int x = 0; x < many[0]; x++)
                look_into(e, f, i, axis, along[0][x] + n[0] * (along[1][y] + n[1] * along[2][z]),
                          &m);
    return m;
}

/* Particle i goes on; at the end of its cell it is in the next one. */
static void go(hard_flock *f, int32_t i, int axis, double distance, int to_end)
{
    int32_t stride = 1;
    for (int d = 0; d < axis; d++) stride *= f->cells[d];
    const int32_t at = f->cell[i] / stride % f->cells[axis];
    if (!to_end) {
        f->r[axis][i] += distance;
        return;
    }
    const int32_t next = at + 1 < f->cells[axis] ? at + 1 : 0;
    pick(f, i);
    f->r[axis][i] = next * f->width[axis];
    put(f, i, f->cell[i] + (next - at) * stride);
}

/* ---- Straight chains -------------------------------------------------------------------------------- */

/* How far particle i may go at once: to the end of its cell, and not so far that one would be met which is not
 * the nearest image yet. */
static double reach_of_step(const event_chain *e, const hard_flock *f, int32_t i, int axis,
                            double *to_end)
{
    int32_t stride = 1;
    for (int d = 0; d < axis; d++) stride *= f->cells[d];
    const double end = (f->cell[i] / stride % f->cells[axis] + 1) * f->width[axis];
    *to_end = fmax(0, end - f->r[axis][i]);
    return fmin(*to_end, f->box.length[axis] / 2 - e->largest);
}

static void run_straight(const event_chain *e, hard_flock *f, int32_t i, int axis)
{
    double left = e->length, to_end;
    while (left > 0) {
        const double most = fmin(left, reach_of_step(e, f, i, axis, &to_end));
        const meeting m = look_ahead(e, f, i, axis, most);
        go(f, i, axis, m.distance, m.who < 0 && m.distance == to_end);
        left -= m.distance;
        if (m.who < 0) continue;
        f->sum += m.apart;
        f->events++;
        i = m.who;
    }
}

/* ---- Reflected chains ------------------------------------------------------------------------------- */

/* As look_into, along v. */
static void look_along(const event_chain *e, const hard_flock *f, int32_t i, const double v[3],
                       int32_t cell, meeting *m)
{
    const double *own = &e->contact[e->species[i] * e->system->species_count];
    for (int32_t j = f->head[cell]; j >= 0; j = f->next[j]) {
        double ahead = 0, all = 0;
        for (int d = 0; d < f->box.dimension; d++) {
            double apart = f->r[d][j] - f->r[d][i];
            apart -= f->box.length[d] * rint(apart / f->box.length[d]);
            ahead += apart * v[d];
            all += apart * apart;
        }
        const double contact = own[e->species[j]],
                     square = contact * contact - (all - ahead * ahead);
        if (j == i || ahead <= 0 || square <= 0) continue;
        const double apart = sqrt(square), distance = fmax(0, ahead - apart - HAIR * contact);
        if (distance < m->distance) *m = (meeting){j, distance, apart};
    }
}

static meeting look_around(const event_chain *e, const hard_flock *f, int32_t i, const double v[3],
                           double most)
{
    const int32_t own = f->cell[i], *n = f->cells;
    const int32_t at[3] = {own % n[0], own / n[0] % n[1], own / n[0] / n[1]};
    int32_t along[3][3];
    int many[3];
    meeting m = {-1, most, 0};
    for (int d = 0; d < 3; d++) many[d] = beside(at[d], n[d], along[d]);
    for (int z = 0; z < many[2]; z++)
        for (int y = 0; y < many[1]; y++)
            for (int x = 0; x < many[0]; x++)
                look_along(e, f, i, v, along[0][x] + n[0] * (along[1][y] + n[1] * along[2][z]), &m);
    return m;
}

/* How far particle i may go at once; *side: the axis along which it leaves its cell after *to_side. */
static double step_along(const event_chain *e, const hard_flock *f, int32_t i, const double v[3],
                         int *side, double *to_side)
{
    const int32_t own = f->cell[i], *n = f->cells;
    const int32_t at[3] = {own % n[0], own / n[0] % n[1], own / n[0] / n[1]};
    double shortest = INFINITY;
    *to_side = INFINITY;
    for (int d = 0; d < f->box.dimension; d++) {
        shortest = fmin(shortest, f->box.length[d]);
        if (v[d] == 0) continue;
        const double edge = (at[d] + (v[d] > 0)) * f->width[d],
                     distance = fmax(0, (edge - f->r[d][i]) / v[d]);
        if (distance < *to_side) *to_side = distance, *side = d;
    }
    return fmin(*to_side, shortest / 2 - e->largest);
}

/* Out of its cell through a side, to the same place in the one beside it. */
static void leave_cell(hard_flock *f, int32_t i, int side, int up)
{
    int32_t stride = 1;
    for (int d = 0; d < side; d++) stride *= f->cells[d];
    const int32_t n = f->cells[side], at = f->cell[i] / stride % n,
                  next = up ? (at + 1) % n : (at + n - 1) % n;
    pick(f, i);
    f->r[side][i] = (next + !up) * f->width[side];
    put(f, i, f->cell[i] + (next - at) * stride);
}

/* v is that of who goes on from who is at `from` and touches who is at `to`. */
static void turn(const hard_flock *f, int32_t from, int32_t to, double v[3])
{
    double e[3] = {0, 0, 0}, square = 0, along = 0, length = 0;
    for (int d = 0; d < f->box.dimension; d++) {
        e[d] = f->r[d][to] - f->r[d][from];
        e[d] -= f->box.length[d] * rint(e[d] / f->box.length[d]);
        square += e[d] * e[d];
        along += v[d] * e[d];
    }
    for (int d = 0; d < f->box.dimension; d++) v[d] = 2 * along / square * e[d] - v[d];
    for (int d = 0; d < f->box.dimension; d++) length += v[d] * v[d];
    for (int d = 0; d < f->box.dimension; d++) v[d] /= sqrt(length); /* rounding does not add up */
}

static void run_reflected(const event_chain *e, hard_flock *f, int32_t i, double v[3])
{
    double left = e->length, to_side;
    int side = 0;
    while (left > 0) {
        const double most = fmin(left, step_along(e, f, i, v, &side, &to_side));
        const meeting m = look_around(e, f, i, v, most);
        for (int d = 0; d < f->box.dimension; d++) f->r[d][i] += v[d] * m.distance;
        left -= m.distance;
        if (m.who < 0) {
            if (m.distance == to_side) leave_cell(f, i, side, v[side] > 0);
            continue;
        }
        f->sum += m.apart;
        f->events++;
        turn(f, i, m.who, v);
        i = m.who;
    }
}

static void run_chain(const event_chain *e, const plugmc_host *host, hard_flock *f, uint64_t s,
                      uint32_t w)
{
    const plugmc_random random = plugmc_draw(host->seed, s, w, 0, PLUGMC_PURPOSE_ORDER, 0);
    double v[3], square = 0;
    if (!f->count) return;
    const int32_t i = f->number[plugmc_below(random.word[0], (uint32_t)f->count)];
    if (e->kind == STRAIGHT) {
        run_straight(e, f, i, (int)plugmc_below(random.word[1], (uint32_t)f->box.dimension));
    } else {
        plugmc_draw_in_ball(host->seed, s, w, 0, f->box.dimension, v);
        for (int d = 0; d < 3; d++) square += v[d] * v[d];
        for (int d = 0; d < 3; d++) v[d] /= sqrt(square);
        run_reflected(e, f, i, v);
    }
    f->gone += e->length;
    f->chains++;
    f->measured_chains++;
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    event_chain *e = instance;
    const int32_t walkers = e->system->walkers, threads = e->system->threads;
    int stopped = 0;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)                    \
    reduction(|                                                                                    \
              : stopped)
    for (int32_t w = 0; w < walkers; w++)
        for (uint64_t k = 0; k < n * (uint64_t)e->chains && !stopped; k++) {
            stopped |= host->stopping(host->context);
            if (!stopped)
                run_chain(e, host, &e->flocks[w], first * (uint64_t)e->chains + k, (uint32_t)w);
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
        hard_flock *f = &e->flocks[w];
        const int64_t *count = (const int64_t *)((char *)arrays[1] + (size_t)w * row[1]);
        const double *positions = (const double *)((char *)arrays[2] + (size_t)w * row[2]);
        f->box = ((const plugmc_box *)arrays[0])[w];
        e->rung[w] = ((const int32_t *)arrays[3])[w];
        for (int d = 0; d < f->box.dimension; d++)
            if (f->box.length[d] <= 2 * e->largest * (1 + 1e-9))
                return host->fail(
                    host->context, PLUGMC_ERROR_INPUT,
                    "the box of walker %d is %g wide: chains need more than two contact "
                    "distances, of %g",
                    w, f->box.length[d], e->largest);
        f->count = 0;
        for (int32_t s = 0; s < system->species_count; s++)
            for (int64_t i = system->first[s]; i < system->first[s] + count[s]; i++) {
                for (int d = 0; d < 3; d++) f->r[d][i] = positions[3 * i + d];
                f->number[f->count++] = (int32_t)i;
            }
        lay_out(e, f);
    }
    return code;
}

/* At the upper edge of the box is the lower one. */
static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    event_chain *e = instance;
    double *positions;
    const int code =
        plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ | PLUGMC_WRITE, &positions);
    (void)host;
    for (int32_t w = 0; w < e->system->walkers && !code; w++) {
        const hard_flock *f = &e->flocks[w];
        for (int64_t k = 0; k < f->count; k++) {
            const int64_t i = f->number[k];
            double *to = positions + 3 * (w * e->system->particles + i);
            for (int d = 0; d < 3; d++) to[d] = f->r[d][i];
            plugmc_wrap(&f->box, to);
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
                "potential '%s' is more than a hard core, and chains know contacts alone",
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
    return e->largest > 0 ? PLUGMC_OK
                          : host->fail(host->context, PLUGMC_ERROR_INPUT,
                                       "no potential of this run has a hard core");
}

static int make_flock(const event_chain *e, const plugmc_host *host, hard_flock *f)
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

/* Chains of some sqrt(N) contacts, sqrt(N) of them, are a sweep that costs what N trial moves do. */
static void choose_lengths(event_chain *e)
{
    const plugmc_box *box = &e->system->box;
    const double n = (double)e->system->particles;
    if (!(e->length > 0))
        e->length = (real)(0.1 * sqrt(n) * pow(box->volume / n, 1.0 / box->dimension));
    if (!e->chains) e->chains = (int64_t)ceil(sqrt(n));
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
    choose_lengths(e);
    snprintf(e->units[0], sizeof e->units[0], "%s/length^%d", plugmc_energy_unit(system),
             system->box.dimension);
    return find_contacts(e, host);
}

/* ---- The pressure ----------------------------------------------------------------------------------- */

static const plugmc_listing listing[] = {
    {"pressure", "<energy>/length^<dimension>", "from contacts along the chains", 0, 0},
    {"events", "", "contacts a chain", 0, 0},
};

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const event_chain *e = instance;
    if (index > 1) return 0;
    return plugmc_scalar(out, listing[index].name, index ? "" : e->units[0], listing[index].doc);
}

/* Since the last measurement. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    event_chain *e = instance;
    (void)host;
    for (int32_t w = 0; w < e->system->walkers; w++) {
        hard_flock *f = &e->flocks[w];
        const double contacts = f->gone > 0 ? f->sum / f->gone : 0,
                     kT = isnan(e->system->temperature) ? 1 : e->system->temperature;
        values[2 * w] = kT * (double)f->count / view->box[w].volume * (1 + contacts);
        values[2 * w + 1] = f->measured_chains ? (double)f->events / (double)f->measured_chains : 0;
        f->sum = f->gone = 0;
        f->events = f->measured_chains = 0;
    }
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    event_chain *e = instance;
    int code = PLUGMC_OK;
    (void)host;
    for (int32_t w = 0; w < e->system->walkers && !code; w++) {
        hard_flock *f = &e->flocks[w];
        double sums[4] = {f->sum, f->gone, (double)f->events, (double)f->measured_chains};
        char name[40];
        snprintf(name, sizeof name, "contacts %d", w);
        code = a->bytes(a, name, sums, sizeof sums);
        f->sum = sums[0], f->gone = sums[1];
        f->events = (int64_t)sums[2], f->measured_chains = (int64_t)sums[3];
    }
    return code;
}

static const plugmc_observable observable = {
    .size = sizeof observable,
    .on_device = 1,
    .quantity = quantity,
    .measure = measure,
    .listing = listing,
    .listing_count = PLUGMC_COUNT(listing),
    .listing_size = sizeof(plugmc_listing),
    .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(event_chain, length, "0", 0, 1e12, "length",
                    "of a chain; 0: a tenth of the distance between particles, times sqrt(N)"),
    PLUGMC_CHOICE_KEY(event_chain, kind, "straight", "straight|reflected",
                      "along an axis all the way, or reflected at each contact"),
    PLUGMC_INTEGER_KEY(event_chain, chains, "0", 0, 1e9, "",
                       "chains a walker and sweep; 0: sqrt(N)"),
};

static const plugmc_move moves[] = {
    {"chain", "particles push each other along; none is rejected", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_USES_PAIR | PLUGMC_NEEDS_FINITE_RANGE | PLUGMC_NEEDS_PERIODIC |
             PLUGMC_NEEDS_RECTANGULAR | PLUGMC_RUNS_ON_CPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
               PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
    .take = take,
    .sweep = sweep,
    .give = give,
    .counts = counts,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "event_chain",
              .summary = "hard particles push each other along, without rejection",
              .reference = "Bernard, Krauth, Wilson, Phys. Rev. E 80, 056704 (2009)",
              .instance_size = sizeof(event_chain), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .observable = &observable,
              .prepare = prepare, .archive = archive)
