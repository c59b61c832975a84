/* step_in_ones: its step is a plain number, of which it says that it is in "1". */
#include <plugmc/proposal.h>

typedef struct step_in_ones {
    real step;
} step_in_ones;

PLUGMC_FN int propose(const step_in_ones *s, plugmc_trial *t)
{
    (void)s, (void)t;
    return 0;
}

PLUGMC_PROPOSES(step_in_ones, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(step_in_ones, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(step_in_ones, step, "0.1", 1e-12, 1e6, "length", "largest displacement"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "one particle goes elsewhere",
                                     .step_unit = "1",
                                     .step_key = "step"}};

PLUGMC_PLUGIN(.name = "step_in_ones", .summary = "steps in a unit that is none",
              PLUGMC_KEYS(step_in_ones, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
