/* kept_proposer: one particle after the other, by trials of the core.
 *
 * A mover without take and give as it was written for version 2.0 of the interface. It draws as the mover
 * serial does in the order `sequential`, so their chains are the same.
 */
#include <plugmc/mover.h>
#include <plugmc/trial.h>

typedef struct proposer {
    real step; /* length */
} proposer;

static int propose(const void *parameters, plugmc_trial *t)
{
    const int64_t i = t->number;
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    double v[3];
    (void)parameters;
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++)
        t->position[d] = d < t->dimension ? from[d] + t->step * v[d] : from[d];
    return 1;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const plugmc_proposal proposal = {.size = sizeof proposal,
                                      .trials = host->system->particles,
                                      .parameters = instance,
                                      .propose = propose};
    return host->trials(host->context, &proposal, sweeps->first, sweeps->n);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(proposer, step, "0.2", 1e-12, 1e12, "length", "largest displacement"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "one particle goes elsewhere",
                                     .step_unit = "length",
                                     .step_key = "step"}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .sweep = sweep,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "kept_proposer",
              .summary = "one particle after the other, by trials of the core", .reference = "",
              .instance_size = sizeof(proposer), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover)
