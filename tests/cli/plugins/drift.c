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
static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const drift *d = (const drift *)instance;
    return plugmc_make_trials(host, d, d->trials, sweeps);
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(drift, trials, "1", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {
    {.name = "drift", .doc = "the first particle goes to the right"}};

PLUGMC_PLUGIN(.name = "drift", .summary = "displacements to the right", .reference = "",
              PLUGMC_KEYS(drift, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = sweep))
#endif
