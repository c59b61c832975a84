/* A mover that makes trials of two kinds in each sweep: swaps, and behind them swaps again, which a GPU makes
 * too, or displacements, which it leaves to the host. */
#include <plugmc/proposal.h>

typedef struct two_kinds {
    int64_t trials, from;
    int32_t second, displaces;
    double step;
} two_kinds;

PLUGMC_FN int propose(const two_kinds *t, plugmc_trial *trial)
{
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_TRIAL, 0);
    if (t->displaces) {
        const double *from[3] = {trial->x, trial->y, trial->z};
        trial->kind = PLUGMC_DISPLACED;
        trial->particle = (int32_t)plugmc_below(random.word[0], (uint32_t)trial->particles);
        for (int d = 0; d < 3; d++) trial->position[d] = from[d][trial->particle];
        for (int d = 0; d < trial->dimension; d++)
            trial->position[d] += trial->step * (random.word[1 + d] * 0x1p-31 - 1);
        return 1;
    }
    trial->kind = PLUGMC_SWAPPED;
    trial->particle = (int32_t)plugmc_below(random.word[0], (uint32_t)trial->first[1]);
    trial->other =
        (int32_t)(trial->first[1] +
                  plugmc_below(random.word[1], (uint32_t)(trial->first[2] - trial->first[1])));
    return 1;
}

PLUGMC_PROPOSES(two_kinds, propose)

#if PLUGMC_HOST
/* One call for each kind, sweep by sweep: parameters are read before it returns. */
static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    two_kinds *t = instance;
    for (uint64_t s = first; s < first + n; s++)
        for (int32_t move = 0; move < 2; move++) {
            t->displaces = move == 1 && t->second == 1;
            const plugmc_proposal proposal = {.size = sizeof proposal,
                                              .move = move,
                                              .trials = t->trials,
                                              .from = (uint32_t)(move ? t->from : 0),
                                              .parameters = t,
                                              .propose = plugmc_propose,
                                              .parameters_size = t->displaces ? 0 : sizeof *t};
            const int code = host->trials(host->context, &proposal, s, 1);
            if (code) return code;
        }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(two_kinds, trials, "1", 1, 1e6, "", "of each kind, a walker and sweep"),
    PLUGMC_INTEGER_KEY(two_kinds, from, "1", 0, 1e6, "", "number of the first of the second kind"),
    PLUGMC_CHOICE_KEY(two_kinds, second, "swap", "swap|displacement", "the second kind"),
    PLUGMC_REAL_KEY(two_kinds, step, "0.3", 1e-12, 1e12, "length", "largest displacement"),
};

static const plugmc_move moves[] = {{.name = "swap", .doc = "exchanges two particles"},
                                    {.name = "second",
                                     .doc = "the same, or one goes elsewhere",
                                     .step_unit = "length",
                                     .step_key = "step"}};

PLUGMC_PLUGIN(.name = "two_kinds", .summary = "two kinds of trials in a sweep", .reference = "",
              PLUGMC_KEYS(two_kinds, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = sweep))
#endif
