/* mistake: the particle is already moved in the arrays of the trial (const cast away) before the
 * core decides */
/* a user would see: rejected moves stay in the configuration: positions, cells and energies no
 * longer fit, the run hangs or its results are wrong */
/* two_steps: a displacement in two parts, first along the axes, then in a ball. */
#include <plugmc/proposal.h>

typedef struct two_steps {
    real step, target_acceptance;
} two_steps;

PLUGMC_FN int propose(const two_steps *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[0], (uint32_t)t->particles));
    double *x = (double *)t->x, v[3];
    (void)p;
    x[i] = plugmc_wrapped(x[i] + t->step * (2 * plugmc_uniform_double(r.word[1], r.word[2]) - 1),
                          t->box->length[0]);
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    t->position[0] = x[i] + t->step * v[0];
    t->position[1] = t->y[i] + t->step * v[1];
    t->position[2] = t->z[i] + t->step * v[2];
    return 1;
}

PLUGMC_PROPOSES(two_steps, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(two_steps, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(two_steps, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(two_steps, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "two_steps", .summary = "displacements in two parts", .reference = "",
              PLUGMC_KEYS(two_steps, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
