/* mistake: the step grows with the distance from the centre, without a factor for the reverse
 * move */
/* a user would see: the way out is proposed more easily than the way back: densities in the outer
 * region are wrong */
/* local_steps: large steps far from the middle of the box, where a droplet has its vapour. */
#include <plugmc/proposal.h>

typedef struct local_steps {
    real step, target_acceptance;
    real inner;
} local_steps;

PLUGMC_FN int propose(const local_steps *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[0], (uint32_t)t->particles));
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    double v[3], square = 0;
    for (int d = 0; d < t->dimension; d++) {
        const double c = from[d] - t->box->length[d] / 2;
        square += c * c;
    }
    const double step = t->step * (1 + sqrt(square) / p->inner);
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++) t->position[d] = from[d] + step * v[d];
    return 1;
}

PLUGMC_PROPOSES(local_steps, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(local_steps, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(local_steps, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(local_steps, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
    PLUGMC_REAL_KEY(local_steps, inner, "1", -1e9, 1e9, "length",
                    "distance at which the step is twice as large"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "local_steps", .summary = "steps that grow with the distance from the centre",
              .reference = "", PLUGMC_KEYS(local_steps, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
