/* mistake: the displacement uses the key of the section, not the step that the core tunes */
/* a user would see: the acceptance stays what it is: the tuned step that is printed has no effect
 * and runs to its limit */
/* hop: displacements, or with some probability hops by a fixed distance along an axis. */
#include <plugmc/proposal.h>

typedef struct hop {
    real step, target_acceptance;
    real hops, distance;
} hop;

PLUGMC_FN int propose(const hop *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[0], (uint32_t)t->particles));
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    double v[3];
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++) t->position[d] = from[d];
    if (plugmc_uniform_float(r.word[1]) < p->hops)
        t->position[plugmc_below(r.word[2], (uint32_t)t->dimension)] +=
            r.word[3] & 1u ? p->distance : -p->distance;
    else
        for (int d = 0; d < t->dimension; d++) t->position[d] += p->step * v[d];
    return 1;
}

PLUGMC_PROPOSES(hop, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(hop, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(hop, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(hop, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
    PLUGMC_REAL_KEY(hop, hops, "0.1", -1e9, 1e9, "", "fraction of hops"),
    PLUGMC_REAL_KEY(hop, distance, "1", -1e9, 1e9, "length", "of a hop"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "hop", .summary = "displacements and hops", .reference = "",
              PLUGMC_KEYS(hop, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
