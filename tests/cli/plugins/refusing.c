/* A mover that tries and never accepts: what another mover of the run does must not change for it. */
#include <plugmc/everything.h>

typedef struct refusing {
    const plugmc_system *system;
    plugmc_seed seed;
    uint64_t trials, drawn;
    double sum; /* of coordinates: the state is read */
} refusing;

static int prepare(void *instance, const plugmc_host *host)
{
    refusing *r = instance;
    r->system = host->system;
    r->seed = host->seed;
    return PLUGMC_OK;
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    refusing *r = instance;
    double *positions;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    (void)host, (void)changed;
    if (!code) r->sum = positions[0];
    return code;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    refusing *r = instance;
    (void)host;
    for (uint64_t s = first; s < first + n; s++) {
        r->drawn += plugmc_draw(r->seed, s, 0, 0, PLUGMC_PURPOSE_TRIAL, 0).word[0];
        r->trials += (uint64_t)r->system->particles;
    }
    return PLUGMC_OK;
}

/* Nothing has changed, so nothing is written. */
static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    (void)instance, (void)host, (void)state;
    return PLUGMC_OK;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    refusing *r = instance;
    (void)host;
    *out = (plugmc_counts){r->trials, 0};
    if (clear) r->trials = 0;
    return PLUGMC_OK;
}

static const plugmc_move moves[] = {{.name = "refused", .doc = "goes nowhere"}};

static const plugmc_driver driver = {.size = sizeof driver, .load = take, .store = give};

PLUGMC_PLUGIN(.name = "refusing", .summary = "tries and never accepts", .reference = "",
              .instance_size = sizeof(refusing),
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL |
                                         PLUGMC_USES_ORBITALS | PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION,
                                .follows = PLUGMC_CHANGED_POSITION, .sweep = sweep,
                                .counts = counts, .driver = &driver),
              .prepare = prepare)
