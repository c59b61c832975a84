/* identity: a particle of one species becomes one of another, where it is.
 *
 * The semi-grand ensemble: the number of both together stays, and their activities, mu or activity of
 * [species], decide how many there are of each (D. A. Kofke, E. D. Glandt, Mol. Phys. 64, 1105 (1988)).
 * With equal probability one of `a` is to become one of `b` or the other way round: accepted with
 *
 *     min(1, N_a / (N_b + 1) z_b / z_a exp(-dU / kT)),    N before the move.
 *
 * The core has z and dU, see plugmc_trial.log_factor. Draws: plugmc_draw(seed, sweep, walker, trial,
 * PLUGMC_PURPOSE_ORDER, 0), the highest bit of word 3 for the direction, word 0 for the particle.
 */
#include <plugmc/proposal.h>

#define PLUGMC_READS_ITS_PARTICLE_ALONE 1

typedef struct identity {
    const char *a, *b;
    int64_t trials;
    int32_t number[2]; /* of the species */
} identity;

PLUGMC_FN int propose(const identity *p, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int back = (int)(random.word[3] >> 31);
    const int32_t from = p->number[back], to = p->number[!back];
    const uint32_t n = (uint32_t)t->count[from];
    t->kind = PLUGMC_IDENTITY;
    t->species = to;
    t->particle = -1;
    t->other = from;
    if (n == 0) return 1;
    t->particle = (int32_t)(t->first[from] + plugmc_below(random.word[0], n));
    t->log_factor = log((double)n / ((double)t->count[to] + 1));
    return 1;
}

PLUGMC_PROPOSES(identity, propose)

#if PLUGMC_HOST
#include "reservoir.h"

PLUGMC_SWEEPS(identity, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    identity *p = instance;
    int code = find_reservoir(host, "a", p->a, &p->number[0]);
    if (!code) code = find_reservoir(host, "b", p->b, &p->number[1]);
    if (!code && p->number[0] == p->number[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", p->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(identity, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(identity, b, NULL, "the other species"),
    PLUGMC_INTEGER_KEY(identity, trials, "100", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {
    {.name = "identity", .doc = "changes the species of a particle"}};

PLUGMC_PLUGIN(
        .name = "identity", .summary = "semi-grand-canonical: particles change their species",
        .reference = "Kofke, Glandt, Mol. Phys. 64, 1105 (1988)", PLUGMC_KEYS(identity, table),
        PLUGMC_MOVER_WITH(
            moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
            .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
            .follows = PLUGMC_CHANGED_COUNT, .sweep = plugmc_sweep,
            .good_for = "mixtures with given differences of chemical potentials; combine it with a "
                        "mover that displaces"),
        .prepare = prepare)
#endif
