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
 * plugmc_draw(seed, s, 0, 2^32 - 1, TRIAL, 0), T-moves of walker w at plugmc_draw(seed, s, w, 2^32 - 1, ACCEPT, 0).
 */
#include "diffusion.h"

#include <stdlib.h>
#include <string.h>

#include <cblas.h>

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static const double TOLERATED = 1e-5; /* relative errors of matrices between two refreshes */

static int check_walkers(const diffusion *d, const plugmc_host *host)
{
    for (int32_t w = 0; w < d->system->walkers; w++) {
        const walker *one = &d->walkers[w];
        if (one->singular)
            return host->fail(
                host->context, PLUGMC_ERROR_STATE,
                "the orbitals of species '%s' are linearly dependent at the electrons of "
                "walker %d: the wave function is zero there",
                plugmc_species_at(d->system, one->singular - 1)->name, w);
        if (!isfinite(one->parts))
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "walker %d is where a potential forbids it", w);
        if (!(one->drift <= TOLERATED))
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "the inverse matrix or ln |Psi|^2 of walker %d has drifted by %.2g "
                              "within refresh = %lld sweeps: refresh more often",
                              w, one->drift, (long long)d->refresh);
    }
    return PLUGMC_OK;
}

/* A generation, or one of the sweeps without weights before them. */
static int one_sweep(diffusion *d, const plugmc_host *host, uint64_t s)
{
    const int weighs = s >= (uint64_t)d->variational;
    int code = PLUGMC_OK;
    if (s % (uint64_t)d->refresh == 0) {
        code = walk_anew(d, host, 1);
        if (!code) code = check_walkers(d, host);
    }
    if (!code && weighs && !d->know_energies) code = population_look(d, host, s);
    if (!code && weighs && d->generations) code = population_comb(d, host, s);
    if (!code) code = walk(d, host, s, weighs ? d->tau : d->variational_tau, !weighs);
    return code || !weighs ? code : population_weigh(d, host, s + 1);
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    diffusion *d = instance;
    int code = PLUGMC_OK;
    if (d->system->threads > 0) d->threads = d->system->threads;
    for (uint64_t s = first; s < first + n && !code; s++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        code = one_sweep(d, host, s);
    }
    return code;
}

/* ---- The state in and out -------------------------------------------------------------------- */

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    diffusion *d = instance;
    double *positions;
    (void)changed;
    int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    if (code) return code;
    for (int32_t w = 0; w < d->system->walkers; w++)
        for (int64_t i = 0; i < d->system->particles; i++, positions += 3) {
            double r[3];
            memcpy(r, positions, sizeof r);
            plugmc_wrap(&d->system->box, r);
            d->walkers[w].x[i] = r[0];
            d->walkers[w].y[i] = r[1];
            d->walkers[w].z[i] = r[2];
        }
    d->know_energies = 0;
    code = walk_anew(d, host, 0);
    return code ? code : check_walkers(d, host);
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const diffusion *d = instance;
    double *positions;
    void *weights;
    (void)host;
    int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_WRITE, &positions);
    if (!code)
        code =
            state->array(state, PLUGMC_STATE_WEIGHT, PLUGMC_ON_HOST, PLUGMC_WRITE, &weights, NULL);
    for (int32_t w = 0; w < d->system->walkers && !code; w++) {
        ((double *)weights)[w] = d->walkers[w].ln_weight + population_correction(d);
        for (int64_t i = 0; i < d->system->particles; i++, positions += 3) {
            positions[0] = d->walkers[w].x[i];
            positions[1] = d->walkers[w].y[i];
            positions[2] = d->walkers[w].z[i];
        }
    }
    return code;
}

/* What of a walker positions do not say: its matrices are those of many moves, not those of its places. */
static int archive_walker(diffusion *d, plugmc_archive *archive, walker *w)
{
    double numbers[] = {w->parts,     w->spin[0].ln_square, w->spin[1].ln_square, w->energy,
                        w->ln_weight, w->all_proposed,      w->all_accepted,      (double)w->age};
    int code = plugmc_archive_walker(archive, "walkers", w->index, numbers, sizeof numbers);
    for (int spin = 0; spin < SPINS && !code; spin++) {
        const size_t n = (size_t)electrons_of(d, spin);
        if (n)
            code = plugmc_archive_walker(archive, spin ? "matrices_1" : "matrices_0", w->index,
                                         w->spin[spin].inverse,
                                         n * n * (d->is_complex ? 2 : 1) * sizeof(double));
    }
    if (code || !archive->reading) return code;
    w->parts = numbers[0];
    w->spin[0].ln_square = numbers[1];
    w->spin[1].ln_square = numbers[2];
    w->energy = numbers[3];
    w->ln_weight = numbers[4];
    w->all_proposed = numbers[5];
    w->all_accepted = numbers[6];
    w->age = (int64_t)numbers[7];
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    diffusion *d = instance;
    int64_t whole[] = {d->know_energies, (int64_t)d->generations, d->filled, d->next, d->survivors};
    double energies[] = {d->best, d->trial};
    int code = a->bytes(a, "population", whole, sizeof whole);
    if (!code) code = a->bytes(a, "energies", energies, sizeof energies);
    if (!code && d->kept)
        code = a->bytes(a, "mean_weights", d->ring, (size_t)d->kept * sizeof *d->ring);
    for (int32_t w = 0; w < d->system->walkers && !code; w++)
        code = archive_walker(d, a, &d->walkers[w]);
    if (code || !a->reading) return code;
    if (whole[2] < 0 || whole[2] > d->kept || whole[3] < 0 || whole[3] > d->kept)
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "the checkpoint has the mean weights of %lld generations, and %lld are kept",
            (long long)whole[2], (long long)d->kept);
    d->know_energies = (int)whole[0];
    d->generations = (uint64_t)whole[1];
    d->filled = whole[2];
    d->next = whole[3];
    d->survivors = whole[4];
    d->best = energies[0];
    d->trial = energies[1];
    return PLUGMC_OK;
}

static int inverses(void *instance, const plugmc_host *host, plugmc_inverses *out)
{
    diffusion *d = instance;
    (void)host;
    for (int spin = 0; spin < SPINS; spin++) {
        if (!electrons_of(d, spin)) continue;
        for (int32_t w = 0; w < d->system->walkers; w++) {
            d->lent[spin][w] = d->walkers[w].spin[spin].inverse;
            d->ln_lent[spin][w] = d->walkers[w].spin[spin].ln_square;
        }
        out->inverse[spin] = d->lent[spin];
        out->ln_square[spin] = d->ln_lent[spin];
    }
    return PLUGMC_OK;
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
    const diffusion *d = instance;
    (void)host;
    for (int32_t w = 0; w < d->system->walkers; w++) {
        energy[w] = d->walkers[w].parts;
        for (int spin = 0; spin < SPINS; spin++)
            if (electrons_of(d, spin)) energy[w] -= d->walkers[w].spin[spin].ln_square;
    }
    return PLUGMC_OK;
}

/* ---- What it tells --------------------------------------------------------------------------- */

static const plugmc_listing listing[] = {
    {"effective_tau", "", "effective time step over tau: accepted over proposed r^2", 0, 0},
    {"trial_energy", "hartree", "E_T, of which weights are told", 0, 0},
    {"survivors", "", "share of the walkers that have descendants in the next generation", 0, 0},
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
    if (!d->warned && d->generations < (uint64_t)d->warm_up)
        host->warn(host->context,
                   "production begins before E_T is settled: [run] equilibrate should be more than "
                   "variational + warm_up = %lld sweeps, by some 10 / tau",
                   (long long)(d->variational + d->warm_up));
    d->warned = 1;
    for (int32_t w = 0; w < d->system->walkers; w++, values += PLUGMC_COUNT(listing)) {
        walker *one = &d->walkers[w];
        values[0] = one->all_proposed > 0 ? one->all_accepted / one->all_proposed : 0;
        values[1] = d->trial;
        values[2] = (double)d->survivors / d->system->walkers;
        one->all_proposed = one->all_accepted = 0;
    }
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int configure(void *instance, const plugmc_host *host)
{
    const diffusion *d = instance;
    if (host->system->walkers < 2)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "a population of one walker knows no weights: [run] walkers should be some "
            "hundreds");
    if (d->tau * d->correction > 1e9)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "correction: %g / Hartree is too long",
                          d->correction);
    return PLUGMC_OK;
}

static int find_terms(diffusion *d, const plugmc_host *host)
{
    const plugmc_system *system = d->system;
    d->terms = host->allocate(host->context, ((size_t)system->term_count + 1) * sizeof *d->terms);
    if (!d->terms) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the terms");
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (p->total && plugmc_follows_positions(p->total))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "potential '%s' is an energy of whole configurations, which cannot be a "
                "factor of |Psi|^2 here; with role = measured it is only looked at",
                term->label);
        if (p->orbitals && d->orbitals)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "potentials '%s' and '%s' both give orbitals: there is one determinant "
                "a spin",
                d->orbitals->label, term->label);
        if (p->orbitals) d->orbitals = term;
        if (p->pair || p->field) d->terms[d->term_count++] = term;
    }
    if (!d->orbitals)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "there is no potential with orbitals, which the determinants are made of");
    if (system->box.dimension != 3 || system->species_count > SPINS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "electrons have two spins, which are species, and three dimensions; this "
                          "system has %d species and %d dimensions",
                          system->species_count, system->box.dimension);
    d->is_complex =
        d->orbitals->plugin->potential->orbitals->complex_valued(d->orbitals->instance) != 0;
    const int code = slater_pitch(host, d->orbitals, &d->pitch);
    d->numbers = d->is_complex ? 2 * d->pitch : d->pitch;
    return code;
}

enum { GROUP_BYTES = 64 << 20 }; /* of orbitals that are evaluated together, with gradients */

static int take_memory(diffusion *d, const plugmc_host *host)
{
    plugmc_context *context = host->context;
    const size_t walkers = (size_t)d->system->walkers, particles = (size_t)d->system->particles,
                 row = (size_t)d->numbers, most = (size_t)d->most;
    const size_t fits = GROUP_BYTES / (4 * most * row * sizeof(double));
    size_t bytes = 0;
    d->group = fits < 1 ? 1 : fits < walkers ? (int32_t)fits : d->system->walkers;
    const size_t together = (size_t)d->group * most,
                 points = together > walkers ? together : walkers;
    for (int spin = 0; spin < SPINS; spin++)
        if (electrons_of(d, spin)) bytes += slater_bytes(electrons_of(d, spin), d->is_complex, 1);
    char *matrices = host->allocate(context, walkers * bytes);
    double *each = host->allocate(context, walkers * particles * (3 + 3 * row) * sizeof *each);
    d->walkers = host->allocate(context, walkers * sizeof *d->walkers);
    d->points = host->allocate(context, 3 * points * sizeof *d->points);
    d->values = host->allocate(context, 4 * points * row * sizeof *d->values);
    d->places = host->allocate(context, 3 * walkers * particles * sizeof *d->places);
    d->found = host->allocate(context, walkers * (1 + SPINS) * sizeof *d->found);
    d->lent[0] = host->allocate(context, SPINS * walkers * sizeof *d->lent[0]);
    d->charge = host->allocate(context, 2 * particles * sizeof *d->charge);
    d->species = host->allocate(context, particles * sizeof *d->species);
    d->from = host->allocate(context, 2 * walkers * sizeof *d->from);
    d->ring = host->allocate(context, ((size_t)d->kept + 1) * sizeof *d->ring);
    if (!matrices || !each || !d->walkers || !d->points || !d->values || !d->places || !d->found ||
        !d->lent[0] || !d->charge || !d->species || !d->from || !d->ring)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %zu walkers of %zu electrons", walkers, particles);
    d->slopes = d->values + points * row;
    d->lent[1] = d->lent[0] + walkers;
    d->ln_lent[0] = d->found + walkers;
    d->ln_lent[1] = d->found + 2 * walkers;
    d->copies = d->from + walkers;
    d->diameter = d->charge + particles;
    for (size_t k = 0; k < walkers; k++, each += particles * (3 + 3 * row)) {
        walker *w = &d->walkers[k];
        *w = (walker){.index = (int32_t)k,
                      .x = each,
                      .y = each + particles,
                      .z = each + 2 * particles,
                      .slopes = each + 3 * particles};
        for (int spin = 0; spin < SPINS; spin++) {
            const int64_t n = electrons_of(d, spin);
            if (n) slater_prepare(&w->spin[spin], matrices, n, d->pitch, d->is_complex, 1);
            if (n) matrices += slater_bytes(n, d->is_complex, 1);
        }
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    diffusion *d = instance;
    const plugmc_system *system = d->system = host->system;
    d->seed = host->seed;
    d->threads = system->threads > 0 ? system->threads : 1;
    d->kept = (int64_t)(d->correction / d->tau);
    openblas_set_num_threads(1); /* its threads would change the order of sums */
    for (int spin = 0; spin < system->species_count; spin++)
        d->most = electrons_of(d, spin) > d->most ? electrons_of(d, spin) : d->most;
    int code = host->local_energy(host->context, NULL);
    if (!code) code = find_terms(d, host);
    if (!code) code = take_memory(d, host);
    for (int32_t s = 0; s < system->species_count && !code; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            d->charge[i] = plugmc_species_at(system, s)->charge;
            d->diameter[i] = plugmc_species_at(system, s)->diameter;
            d->species[i] = s;
        }
    return code;
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(diffusion, tau, NULL, 1e-8, 10, "1/hartree", "time step"),
    PLUGMC_REAL_KEY(diffusion, drift_limit, "0.5", 1e-6, 1, "",
                    "a of the limited drift: the smaller, the farther electrons drift near a node"),
    PLUGMC_REAL_KEY(
        diffusion, energy_limit, "0.2", 1e-3, 1e6, "",
        "local energies are within energy_limit sqrt(electrons / tau) of their mean in weights"),
    PLUGMC_CHOICE_KEY(
        diffusion, nonlocal, "locality", "locality|t_moves",
        "what pseudopotentials that depend on l do: they count as potentials, or electrons "
        "move by them"),
    PLUGMC_INTEGER_KEY(diffusion, variational, "200", 0, 1000000000, "sweeps",
                       "without weights before the first generation"),
    PLUGMC_REAL_KEY(diffusion, variational_tau, "0.3", 1e-8, 10, "1/hartree", "time step of these"),
    PLUGMC_INTEGER_KEY(diffusion, warm_up, "200", 1, 1000000000, "sweeps",
                       "generations until E_T is fixed"),
    PLUGMC_REAL_KEY(
        diffusion, correction, "5", 0, 1e6, "1/hartree",
        "imaginary time over which mean weights are multiplied into averages, which takes the "
        "bias of a finite population out; 0: not at all"),
    PLUGMC_INTEGER_KEY(diffusion, oldest, "50", 1, 1000000000, "sweeps",
                       "age of walkers that have not moved from which on they weigh half at most"),
    PLUGMC_INTEGER_KEY(diffusion, refresh, "64", 1, 1000000, "sweeps",
                       "how often matrices are inverted anew, and compared with those kept"),
};

static const plugmc_move moves[] = {
    {"step", "an electron drifts and diffuses", NULL},
    {"t_move", "an electron goes where a nonlocal potential leads", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_ORBITALS | PLUGMC_NEEDS_FORCES |
             PLUGMC_RUNS_ON_CPU | PLUGMC_USES_PLACES,
    .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_WALKER_WEIGHT,
    .take = take,
    .sweep = sweep,
    .give = give,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
    .counts = counts,
    .running_energy = running_energy,
    .joins = 1,
    .inverses = inverses,
};

static const plugmc_observable observable = {.size = sizeof observable,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .listing = listing,
                                             .listing_count = PLUGMC_COUNT(listing),
                                             .listing_size = sizeof listing[0],
                                             .follows = PLUGMC_CHANGED_WALKER_WEIGHT};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "diffusion",
              .summary = "fixed-node diffusion Monte Carlo with a fixed number of walkers",
              .reference = "Umrigar, Nightingale, Runge, J. Chem. Phys. 99, 2865 (1993)",
              .instance_size = sizeof(diffusion), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .observable = &observable,
              .configure = configure, .prepare = prepare, .archive = archive)
