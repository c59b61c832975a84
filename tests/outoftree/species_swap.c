/* species_swap: particles of two species take each other's place.
 *
 * A particle of species `a` and one of species `b` are drawn, and the swap is accepted with probability
 * min(1, exp(-change of -ln p)). T. S. Grigera, G. Parisi, Phys. Rev. E 63, 045102 (2001).
 */
#include <plugmc/proposal.h>

typedef struct species_swap {
    const char *a, *b;
    int64_t trials;
    int32_t species[2]; /* numbers of a and b */
} species_swap;

/* One trial move: who with whom. What it does to the energy, the core finds out. */
PLUGMC_FN int propose(const species_swap *s, plugmc_trial *trial)
{
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_TRIAL, 0);
    int32_t chosen[2];
    for (int k = 0; k < 2; k++) {
        const int64_t n = trial->count[s->species[k]]; /* of those that are there now */
        if (n == 0) return 0;
        chosen[k] =
            (int32_t)(trial->first[s->species[k]] + plugmc_below(random.word[k], (uint32_t)n));
    }
    trial->kind = PLUGMC_SWAPPED;
    trial->particle = chosen[0];
    trial->other = chosen[1];
    return 1;
}

PLUGMC_PROPOSES(species_swap, propose)

/* From here on it is for the host alone. */
#if PLUGMC_HOST
/* A sweep is `trials` of them a walker. */
PLUGMC_SWEEPS(species_swap, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    species_swap *s = instance;
    int code = plugmc_find_species(host, "a", s->a, &s->species[0]);
    if (!code) code = plugmc_find_species(host, "b", s->b, &s->species[1]);
    if (!code && s->species[0] == s->species[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", s->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(species_swap, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(species_swap, b, NULL, "the other one"),
    PLUGMC_INTEGER_KEY(species_swap, trials, "100", 1, 1e9, "", "trial moves per walker and sweep"),
};

/* Its kinds of trial move, which have no step. */
static const plugmc_move moves[] = {{.name = "swap", .doc = "exchanges two particles"}};

PLUGMC_PLUGIN(.name = "species_swap", .summary = "exchanges the places of particles of two species",
              .reference = "Grigera, Parisi, Phys. Rev. E 63, 045102 (2001)",
              PLUGMC_KEYS(species_swap, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
                                .sweep = plugmc_sweep))
#endif
