/* mistake: the number of the trial is left out of the counter of the random numbers */
/* a user would see: all trials of a sweep choose the same particle and the same displacement: it
 * is dragged along one line, sampling is slow and correlated */
/* even_steps: displacements uniform in a ball. */
#include <plugmc/proposal.h>

typedef struct even_steps {
    real step, target_acceptance;
} even_steps;

PLUGMC_FN int propose(const even_steps *p, plugmc_trial *t)
{
    const plugmc_random r = plugmc_draw(t->seed, t->sweep, t->walker, 0, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[0], (uint32_t)t->particles));
    double v[3];
    (void)p;
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, 0, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    t->position[0] = t->x[i] + t->step * v[0];
    t->position[1] = t->y[i] + t->step * v[1];
    t->position[2] = t->z[i] + t->step * v[2];
    return 1;
}

PLUGMC_PROPOSES(even_steps, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(even_steps, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(even_steps, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(even_steps, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "even_steps", .summary = "displacements from a ball", .reference = "",
              PLUGMC_KEYS(even_steps, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
