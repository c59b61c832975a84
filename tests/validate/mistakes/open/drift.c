/* mistake: displacements are step * u with u in [0, 1) instead of [-1, 1) */
/* a user would see: all moves go to larger coordinates: no detailed balance, wrong energies and
 * densities */
/* drift: moves one particle by a vector that is uniform in a cube. */
#include <plugmc/proposal.h>

typedef struct drift {
    real step, target_acceptance;
} drift;

PLUGMC_FN int propose(const drift *p, plugmc_trial *t)
{
    const plugmc_random who =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const plugmc_random by =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_TRIAL, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(who.word[0], (uint32_t)t->particles));
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    (void)p;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++) {
        t->position[d] = from[d];
        if (d < t->dimension) t->position[d] += t->step * plugmc_uniform_float(by.word[d]);
    }
    return 1;
}

PLUGMC_PROPOSES(drift, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(drift, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(drift, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(drift, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "drift", .summary = "displacements from a cube", .reference = "",
              PLUGMC_KEYS(drift, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
