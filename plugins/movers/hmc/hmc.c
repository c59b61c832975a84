/* hmc: hybrid Monte Carlo. All particles move at once, along the forces.
 *
 * S. Duane, A. D. Kennedy, B. J. Pendleton, D. Roweth, Phys. Lett. B 195, 216 (1987). Each particle
 * gets a momentum drawn from exp(-p^2 / 2m); the system follows Hamilton's equations for some time
 * steps of the leapfrog (velocity Verlet) scheme; where it arrives is accepted with probability
 * min(1, exp(-change of H)), H = sum p^2 / 2m + U, everything over kT. The scheme is reversible and
 * keeps volumes in phase space, so the rule is exact whatever the time step; how often it accepts
 * is erfc(sqrt(<change of H>) / 2), and <change of H> grows as the fourth power of the time step
 * (S. Gupta, A. Irback, F. Karsch, B. Petersson, Phys. Lett. B 242, 437 (1990)).
 *
 * Reversible means: bit for bit. Positions and momenta are integers (integers.h), and forces are a
 * function of the positions alone, down to the last bit: pairs are added up as integers on the GPU and, from lists of
 * neighbours, on the CPU (lists.h); without lists the order of the neighbours follows from the positions (cells.c). So
 * results depend neither on the number of threads nor on the GPU, and `check_reversal` can ask for equality. Forces
 * need not be accurate for this, nor for the rule of acceptance: on the GPU those of pairs are computed in
 * float unless `precision` is double. Energies are always in double.
 *
 * Rigid molecules move as bodies: rigid.h.
 *
 * One sweep is one trajectory of every walker. Momenta and time are in the unit of energy and the masses
 * of the species: the time step is in units of length sqrt(mass / energy), which is kT where no other is
 * chosen. On a ladder each walker has the temperature and the couplings of its rung, and there is a time step for
 * each rung; where `length` gives the number of steps, walkers that have arrived wait for the others.
 *
 * Random numbers: particle i of walker w in sweep s takes its momentum from
 * plugmc_draw(seed, s, w, i, TRIAL, 0), a rigid molecule its momentum and its angular momentum so by the numbers i of its
 * first and its second site; w accepts if the change of H is at most 0, or if
 * plugmc_uniform_double(word[0], word[1]) of plugmc_draw(seed, s, w, 0, ACCEPT, 0) < exp(-change).
 */
#include "rigid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The number of steps and the cells ------------------------------------------------------- */

/* Of a trajectory with this time step: at least 1. */
static int64_t steps_of(const hmc *h, double step)
{
    if (!(h->length > 0)) return h->steps;
    return h->length > step ? (int64_t)rint(h->length / step) : 1;
}

int64_t hmc_most_steps(const hmc *h)
{
    int64_t most = 1;
    for (int32_t w = 0; w < h->system->walkers; w++)
        if (h->ladder.rung[w].steps > most) most = h->ladder.rung[w].steps;
    return most;
}

/* What follows from rungs and their time steps. */
static int set_rungs(hmc *h, const plugmc_host *host)
{
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const int32_t rung = h->ladder.on_rung[w];
        const double kT =
            h->ladder.by_walker ? h->system->temperatures[rung] : h->system->temperature;
        h->ladder.rung[w] =
            (hmc_rung){kT, 0.5 * h->ladder.step[rung], steps_of(h, h->ladder.step[rung])};
    }
    return h->gpu && h->ladder.by_walker ? hmc_gpu_rungs(h, host) : PLUGMC_OK;
}

/* As many in all walkers, so the smallest box has the say. Slightly wider than needed, so that rounding
 * puts nobody out of reach. */
void hmc_cells(const hmc *h, double range, double most, int32_t count[3])
{
    double width = range * (1 + 1e-6), all;
    do {
        all = 1;
        for (int d = 0; d < 3; d++) {
            double fits = 1e6;
            for (int32_t w = 0; w < h->system->walkers; w++)
                fits = fmin(fits, width > 0 ? floor(plugmc_height(&h->box[w], d) / width) : 1);
            count[d] = d < h->dimension ? (int32_t)fmax(1, fits) : 1;
            all *= count[d];
        }
        width *= 1.1;
    } while (all > most);
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    hmc *h = instance;
    if (plugmc_update_steps(sweeps, h->system->rungs, h->ladder.step)) {
        const int code = set_rungs(h, host);
        if (code) return code;
    }
    return h->gpu ? hmc_gpu_sweep(h, host, first, n) : hmc_cpu_sweep(h, host, first, n);
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    hmc *h = instance;
    double *positions;
    const int side = h->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST,
              code = plugmc_state_positions(state, side, PLUGMC_WRITE, &positions);
    if (code) return code;
    if (h->gpu) return hmc_gpu_store(h, host, state, positions);
    hmc_cpu_store(h, host, positions);
    return h->rigid ? hmc_rigid_store(h, state, positions) : PLUGMC_OK;
}

static int load_places(hmc *h, const plugmc_host *host, const uint64_t *place)
{
    return h->gpu ? hmc_gpu_load(h, host, place) : hmc_cpu_load(h, host, place);
}

static int states(hmc *h, const plugmc_host *host, hmc_state *state, int write)
{
    return h->gpu ? hmc_gpu_states(h, host, state, write) : hmc_cpu_states(h, host, state, write);
}

/* Memory for the length of a call. */
static void *scratch(const plugmc_host *host, size_t bytes, int *code)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    *code = memory
                ? PLUGMC_OK
                : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu bytes", bytes);
    return memory;
}

int hmc_lost(const plugmc_host *host, uint64_t sweep)
{
    const plugmc_not_a_number where = {
        .size = sizeof where, .walker = -1, .particle = -1, .sweep = sweep};
    return host->not_a_number(host->context, &where);
}

static int check_energies(hmc *h, const plugmc_host *host)
{
    int code;
    hmc_state *state = scratch(host, (size_t)h->system->walkers * sizeof *state, &code);
    if (!code) code = states(h, host, state, 0);
    for (int32_t w = 0; w < h->system->walkers && !code; w++)
        if (isnan(state[w].potential))
            code = host->fail(host->context, PLUGMC_ERROR_STATE,
                              "the energy of walker %d is not a number: some particles have "
                              "the same position",
                              w);
    free(state);
    return code;
}

/* The cells of all walkers follow from the boxes as they are now. */
static int take_boxes(hmc *h, const plugmc_host *host, const plugmc_state *state)
{
    void *boxes;
    const int code =
        state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL);
    if (code) return code;
    memcpy(h->box, boxes, (size_t)h->system->walkers * sizeof *h->box);
    if (h->gpu) return hmc_gpu_boxes(h, host, state);
    hmc_cpu_boxes(h);
    return PLUGMC_OK;
}

/* Trajectories so far belong to the rungs that walkers were on. */
static int keep_counts(hmc *h, const plugmc_host *host)
{
    int code;
    hmc_state *state = scratch(host, (size_t)h->system->walkers * sizeof *state, &code);
    if (!code) code = states(h, host, state, 0);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        plugmc_counts *own = &h->ladder.counted[h->ladder.on_rung[w]];
        own->trials += state[w].trials;
        own->accepted += state[w].accepted;
        state[w].trials = state[w].accepted = 0;
    }
    if (!code) code = states(h, host, state, 1);
    free(state);
    return code;
}

static int take_rungs(hmc *h, const plugmc_host *host, const plugmc_state *state)
{
    const int64_t terms = h->system->term_count;
    void *rungs, *rows;
    size_t row;
    int code = keep_counts(h, host);
    if (!code)
        code = state->array(state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ, &rungs, NULL);
    if (!code)
        code =
            state->array(state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ, &rows, &row);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        const double *m = (const double *)((const char *)rows + (size_t)w * row);
        h->ladder.on_rung[w] = ((const int32_t *)rungs)[w];
        for (int64_t t = 0; t < terms && h->ladder.weight; t++)
            h->ladder.weight[w * terms + t] = m[t] * h->system->temperatures[h->ladder.on_rung[w]];
    }
    return code ? code : set_rungs(h, host);
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    const uint32_t of_rungs = PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG;
    hmc *h = instance;
    double *positions;
    int code = changed & PLUGMC_CHANGED_BOX ? take_boxes(h, host, state) : PLUGMC_OK;
    if (!code && h->ladder.by_walker && changed & of_rungs) code = take_rungs(h, host, state);
    if (!code && !(changed & ~of_rungs)) {
        code = load_places(h, host, NULL);
        return code ? code : check_energies(h, host);
    }
    if (!code) code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    if (code) return code;
    if (h->rigid && (code = hmc_rigid_load(h, state))) return code;
    uint64_t *place = scratch(host, (size_t)h->count * sizeof *place, &code);
    for (int64_t i = 0; i < h->count && !code; i += 3)
        hmc_place_of(hmc_box_of(h, i), positions + i, place + i);
    if (!code) code = load_places(h, host, place);
    free(place);
    return code ? code : check_energies(h, host);
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    hmc *h = instance;
    const size_t bytes = (size_t)h->ladder.rungs * sizeof *out;
    const int code = keep_counts(h, host);
    memcpy(out, h->ladder.counted, bytes);
    if (clear) memset(h->ladder.counted, 0, bytes);
    return code;
}

static int running_energy(void *instance, const plugmc_host *host, double *energy)
{
    hmc *h = instance;
    int code;
    hmc_state *state = scratch(host, (size_t)h->system->walkers * sizeof *state, &code);
    if (!code) code = states(h, host, state, 0);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) energy[w] = state[w].potential;
    free(state);
    return code;
}

/* Positions to the last bit, also in an oblique box; forces follow from them. Energies are kept,
 * since the next acceptance depends on them. */
static int archive(void *instance, const plugmc_host *host, plugmc_archive *archive)
{
    hmc *h = instance;
    const size_t walkers = (size_t)h->system->walkers;
    int code, other;
    uint64_t *place = scratch(host, (size_t)h->count * sizeof *place, &code);
    hmc_state *state = scratch(host, walkers * sizeof *state, &other);
    if (!code) code = other;
    if (!code && !archive->reading)
        code = h->gpu ? hmc_gpu_places(h, host, place) : hmc_cpu_places(h, host, place);
    if (!code && !archive->reading) code = states(h, host, state, 0);
    if (!code && !archive->reading && h->rigid && h->gpu) code = hmc_gpu_turned(h, host);
    /* counts are the core's, and when they were cleared last is no matter of the chain */
    for (size_t w = 0; w < walkers && !code; w++) state[w].trials = state[w].accepted = 0;
    if (!code)
        code = plugmc_archive_walkers(archive, "places", place,
                                      (size_t)h->count / walkers * sizeof *place);
    if (!code) code = plugmc_archive_walkers(archive, "states", state, sizeof *state);
    if (!code && h->rigid)
        code = plugmc_archive_walkers(archive, "orientations", h->rigid->turned,
                                      (size_t)h->system->particles * sizeof *h->rigid->turned);
    if (!code && archive->reading) code = load_places(h, host, place);
    if (!code && archive->reading) code = states(h, host, state, 1);
    free(place);
    free(state);
    return code;
}

/* ---- The time step --------------------------------------------------------------------------- */

/* Where the integrator follows the forces. */
static double limit(const void *instance, int32_t rung, double step)
{
    return fmin(step, ((const hmc *)instance)->ladder.largest_step[rung]);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int configure(void *instance, const plugmc_host *host)
{
    const hmc *h = instance;
    if (h->length > 0 && h->length / h->time_step > 1e6)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "length = %g are %g time steps of %g: more than a million", h->length,
                          h->length / h->time_step, h->time_step);
    return PLUGMC_OK;
}

/* Sorts the sampled terms by what has to be done for them. */
static int sort_terms(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t terms = (size_t)system->term_count + 1;
    const plugmc_term **list = host->allocate(host->context, 3 * terms * sizeof *list);
    if (!list) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the terms");
    h->sampled.pairs = list;
    h->sampled.fields = list + terms;
    h->sampled.totals = list + 2 * terms;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (p->total && plugmc_follows_positions(p->total))
            h->sampled.totals[h->sampled.total_count++] = term;
        if (p->total && !p->total->beside_parts) continue;
        if (p->field) h->sampled.fields[h->sampled.field_count++] = term;
        if (!p->pair) continue;
        h->sampled.pairs[h->sampled.pair_count++] = term;
        h->sampled.reach = fmax(h->sampled.reach, p->pair->range(term->instance));
    }
    return PLUGMC_OK;
}

static int take_masses(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    h->mass = host->allocate(host->context, (size_t)system->species_count * sizeof *h->mass);
    if (!h->mass)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the species");
    for (int32_t a = 0; a < system->species_count; a++) {
        h->mass[a] = plugmc_species_at(system, a)->mass;
        if (!(h->mass[a] > 0) || !isfinite(h->mass[a]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species '%s' has mass %g, but it must be positive",
                              plugmc_species_at(system, a)->name, h->mass[a]);
    }
    return PLUGMC_OK;
}

/* Walkers as they begin: rung after rung. */
static int take_walkers(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    h->ladder.rungs = system->rungs > 1 ? system->rungs : 1;
    h->ladder.by_walker = system->weighted || h->ladder.rungs > 1;
    const size_t rungs = (size_t)h->ladder.rungs;
    h->box = host->allocate(host->context, walkers * sizeof *h->box);
    h->ladder.rung = host->allocate(host->context, walkers * sizeof *h->ladder.rung);
    h->ladder.on_rung = host->allocate(host->context, walkers * sizeof *h->ladder.on_rung);
    h->ladder.step = host->allocate(host->context, rungs * sizeof *h->ladder.step);
    h->ladder.largest_step = host->allocate(host->context, rungs * sizeof *h->ladder.largest_step);
    h->ladder.counted = host->allocate(host->context, rungs * sizeof *h->ladder.counted);
    if (system->weighted)
        h->ladder.weight =
            host->allocate(host->context, walkers * terms * sizeof *h->ladder.weight);
    if (!h->box || !h->ladder.rung || !h->ladder.on_rung || !h->ladder.step ||
        !h->ladder.largest_step || !h->ladder.counted || (system->weighted && !h->ladder.weight))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    for (size_t w = 0; w < walkers; w++) h->box[w] = system->box;
    for (size_t r = 0; r < rungs; r++) h->ladder.step[r] = h->time_step;
    return PLUGMC_OK;
}

/* Of each rung, and the shortest of them. */
static double find_largest_steps(hmc *h)
{
    double shortest = INFINITY;
    for (int32_t r = 0; r < h->ladder.rungs; r++) {
        h->ladder.largest_step[r] = hmc_largest_step(h, r);
        shortest = fmin(shortest, h->ladder.largest_step[r]);
    }
    return shortest;
}

static int prepare(void *instance, const plugmc_host *host)
{
    hmc *h = instance;
    h->system = host->system;
    h->seed = host->seed;
    h->dimension = h->system->box.dimension;
    h->count = 3 * h->system->walkers * h->system->particles;
    int code = take_walkers(h, host);
    if (!code) code = sort_terms(h, host);
    if (!code) code = take_masses(h, host);
    if (!code) code = hmc_rigid_prepare(h, host);
    if (code) return code;
    const double shortest = find_largest_steps(h);
    if (h->target_acceptance > 0 && h->time_step > shortest)
        host->warn(
            host->context,
            "time_step = %g exceeds %.3g, up to which leapfrog is stable here and with which "
            "equilibration begins",
            h->time_step, shortest);
    code = host->gpu ? hmc_gpu_prepare(h, host) : hmc_cpu_prepare(h, host);
    return code ? code : set_rungs(h, host);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    return hmc_gpu_gpu_source(instance, host, index, out);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(hmc, time_step, "0.005", 1e-12, 1e12, "length sqrt(mass/energy)",
                    "time step of leapfrog; tuned during equilibration unless "
                    "target_acceptance is 0"),
    PLUGMC_INTEGER_KEY(hmc, steps, "20", 1, 1000000, "", "number of time steps in a trajectory"),
    PLUGMC_REAL_KEY(hmc, length, "0", 0, 1e12, "length sqrt(mass/energy)",
                    "duration of a trajectory, which determines the number of steps; 0: "
                    "given by `steps`"),
    PLUGMC_REAL_KEY(hmc, target_acceptance, "0.65", 0, 1, "",
                    "target acceptance of the tuning of time_step during equilibration; 0: "
                    "fixed time step"),
    PLUGMC_CHOICE_KEY(hmc, precision, "single", "single|double",
                      "precision of pair forces on a GPU; energies are in double precision"),
    PLUGMC_FLAG_KEY(hmc, check_reversal, "no",
                    "reverses every trajectory, and checks that it returns to its start bit "
                    "for bit"),
};

static const plugmc_move moves[] = {{.name = "trajectory",
                                     .doc = "a trajectory of all particles of a walker",
                                     .step_unit = "length sqrt(mass/energy)",
                                     .step_key = "time_step",
                                     .target_key = "target_acceptance",
                                     .largest = INFINITY,
                                     .limit = limit}};

static const plugmc_driver driver = {
    .size = sizeof driver, .load = take, .store = give, .running_energy = running_energy};

PLUGMC_PLUGIN(
        .name = "hmc",
        .summary = "hybrid Monte Carlo: trajectories along the forces, accepted as a whole",
        .reference = "Duane, Kennedy, Pendleton, Roweth, Phys. Lett. B 195, 216 (1987)",
        PLUGMC_KEYS(hmc, table),
        PLUGMC_MOVER_WITH(
            moves,
            .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL |
                     PLUGMC_NEEDS_FORCES | PLUGMC_NEEDS_PERIODIC | PLUGMC_RUNS_ON_CPU |
                     PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
            .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION,
            .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION | PLUGMC_CHANGED_BOX |
                       PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
            .sweep = sweep, .counts = counts,
            .good_for =
                "moving all particles at once along smooth forces, above all many charges on a GPU; not for hard cores",
            .driver = &driver),
        .configure = configure, .prepare = prepare, .gpu_source = gpu_source, .archive = archive);
