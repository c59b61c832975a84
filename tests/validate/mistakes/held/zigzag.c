/* mistake: a static variable, shared by all walkers and threads, holds the direction of the last
 * move */
/* a user would see: moves depend on the order of walkers and threads: chains cannot be repeated,
 * and a resumed run differs */
/* zigzag: goes on along the axis of the last move, then turns to the next one. */
#include <plugmc/proposal.h>

typedef struct zigzag {
    real step, target_acceptance;
} zigzag;

static int axis, sign = 1;

PLUGMC_FN int propose(const zigzag *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_TRIAL, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[0], (uint32_t)t->particles));
    const double length = t->step * plugmc_uniform_double(r.word[1], r.word[2]);
    (void)p;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    t->position[0] = t->x[i];
    t->position[1] = t->y[i];
    t->position[2] = t->z[i];
    t->position[axis] += sign * length;
    if (r.word[3] & 1u) sign = -sign;
    axis = (axis + 1) % t->dimension;
    return 1;
}

PLUGMC_PROPOSES(zigzag, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(zigzag, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(zigzag, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(zigzag, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "zigzag", .summary = "moves along the axes in turn", .reference = "",
              PLUGMC_KEYS(zigzag, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
