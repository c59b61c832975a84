/* transfer: two boxes that share their particles, or rigid molecules, and their volume, the Gibbs ensemble.
 *
 * Walkers are boxes in pairs: 0 and 1, 2 and 3, ...; on a ladder the walkers of each rung in their order.
 * Particles go from one to the other, and one grows by what the other shrinks, so that both come to the same
 * pressure and chemical potential without either being given: a liquid in one, its vapour in the other, and no
 * surface between them (A. Z. Panagiotopoulos, Mol. Phys. 61, 813 (1987)). With N and V before the move,
 *
 *     a particle from a to b    min(1, N_a V_b / ((N_b + 1) V_a) exp(-(dU_a + dU_b) / kT))
 *     a step in ln(V_a / V_b)   min(1, (V_a'/V_a)^(N_a + 1) (V_b'/V_b)^(N_b + 1) exp(-(dU_a + dU_b) / kT))
 *
 * (D. Frenkel, B. Smit, Understanding Molecular Simulation, ch. 8; N of all species in the second line, molecules
 * counted as one). Moves within the boxes are for other movers of the run.
 *
 * Of a molecule k `trial_positions` with m `trial_orientations` each are tried in the box to which it goes. One is selected by its
 * Boltzmann factor of pairs and fields, and in the box that it leaves its own place is weighed among k m - 1 others, as
 * insert_molecule does both. With W the mean of these factors in each box a transfer is accepted with
 *
 *     min(1, N_a V_b / ((N_b + 1) V_a) W_b / W_a exp(-(dU_a' + dU_b') / kT)),
 *
 * U' all other terms: waves, self and excluded energies of an Ewald sum, tails.
 *
 * Trial t of sweep s in pair (a, b), a < b, draws with plugmc_draw(seed, s, a, t, purpose, 0). Transfers: ORDER,
 * the highest bit of word 3 for the direction, word 0 for the particle; a place in the other box as
 * plugmc_draw_position says, and the orientation of a body or molecule by plugmc_draw_orientation. Several positions and
 * orientations are those of plugmc_choices, in each box with the number of its own walker. Volumes, numbered behind them: TRIAL,
 * words 0 and 1. ACCEPT decides.
 *
 * Molecules are transferred on a GPU where the core can (plugmc_proposal.partner), else as particles are: the mover proposes
 * for all walkers at once and the core decides.
 */
#include <plugmc/proposal.h>

#define PLUGMC_PARTNERS 1

enum { TRANSFER, VOLUME }; /* in the table of moves */

typedef struct transfer {
    const char *species; /* or kind of molecule */
    int64_t trials, volume_trials, trial_positions, trial_orientations;
    real step, target_acceptance; /* of ln(V_a / V_b) */
    int32_t number;               /* of the species, or of the kind of molecule */
    int32_t of_molecules, on_gpu; /* 0: particles are transferred; the run is on the CPU */
    int32_t dimension;
    /* all [walkers] */
    int32_t *partner, *leaves, *comes; /* comes: `number`, or -1 */
    double (*place)[3];
    plugmc_orientation *turned; /* of bodies */
    plugmc_box *box;
    double *log_factor, *growth[2];
    double *change[2]; /* [walkers][terms] */
    int32_t *forbidden[2];
    int64_t *taken, *scaled;
} transfer;

/* What one of two partners does: it is left, or somebody comes to it. */
PLUGMC_FN int propose(const transfer *p, plugmc_trial *t)
{
    const uint32_t lower = t->walker < t->partner ? t->walker : t->partner;
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, lower, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const plugmc_molecule *kind =
        p->of_molecules ? plugmc_kind_of_molecule(t->molecules, p->number) : 0;
    const int64_t n = kind ? plugmc_molecules_of_kind(kind, t->with_sites) : t->count[p->number];
    const int back = (int)(random.word[3] >> 31), leaves = back == (t->walker != lower);
    t->move = TRANSFER;
    t->trial_positions = (int32_t)p->trial_positions;
    t->trial_orientations = (int32_t)p->trial_orientations;
    if (!leaves) {
        plugmc_trial drawn = *t;
        drawn.walker = lower;
        plugmc_draw_position(&drawn, t->position);
        t->kind = kind ? PLUGMC_MOLECULE_INSERTED : PLUGMC_INSERTED;
        t->species = p->number;
        t->log_factor = log(t->box->volume / ((double)n + 1));
        return 1;
    }
    t->kind = kind ? PLUGMC_MOLECULE_REMOVED : PLUGMC_REMOVED;
    t->particle = -1;
    t->other = p->number;
    if (n == 0) return 1;
    const int64_t chosen = plugmc_below(random.word[0], (uint32_t)n);
    t->particle =
        (int32_t)(kind ? plugmc_site_number(kind, chosen, 0) : t->first[p->number] + chosen);
    t->log_factor = log((double)n / t->box->volume);
    return 1;
}

PLUGMC_PROPOSES(transfer, propose)

#if PLUGMC_HOST
#include <math.h>
#include <plugmc/description.h>
#include <plugmc/everything.h>
#include <plugmc/former_keys.h>
#include <stdbool.h>
#include <stdio.h>

#include "molecule_kind.h"
#include "reservoir.h"

/* The state by now, as arrays of walkers. */
static int look(const plugmc_host *host, const plugmc_box **box, const int64_t **count)
{
    const plugmc_state *s = host->state;
    void *out[2] = {NULL, NULL};
    int code = s->array(s, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &out[0], NULL);
    if (!code) code = s->array(s, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &out[1], NULL);
    *box = out[0], *count = out[1];
    return code;
}

/* ---- Particles and molecules -------------------------------------------------------------------------- */

/* One of pair (a, b) leaves for the other box, if there is one. */
static void propose_transfer(transfer *t, const plugmc_host *host, uint64_t sweep, uint32_t trial,
                             int32_t a, const plugmc_box *box, const int64_t *count)
{
    const plugmc_system *system = host->system;
    const int32_t pair[2] = {a, t->partner[a]};
    bool nobody = false;
    for (int k = 0; k < 2; k++) {
        const int32_t w = pair[k];
        const int64_t *numbers = count + w * system->species_count;
        plugmc_trial one = {.size = sizeof one,
                            .walker = (uint32_t)w,
                            .partner = (uint32_t)pair[1 - k],
                            .seed = host->seed,
                            .sweep = sweep,
                            .number = trial,
                            .dimension = box[w].dimension,
                            .first = system->first,
                            .count = numbers,
                            .with_sites = numbers,
                            .molecules = system->molecules,
                            .box = &box[w]};
        propose(t, &one);
        const bool comes = one.kind == PLUGMC_INSERTED || one.kind == PLUGMC_MOLECULE_INSERTED;
        t->leaves[w] = comes ? -1 : one.particle;
        t->comes[w] = comes ? one.species : -1;
        nobody |= !comes && one.particle < 0;
        memcpy(t->place[w], one.position, sizeof t->place[w]);
        t->turned[w] =
            plugmc_draw_orientation(host->seed, sweep, (uint32_t)a, trial, one.dimension);
        t->log_factor[w] = one.log_factor;
    }
    for (int k = 0; k < 2 && nobody; k++) t->comes[pair[k]] = -1, t->log_factor[pair[k]] = 0;
}

/* A transfer in each pair. */
static int try_transfers(transfer *t, const plugmc_host *host, uint64_t sweep, uint32_t trial)
{
    const int32_t walkers = host->system->walkers;
    const plugmc_box *box;
    const int64_t *count;
    int code = look(host, &box, &count);
    for (int32_t w = 0; w < walkers && !code; w++)
        if (t->partner[w] > w) propose_transfer(t, host, sweep, trial, w, box, count);
    const plugmc_choices choices = {.size = sizeof choices,
                                    .positions = (int32_t)t->trial_positions,
                                    .orientations = (int32_t)t->trial_orientations,
                                    .seed = host->seed,
                                    .sweep = sweep,
                                    .number = trial,
                                    .position = t->place,
                                    .orientation = t->turned};
    const plugmc_changes removals = {.size = sizeof removals,
                                     .kind =
                                         t->of_molecules ? PLUGMC_MOLECULE_REMOVED : PLUGMC_REMOVED,
                                     .walkers = walkers,
                                     .per_walker = 1,
                                     .particle = t->leaves,
                                     .change = t->change[0],
                                     .forbidden = t->forbidden[0],
                                     .delta = t->growth[0],
                                     .choices = t->of_molecules ? &choices : NULL},
                         insertions = {.size = sizeof insertions,
                                       .kind = t->of_molecules ? PLUGMC_MOLECULE_INSERTED
                                                               : PLUGMC_INSERTED,
                                       .walkers = walkers,
                                       .per_walker = 1,
                                       .species = t->comes,
                                       .position = (const double(*)[3])t->place,
                                       .change = t->change[1],
                                       .forbidden = t->forbidden[1],
                                       .delta = t->growth[1],
                                       .orientation = host->system->bodies ? t->turned : NULL,
                                       .choices = t->of_molecules ? &choices : NULL};
    if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &removals);
    if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &insertions);
    const plugmc_decision decision = {.size = sizeof decision,
                                      .move = TRANSFER,
                                      .sweep = sweep,
                                      .number = trial,
                                      .changes = &removals,
                                      .also = &insertions,
                                      .log_factor = t->log_factor,
                                      .partner = t->partner,
                                      .taken = t->taken};
    return code ? code : plugmc_hamiltonian_of(host)->decide(host->context, &decision);
}

/* Those of n sweeps, on a GPU if it makes them. */
static int make_transfers(transfer *t, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const plugmc_proposal proposal = {.size = sizeof proposal,
                                      .move = TRANSFER,
                                      .trials = t->trials,
                                      .parameters = t,
                                      .propose = plugmc_propose,
                                      .parameters_size = t->of_molecules ? sizeof *t : 0,
                                      .trial_positions =
                                          (int32_t)(t->trial_positions * t->trial_orientations),
                                      .partner = t->partner};
    int code = host->trials(host->context, &proposal, first, n);
    if (code != PLUGMC_UNANSWERED) return code;
    code = PLUGMC_OK;
    for (uint64_t s = first; s < first + n; s++)
        for (int64_t k = 0; k < t->trials && !code; k++) {
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            code = try_transfers(t, host, s, (uint32_t)k);
        }
    return code;
}

/* ---- Volumes ------------------------------------------------------------------------------------- */

/* A box of another volume and the same shape. */
static plugmc_box scaled(const plugmc_box *box, double volume)
{
    const double f = pow(volume / box->volume, 1.0 / box->dimension);
    const double factor[3] = {f, f, box->dimension == 3 ? f : 1};
    plugmc_box out = *box;
    plugmc_scale_box(&out, factor);
    return out;
}

static void propose_volumes(transfer *t, const plugmc_host *host, uint64_t sweep, uint32_t trial,
                            int32_t a, const plugmc_box *box)
{
    const int32_t b = t->partner[a];
    const plugmc_random random =
        plugmc_draw(host->seed, sweep, (uint32_t)a, trial, PLUGMC_PURPOSE_TRIAL, 0);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]),
                 both = box[a].volume + box[b].volume,
                 ratio =
                     box[a].volume / box[b].volume *
                     exp(plugmc_hamiltonian_of(host)->step(host->context, VOLUME, a) * (2 * u - 1));
    t->box[a] = scaled(&box[a], both * ratio / (1 + ratio));
    t->box[b] = scaled(&box[b], both / (1 + ratio));
}

static int try_volumes(transfer *t, const plugmc_host *host, uint64_t sweep, uint32_t trial)
{
    const int32_t walkers = host->system->walkers;
    const plugmc_box *box;
    const int64_t *count;
    int code = look(host, &box, &count);
    for (int32_t w = 0; w < walkers && !code; w++)
        if (t->partner[w] > w) propose_volumes(t, host, sweep, trial, w, box);
    const plugmc_changes changes = {.size = sizeof changes,
                                    .kind = PLUGMC_RESCALED,
                                    .walkers = walkers,
                                    .per_walker = 1,
                                    .box = t->box,
                                    .change = t->change[0],
                                    .forbidden = t->forbidden[0],
                                    .delta = t->growth[0],
                                    .scaled = t->scaled};
    if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &changes);
    for (int32_t w = 0; w < walkers && !code; w++)
        t->log_factor[w] = (double)(t->scaled[w] + 1) * log(t->box[w].volume / box[w].volume);
    const plugmc_decision decision = {.size = sizeof decision,
                                      .move = VOLUME,
                                      .sweep = sweep,
                                      .number = trial,
                                      .changes = &changes,
                                      .log_factor = t->log_factor,
                                      .partner = t->partner,
                                      .taken = t->taken};
    return code ? code : plugmc_hamiltonian_of(host)->decide(host->context, &decision);
}

/* ---- Callbacks ----------------------------------------------------------------------------------- */

static int find_partners(transfer *t, const plugmc_host *host)
{
    const int32_t *order = plugmc_rungs_of(host)->by_rung(host->context);
    if (!order) return PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < host->system->walkers; k++) t->partner[order[k]] = order[k ^ 1];
    return PLUGMC_OK;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    transfer *t = instance;
    int code = find_partners(t, host);
    if (!code && !t->volume_trials) return make_transfers(t, host, first, n);
    for (uint64_t s = first; s < first + n && !code; s++) {
        code = make_transfers(t, host, s, 1);
        for (int64_t k = 0; k < t->volume_trials && !code; k++) {
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            code = try_volumes(t, host, s, (uint32_t)(t->trials + k));
        }
    }
    return code;
}

static int find_who_goes(transfer *t, const plugmc_host *host)
{
    const int64_t choices = t->trial_positions * t->trial_orientations;
    int code = choices_are_too_many(host, t->trial_positions, t->trial_orientations);
    if (code) return code;
    if (molecule_named(host->system, t->species) < 0 && choices > 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "species = %s: several trial positions and orientations are those of "
                          "rigid molecules, and there is no [molecule %s]",
                          t->species, t->species);
    if (molecule_named(host->system, t->species) < 0) {
        code = plugmc_find_species(host, "species", t->species, &t->number);
        return code ? code : refuse_sites(host, "species", t->number);
    }
    code = find_molecules_that_change(host, "species", t->species, &t->number);
    t->of_molecules = !code;
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    transfer *t = instance;
    const plugmc_system *system = host->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    int code = find_who_goes(t, host);
    if (code) return code;
    t->on_gpu = host->gpu != NULL;
    t->dimension = system->box.dimension;
    if (system->walkers / system->rungs % 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%d walkers%s: boxes form pairs, so their number must be even",
                          system->walkers / system->rungs, system->rungs > 1 ? " a rung" : "");
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "volumes can only be exchanged between periodic boxes, but the box "
                          "is a sphere");
    void **const arrays[] = {
        (void **)&t->partner,      (void **)&t->leaves,       (void **)&t->comes,
        (void **)&t->place,        (void **)&t->box,          (void **)&t->log_factor,
        (void **)&t->taken,        (void **)&t->scaled,       (void **)&t->growth[0],
        (void **)&t->growth[1],    (void **)&t->change[0],    (void **)&t->change[1],
        (void **)&t->forbidden[0], (void **)&t->forbidden[1], (void **)&t->turned};
    const size_t bytes[] = {sizeof *t->partner, sizeof *t->leaves,      sizeof *t->comes,
                            sizeof *t->place,   sizeof *t->box,         sizeof *t->log_factor,
                            sizeof *t->taken,   sizeof *t->scaled,      sizeof(double),
                            sizeof(double),     terms * sizeof(double), terms * sizeof(double),
                            sizeof(int32_t),    sizeof(int32_t),        sizeof *t->turned};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        if (!(*arrays[k] = host->allocate(host->context, walkers * bytes[k])))
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu boxes",
                              walkers);
    return PLUGMC_OK;
}

/* ---- The two phases --------------------------------------------------------------------------------- */

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const transfer *t = instance;
    const char *unit = t->dimension == 2 ? "length^-2" : "length^-3";
    if (index == 0)
        return plugmc_scalar(out, "density_thin", unit, "density in the less dense box of a pair");
    return index == 1 && plugmc_scalar(out, "density_dense", unit, "density in the denser box");
}

/* Both of a pair have the same two numbers. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    transfer *t = instance;
    const int32_t species = host->system->species_count;
    const plugmc_molecules *all = host->system->molecules;
    const int code = find_partners(
        t, host); /* there need not have been a sweep since the start or an exchange */
    if (code) return code;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        double density[2];
        const int32_t boxes[2] = {w, t->partner[w]};
        for (int k = 0; k < 2; k++) {
            const int64_t *count = view->count + boxes[k] * species;
            int64_t sites = 0, n = all ? plugmc_molecules_present(all, count, &sites) : 0;
            for (int32_t s = 0; s < species; s++) n += count[s];
            density[k] = (double)(n - sites) / view->box[boxes[k]].volume;
        }
        values[2 * w] = fmin(density[0], density[1]);
        values[2 * w + 1] = fmax(density[0], density[1]);
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"density_thin", "length^-<dimension>", "density in the less dense box of a pair", 0, 0},
    {"density_dense", "length^-<dimension>", "density in the denser box", 0, 0},
};

static const plugmc_observable observable = {.size = sizeof observable,
                                             .on_device = 1,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .listing = listing,
                                             .listing_count = PLUGMC_COUNT(listing),
                                             .listing_size = sizeof(plugmc_listing),
                                             .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT};

static int32_t line(const void *instance, int32_t index, char *out, size_t bytes)
{
    const transfer *t = instance;
    if (index > 0 || t->of_molecules || !t->on_gpu) return 0;
    snprintf(
        out, bytes,
        "makes its trial moves on the host, not on the GPU: there only rigid molecules go from "
        "box to box");
    return 1;
}

static const plugmc_description description = {.size = sizeof description, .line = line};

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(transfer, species, NULL,
                    "species that is transferred between the boxes, or NAME of [molecule NAME]"),
    PLUGMC_INTEGER_KEY(transfer, trials, "100", 1, 1e9, "",
                       "trial transfers per pair of boxes and sweep"),
    PLUGMC_INTEGER_KEY(transfer, volume_trials, "1", 0, 1e9, "",
                       "trial exchanges of volume per pair of boxes and sweep; 0: fixed volumes"),
    PLUGMC_INTEGER_KEY(transfer, trial_positions, "1", 1, PLUGMC_MOST_TRIAL_POSITIONS, "",
                       "trial positions of a rigid molecule in the other box"),
    PLUGMC_INTEGER_KEY(transfer, trial_orientations, "1", 1, PLUGMC_MOST_TRIAL_POSITIONS, "",
                       "trial orientations at each of them; one of all is selected with its "
                       "Rosenbluth weight"),
    PLUGMC_REAL_KEY(transfer, step, "0.05", 1e-12, 2, "", "largest change of ln(V1/V2)"),
    PLUGMC_REAL_KEY(transfer, target_acceptance, "0.4", 0, 1, "",
                    "target acceptance of the tuning of step during equilibration; 0: fixed "
                    "step"),
};

static const plugmc_former_keys former_keys = {
    sizeof former_keys, (const plugmc_former_key[]){{"volumes", "volume_trials"}, {NULL, NULL}}};

static const plugmc_move moves[] = {
    {.name = "transfer", .doc = "transfers a particle or molecule to the other box"},
    {.name = "volume",
     .doc = "exchanges volume between two boxes",
     .step_unit = "",
     .step_key = "step",
     .target_key = "target_acceptance",
     .largest = 2},
};

PLUGMC_PLUGIN(
        .name = "transfer",
        .summary = "Gibbs ensemble: pairs of boxes exchange particles "
                   "and volume",
        .reference = "Panagiotopoulos, Mol. Phys. 61, 813 (1987)", PLUGMC_KEYS(transfer, table),
        PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &former_keys}, {PLUGMC_DESCRIPTION, &description}),
        PLUGMC_MOVER_WITH(
            moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
            .changes = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
            .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep, .couples = 1, .together = 2,
            .good_for = "coexistence of liquid and vapour without an interface; combine it with a "
                        "mover that displaces"),
        .observable = &observable, .prepare = prepare)
#endif
