/* crashing_mover: a mover that leaves everyone where he is, see crashing.h. */
#include <plugmc/everything.h>

#include "crashing.h"

typedef struct crashing_mover {
    const plugmc_system *system;
    double *positions;
    real step, target_acceptance;
    plugmc_counts counts;
} crashing_mover;

static size_t bytes_of(const crashing_mover *m)
{
    return 3 * (size_t)(m->system->walkers * m->system->particles) * sizeof(double);
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    crashing_mover *m = instance;
    double *positions;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    (void)host, (void)changed;
    here("mover.load");
    if (!code) memcpy(m->positions, positions, bytes_of(m));
    return code;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    crashing_mover *m = instance;
    (void)host, (void)first;
    here("mover.sweep");
    m->counts.trials += n;
    m->counts.accepted += n / 2;
    return PLUGMC_OK;
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const crashing_mover *m = instance;
    double *positions;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_WRITE, &positions);
    (void)host;
    here("mover.store");
    if (!code) memcpy(positions, m->positions, bytes_of(m));
    return code;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    crashing_mover *m = instance;
    (void)host;
    here("mover.counts");
    *out = m->counts;
    if (clear) m->counts = (plugmc_counts){0, 0};
    return PLUGMC_OK;
}

static double limit(const void *instance, int32_t rung, double step)
{
    (void)instance, (void)rung;
    here("mover.limit");
    return step;
}

static int running_energy(void *instance, const plugmc_host *host, double *energy)
{
    (void)instance;
    here("mover.running_energy");
    for (int32_t w = 0; w < host->system->walkers; w++) energy[w] = 0;
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    (void)host;
    here("mover.configure");
    (void)instance;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    crashing_mover *m = instance;
    here("mover.prepare");
    m->system = host->system;
    m->positions = host->allocate(host->context, bytes_of(m));
    return m->positions ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance, (void)host;
    here("mover.gpu_source");
    if (index > 0) return 0;
    out->name = "crashing_mover.cu";
    out->source = "extern \"C\" __global__ void nothing(void) {}\n";
    out->fuse = PLUGMC_FUSE_SAMPLED;
    return 1;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    (void)instance, (void)host, (void)a;
    here("mover.archive");
    return PLUGMC_OK;
}

static void release(void *instance)
{
    (void)instance;
    here("mover.release");
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(crashing_mover, step, "0.1", 0, 1, "length", "of nothing"),
    PLUGMC_REAL_KEY(crashing_mover, target_acceptance, "0.4", 0, 1, "", "which is never met"),
};
static const plugmc_move moves[] = {{.name = "nothing",
                                     .doc = "nowhere",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance",
                                     .limit = limit}};

static const plugmc_driver driver = {
    .size = sizeof driver, .load = take, .store = give, .running_energy = running_energy};

PLUGMC_PLUGIN(.name = "crashing_mover", .summary = "crashes", .reference = "",
              PLUGMC_KEYS(crashing_mover, table),
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL |
                                         PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = sweep,
                                .counts = counts, .driver = &driver),
              .configure = configure, .prepare = prepare, .gpu_source = gpu_source,
              .archive = archive, .release = release)
