/* volume: constant pressure. The box of a walker grows or shrinks, its particles with it.
 *
 * -ln p = sum_t m_t U_t + P V / kT at fixed fractional coordinates, so that a change of ln V has the
 * weight V^(N + 1) exp(-P V / kT - U / kT): a step uniform in ln V is accepted with probability
 * min(1, exp((N + 1) ln(V' / V) - (change of -ln p))) (I. R. McDonald, Mol. Phys. 23, 41 (1972);
 * R. Eppenga, D. Frenkel, Mol. Phys. 52, 1303 (1984), for ln V). `axes` changes the length of one edge,
 * drawn anew each time, with the same weight: the shape of a fluid's box is then not bound, which suits
 * crystals. In an oblique box it stretches along what of a lattice vector is perpendicular to those before
 * it, and tilts stay: else it would lead out of the tilts that `shear` keeps to, and no shear would lead
 * back there. `shear` leans a lattice vector along another, drawn anew each time, at constant volume: with
 * the change of energy alone as weight, every tilt is then as likely as its energy makes it (M. Parrinello,
 * A. Rahman, J. Appl. Phys. 52, 7182 (1981), for boxes of any shape). Tilts that differ by one are one
 * lattice, so they stay between -1/2 and 1/2; a trial that leaves is rejected.
 *
 * Trial t of sweep s in walker w draws with plugmc_draw(seed, s, w, t, purpose, 0): words 0 and 1 of TRIAL
 * the step, word 2 the edge, or the pair of vectors; ACCEPT decides.
 */
#include <math.h>
#include <plugmc/everything.h>

enum { ISOTROPIC, AXES, SHEAR };

typedef struct volume {
    real step, target_acceptance; /* change of ln V, or of a tilt; where tuning begins */
    int32_t shape;
    int64_t trials;
    plugmc_box *box;    /* [walkers]: as proposed */
    double *log_ratio;  /* [walkers]: ln(V' / V) */
    double *weight;     /* [walkers]: (N + 1) of that */
    double *change;     /* [walkers][terms] */
    double *growth;     /* [walkers]: of -ln p but for that weight */
    int32_t *forbidden; /* [walkers] */
    int64_t *taken;     /* [walkers]: 0 or -1 */
    int64_t *scaled;    /* [walkers]: particles that go with the box */
} volume;

/* Which vector leans along which: b along a, c along a, c along b. */
static const int leaning[3][2] = {{1, 0}, {2, 0}, {2, 1}};

static int leans_too_far(const plugmc_box *box)
{
    for (int k = 0; k < (box->dimension == 3 ? 3 : 1); k++)
        if (!(fabs(plugmc_tilt(box, leaning[k][0], leaning[k][1])) <= 0.5)) return 1;
    return 0;
}

/* An edge times a factor, with the tilts that there are. */
static void stretch(plugmc_box *box, const double factor[3])
{
    static const int turn[3] = {0, 2, 1}; /* c along b changes how far c leans along a */
    double tilt[3] = {0};
    for (int k = 0; k < 3 && box->oblique; k++)
        tilt[k] = plugmc_tilt(box, leaning[k][0], leaning[k][1]);
    plugmc_scale_box(box, factor);
    for (int k = 0; k < 3 && box->oblique; k++) {
        const int *pair = leaning[turn[k]];
        plugmc_shear_box(box, pair[0], pair[1], tilt[turn[k]] - plugmc_tilt(box, pair[0], pair[1]));
    }
}

/* In: v->log_ratio[w] is the step of the walker. */
static void propose(const volume *v, const plugmc_host *host, uint64_t sweep, uint32_t trial,
                    int32_t w, const plugmc_box *now)
{
    const plugmc_random random =
        plugmc_draw(host->seed, sweep, (uint32_t)w, trial, PLUGMC_PURPOSE_TRIAL, 0);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]);
    const int dimension = now->dimension;
    const int edge = (int)plugmc_below(random.word[2], (uint32_t)dimension);
    const double amount = v->log_ratio[w] * (2 * u - 1);
    double factor[3] = {1, 1, 1};
    v->box[w] = *now;
    v->log_ratio[w] = amount;
    if (v->shape == SHEAR) {
        const int *pair = leaning[dimension == 3 ? edge : 0];
        plugmc_shear_box(&v->box[w], pair[0], pair[1], amount);
        v->log_ratio[w] = leans_too_far(&v->box[w]) ? -INFINITY : 0;
        if (v->log_ratio[w] < 0) v->box[w] = *now;
        return;
    }
    for (int d = 0; d < dimension; d++) {
        if (v->shape == ISOTROPIC) factor[d] = exp(v->log_ratio[w] / dimension);
        if (v->shape == AXES && d == edge) factor[d] = exp(v->log_ratio[w]);
    }
    if (v->shape == AXES)
        stretch(&v->box[w], factor);
    else
        plugmc_scale_box(&v->box[w], factor);
}

/* Few are done before other threads have begun. */
enum { FEW_WALKERS = 256 };

static void propose_all(const volume *v, const plugmc_host *host, uint64_t sweep, uint32_t trial,
                        const plugmc_box *now)
{
    const plugmc_system *system = host->system;
    const plugmc_hamiltonian *h = plugmc_hamiltonian_of(host);
    const int threads = system->walkers < FEW_WALKERS ? 1 : system->threads;
    const double step = h->step(host->context, 0, 0);
    for (int32_t w = 0; w < system->walkers; w++)
        v->log_ratio[w] = system->rungs == 1 ? step : h->step(host->context, 0, w);
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int32_t w = 0; w < system->walkers; w++) propose(v, host, sweep, trial, w, now + w);
}

static int try_boxes(volume *v, const plugmc_host *host, uint64_t sweep, uint32_t trial)
{
    const plugmc_system *system = host->system;
    void *now = NULL;
    int code =
        host->state->array(host->state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &now, NULL);
    if (!code) propose_all(v, host, sweep, trial, now);
    const plugmc_changes changes = {.size = sizeof changes,
                                    .kind = PLUGMC_RESCALED,
                                    .per_walker = 1,
                                    .walkers = system->walkers,
                                    .box = v->box,
                                    .change = v->change,
                                    .forbidden = v->forbidden,
                                    .delta = v->growth,
                                    .scaled = v->scaled,
                                    .for_decision = 1};
    if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &changes);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        v->weight[w] = (double)(v->scaled[w] + 1) * v->log_ratio[w];
    const plugmc_decision decision = {.size = sizeof decision,
                                      .sweep = sweep,
                                      .number = trial,
                                      .changes = &changes,
                                      .log_factor = v->weight,
                                      .taken = v->taken};
    return code ? code : plugmc_hamiltonian_of(host)->decide(host->context, &decision);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    volume *v = instance;
    int code = PLUGMC_OK;
    for (int64_t k = 0; k < (int64_t)n * v->trials && !code; k++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        code = try_boxes(v, host, first + (uint64_t)(k / v->trials), (uint32_t)(k % v->trials));
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    volume *v = instance;
    const plugmc_system *system = host->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "constant pressure needs a periodic box, but the box is a sphere");
    if (v->shape == SHEAR && (!system->box.oblique || leans_too_far(&system->box)))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            system->box.oblique
                ? "shape = shear: a tilt of [box] exceeds half of a lattice vector; choose "
                  "equivalent, reduced lattice vectors"
                : "shape = shear needs [box] shape = oblique, with vectors a, b and c");
    if (v->shape != SHEAR) host->reservoir(host->context, -1);
    v->box = host->allocate(host->context, walkers * sizeof *v->box);
    v->log_ratio = host->allocate(host->context, walkers * sizeof *v->log_ratio);
    v->weight = host->allocate(host->context, walkers * sizeof *v->weight);
    v->change = host->allocate(host->context, walkers * terms * sizeof *v->change);
    v->growth = host->allocate(host->context, walkers * sizeof *v->growth);
    v->forbidden = host->allocate(host->context, walkers * sizeof *v->forbidden);
    v->taken = host->allocate(host->context, walkers * sizeof *v->taken);
    v->scaled = host->allocate(host->context, walkers * sizeof *v->scaled);
    return v->box && v->log_ratio && v->weight && v->change && v->growth && v->forbidden &&
                   v->taken && v->scaled
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu boxes", walkers);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(volume, step, "0.01", 1e-12, 1, "",
                    "largest change of ln V, or of a tilt, in a trial move"),
    PLUGMC_REAL_KEY(volume, target_acceptance, "0.4", 0, 1, "",
                    "target acceptance of the tuning of step during equilibration; 0: fixed "
                    "step"),
    PLUGMC_CHOICE_KEY(volume, shape, "isotropic", "isotropic|axes|shear",
                      "isotropic: fixed shape; axes: one edge at a time; shear: one lattice "
                      "vector tilts along another at fixed volume"),
    PLUGMC_INTEGER_KEY(volume, trials, "1", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {{.name = "volume",
                                     .doc = "rescales the box with its particles",
                                     .step_unit = "",
                                     .step_key = "step",
                                     .target_key = "target_acceptance",
                                     .largest = 1}};

PLUGMC_PLUGIN(
        .name = "volume", .summary = "constant pressure: changes of the volume",
        .reference =
            "McDonald, Mol. Phys. 23, 41 (1972); Eppenga, Frenkel, Mol. Phys. 52, 1303 (1984)",
        PLUGMC_KEYS(volume, table),
        PLUGMC_MOVER_WITH(moves,
                          .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
                          .changes = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION,
                          .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep,
                          .good_for = "constant pressure; combine it with a mover that "
                                      "displaces"),
        .prepare = prepare)
