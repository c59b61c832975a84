/* Trajectories on the CPU, in double precision.
 *
 * Forces are a function of the positions, to the last bit: particles are sorted by cell and within
 * a cell by their number; a particle's neighbours are those within reach in the cells around, in a
 * fixed order of the cells. Each pair is computed twice, once for either particle. Energies are
 * summed particle by particle in the order of their numbers. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "hmc.h"

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

struct hmc_cpu {
    int32_t threads;
    int32_t count[3];
    int64_t cells;
    particle_arrays sorted; /* [walkers][particles], by cell */
    int32_t *order;         /* [walkers][particles]: which particle */
    int32_t *start;         /* [walkers][cells + 1] */
    int32_t *cell;          /* [walkers][particles] */
    int32_t *species;       /* [particles] */
    workspace *work;        /* [threads] */

    uint64_t *place, *place_before,
        *place_checked; /* [walkers][particles][3], units of integers.h */
    int64_t *momentum, *momentum_checked;
    double *force, *force_before, *force_checked; /* kT/length */
    double *positions;                            /* length */
    double *own_force,
        *own_energy;   /* of one total, as force and potential; NULL where all count by 1 */
    double *share;     /* [walkers][particles] kT: of the energy */
    double *potential; /* [walkers] kT, of where the particles are */
    double *kinetic;   /* [walkers] kT, at the start of a trajectory */
    int lost;          /* a force or an energy is not a number where the particles are */
    hmc_state *state;  /* [walkers] */
};

static int trajectory(hmc *, const plugmc_host *);
static int forces_and_energies(hmc *, const plugmc_host *, int with_energy);
static void draw_momenta(const hmc *, uint64_t sweep);
static double kinetic_energy(const hmc *, int32_t walker);
static int reverse(hmc *, const plugmc_host *, uint64_t sweep);
static void settle(hmc *, uint64_t sweep, int32_t walker);

int hmc_cpu_sweep(hmc *h, const plugmc_host *host, uint64_t first, uint64_t n)
{
    hmc_cpu *c = h->cpu;
    int code = PLUGMC_OK;
    if (h->system->threads > 0) c->threads = h->system->threads; /* at most those of prepare */
    for (uint64_t sweep = first; sweep < first + n && !code; sweep++) {
        draw_momenta(h, sweep);
        memcpy(c->place_before, c->place, (size_t)h->count * sizeof *c->place);
        memcpy(c->force_before, c->force, (size_t)h->count * sizeof *c->force);
        for (int32_t w = 0; w < h->system->walkers; w++) c->kinetic[w] = kinetic_energy(h, w);
        code = trajectory(h, host);
        if (!code && c->lost) return hmc_lost(host, sweep);
        if (!code && h->check_reversal) code = reverse(h, host, sweep);
        for (int32_t w = 0; w < h->system->walkers && !code; w++) settle(h, sweep, w);
    }
    return code;
}

/* ---- A trajectory ---------------------------------------------------------------------------- */

static void draw_momenta(const hmc *h, uint64_t sweep)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
#pragma omp parallel for collapse(2) num_threads(c->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++)
            hmc_momentum(h->seed, sweep, (uint32_t)w, (uint32_t)i, h->dimension,
                         h->mass[c->species[i]] * h->ladder.rung[w].kT,
                         c->momentum + 3 * (w * n + i));
}

static double kinetic_energy(const hmc *h, int32_t walker)
{
    const int64_t n = h->system->particles;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum +=
            0.5 * hmc_square(h->cpu->momentum + 3 * (walker * n + i)) / h->mass[h->cpu->species[i]];
    return sum;
}

/* Half steps of the momentum, then a step of the position, before the forces of step k of all walkers that have
 * not arrived; the last half step of those that just have. */
static void move(const hmc *h, int64_t k)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
#pragma omp parallel for collapse(2) num_threads(c->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            const hmc_rung *rung = &h->ladder.rung[w];
            const int64_t at = 3 * (w * n + i);
            const int32_t half_steps = hmc_half_steps(rung->steps, k);
            if (half_steps)
                hmc_kick(h->dimension, half_steps, rung->half_step, c->force + at,
                         c->momentum + at);
            if (k < rung->steps)
                hmc_drift(&h->box[w], 2 * rung->half_step / h->mass[c->species[i]],
                          c->momentum + at, c->place + at);
        }
}

static int trajectory(hmc *h, const plugmc_host *host)
{
    const int64_t steps = hmc_most_steps(h);
    int code = PLUGMC_OK;
    for (int64_t k = 0; k < steps && !code && !h->cpu->lost; k++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        move(h, k);
        code = forces_and_energies(h, host, k == steps - 1);
    }
    if (!code && !h->cpu->lost) move(h, steps);
    return code;
}

static void settle(hmc *h, uint64_t sweep, int32_t w)
{
    hmc_cpu *c = h->cpu;
    hmc_state *s = &c->state[w];
    const int64_t n = 3 * h->system->particles, at = w * n;
    const double change = (c->potential[w] + kinetic_energy(h, w)) - (s->potential + c->kinetic[w]);
    const plugmc_random random =
        plugmc_draw(h->seed, sweep, (uint32_t)w, 0, PLUGMC_PURPOSE_ACCEPT, 0);
    const int accepted = change <= 0 || plugmc_uniform_double(random.word[0], random.word[1]) <
                                            exp(-change / h->ladder.rung[w].kT);
    s->change = change;
    s->rejected = !accepted;
    s->trials++;
    s->accepted += accepted != 0;
    if (accepted) {
        s->potential = c->potential[w];
        return;
    }
    memcpy(c->place + at, c->place_before + at, (size_t)n * sizeof *c->place);
    memcpy(c->force + at, c->force_before + at, (size_t)n * sizeof *c->force);
}

/* Back from where the trajectory ended, which is then put in place again. */
static int reverse(hmc *h, const plugmc_host *host, uint64_t sweep)
{
    hmc_cpu *c = h->cpu;
    const size_t bytes = (size_t)h->count * sizeof *c->place;
    double *potential = malloc((size_t)h->system->walkers * sizeof *potential);
    if (!potential) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    memcpy(potential, c->potential, (size_t)h->system->walkers * sizeof *potential);
    memcpy(c->place_checked, c->place, bytes);
    memcpy(c->momentum_checked, c->momentum, bytes);
    memcpy(c->force_checked, c->force, bytes);
    for (int64_t i = 0; i < h->count; i++) c->momentum[i] = -c->momentum[i];
    int code = trajectory(h, host);
    int64_t astray = 0;
    for (int64_t i = 0; i < h->count && !code; i++) {
        const int64_t n = 3 * h->system->particles;
        int64_t begun[3];
        if (i % 3) continue;
        hmc_momentum(h->seed, sweep, (uint32_t)(i / n), (uint32_t)(i % n / 3), h->dimension,
                     h->mass[c->species[i % n / 3]] * h->ladder.rung[i / n].kT, begun);
        for (int d = 0; d < 3; d++)
            astray += c->place[i + d] != c->place_before[i + d] || c->momentum[i + d] != -begun[d];
    }
    memcpy(c->place, c->place_checked, bytes);
    memcpy(c->momentum, c->momentum_checked, bytes);
    memcpy(c->force, c->force_checked, bytes);
    memcpy(c->potential, potential, (size_t)h->system->walkers * sizeof *potential);
    free(potential);
    if (astray)
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "the trajectory of sweep %llu is not reversible: %lld coordinates differ, so a "
            "potential does not reproduce its forces",
            (unsigned long long)sweep, (long long)astray);
    return code;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* By cell, and in a cell by number. */
static void sort_walker(const hmc *h, int32_t w)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
    int32_t *start = c->start + w * (c->cells + 1), *cell = c->cell + w * n,
            *order = c->order + w * n;
    memset(start, 0, (size_t)(c->cells + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *place = c->place + 3 * (w * n + i);
        int32_t at[3];
        for (int d = 0; d < 3; d++)
            at[d] = (int32_t)plugmc_mulhi((uint32_t)(place[d] >> 32), (uint32_t)c->count[d]);
        cell[i] = (at[2] * c->count[1] + at[1]) * c->count[0] + at[0];
        start[cell[i] + 1]++;
    }
    for (int64_t k = 0; k < c->cells; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++) order[start[cell[i]]++] = (int32_t)i;
    for (int64_t k = c->cells; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = order[k], to = w * n + k;
        const double *r = c->positions + 3 * (w * n + i);
        const plugmc_species *species = plugmc_species_at(h->system, c->species[i]);
        c->sorted.x[to] = r[0];
        c->sorted.y[to] = r[1];
        c->sorted.z[to] = r[2];
        c->sorted.charge[to] = species->charge;
        c->sorted.diameter[to] = species->diameter;
        c->sorted.species[to] = c->species[i];
    }
}

static void take_positions(const hmc *h)
{
    const hmc_cpu *c = h->cpu;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t i = 0; i < h->count; i += 3)
        hmc_position(hmc_box_of(h, i), c->place + i, c->positions + i);
}

/* Cells around in one direction, each once. */
static int line_around(int32_t cell, int32_t count, int32_t out[3])
{
    if (count < 3) {
        for (int32_t k = 0; k < count; k++) out[k] = k;
        return count;
    }
    for (int32_t k = 0; k < 3; k++) out[k] = (cell + k + count - 1) % count;
    return 3;
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
    const hmc_cpu *c = h->cpu;
    const int32_t *start = c->start + w * (c->cells + 1);
    const int64_t walker = w * h->system->particles;
    int32_t x[3], y[3], z[3];
    const int nx = line_around((int32_t)(cell % c->count[0]), c->count[0], x);
    const int ny = line_around((int32_t)(cell / c->count[0] % c->count[1]), c->count[1], y);
    const int nz = line_around((int32_t)(cell / c->count[0] / c->count[1]), c->count[2], z);
    int64_t found = 0;
    for (int i = 0; i < nx * ny * nz; i++) {
        const int64_t other =
            ((int64_t)z[i / (nx * ny)] * c->count[1] + y[i / nx % ny]) * c->count[0] + x[i % nx];
        for (int64_t k = start[other]; k < start[other + 1]; k++) {
            copy_particle(&c->sorted, walker + k, &work->around, found);
            work->around_at[found++] = k;
        }
    }
    return found;
}

/* Squared distances of the nearest images in a rectangular box. */
static PLUGMC_TARGETS void squares(const double length[3], const double r[3],
                                   const particle_arrays *others, int64_t n, double *restrict out)
{
    const double *restrict x = others->x, *restrict y = others->y, *restrict z = others->z;
    const double lx = length[0], ly = length[1], lz = length[2];
    const double px = 1 / lx, py = 1 / ly, pz = 1 / lz, rx = r[0], ry = r[1], rz = r[2];
    for (int64_t k = 0; k < n; k++) {
        double dx = rx - x[k], dy = ry - y[k], dz = rz - z[k];
        dx -= lx * rint(dx * px);
        dy -= ly * rint(dy * py);
        dz -= lz * rint(dz * pz);
        out[k] = dx * dx + dy * dy + dz * dz;
    }
}

/* Of those around, everyone in reach of sorted particle `own` but itself. In an oblique box
 * nearest images are left to the potentials, and everyone around is near. */
static plugmc_particles gather_near(const hmc *h, const plugmc_box *box, const double r[3],
                                    int64_t own, int64_t around, const workspace *work)
{
    const particle_arrays *near = &work->near;
    const double reach_square =
        box->oblique ? INFINITY : h->sampled.reach * h->sampled.reach * (1 + 1e-9);
    const double *square = work->square;
    const int64_t *at = work->around_at;
    int32_t *in_reach = work->in_reach;
    int64_t found = 0;
    if (!box->oblique)
        squares(box->length, r, &work->around, around, work->square);
    else
        memset(work->square, 0, (size_t)around * sizeof *work->square);
    for (int64_t k = 0; k < around; k++) { /* without a branch, which nobody could predict */
        in_reach[found] = (int32_t)k;
        found += (square[k] < reach_square) & (at[k] != own);
    }
    for (int64_t k = 0; k < found; k++) copy_particle(&work->around, in_reach[k], near, k);
    return (plugmc_particles){found,        near->x,        near->y,      near->z,
                              near->charge, near->diameter, near->species};
}

/* ---- Forces and energies --------------------------------------------------------------------- */

/* Of a term, by what it counts in this walker. Where that is 0 it may be infinite. */
static void add_weighted(const hmc *h, int32_t w, const plugmc_term *term,
                         const plugmc_derivatives *one, plugmc_derivatives *sum)
{
    const double weight = hmc_weight(h, w, term);
    if (weight == 0) return;
    sum->energy += weight * one->energy;
    for (int d = 0; d < 3; d++) sum->gradient[d] += weight * one->gradient[d];
}

/* Of particle `own` of the sorted ones, from pairs and fields. */
static void particle_forces(const hmc *h, int32_t w, int64_t own, int64_t around,
                            const workspace *work)
{
    const hmc_cpu *c = h->cpu;
    const plugmc_box *box = &h->box[w];
    const int64_t walker = w * h->system->particles, at = walker + own, i = walker + c->order[at];
    const plugmc_particle probe = {c->sorted.x[at],        c->sorted.y[at],
                                   c->sorted.z[at],        c->sorted.charge[at],
                                   c->sorted.diameter[at], c->sorted.species[at]};
    plugmc_derivatives pairs = {0}, fields = {0};
    int forbidden = 0;
    if (h->sampled.pair_count) {
        const double r[3] = {probe.x, probe.y, probe.z};
        const plugmc_particles near = gather_near(h, box, r, own, around, work);
        for (int t = 0; t < h->sampled.pair_count; t++) {
            plugmc_derivatives one = {0}, *sum = h->ladder.weight ? &one : &pairs;
            h->sampled.pairs[t]->plugin->potential->pair->derivatives(
                h->sampled.pairs[t]->instance, box, 1, 0, &probe, &near, sum);
            if (h->ladder.weight) add_weighted(h, w, h->sampled.pairs[t], &one, &pairs);
        }
    }
    for (int t = 0; t < h->sampled.field_count; t++) {
        plugmc_derivatives one = {0}, *sum = h->ladder.weight ? &one : &fields;
        forbidden |= h->sampled.fields[t]->plugin->potential->field->derivatives(
            h->sampled.fields[t]->instance, &probe, sum);
        if (h->ladder.weight) add_weighted(h, w, h->sampled.fields[t], &one, &fields);
    }
    for (int d = 0; d < 3; d++)
        c->force[3 * i + d] = d < h->dimension ? -(pairs.gradient[d] + fields.gradient[d]) : 0;
    c->share[i] = forbidden ? INFINITY : 0.5 * pairs.energy + fields.energy;
}

static void forces_of_parts(hmc *h)
{
    const hmc_cpu *c = h->cpu;
    const int64_t walkers = h->system->walkers;
#pragma omp parallel num_threads(c->threads)
    {
        const workspace *work = &c->work[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (int32_t w = 0; w < (int32_t)walkers; w++) sort_walker(h, w);
#pragma omp for schedule(dynamic, 8)
        for (int64_t k = 0; k < walkers * c->cells; k++) {
            const int32_t w = (int32_t)(k / c->cells);
            const int64_t cell = k % c->cells;
            const int32_t *start = c->start + w * (c->cells + 1);
            if (start[cell] == start[cell + 1]) continue;
            const int64_t around = h->sampled.pair_count ? gather_around(h, w, cell, work) : 0;
            for (int64_t own = start[cell]; own < start[cell + 1]; own++)
                particle_forces(h, w, own, around, work);
        }
    }
}

/* The forces and energies of one total, by what it counts in each walker. */
static void add_weighted_total(const hmc *h, const plugmc_term *term, double *energy)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = 3 * h->system->particles;
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const double weight = hmc_weight(h, w, term);
        if (weight == 0) continue;
        for (int64_t i = w * n; i < (w + 1) * n; i++) c->force[i] += weight * c->own_force[i];
        if (energy) energy[w] += weight * c->own_energy[w];
    }
}

/* Adds those of whole configurations, all walkers. */
static int add_totals(hmc *h, const plugmc_host *host, double *energy)
{
    const hmc_cpu *c = h->cpu;
    plugmc_view view = {.size = sizeof view};
    int code =
        h->sampled.total_count ? host->view(host->context, c->positions, 0, &view) : PLUGMC_OK;
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &view,
                                          .energy =
                                              energy && h->ladder.weight ? c->own_energy : energy,
                                          .forces = h->ladder.weight ? c->own_force : c->force};
    for (int t = 0; t < h->sampled.total_count && !code; t++) {
        if (h->ladder.weight) {
            memset(c->own_force, 0, (size_t)h->count * sizeof *c->own_force);
            memset(c->own_energy, 0, (size_t)h->system->walkers * sizeof *c->own_energy);
        }
        code = h->sampled.totals[t]->plugin->potential->total->energy(
            h->sampled.totals[t]->instance, &request);
        if (!code && h->ladder.weight) add_weighted_total(h, h->sampled.totals[t], energy);
    }
    return code;
}

/* Whether a force is not a number, or, if they are known, an energy, which may not be minus infinity
 * either. */
static int not_numbers(const hmc *h, int with_energy)
{
    const hmc_cpu *c = h->cpu;
    int found = 0;
#pragma omp parallel for num_threads(c->threads) schedule(static) reduction(| : found)
    for (int64_t i = 0; i < h->count; i++) found |= c->force[i] != c->force[i];
    for (int32_t w = 0; w < h->system->walkers && with_energy; w++)
        found |= !(c->potential[w] > -INFINITY);
    return found;
}

/* Infinite forces from two sides add up to no number. Where the energy is infinite they do not matter:
 * hmc_kick takes them as 0, and the energy where the trajectory ends decides. Energies are known. */
static int some_walker_is_lost(const hmc *h)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = 3 * h->system->particles;
    int found = 0;
    for (int32_t w = 0; w < h->system->walkers; w++) {
        found |= !(c->potential[w] > -INFINITY);
        for (int64_t i = w * n; i < (w + 1) * n && c->potential[w] < INFINITY; i++)
            found |= isnan(c->force[i]) != 0;
    }
    return found;
}

static int forces_and_energies(hmc *h, const plugmc_host *host, int with_energy)
{
    hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
    take_positions(h);
    forces_of_parts(h);
    for (int32_t w = 0; w < h->system->walkers && with_energy; w++) {
        c->potential[w] = 0;
        for (int64_t i = 0; i < n; i++) c->potential[w] += c->share[w * n + i];
    }
    const int code = add_totals(h, host, with_energy ? c->potential : NULL);
    c->lost = !code && not_numbers(h, with_energy);
    if (c->lost && !with_energy) return forces_and_energies(h, host, 1);
    if (c->lost) c->lost = some_walker_is_lost(h);
    return code;
}

/* ---- In and out ------------------------------------------------------------------------------ */

int hmc_cpu_load(hmc *h, const plugmc_host *host, const uint64_t *place)
{
    hmc_cpu *c = h->cpu;
    if (place) memcpy(c->place, place, (size_t)h->count * sizeof *place);
    int code = forces_and_energies(h, host, 1);
    for (int32_t w = 0; w < h->system->walkers; w++) c->state[w].potential = c->potential[w];
    return code;
}

int hmc_cpu_store(hmc *h, const plugmc_host *host, double *positions)
{
    (void)host;
    for (int64_t i = 0; i < h->count; i += 3)
        hmc_position(hmc_box_of(h, i), h->cpu->place + i, positions + i);
    return PLUGMC_OK;
}

int hmc_cpu_places(hmc *h, const plugmc_host *host, uint64_t *place)
{
    (void)host;
    memcpy(place, h->cpu->place, (size_t)h->count * sizeof *place);
    return PLUGMC_OK;
}

int hmc_cpu_states(hmc *h, const plugmc_host *host, hmc_state *state, int write)
{
    const size_t bytes = (size_t)h->system->walkers * sizeof *state;
    (void)host;
    if (write)
        memcpy(h->cpu->state, state, bytes);
    else
        memcpy(state, h->cpu->state, bytes);
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static void *take(const plugmc_host *host, size_t numbers, size_t each, int *code)
{
    void *memory = host->allocate(host->context, numbers * each);
    if (!memory && !*code)
        *code =
            host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu numbers", numbers);
    return memory;
}

static void take_arrays(const plugmc_host *host, particle_arrays *a, size_t n, int *code)
{
    double **columns[] = {&a->x, &a->y, &a->z, &a->charge, &a->diameter};
    for (int k = 0; k < PLUGMC_COUNT(columns); k++)
        *columns[k] = take(host, n, sizeof(double), code);
    a->species = take(host, n, sizeof *a->species, code);
}

static int take_workspaces(hmc_cpu *c, const plugmc_host *host, size_t n)
{
    int code = PLUGMC_OK;
    c->work = take(host, (size_t)c->threads, sizeof *c->work, &code);
    for (int32_t t = 0; t < c->threads && !code; t++) {
        workspace *work = &c->work[t];
        take_arrays(host, &work->around, n, &code);
        take_arrays(host, &work->near, n, &code);
        work->around_at = take(host, n, sizeof *work->around_at, &code);
        work->square = take(host, n, sizeof *work->square, &code);
        work->in_reach = take(host, n, sizeof *work->in_reach, &code);
    }
    return code;
}

static double most_cells(const hmc *h) { return 4.0 * (double)h->system->particles + 8; }

void hmc_cpu_boxes(hmc *h)
{
    hmc_cpu *c = h->cpu;
    hmc_cells(h, 1, most_cells(h), c->count);
    c->cells = (int64_t)c->count[0] * c->count[1] * c->count[2];
}

int hmc_cpu_prepare(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers,
                 all = n * walkers;
    int code = PLUGMC_OK;
    hmc_cpu *c = h->cpu = take(host, 1, sizeof *c, &code);
    if (code) return code;
    c->threads = system->threads > 0 ? system->threads : omp_get_max_threads();
    hmc_cpu_boxes(h);
    /* boxes that change may be cut into more */
    const size_t cells =
        system->changes & PLUGMC_CHANGED_BOX ? (size_t)most_cells(h) : (size_t)c->cells;
    take_arrays(host, &c->sorted, all, &code);
    c->order = take(host, all, sizeof *c->order, &code);
    c->cell = take(host, all, sizeof *c->cell, &code);
    c->start = take(host, walkers * (cells + 1), sizeof *c->start, &code);
    c->species = take(host, n, sizeof *c->species, &code);
    c->share = take(host, all, sizeof *c->share, &code);
    c->potential = take(host, walkers, sizeof *c->potential, &code);
    c->kinetic = take(host, walkers, sizeof *c->kinetic, &code);
    c->state = take(host, walkers, sizeof *c->state, &code);
    const struct {
        void **array;
        int always;
    } vectors[] = {{(void **)&c->place, 1},         {(void **)&c->place_before, 1},
                   {(void **)&c->momentum, 1},      {(void **)&c->force, 1},
                   {(void **)&c->force_before, 1},  {(void **)&c->positions, 1},
                   {(void **)&c->place_checked, 0}, {(void **)&c->momentum_checked, 0},
                   {(void **)&c->force_checked, 0}};
    if (h->ladder.weight && h->sampled.total_count) {
        c->own_force = take(host, 3 * all, sizeof *c->own_force, &code);
        c->own_energy = take(host, walkers, sizeof *c->own_energy, &code);
    }
    for (int k = 0; k < PLUGMC_COUNT(vectors); k++)
        if (vectors[k].always || h->check_reversal)
            *vectors[k].array = take(host, 3 * all, sizeof(double), &code);
    if (!code) code = take_workspaces(c, host, n);
    for (int32_t a = 0; a < system->species_count && !code; a++)
        for (int64_t i = system->first[a]; i < system->first[a + 1]; i++) c->species[i] = a;
    return code;
}
