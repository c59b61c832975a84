/* parallel_reduction: one trial move after the other on the GPU, its N - 1 pairs summed in
 * parallel.
 *
 * The baseline of Y. Liang, X. Xing, Y. Li, J. Comput. Phys. 338, 252 (2017), section 4, with which
 * brush is compared: every trial move is a kernel of N threads, one a pair. Warps and blocks reduce
 * their sums, blocks add theirs in global memory, and the last block to finish decides. A launch
 * for every particle and N places read anew for each are what brush does away with.
 *
 * Trial moves, random numbers and decisions are those of brush and, in double precision, of
 * movers/serial in sequential order. Places, energies and the rest are brush's, too (sequential.h).
 *
 * Launches are recorded in a CUDA graph: LAUNCHES trial moves, whose particle the kernel takes from
 * a counter, or as many as there are particles.
 */
#include <plugmc/everything.h>

#include "../brush/sequential.h"

PLUGMC_EMBED(state_text, BRUSH_STATE_FILE);
PLUGMC_EMBED(trial_text, BRUSH_TRIAL_FILE);
PLUGMC_EMBED(propose_text, BRUSH_PROPOSE_FILE);
PLUGMC_EMBED(pairs_text, BRUSH_PAIRS_FILE);
PLUGMC_EMBED(move_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(energy_text, BRUSH_ENERGY_FILE);

enum { BLOCK = 1024, LAUNCHES = 1024 };

static const device_text texts[TEXTS] = {
    [TEXT_PROPOSE] = {"parallel_reduction propose.cu",
                      {state_text, trial_text, propose_text},
                      1,
                      0},
    [TEXT_SWEEP] = {"parallel_reduction.cu", {state_text, pairs_text, move_text}, 0, 1},
    [TEXT_ENERGY] = {"parallel_reduction energy.cu", {energy_text}, 1, 1},
};

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static int launches_of(const sequential *me)
{
    return me->d.particles < LAUNCHES ? me->d.particles : LAUNCHES;
}

static int record(sequential *me, const plugmc_host *host)
{
    const uint32_t block[3] = {BLOCK, 1, 1};
    const uint32_t grid[3] = {(uint32_t)(me->d.padded / BLOCK), (uint32_t)me->d.walkers, 1};
    void *arguments[] = {&me->d};
    int code = PLUGMC_OK;
    TRY(host->gpu->graph_begin(host->context));
    for (int i = 0; i < launches_of(me) && !code; i++)
        code = host->gpu->launch(host->context, me->k_sweep, grid, block, 0, arguments);
    const int ended = host->gpu->graph_end(host->context, &me->graph);
    return code ? code : ended;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first;
    uint64_t n = sweeps->n;
    sequential *me = instance;
    const int64_t particles = me->system->particles;
    const uint64_t last = first + n - 1;
    TRY(walkers_take_steps(me, host, sweeps));
    me->sweeps_since += n;
    sequential_count(me, n);
    TRY(host->gpu->upload(host->context, me->d.sweep, &first, sizeof first));
    if (!me->graph) TRY(record(me, host));
    for (; n > 0; n--) {
        TRY(sequential_propose(me, host));
        for (int64_t i = 0; i < particles; i += launches_of(me)) {
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            TRY(host->gpu->graph_launch(host->context, me->graph));
        }
    }
    return sequential_check_device(me, host, last);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    sequential *me = instance;
    if (!me->define_count) sequential_define(me, "BLOCK", BLOCK);
    return sequential_gpu_source(me, host, texts, index, out);
}

static int prepare(void *instance, const plugmc_host *host)
{
    sequential *me = instance;
    plugmc_gpu_source text = {.size = sizeof text};
    TRY(sequential_prepare(me, host));
    if (!gpu_source(me, host, TEXT_SWEEP, &text)) return PLUGMC_ERROR_MEMORY;
    TRY(host->gpu->kernel(host->context, &text, "parallel_reduction_move", &me->k_sweep));
    me->d.panels = 1; /* one counter of finished blocks a walker */
    me->d.padded = (int32_t)((me->system->particles + BLOCK - 1) / BLOCK * BLOCK);
    return sequential_prepare_device(me, host, texts);
}

static const plugmc_parameter table[] = {SEQUENTIAL_KEYS};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

static const plugmc_driver driver = {.size = sizeof driver,
                                     .load = sequential_take,
                                     .store = sequential_give,
                                     .running_energy = sequential_running_energy};

PLUGMC_PLUGIN(.name = "parallel_reduction",
              .summary = "one trial move after the other on the GPU: what brush is compared with",
              .reference = "Liang, Xing, Li, J. Comput. Phys. 338, 252 (2017), section 4",
              PLUGMC_KEYS(sequential, table),
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_POSITION,
                                .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_BOX |
                                           PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                                .sweep = sweep, .counts = sequential_counts,
                                .good_for = "comparisons: brush makes the same chain faster",
                                .driver = &driver),
              .prepare = prepare, .gpu_source = gpu_source, .archive = sequential_archive)
