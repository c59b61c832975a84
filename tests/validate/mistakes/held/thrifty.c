/* mistake: the word that chooses the particle also gives the x component of its displacement */
/* a user would see: particles of low numbers only move to smaller x and those of high numbers to
 * larger x: no reverse moves */
/* thrifty: displacements in a cube with one draw of random numbers per trial. */
#include <plugmc/proposal.h>

typedef struct thrifty {
    real step, target_acceptance;
} thrifty;

PLUGMC_FN double both_ways(uint32_t word) { return 2.0 * plugmc_uniform_float(word) - 1.0; }

PLUGMC_FN int propose(const thrifty *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_TRIAL, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[0], (uint32_t)t->particles));
    (void)p;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    t->position[0] = t->x[i] + t->step * both_ways(r.word[0]);
    t->position[1] = t->y[i] + t->step * both_ways(r.word[1]);
    t->position[2] = t->dimension == 3 ? t->z[i] + t->step * both_ways(r.word[2]) : t->z[i];
    return 1;
}

PLUGMC_PROPOSES(thrifty, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(thrifty, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(thrifty, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(thrifty, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "thrifty", .summary = "displacements with one draw", .reference = "",
              PLUGMC_KEYS(thrifty, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
