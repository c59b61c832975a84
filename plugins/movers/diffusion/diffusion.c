/* diffusion: fixed-node diffusion Monte Carlo with a fixed number of walkers, fixed-phase where orbitals are
 * complex.
 *
 * exp(-tau (H - E_T)) projects the lowest state with the nodes of Psi out of |Psi|^2. In a generation each electron
 * of each walker drifts and diffuses,
 *
 *     r' = r + d(v) + N(0, tau),   v = grad ln |Psi|,
 *
 * with d(v) = v (sqrt(1 + 2 a tau v^2) - 1) / (a v^2), and is accepted as in walk.c; moves over a node never are.
 * Then the walker has the weight
 *
 *     exp(tau_eff (E_T - (E_L + E_L') / 2)),   tau_eff = tau (accepted r^2) / (proposed r^2),
 *
 * with local energies limited around their mean, and before the next generation a comb makes as many walkers of
 * weight 1 of them (population.c). Averages are mixed ones, weighted with what walkers weigh and, since a comb of
 * few walkers is biased, with the product of the mean weights of the last generations (M. P. Nightingale, H. W. J.
 * Bloete, Phys. Rev. B 33, 659 (1986)). The algorithm is that of Umrigar, Nightingale and Runge; R. J. Needs, M. D.
 * Towler, N. D. Drummond, P. Lopez Rios, J. R. Trail, J. Chem. Phys. 152, 154106 (2020) has an account of it.
 *
 * Before that come `variational` sweeps without weights, with a time step of their own, which sample |Psi|^2.
 *
 * Random numbers: as of vmc.h, gaussian, with U of electron e from D(ACCEPT, 0); the comb in sweep s begins at
 * plugmc_draw(seed, s, 0, 2^32 - 1, TRIAL, 0), the T-move of electron e after s sweeps is chosen by D(ACCEPT, 1).
 */
#include "diffusion.h"
#include "../../determinants/blas.h"

#include <plugmc/former_keys.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static int check_walkers(const diffusion *d, const plugmc_host *host)
{
    for (int32_t w = 0; w < d->system->walkers; w++) {
        const walker *one = &d->walkers[w];
        if (one->singular)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "the orbitals of species '%s' are linearly dependent at the electrons of "
                "walker %d: the wave function is zero there",
                plugmc_species_at(d->system, one->singular - 1)->name, w);
        if (!isfinite(one->parts))
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "walker %d is in a region that a potential forbids", w);
        if (!(one->drift <= d->tolerated))
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "the relative error of the inverse matrix or ln |Psi|^2 of "
                              "walker %d has grown to %.2g within refresh = %lld sweeps: "
                              "refresh more often",
                              w, one->drift, (long long)d->set.refresh);
    }
    return PLUGMC_OK;
}

static int report_lost(const diffusion *d, const plugmc_host *host, uint64_t sweep)
{
    for (int32_t w = 0; w < d->system->walkers; w++) {
        const plugmc_not_a_number where = {.size = sizeof where,
                                           .walker = w,
                                           .particle = d->walkers[w].lost - 1,
                                           .sweep = sweep,
                                           .trial = d->walkers[w].there};
        if (d->walkers[w].lost) return host->not_a_number(host->context, &where);
    }
    return PLUGMC_OK;
}

static int move_electrons(diffusion *d, const plugmc_host *host, uint64_t sweep, double tau,
                          int crosses)
{
    const int code = d->engine->moves(d, host, sweep, tau, crosses);
    if (code) return code;
    for (int32_t w = 0; w < d->system->walkers; w++) {
        walker *one = &d->walkers[w];
        one->age = one->accepted > 0 ? 0 : one->age + 1;
        one->all_proposed += one->proposed;
        one->all_accepted += one->accepted;
    }
    return report_lost(d, host, sweep);
}

int diffusion_sweep(diffusion *d, const plugmc_host *host, uint64_t s)
{
    const int weighs = s >= (uint64_t)d->set.variational;
    const int due = s / (uint64_t)d->set.refresh != d->last.base_sweep / (uint64_t)d->set.refresh;
    int code = population_t_moves(d, host);
    if (!code && (d->last.fresh || due)) code = checkpoint_begin(d, host, s);
    if (!code && due) {
        code = d->engine->anew(d, host, 1);
        if (!code) code = check_walkers(d, host);
    }
    if (!code && weighs && !d->population.know_energies) code = population_look(d, host, s);
    if (!code && weighs && d->population.generations) code = population_comb(d, host, s);
    if (!code)
        code = move_electrons(d, host, s, weighs ? d->set.tau : d->set.variational_tau, !weighs);
    if (!code && weighs) code = population_weigh(d, host, s + 1);
    if (!code) d->last.since++;
    return code;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    diffusion *d = instance;
    int code = PLUGMC_OK;
    if (d->system->threads > 0) d->threads = d->system->threads;
    d->population.pending_places = NULL; /* whoever measured may have asked for others */
    for (uint64_t s = first; s < first + n && !code; s++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        code = diffusion_sweep(d, host, s);
    }
    return code;
}

/* ---- The state in and out -------------------------------------------------------------------- */

int diffusion_take(diffusion *d, const plugmc_host *host, const double *positions)
{
    const int64_t n = d->system->walkers * d->system->particles;
    memcpy(d->places, positions, 3 * (size_t)n * sizeof *positions);
    for (int64_t i = 0; i < n; i++) plugmc_wrap(&d->system->box, d->places + 3 * i);
    d->population.know_energies = 0;
    d->population.spread = -1;
    d->population.pending = 0;
    d->population.pending_places = NULL;
    d->last.fresh = 1;
    d->last.since = 0;
    int code = d->engine->take(d, host, d->places);
    if (!code) code = d->engine->anew(d, host, 0);
    return code ? code : check_walkers(d, host);
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    double *positions;
    (void)changed;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    return code ? code : diffusion_take(instance, host, positions);
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const diffusion *d = instance;
    const int side = host->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST;
    double *positions;
    void *weights;
    int code = plugmc_state_positions(state, side, PLUGMC_WRITE, &positions);
    if (!code) code = d->engine->give(d, host, positions);
    if (!code)
        code =
            state->array(state, PLUGMC_STATE_WEIGHT, PLUGMC_ON_HOST, PLUGMC_WRITE, &weights, NULL);
    const double correction = population_correction(d);
    for (int32_t w = 0; w < d->system->walkers && !code; w++)
        ((double *)weights)[w] = d->walkers[w].ln_weight + correction;
    return code;
}

int diffusion_lend(diffusion *d, const plugmc_host *host, plugmc_inverses *out)
{
    if (d->wave.sum) return PLUGMC_OK; /* rows of an expansion are no inverses */
    const int code = d->engine->lend(d, host, out);
    for (int spin = 0; spin < SPINS && !code; spin++) {
        if (!electrons_of(d, spin)) continue;
        for (int32_t w = 0; w < d->system->walkers; w++)
            d->ln_lent[spin][w] = d->walkers[w].spin[spin].ln_square;
        out->inverse[spin] = d->lent[spin];
        out->ln_square[spin] = d->ln_lent[spin];
    }
    return code;
}

static int inverses(void *instance, const plugmc_host *host, plugmc_inverses *out)
{
    return diffusion_lend(instance, host, out);
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    diffusion *d = instance;
    (void)host;
    for (int k = 0; k < KINDS; k++) out[k] = (plugmc_counts){0, 0};
    for (int32_t w = 0; w < d->system->walkers; w++)
        for (int k = 0; k < KINDS; k++) {
            out[k].trials += d->walkers[w].counts[k].trials;
            out[k].accepted += d->walkers[w].counts[k].accepted;
            if (clear) d->walkers[w].counts[k] = (plugmc_counts){0, 0};
        }
    return PLUGMC_OK;
}

static int running_energy(void *instance, const plugmc_host *host, double *energy)
{
    diffusion *d = instance;
    const int code = d->engine->report(d, host);
    for (int32_t w = 0; w < d->system->walkers && !code; w++) {
        energy[w] = d->walkers[w].parts;
        for (int spin = 0; spin < SPINS; spin++)
            if (electrons_of(d, spin)) energy[w] -= d->walkers[w].spin[spin].ln_square;
    }
    return code;
}

/* ---- What it tells --------------------------------------------------------------------------- */

static const plugmc_listing listing[] = {
    {"effective_tau", "", "ratio of effective time step and tau: accepted over proposed r^2", 0, 0},
    {"trial_energy", "hartree", "E_T, the energy in the weights", 0, 0},
    {"survivors", "", "fraction of walkers with descendants in the next generation", 0, 0},
};

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    if (index >= PLUGMC_COUNT(listing)) return 0;
    return plugmc_scalar(out, listing[index].name, listing[index].unit, listing[index].doc);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    diffusion *d = instance;
    (void)view;
    if (!d->population.warned && d->population.generations < (uint64_t)d->set.warm_up)
        host->warn(host->context,
                   "production starts before E_T is settled: [run] equilibrate should exceed "
                   "variational + warm_up = %lld sweeps by some 10 / tau",
                   (long long)(d->set.variational + d->set.warm_up));
    d->population.warned = 1;
    for (int32_t w = 0; w < d->system->walkers; w++, values += PLUGMC_COUNT(listing)) {
        walker *one = &d->walkers[w];
        values[0] = one->all_proposed > 0 ? one->all_accepted / one->all_proposed : 0;
        values[1] = d->population.trial;
        values[2] = (double)d->population.survivors / d->system->walkers;
        one->all_proposed = one->all_accepted = 0;
    }
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

enum { MOST_KEPT = 1000000 }; /* generations */

static int configure(void *instance, const plugmc_host *host)
{
    const diffusion *d = instance;
    if (host->system->walkers < 2)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "a population of one walker has no weights: use some hundreds of [run] walkers");
    if (d->set.correction > MOST_KEPT * d->set.tau)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "correction: %g / Hartree is %.3g generations of tau = %g, but the "
                          "limit is %d generations",
                          d->set.correction, d->set.correction / d->set.tau, d->set.tau, MOST_KEPT);
    return PLUGMC_OK;
}

static int find_wave(diffusion *d, const plugmc_host *host)
{
    const plugmc_system *system = d->system;
    int code = slater_find_orbitals(host, &d->wave.orbitals);
    if (code) return code;
    if (system->box.dimension != 3 || system->species_count > SPINS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "electrons need two species, one for each spin, and three "
                          "dimensions, but this system has %d species and %d dimensions",
                          system->species_count, system->box.dimension);
    code = wave_function_measures(&d->wave, host);
    blas_begin_mover(host, d->wave.most);
    if (!code && host->gpu && (d->set.nonlocal == ONE_T_MOVE || d->set.nonlocal == NEAR_T_MOVES))
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "nonlocal = %s is for the CPU only: set [run] device = cpu, or "
                          "nonlocal = t_moves, which is size-consistent",
                          d->set.nonlocal == ONE_T_MOVE ? "one_t_move" : "near_t_moves");
    if (!code && d->wave.sum && host->gpu && d->set.nonlocal != LOCALITY)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "T-moves of a sum of determinants are made on the CPU only: set [run] "
                          "device = cpu, or nonlocal = locality");
    return code ? code : wave_function_terms(&d->wave, host);
}

/* What there is on the host wherever walkers live. */
static int take_memory(diffusion *d, const plugmc_host *host)
{
    plugmc_context *context = host->context;
    const size_t walkers = (size_t)d->system->walkers, particles = (size_t)d->system->particles;
    d->walkers = host->allocate(context, walkers * sizeof *d->walkers);
    d->slaters = host->allocate(context, walkers * SPINS * sizeof *d->slaters);
    d->places = host->allocate(context, 3 * walkers * particles * sizeof *d->places);
    d->population.found =
        host->allocate(context, walkers * (2 + SPINS) * sizeof *d->population.found);
    d->lent[0] = host->allocate(context, SPINS * walkers * sizeof *d->lent[0]);
    d->population.from = host->allocate(context, 2 * walkers * sizeof *d->population.from);
    d->population.ring =
        host->allocate(context, ((size_t)d->population.kept + 1) * sizeof *d->population.ring);
    if (!d->walkers || !d->slaters || !d->places || !d->population.found || !d->lent[0] ||
        !d->population.from || !d->population.ring)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %zu walkers of %zu electrons", walkers, particles);
    d->lent[1] = d->lent[0] + walkers;
    d->ln_lent[0] = d->population.found + walkers;
    d->ln_lent[1] = d->population.found + 2 * walkers;
    d->population.share = d->population.found + 3 * walkers;
    d->population.copies = d->population.from + walkers;
    for (int32_t w = 0; w < d->system->walkers; w++) {
        d->walkers[w].index = w;
        d->walkers[w].spin = d->slaters + (size_t)w * SPINS;
    }
    return checkpoint_prepare(d, host);
}

static int prepare(void *instance, const plugmc_host *host)
{
    diffusion *d = instance;
    const plugmc_system *system = d->system = host->system;
    d->seed = host->seed;
    d->threads = system->threads > 0 ? system->threads : 1;
    d->population.kept =
        (int64_t)(d->set.correction / d->set.tau * (1 + 1e-9)); /* 0.6 / 0.2 is 3 */
    /* a GPU does not round orbitals at few places as it does at many, where their tables are in single precision */
    d->tolerated = d->set.max_error > 0 ? d->set.max_error : host->gpu ? 1e-3 : 1e-5;
    int code = plugmc_local_energies_of(host)->local_energy(host->context, NULL);
    if (!code) code = find_wave(d, host);
    if (!code) code = take_memory(d, host);
    d->engine = host->gpu ? &diffusion_on_gpu : &diffusion_on_cpu;
    return code ? code : d->engine->prepare(d, host);
}

static void release(void *instance)
{
    diffusion *d = instance;
    if (d->engine && d->engine->release) d->engine->release(d);
}

/* ---- The descriptor -------------------------------------------------------------------------- */

_Static_assert(offsetof(diffusion, set) == 0, "keys are told of diffusion_settings");

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(diffusion_settings, tau, NULL, 1e-8, 10, "1/hartree", "time step"),
    PLUGMC_REAL_KEY(diffusion_settings, drift_limit, "0.5", 1e-6, 1, "",
                    "parameter a of the limited drift: with smaller a electrons drift "
                    "farther near a node"),
    PLUGMC_REAL_KEY(
        diffusion_settings, energy_limit, "0.2", 1e-3, 1e6, "",
        "limits the local energies in weights to energy_limit sqrt(electrons / tau) from "
        "their mean"),
    PLUGMC_CHOICE_KEY(diffusion_settings, nonlocal, "locality",
                      "locality|t_moves|one_t_move|near_t_moves",
                      "treatment of nonlocal pseudopotentials: locality approximation, T-moves of "
                      "one electron after the other, one T-move of a walker at most, which is not "
                      "size-consistent, or T-moves that only electrons at the same ions notice"),
    PLUGMC_INTEGER_KEY(diffusion_settings, variational, "200", 0, 1000000000, "sweeps",
                       "variational sweeps, without weights, before the first generation"),
    PLUGMC_REAL_KEY(diffusion_settings, variational_tau, "0.3", 1e-8, 10, "1/hartree",
                    "time step of the variational sweeps"),
    PLUGMC_INTEGER_KEY(diffusion_settings, warm_up, "200", 1, 1000000000, "sweeps",
                       "number of generations until E_T is fixed"),
    PLUGMC_REAL_KEY(
        diffusion_settings, correction, "5", 0, 1e6, "1/hartree",
        "imaginary time over which products of mean weights correct averages for the finite "
        "population; 0: no correction"),
    PLUGMC_INTEGER_KEY(
        diffusion_settings, max_age, "50", 1, 1000000000, "sweeps",
        "generations without a move, after which the weight of a walker is at most 1/2"),
    PLUGMC_INTEGER_KEY(
        diffusion_settings, refresh, "64", 1, 1000000, "sweeps",
        "how often inverse matrices are recomputed, and compared with the updated ones"),
    PLUGMC_REAL_KEY(diffusion_settings, max_error, "0", 0, 1, "",
                    "largest relative error of an updated matrix, or of ln |Psi|^2, found there; a "
                    "larger one ends the run; 0: 1e-5, or 1e-3 on a GPU"),
    PLUGMC_INTEGER_KEY(
        diffusion_settings, block, "0", 0, 32, "",
        "number of electrons whose moves update the inverse matrix together (delayed "
        "update); 0: 1 if a spin has fewer than 64, 8 on a CPU if it has fewer than 256, "
        "else 32"),
};

static const plugmc_move moves[] = {
    {.name = "step", .doc = "moves an electron by drift and diffusion"},
    {.name = "t_move", .doc = "moves an electron by a nonlocal potential"}};

static const plugmc_driver driver = {
    .size = sizeof driver, .load = take, .store = give, .running_energy = running_energy};

static const plugmc_former_keys former_keys = {
    sizeof former_keys, (const plugmc_former_key[]){
                            {"oldest", "max_age"}, {"largest_drift", "max_error"}, {NULL, NULL}}};

static const plugmc_lends_inverses lends_inverses = {.size = sizeof lends_inverses,
                                                     .inverses = inverses};

static const plugmc_observable observable = {.size = sizeof observable,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .listing = listing,
                                             .listing_count = PLUGMC_COUNT(listing),
                                             .listing_size = sizeof listing[0],
                                             .follows = PLUGMC_CHANGED_WALKER_WEIGHT};

PLUGMC_PLUGIN(
        .name = "diffusion",
        .summary = "fixed-node diffusion Monte Carlo with a fixed number of walkers",
        .reference = "Umrigar, Nightingale, Runge, J. Chem. Phys. 99, 2865 (1993)",
        PLUGMC_KEYS(diffusion, table),
        PLUGMC_OFFERS({PLUGMC_LENDS_INVERSES, &lends_inverses}, {PLUGMC_FORMER_KEYS, &former_keys}),
        PLUGMC_MOVER_WITH(
            moves,
            .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_ORBITALS |
                     PLUGMC_NEEDS_FORCES | PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU |
                     PLUGMC_USES_POSITIONS,
            .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_WALKER_WEIGHT, .sweep = sweep,
            .counts = counts, .couples = 1,
            .good_for = "ground states of electrons with the nodes of an optimised wave function",
            .driver = &driver),
        .observable = &observable, .configure = configure, .prepare = prepare,
        .gpu_source = diffusion_gpu_source, .archive = checkpoint_archive, .release = release)
