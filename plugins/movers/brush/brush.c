/* brush: sequential Metropolis sweeps of particles that all interact, exact for every N.
 *
 * The algorithm of Y. Liang, X. Xing, Y. Li, J. Comput. Phys. 338, 252 (2017): one sweep offers a
 * trial move to every particle, in the order of their numbers, and each decision knows the outcome
 * of all before it. Nearly all of the N^2 pair terms of a sweep do not depend on decisions that are
 * still open, and are summed in parallel; the few that do are precomputed for both outcomes (the
 * paper evaluates them one after the other), so that a decision costs an addition, a comparison and
 * a broadcast. Trial moves and random numbers are those of movers/serial in sequential order
 * (trial.h), and so are the decisions, up to rounding.
 *
 * precision = single sums pairs in float, over short runs of particles that are then added in fixed
 * point or double; places are multiples of a quantum that float holds exactly, so that separations
 * are exact. precision = double takes decisions as movers/serial does, and keeps the running energy
 * to 1e-12 (on a GPU to 1e-9); in single it drifts by some 1e-6 kT times the root of the number of
 * accepted moves, and is replaced by a fresh sum in double every `refresh` sweeps, when it is asked
 * for.
 *
 * How it is done: brush.cu says for a GPU, cpu.c for a CPU. places.c and sequential.c have what
 * does not depend on the algorithm.
 */
#include <plugmc/everything.h>

#include "../speeds.h"
#include "sequential.h"

PLUGMC_EMBED(state_text, BRUSH_STATE_FILE);
PLUGMC_EMBED(trial_text, BRUSH_TRIAL_FILE);
PLUGMC_EMBED(propose_text, BRUSH_PROPOSE_FILE);
PLUGMC_EMBED(pairs_text, BRUSH_PAIRS_FILE);
PLUGMC_EMBED(dealing_text, BRUSH_DEALING_FILE);
PLUGMC_EMBED(shares_text, BRUSH_SHARES_FILE);
PLUGMC_EMBED(sweep_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(energy_text, BRUSH_ENERGY_FILE);

/* Geometry of the kernels, see brush.cu. */
enum { CHUNK = 16, BLOCK = 1024, TILE = BLOCK, ROW = 32, LAGGING = 128 };
enum { LONGEST_INTERVAL = 4096, RECORDED = 16, MANY = 28000 };

static const device_text texts[TEXTS] = {
    [TEXT_PROPOSE] = {"brush propose.cu", {state_text, trial_text, propose_text}, 1, 0},
    [TEXT_SWEEP] = {"brush.cu",
                    {state_text, pairs_text, dealing_text, shares_text, sweep_text},
                    0,
                    1},
    [TEXT_ENERGY] = {"brush energy.cu", {energy_text}, 1, 1},
};

static int sweep_on_device(sequential *, const plugmc_host *, uint64_t first, uint64_t n);

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    sequential *me = instance;
    TRY(walkers_take_steps(me, host, sweeps));
    me->now.sweeps_since += n;
    sequential_count(me, n);
    return host->gpu ? sweep_on_device(me, host, first, n) : cpu_sweep(me, host, first, n);
}

/* ---- On the GPU ------------------------------------------------------------------------------ */

/* Particles of a panel. Short panels leave less to the decider, which bounds small systems; with
 * long ones workers do more with a place that they have fetched. The chain is the same. */
static int panel_of(const sequential *me, const plugmc_system *system)
{
    return me->precision == SINGLE && system->particles >= MANY ? LAGGING : LAGGING / 2;
}

/* Bytes of brush_desk in brush.cu, which checks it; and those of a tile of places. */
#define DESK(panel, size)                                                                          \
    (4 * (panel) * (8 * (size) + 36) + 4 * ROW * ROW * (size) + ROW * (size) + 32)
#define PLACES(size) (TILE * 4 * (size))
_Static_assert(DESK(LAGGING / 2, sizeof(double)) + 64 <= 64 << 10,
               "short panels fit into the shared memory of any GPU");

static int shared_bytes(const sequential *me, const plugmc_system *system)
{
    const int size = me->precision == SINGLE ? sizeof(float) : sizeof(double);
    const int desk = DESK(panel_of(me, system), size), places = PLACES(size);
    return desk > places ? desk : places;
}

static int rows_of(const sequential *me) { return me->d.panels * (panel_of(me, me->system) / ROW); }

/* Of the particles that the deciders of this GPU have, if they are on it. */
static int launch_outcomes(sequential *me, const plugmc_host *host)
{
    if (!me->outcome_bytes) return PLUGMC_OK;
    const uint32_t grid[3] = {(uint32_t)rows_of(me), (uint32_t)me->system->walkers, 1};
    const uint32_t block[3] = {ROW * ROW / 4, 1, 1};
    void *arguments[] = {&me->d};
    return host->gpu->launch(host->context, me->kernels.outcomes, grid, block, 0, arguments);
}

static int launch_sweep(sequential *me, const plugmc_host *host)
{
    const uint32_t grid[3] = {(uint32_t)(me->d.blocks * me->system->walkers), 1, 1};
    const uint32_t block[3] = {BLOCK, 1, 1};
    void *arguments[] = {&me->d};
    TRY(sequential_propose(me, host));
    TRY(launch_outcomes(me, host));
    return host->gpu->launch(host->context, me->kernels.sweep, grid, block,
                             (uint32_t)shared_bytes(me, me->system), arguments);
}

static int sweep_on_device(sequential *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const plugmc_gpu *gpu = host->gpu;
    const uint64_t last = first + n - 1;
    TRY(gpu->upload(host->context, me->d.sweep, &first, sizeof first));
    if (!me->kernels.graph && n >= RECORDED) {
        TRY(gpu->graph_begin(host->context));
        int code = PLUGMC_OK;
        for (int i = 0; i < RECORDED && !code; i++) code = launch_sweep(me, host);
        int ended = gpu->graph_end(host->context, &me->kernels.graph);
        TRY(code ? code : ended);
    }
    for (; n > 0; n -= n < RECORDED ? 1 : RECORDED) {
        TRY(parts_agree(me, host, host->stopping(host->context) ? PLUGMC_STOPPED : PLUGMC_OK));
        TRY(n < RECORDED ? launch_sweep(me, host)
                         : gpu->graph_launch(host->context, me->kernels.graph));
    }
    if (me->spread) TRY(parts_agree(me, host, gpu->synchronize(host->context)));
    return sequential_check_device(me, host, last);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    sequential *me = instance;
    if (!me->kernels.define_count) {
        const int panel = panel_of(me, host->system);
        parts_find(me, host);
        sequential_define(me, "BRUSH_PANEL", panel);
        sequential_define(me, "BRUSH_LAG", LAGGING / panel);
        sequential_define(me, "BRUSH_TEAMS", BLOCK / panel);
        sequential_define(me, "BRUSH_CHUNK", CHUNK);
        sequential_define(me, "BRUSH_SHARED", shared_bytes(me, host->system));
        if (me->spread) sequential_define(me, "BRUSH_PARTS", me->spread->parts);
    }
    return sequential_gpu_source(me, host, texts, index, out);
}

static int prepare_on_device(sequential *me, const plugmc_host *host)
{
    const int32_t n = (int32_t)me->system->particles, panel = panel_of(me, me->system);
    device_state *d = &me->d;
    plugmc_gpu_source text = {.size = sizeof text};
    d->panels = (n + panel - 1) / panel;
    d->interval = (n / 32 + TILE - 1) / TILE * TILE;
    if (d->interval < TILE) d->interval = TILE;
    if (d->interval > LONGEST_INTERVAL) d->interval = LONGEST_INTERVAL;
    d->intervals = (n + d->interval - 1) / d->interval;
    if (!me->spread || me->spread->part == 0) /* who has the decider */
        me->outcome_bytes = (size_t)rows_of(me) * 4 * ROW * ROW * me->real_size;
    d->padded = d->intervals * d->interval + TILE;
    d->blocks = host->gpu->multiprocessors / me->system->walkers;
    if (d->blocks < 2) d->blocks = 2;
    TRY(parts_prepare(me, host));
    if (!gpu_source(me, host, TEXT_SWEEP, &text)) return PLUGMC_ERROR_MEMORY;
    TRY(host->gpu->kernel(host->context, &text, "brush_sweep", &me->kernels.sweep));
    TRY(host->gpu->kernel(host->context, &text, "brush_outcomes", &me->kernels.outcomes));
    return sequential_prepare_device(me, host, texts);
}

static int prepare(void *instance, const plugmc_host *host)
{
    sequential *me = instance;
    TRY(parts_check(me, host));
    TRY(sequential_prepare(me, host));
    return host->gpu ? prepare_on_device(me, host) : cpu_prepare(me, host);
}

/* ---- The table ------------------------------------------------------------------------------- */

static int speed(const void *instance, const plugmc_system *system, plugmc_speed *out)
{
    const sequential *me = instance;
    out->seconds = seconds_in_groups(system, me->precision == DOUBLE);
    if (PLUGMC_HAS(out, gpu_seconds)) out->gpu_seconds = seconds_in_groups_on_gpu(system);
    out->trials = (double)(system->particles * system->walkers);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    SEQUENTIAL_KEYS,
    PLUGMC_INTEGER_KEY(sequential, group_size, "64", 1, 4096, "",
                       "on the CPU: number of particles whose trial moves are prepared "
                       "together"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

static const plugmc_driver driver = {.size = sizeof driver,
                                     .load = sequential_take,
                                     .store = sequential_give,
                                     .running_energy = sequential_running_energy};

PLUGMC_PLUGIN(.name = "brush",
              .summary = "parallel sequential Metropolis sweeps of particles with long-range "
                         "interactions",
              .reference = "Liang, Xing, Li, J. Comput. Phys. 338, 252 (2017)",
              PLUGMC_KEYS(sequential, table),
              PLUGMC_MOVER_WITH(
                  moves,
                  .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_RUNS_ON_CPU |
                           PLUGMC_RUNS_ON_GPU | PLUGMC_DECOMPOSES_DOMAIN,
                  .changes = PLUGMC_CHANGED_POSITION,
                  .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_BOX |
                             PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                  .sweep = sweep, .counts = sequential_counts,
                  .good_for =
                      "long-range forces, and systems of up to some thousand particles with any "
                      "forces",
                  .same_moves = "serial checkerboard", .speed = speed, .driver = &driver),
              .prepare = prepare, .gpu_source = gpu_source, .archive = sequential_archive)
