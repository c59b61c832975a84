/* Trajectories on the CPU, in double precision. Forces and energies are a function of the positions, to the last
 * bit; how, lists.h and cells.c tell. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "rigid.h"

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
        if (h->rigid)
            memcpy(h->rigid->before, h->rigid->turned,
                   (size_t)h->count / 3 * sizeof *h->rigid->turned);
        for (int32_t w = 0; w < h->system->walkers; w++) c->kinetic[w] = kinetic_energy(h, w);
        code = trajectory(h, host);
        if (!code && c->lost) return hmc_lost(host, sweep);
        if (!code && h->check_reversal) code = reverse(h, host, sweep);
        for (int32_t w = 0; w < h->system->walkers && !code; w++) settle(h, sweep, w);
    }
    return code;
}

/* ---- A trajectory ---------------------------------------------------------------------------- */

/* Of particle i of a walker, or of the molecule whose first or second site it is. */
static void draw_momentum(const hmc *h, uint64_t sweep, int32_t w, int64_t i, int64_t out[3])
{
    if (h->rigid)
        hmc_rigid_draw(h, sweep, w, i, out);
    else
        hmc_momentum(h->seed, sweep, (uint32_t)w, (uint32_t)i, h->dimension,
                     h->mass[h->cpu->species[i]] * h->ladder.rung[w].kT, out);
}

static void draw_momenta(const hmc *h, uint64_t sweep)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
#pragma omp parallel for collapse(2) num_threads(c->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++)
            draw_momentum(h, sweep, w, i, c->momentum + 3 * (w * n + i));
}

static double kinetic_energy(const hmc *h, int32_t walker)
{
    const int64_t n = h->system->particles;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += h->rigid ? hmc_rigid_kinetic(h, i, h->cpu->momentum + 3 * (walker * n + i))
                        : 0.5 * hmc_square(h->cpu->momentum + 3 * (walker * n + i)) /
                              h->mass[h->cpu->species[i]];
    return sum;
}

static void kick(const hmc *h, int64_t k)
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
        }
}

/* Half steps of the momentum, then a step of the position, before the forces of step k of all walkers that have
 * not arrived; the last half step of those that just have. */
static void move(hmc *h, int64_t k)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
    kick(h, k);
#pragma omp parallel for collapse(2) num_threads(c->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            const hmc_rung *rung = &h->ladder.rung[w];
            const int64_t at = 3 * (w * n + i);
            const int role = h->rigid ? h->rigid->role[i] : HMC_FREE;
            if (k >= rung->steps) continue;
            if (role == HMC_FIRST_SITE) hmc_rigid_drift(h, w, i, 2 * rung->half_step);
            if (role == HMC_FREE)
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
    const int accepted = (change <= 0 || plugmc_uniform_double(random.word[0], random.word[1]) <
                                             exp(-change / h->ladder.rung[w].kT)) &&
                         !(h->rigid && hmc_rigid_lost_shape(h, w));
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
    if (h->rigid)
        memcpy(h->rigid->turned + at / 3, h->rigid->before + at / 3,
               (size_t)n / 3 * sizeof *h->rigid->turned);
}

/* Coordinates of a walker's particle i that a trajectory and its reverse have not brought back. */
static int64_t coordinates_astray(const hmc *h, uint64_t sweep, int32_t w, int64_t i)
{
    const hmc_cpu *c = h->cpu;
    const int64_t at = w * h->system->particles + i;
    int64_t begun[3], astray = 0;
    draw_momentum(h, sweep, w, i, begun);
    for (int64_t d = 0; d < 3; d++)
        astray += c->place[3 * at + d] != c->place_before[3 * at + d] ||
                  c->momentum[3 * at + d] != -begun[d];
    if (h->rigid && h->rigid->role[i] == HMC_FIRST_SITE)
        for (int k = 0; k < 4; k++)
            astray += h->rigid->turned[at].part[k] != h->rigid->before[at].part[k];
    return astray;
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
    if (h->rigid)
        memcpy(h->rigid->checked, h->rigid->turned,
               (size_t)h->count / 3 * sizeof *h->rigid->turned);
    for (int64_t i = 0; i < h->count; i++) c->momentum[i] = -c->momentum[i];
    int code = trajectory(h, host);
    int64_t astray = 0;
    for (int64_t i = 0; i < h->count / 3 && !code; i++)
        astray += coordinates_astray(h, sweep, (int32_t)(i / h->system->particles),
                                     i % h->system->particles);
    memcpy(c->place, c->place_checked, bytes);
    memcpy(c->momentum, c->momentum_checked, bytes);
    memcpy(c->force, c->force_checked, bytes);
    if (h->rigid)
        memcpy(h->rigid->turned, h->rigid->checked,
               (size_t)h->count / 3 * sizeof *h->rigid->turned);
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

/* ---- Forces and energies --------------------------------------------------------------------- */

static void take_positions(const hmc *h)
{
    const hmc_cpu *c = h->cpu;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t i = 0; i < h->count; i += 3)
        hmc_position(hmc_box_of(h, i), c->place + i, c->positions + i);
    if (h->rigid) hmc_rigid_place(h);
}

void hmc_cpu_add_weighted(const hmc *h, int32_t w, const plugmc_term *term,
                          const plugmc_derivatives *one, plugmc_derivatives *sum)
{
    const double weight = hmc_weight(h, w, term);
    if (weight == 0) return;
    sum->energy += weight * one->energy;
    for (int d = 0; d < 3; d++) sum->gradient[d] += weight * one->gradient[d];
}

int hmc_cpu_add_fields(const hmc *h, int32_t w, const plugmc_particle *probe,
                       plugmc_derivatives *sum)
{
    int forbidden = 0;
    for (int t = 0; t < h->sampled.field_count; t++) {
        plugmc_derivatives one = {0}, *to = h->ladder.weight ? &one : sum;
        forbidden |= h->sampled.fields[t]->plugin->potential->field->derivatives(
            h->sampled.fields[t]->instance, probe, to);
        if (h->ladder.weight) hmc_cpu_add_weighted(h, w, h->sampled.fields[t], &one, sum);
    }
    return forbidden;
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
    int code = PLUGMC_OK;
    take_positions(h);
    if (c->lists)
        code = hmc_lists_forces(h, host, with_energy);
    else
        hmc_cells_forces(h);
    if (code) return code;
    for (int32_t w = 0; w < h->system->walkers && with_energy; w++) {
        c->potential[w] = c->pair_energy[w];
        for (int64_t i = 0; i < n; i++) c->potential[w] += c->share[w * n + i];
    }
    code = add_totals(h, host, with_energy ? c->potential : NULL);
    if (!code && h->rigid) hmc_rigid_gather(h);
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

void *hmc_cpu_take(const plugmc_host *host, size_t numbers, size_t each, int *code)
{
    void *memory = host->allocate(host->context, numbers * each);
    if (!memory && !*code)
        *code =
            host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu numbers", numbers);
    return memory;
}

void hmc_cpu_boxes(hmc *h) { (h->cpu->lists ? hmc_lists_boxes : hmc_cells_boxes)(h); }

int hmc_cpu_prepare(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers,
                 all = n * walkers;
    int code = PLUGMC_OK;
    hmc_cpu *c = h->cpu = hmc_cpu_take(host, 1, sizeof *c, &code);
    if (code) return code;
    c->threads = system->threads > 0 ? system->threads : omp_get_max_threads();
    c->species = hmc_cpu_take(host, n, sizeof *c->species, &code);
    c->share = hmc_cpu_take(host, all, sizeof *c->share, &code);
    c->pair_energy = hmc_cpu_take(host, walkers, sizeof *c->pair_energy, &code);
    c->potential = hmc_cpu_take(host, walkers, sizeof *c->potential, &code);
    c->kinetic = hmc_cpu_take(host, walkers, sizeof *c->kinetic, &code);
    c->state = hmc_cpu_take(host, walkers, sizeof *c->state, &code);
    const struct {
        void **array;
        int always;
    } vectors[] = {{(void **)&c->place, 1},         {(void **)&c->place_before, 1},
                   {(void **)&c->momentum, 1},      {(void **)&c->force, 1},
                   {(void **)&c->force_before, 1},  {(void **)&c->positions, 1},
                   {(void **)&c->place_checked, 0}, {(void **)&c->momentum_checked, 0},
                   {(void **)&c->force_checked, 0}};
    if (h->ladder.weight && h->sampled.total_count) {
        c->own_force = hmc_cpu_take(host, 3 * all, sizeof *c->own_force, &code);
        c->own_energy = hmc_cpu_take(host, walkers, sizeof *c->own_energy, &code);
    }
    for (int k = 0; k < PLUGMC_COUNT(vectors); k++)
        if (vectors[k].always || h->check_reversal)
            *vectors[k].array = hmc_cpu_take(host, 3 * all, sizeof(double), &code);
    if (!code) code = (hmc_lists_serve(h) ? hmc_lists_prepare : hmc_cells_prepare)(h, host);
    for (int32_t a = 0; a < system->species_count && !code; a++)
        for (int64_t i = system->first[a]; i < system->first[a + 1]; i++) c->species[i] = a;
    return code;
}
