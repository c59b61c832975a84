/* mistake: displacements are drawn with the purpose and number that the core uses for acceptance */
/* a user would see: the decision depends on the direction of the move: words 0 and 1 are u and
 * the displacement along x and y */
/* cube_steps: one particle after the other by a vector from a cube. */
#include <plugmc/proposal.h>

typedef struct cube_steps {
    real step, target_acceptance;
} cube_steps;

PLUGMC_FN int propose(const cube_steps *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ACCEPT, 0);
    const int64_t i = plugmc_one_of_all(t, (int64_t)(t->number % (uint32_t)t->particles));
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    (void)p;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++) {
        const double u = 2.0 * plugmc_uniform_float(r.word[d]) - 1.0;
        t->position[d] = d < t->dimension ? from[d] + t->step * u : from[d];
    }
    return 1;
}

PLUGMC_PROPOSES(cube_steps, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(cube_steps, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(cube_steps, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(cube_steps, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "cube_steps", .summary = "sequential displacements from a cube",
              .reference = "", PLUGMC_KEYS(cube_steps, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
