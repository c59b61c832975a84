/* Life of a VMC mover, wherever its walkers live: sweeps with refreshed matrices, checkpoints,
 * counts. vmc.h says what there is. */
#include "vmc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BLOCK = 32 }; /* on the CPU */

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static int refresh(vmc *, const plugmc_host *);
static int report_failure(vmc *, const plugmc_host *);
static int lost(const vmc *);

/* The inverse matrices are made anew before the first sweep at or after each multiple of `refresh`, however the run is
 * cut into calls. */
int vmc_sweeps(vmc *v, const plugmc_host *host, uint64_t first, uint64_t n)
{
    int code = PLUGMC_OK;
    if (!host->gpu && v->system->threads > 0) v->cpu.threads = v->system->threads;
    for (uint64_t sweep = first; sweep < first + n && !code; sweep++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        const int due = sweep / (uint64_t)v->refresh != v->last.base_sweep / (uint64_t)v->refresh;
        if (due && !v->last.fresh) code = refresh(v, host);
        if (!code && (due || v->last.fresh)) {
            v->last.base_sweep = sweep;
            v->last.since = 0;
            code = v->engine->keep_base(v, host);
        }
        v->last.fresh = 0;
        v->last.steps[v->last.since++] = v->step;
        if (!code) code = v->one_sweep(v, host, sweep);
        if (lost(v)) break;
    }
    return code ? code : report_failure(v, host);
}

/* Whether report_failure would say something, as far as the host knows: what happens on a GPU is
 * known once it is asked for, or when matrices and energies are made anew. */
static int lost(const vmc *v)
{
    for (int32_t w = 0; w < v->system->walkers; w++) {
        const vmc_walker *walker = &v->walkers[w];
        if (walker->not_a_number || walker->no_numbers || walker->singular ||
            !isfinite(walker->parts))
            return 1;
    }
    return 0;
}

static int report_failure(vmc *v, const plugmc_host *host)
{
    int code = v->engine->report(v, host);
    for (int32_t w = 0; w < v->system->walkers && !code; w++) {
        const vmc_walker *walker = &v->walkers[w];
        const plugmc_not_a_number where = {.size = sizeof where,
                                           .walker = w,
                                           .particle = walker->not_a_number ? walker->electron : -1,
                                           .sweep = walker->not_a_number
                                                        ? walker->sweep
                                                        : v->last.base_sweep + v->last.since -
                                                              (v->last.since > 0)};
        if (walker->not_a_number || walker->no_numbers || !(walker->parts > -INFINITY))
            code = host->not_a_number(host->context, &where);
        else if (walker->singular)
            code =
                host->fail(host->context, PLUGMC_ERROR_INPUT,
                           "the orbitals of species '%s' are linearly dependent at the electrons "
                           "of walker %d: the wave function is zero there",
                           plugmc_species_at(v->system, walker->singular - 1)->name, w);
        else if (!isfinite(walker->parts))
            code = host->fail(host->context, PLUGMC_ERROR_STATE,
                              "walker %d is in a region that a potential forbids", w);
    }
    return code;
}

/* What was kept while sweeping is compared with what it should be. */
static int refresh(vmc *v, const plugmc_host *host)
{
    double worst = 0;
    int32_t where = 0;
    int code = report_failure(v, host); /* on a GPU, what comes next would forget it */
    if (!code) code = v->engine->anew(v, host, 1);
    if (!code) code = report_failure(v, host);
    for (int32_t w = 0; w < v->system->walkers; w++)
        if (!(v->walkers[w].drift <= worst)) {
            worst = v->walkers[w].drift;
            where = w;
        }
    if (code || worst <= 0.01 * v->tolerated) return code;
    if (!(worst <= v->tolerated))
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "the relative error of the inverse matrix or ln |Psi|^2 of walker %d has grown "
            "to %.2g within refresh = %lld sweeps: refresh more often",
            where, worst, (long long)v->refresh);
    if (!v->last.warned)
        host->warn(host->context,
                   "the relative error of an inverse matrix or ln |Psi|^2 has grown to %.2g "
                   "within refresh = %lld sweeps",
                   worst, (long long)v->refresh);
    v->last.warned = 1;
    return PLUGMC_OK;
}

vmc_draws vmc_draws_of(const vmc *v, uint64_t sweep)
{
    const plugmc_box *box = &v->system->box;
    vmc_draws d = {.seed = v->seed,
                   .sweep = sweep,
                   .step = v->step,
                   .moves = v->moves,
                   .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC};
    memcpy(d.vector, box->vector, sizeof d.vector);
    memcpy(d.inverse, box->inverse, sizeof d.inverse);
    return d;
}

/* ---- Positions in and out -------------------------------------------------------------------- */

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const vmc *v = instance;
    double *positions;
    const int side = host->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST,
              code = plugmc_state_positions(state, side, PLUGMC_WRITE, &positions);
    return code ? code : v->engine->give(v, host, positions);
}

/* On the host. */
static int take_positions(vmc *v, const plugmc_host *host, const double *positions)
{
    v->last.fresh = 1;
    v->last.since = 0;
    int code = v->engine->take(v, host, positions);
    if (!code) code = v->engine->anew(v, host, 0);
    return code ? code : report_failure(v, host);
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    double *positions;
    (void)changed; /* positions are all that can */
    int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    return code ? code : take_positions(instance, host, positions);
}

/* ---- Checkpoint ------------------------------------------------------------------------------ */

/* Positions as they are, to host memory. */
static int fetch(vmc *v, const plugmc_host *host, double *positions)
{
    int code = v->engine->keep_base(v, host);
    return code ? code : v->engine->give_base(v, host, positions);
}

/* Runs the chain again from the last refresh, and compares where it ends. */
static int follow(vmc *v, const plugmc_host *host, uint64_t sweeps, const double *base,
                  const double *steps)
{
    const size_t bytes = 3 * (size_t)(v->system->particles * v->system->walkers) * sizeof(double);
    const double step = v->step;
    const uint64_t base_sweep = v->last.base_sweep;
    double *end = malloc(bytes), *found = malloc(bytes);
    int code = end && found ? PLUGMC_OK
                            : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory to resume");
    if (!code) code = fetch(v, host, end);
    if (!code) code = take_positions(v, host, base);
    for (uint64_t k = 0; k < sweeps && !code; k++) {
        v->step = steps[k];
        code = vmc_sweeps(v, host, base_sweep + k * (uint64_t)host->every, 1);
    }
    v->step = step;
    if (!code) code = fetch(v, host, found);
    if (!code && memcmp(end, found, bytes)) {
        host->warn(host->context,
                   "this machine does not reproduce the chain bit for bit from the last "
                   "refresh; the run continues from the positions of the checkpoint");
        code = take_positions(v, host, end);
    } else if (!code) {
        code = v->engine->take_base(v, host, base);
    }
    free(end);
    free(found);
    return code;
}

/* Where the matrices come from: positions at the last refresh and what was done since. Saving the
 * matrices would take a thousand times the space. */
int vmc_archive(void *instance, const plugmc_host *host, plugmc_archive *archive)
{
    vmc *v = instance;
    const size_t positions = 3 * (size_t)(v->system->particles * v->system->walkers);
    uint64_t since = v->last.since;
    double *steps = calloc((size_t)v->refresh, sizeof *steps),
           *base = calloc(positions, sizeof *base);
    int code = steps && base
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a checkpoint");
    if (!code) memcpy(steps, v->last.steps, (size_t)since * sizeof *steps);
    if (!code && !archive->reading && since) code = v->engine->give_base(v, host, base);
    if (!code)
        code =
            archive->bytes(archive, "base_sweep", &v->last.base_sweep, sizeof v->last.base_sweep);
    if (!code) code = archive->bytes(archive, "sweeps_since", &since, sizeof since);
    if (!code) code = archive->bytes(archive, "steps", steps, (size_t)v->refresh * sizeof *steps);
    if (!code)
        code = plugmc_archive_walkers(archive, "base", base,
                                      positions / (size_t)v->system->walkers * sizeof *base);
    if (!code && archive->reading && since > (uint64_t)v->refresh)
        code = host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "the checkpoint is %llu sweeps after its last refresh, which come every %lld",
            (unsigned long long)since, (long long)v->refresh);
    if (!code && archive->reading && since && !(archive->changed & PLUGMC_CHANGED_POSITION))
        code = follow(v, host, since, base, steps);
    free(steps);
    free(base);
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int check_system(vmc *v, const plugmc_host *host)
{
    const plugmc_system *system = v->system;
    if (system->box.dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "orbitals need three dimensions, but this box has %d",
                          system->box.dimension);
    if (system->species_count > VMC_SPINS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "electrons need two species, one for each spin, but there are %d",
                          system->species_count);
    v->is_single = v->precision == VMC_SINGLE || (v->precision == VMC_AUTO && host->gpu);
    /* A GPU does not round the orbitals of one electron as it does those of all, and a matrix near a
     * node of Psi makes much of it: of 256 walkers of 216 electrons one came to 1.6e-5 in float. */
    v->tolerated = v->max_error > 0 ? v->max_error : v->is_single ? 1e-3 : 1e-5;
    const int code = wave_function_measures(&v->wave, host);
    if (code || !v->wave.sum || !host->gpu || v->one_sweep == vmc_gpu_quasi_simultaneous ||
        v->one_sweep == vmc_gpu_particle_by_particle)
        return code;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "this way of moving the electrons of a sum of determinants is for the CPU "
                      "only: set [run] device = cpu, or use quasi_simultaneous with acceptance = "
                      "sequential");
}

void vmc_choose_block(vmc *v, const plugmc_host *host)
{
    v->delayed = v->block > 0 ? v->block : host->gpu ? VMC_MOST_BLOCK : USUAL_BLOCK;
}

int vmc_prepare(vmc *v, const plugmc_host *host, int keeps,
                int (*on_cpu)(vmc *, const plugmc_host *, uint64_t),
                int (*on_gpu)(vmc *, const plugmc_host *, uint64_t))
{
    const plugmc_system *system = v->system = host->system;
    v->seed = host->seed;
    v->keeps = keeps;
    v->engine = host->gpu ? &vmc_on_gpu : &vmc_on_cpu;
    v->one_sweep = host->gpu ? on_gpu : on_cpu;
    int code = slater_find_orbitals(host, &v->wave.orbitals);
    if (!code) code = check_system(v, host);
    if (code) return code;
    v->walkers = host->allocate(host->context, (size_t)system->walkers * sizeof *v->walkers);
    v->last.steps = host->allocate(host->context, (size_t)v->refresh * sizeof *v->last.steps);
    int good = v->walkers && v->last.steps;
    for (int spin = 0; spin < VMC_SPINS; spin++) {
        const size_t walkers = (size_t)system->walkers;
        v->lent[spin] = host->allocate(host->context, walkers * sizeof *v->lent[spin]);
        v->lent_ln_square[spin] =
            host->allocate(host->context, walkers * sizeof *v->lent_ln_square[spin]);
        good &= v->lent[spin] && v->lent_ln_square[spin];
    }
    if (!good)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                          system->walkers);
    for (int32_t w = 0; w < system->walkers; w++) v->walkers[w].index = w;
    return v->engine->prepare(v, host);
}

void vmc_release(void *instance)
{
    vmc *v = instance;
    if (v->engine && v->engine->release) v->engine->release(v);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    ((vmc *)instance)->step = sweeps->step[0];
    const uint64_t first = sweeps->first, n = sweeps->n;
    return vmc_sweeps(instance, host, first, n);
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    vmc *v = instance;
    plugmc_counts all = {0, 0};
    int code = v->engine->report(v, host);
    for (int32_t w = 0; w < v->system->walkers; w++) {
        all.trials += v->walkers[w].trials;
        all.accepted += v->walkers[w].accepted;
    }
    *out = (plugmc_counts){all.trials - v->cleared.trials, all.accepted - v->cleared.accepted};
    if (clear) v->cleared = all;
    return code;
}

static int running_energy(void *instance, const plugmc_host *host, double *energy)
{
    vmc *v = instance;
    int code = v->engine->report(v, host);
    for (int32_t w = 0; w < v->system->walkers; w++)
        energy[w] = v->walkers[w].parts - v->walkers[w].ln_square[0] - v->walkers[w].ln_square[1];
    return code;
}

/* They belong to what it has given: nothing moves an electron between sweeps. */
static int inverses(void *instance, const plugmc_host *host, plugmc_inverses *out)
{
    vmc *v = instance;
    if (!(v->keeps & VMC_KEEPS_INVERSE) || v->wave.sum)
        return PLUGMC_OK; /* rows are not inverses */
    const int code = v->engine->report(v, host);
    if (code) return code;
    out->on_device = host->gpu != NULL;
    for (int spin = 0; spin < VMC_SPINS; spin++) {
        if (!vmc_electrons(v, spin)) continue;
        for (int32_t w = 0; w < v->system->walkers; w++) {
            v->lent[spin][w] = v->engine->lend(v, spin, w);
            v->lent_ln_square[spin][w] = v->walkers[w].ln_square[spin];
        }
        out->inverse[spin] = v->lent[spin];
        out->ln_square[spin] = v->lent_ln_square[spin];
    }
    return PLUGMC_OK;
}

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "displaces one or all electrons of a walker",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"}};

static const plugmc_driver driver = {
    .size = sizeof driver, .load = take, .store = give, .running_energy = running_energy};

const plugmc_former_keys vmc_former_keys = {
    sizeof vmc_former_keys,
    (const plugmc_former_key[]){{"largest_drift", "max_error"}, {NULL, NULL}}};

const plugmc_lends_inverses vmc_lends = {.size = sizeof vmc_lends, .inverses = inverses};

const plugmc_mover vmc_callbacks = {.size = sizeof vmc_callbacks,
                                    .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD |
                                             PLUGMC_USES_ORBITALS | PLUGMC_RUNS_ON_CPU |
                                             PLUGMC_RUNS_ON_GPU | PLUGMC_USES_POSITIONS,
                                    .changes = PLUGMC_CHANGED_POSITION,
                                    .follows = PLUGMC_CHANGED_POSITION,
                                    .sweep = sweep,
                                    .moves = moves,
                                    .move_count = PLUGMC_COUNT(moves),
                                    .move_size = sizeof(plugmc_move),
                                    .counts = counts,
                                    .good_for = vmc_good_for,
                                    .driver = &driver};
