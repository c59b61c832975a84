/* mistake: a particle is chosen among the reserved places of a species instead of the present
 * ones */
/* a user would see: with a reservoir in the run particles that do not exist are swapped: NaN
 * positions and lost particles */
/* place_swap: exchanges a particle of one species with one of another. */
#include <plugmc/proposal.h>

typedef struct place_swap {
    const char *a, *b;
    int64_t trials;
    int32_t number[2];
} place_swap;

PLUGMC_FN int propose(const place_swap *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_TRIAL, 0);
    const int64_t *first = &t->first[p->number[0]], *other = &t->first[p->number[1]];
    t->kind = PLUGMC_SWAPPED;
    t->particle = (int32_t)(first[0] + plugmc_below(r.word[0], (uint32_t)(first[1] - first[0])));
    t->other = (int32_t)(other[0] + plugmc_below(r.word[1], (uint32_t)(other[1] - other[0])));
    return 1;
}

PLUGMC_PROPOSES(place_swap, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(place_swap, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    place_swap *p = instance;
    int code = plugmc_find_species(host, "a", p->a, &p->number[0]);
    if (!code) code = plugmc_find_species(host, "b", p->b, &p->number[1]);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(place_swap, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(place_swap, b, NULL, "the other one"),
    PLUGMC_INTEGER_KEY(place_swap, trials, "20", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {{.name = "swap", .doc = "exchanges two particles"}};

PLUGMC_PLUGIN(.name = "place_swap", .summary = "exchanges particles of two species",
              .reference = "", PLUGMC_KEYS(place_swap, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
                                .sweep = plugmc_sweep))
#endif
