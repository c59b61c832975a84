/* swap: particles of two species take each other's place.
 *
 * Particles of unlike size diffuse slowly, or not at all, where they are dense; swapping finds the
 * others (T. S. Grigera, G. Parisi, Phys. Rev. E 63, 045102 (2001)). One of `a` and one of `b` is drawn. */
#include <plugmc/proposal.h>

typedef struct swap {
    const char *a, *b;
    int64_t trials;
    int32_t species[2]; /* numbers of a and b */
} swap;

PLUGMC_FN int propose(const swap *s, plugmc_trial *trial)
{
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_TRIAL, 0);
    int32_t chosen[2];
    for (int k = 0; k < 2; k++) {
        const int64_t first = trial->first[s->species[k]], n = trial->count[s->species[k]];
        if (n == 0) return 0;
        chosen[k] = (int32_t)(first + plugmc_below(random.word[k], (uint32_t)n));
    }
    trial->kind = PLUGMC_SWAPPED;
    trial->particle = chosen[0];
    trial->other = chosen[1];
    return 1;
}

PLUGMC_PROPOSES(swap, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(swap, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    swap *s = instance;
    int code = plugmc_find_species(host, "a", s->a, &s->species[0]);
    if (!code) code = plugmc_find_species(host, "b", s->b, &s->species[1]);
    if (!code && s->species[0] == s->species[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", s->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(swap, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(swap, b, NULL, "the other species"),
    PLUGMC_INTEGER_KEY(swap, trials, "100", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {{.name = "swap", .doc = "exchanges two particles"}};

PLUGMC_PLUGIN(
        .name = "swap", .summary = "exchanges positions of particles of two species",
        .reference = "Grigera, Parisi, Phys. Rev. E 63, 045102 (2001)", PLUGMC_KEYS(swap, table),
        PLUGMC_MOVER_WITH(
            moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
            .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
            .sweep = plugmc_sweep,
            .good_for = "dense mixtures, in which unlike particles hardly pass each other; combine "
                        "it with a mover that displaces"),
        .prepare = prepare)
#endif
