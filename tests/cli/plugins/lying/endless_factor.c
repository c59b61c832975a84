/* endless_factor: says now and then that the reverse move is infinitely more likely than its own. */
#include <plugmc/proposal.h>

typedef struct endless_factor {
    real step;
} endless_factor;

PLUGMC_FN int propose(const endless_factor *s, plugmc_trial *t)
{
    double v[3];
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)plugmc_one_of_all(t, t->number);
    t->position[0] = t->x[t->particle] + s->step * v[0];
    t->position[1] = t->y[t->particle] + s->step * v[1];
    t->position[2] = t->z[t->particle] + s->step * v[2];
    t->log_factor = -log(v[0] > 0 ? 1.0 : 0.0);
    return 1;
}

PLUGMC_PROPOSES(endless_factor, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(endless_factor, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(endless_factor, step, "0.1", 1e-12, 1e6, "length", "largest displacement"),
};

static const plugmc_move moves[] = {{.name = "displacement", .doc = "one particle goes elsewhere"}};

PLUGMC_PLUGIN(.name = "endless_factor", .summary = "a factor that is infinite",
              PLUGMC_KEYS(endless_factor, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
