/* crashing_mover: a mover that leaves everyone where he is, see crashing.h. */
#include <plugmc/plugin.h>

#include "crashing.h"

typedef struct crashing_mover {
    const plugmc_system *system;
    double *positions;
    double step;
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
    here("mover.take");
    if (!code) memcpy(m->positions, positions, bytes_of(m));
    return code;
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
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
    here("mover.give");
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

static double step(const void *instance, int32_t move, int32_t rung)
{
    (void)move, (void)rung;
    here("mover.step");
    return ((const crashing_mover *)instance)->step;
}

static int set_step(void *instance, const plugmc_host *host, int32_t move, int32_t rung, double to)
{
    (void)host, (void)move, (void)rung;
    here("mover.set_step");
    ((crashing_mover *)instance)->step = to;
    return PLUGMC_OK;
}

static double target_acceptance(const void *instance, int32_t move)
{
    (void)instance, (void)move;
    here("mover.target_acceptance");
    return 0.5;
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
    ((crashing_mover *)instance)->step = 0.1;
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

static int kernel_text(void *instance, const plugmc_host *host, int index, plugmc_kernel_text *out)
{
    (void)instance, (void)host;
    here("mover.kernel_text");
    if (index > 0) return 0;
    out->name = "crashing_mover.cu";
    out->text = "extern \"C\" __global__ void nothing(void) {}\n";
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

static const plugmc_move moves[] = {{"nothing", "nowhere", "length"}};

static const plugmc_mover mover = {.size = sizeof mover,
                                   .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD |
                                            PLUGMC_USES_TOTAL | PLUGMC_RUNS_ON_CPU,
                                   .changes = PLUGMC_CHANGED_POSITION,
                                   .take = take,
                                   .sweep = sweep,
                                   .give = give,
                                   .moves = moves,
                                   .move_count = PLUGMC_COUNT(moves),
                                   .move_size = sizeof(plugmc_move),
                                   .counts = counts,
                                   .step = step,
                                   .set_step = set_step,
                                   .target_acceptance = target_acceptance,
                                   .running_energy = running_energy};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "crashing_mover", .summary = "crashes", .reference = "",
              .instance_size = sizeof(crashing_mover), .mover = &mover, .configure = configure,
              .prepare = prepare, .kernel_text = kernel_text, .archive = archive,
              .release = release)
