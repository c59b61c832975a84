/* mistake: the weight of a step in ln V is V^N instead of V^(N + 1) */
/* a user would see: the mean volume is too small by about 1 / N */
/* barostat: constant pressure, isotropic steps that are uniform in ln V. */
#include <math.h>
#include <plugmc/changes.h>

typedef struct barostat {
    real step, target_acceptance;
    plugmc_box *box;
    double *weight, *change, *delta;
    int32_t *forbidden;
    int64_t *taken, *scaled;
} barostat;

static int try_boxes(barostat *b, const plugmc_host *host, uint64_t sweep)
{
    const plugmc_system *system = host->system;
    void *now = NULL;
    int code =
        host->state->array(host->state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &now, NULL);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const plugmc_random r =
            plugmc_draw(host->seed, sweep, (uint32_t)w, 0, PLUGMC_PURPOSE_TRIAL, 0);
        const double u = plugmc_uniform_double(r.word[0], r.word[1]);
        const double step = plugmc_hamiltonian_of(host)->step(host->context, 0, w) * (2 * u - 1);
        const int dimension = system->box.dimension;
        const double f = exp(step / dimension), factor[3] = {f, f, dimension == 3 ? f : 1};
        b->box[w] = ((plugmc_box *)now)[w];
        plugmc_scale_box(&b->box[w], factor);
        b->weight[w] = step;
    }
    const plugmc_changes changes = {.size = sizeof changes,
                                    .kind = PLUGMC_RESCALED,
                                    .walkers = system->walkers,
                                    .per_walker = 1,
                                    .box = b->box,
                                    .change = b->change,
                                    .forbidden = b->forbidden,
                                    .delta = b->delta,
                                    .scaled = b->scaled};
    if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &changes);
    for (int32_t w = 0; w < system->walkers && !code; w++) b->weight[w] *= (double)b->scaled[w];
    const plugmc_decision decision = {.size = sizeof decision,
                                      .sweep = sweep,
                                      .changes = &changes,
                                      .log_factor = b->weight,
                                      .taken = b->taken};
    return code ? code : plugmc_hamiltonian_of(host)->decide(host->context, &decision);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    int code = PLUGMC_OK;
    for (uint64_t s = sweeps->first; s < sweeps->first + sweeps->n && !code; s++)
        code = try_boxes(instance, host, s);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    barostat *b = instance;
    const size_t n = (size_t)host->system->walkers, terms = (size_t)host->system->term_count;
    host->reservoir(host->context, -1);
    b->box = host->allocate(host->context, n * sizeof *b->box);
    double *reals = host->allocate(host->context, n * (terms + 2) * sizeof *reals);
    b->forbidden = host->allocate(host->context, n * sizeof *b->forbidden);
    b->taken = host->allocate(host->context, 2 * n * sizeof *b->taken);
    if (!b->box || !reals || !b->forbidden || !b->taken)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for boxes");
    b->weight = reals;
    b->delta = reals + n;
    b->change = reals + 2 * n;
    b->scaled = b->taken + n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(barostat, step, "0.1", -1e9, 1e9, "", "largest change of ln V"),
    PLUGMC_REAL_KEY(barostat, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {{.name = "volume",
                                     .doc = "rescales the box",
                                     .step_unit = "",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"}};

PLUGMC_PLUGIN(.name = "barostat", .summary = "constant pressure", .reference = "",
              PLUGMC_KEYS(barostat, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep))
