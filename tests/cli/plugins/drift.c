/* A mover that proposes displacements for the CPU and for a GPU. */
#include <plugmc/proposal.h>

typedef struct drift {
    int64_t trials;
} drift;

PLUGMC_FN int propose(const drift *d, plugmc_trial *trial)
{
    (void)d;
    trial->kind = PLUGMC_DISPLACED;
    trial->position[0] = trial->x[0] + 0.1;
    trial->position[1] = trial->y[0];
    return 1;
}

PLUGMC_PROPOSES(drift, propose)

#if PLUGMC_HOST
static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const drift *d = (const drift *)instance;
    return plugmc_make_trials(host, d, d->trials, first, n);
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(drift, trials, "1", 1, 1e9, "", "trial moves a walker and sweep"),
};

static const plugmc_move moves[] = {{"drift", "the first particle goes to the right", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .sweep = sweep,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "drift", .summary = "displacements to the right",
              .reference = "", .instance_size = sizeof(drift), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover)
#endif
