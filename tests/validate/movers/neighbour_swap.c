/* neighbour_swap: a particle of species a and one of species b that is within `radius` of it take each other's place.
 *
 * A is drawn among all of its species, and b among the n near it. On the way back a stands where b was, and b is one of the m
 * that are near that place then: all that are now but b itself, and b, which is where a was. So log_factor is ln(n / m).
 * -DFAULT=NAME makes one of the mistakes below; -DRADIUS=... is the default of the radius. */
#include <plugmc/proposal.h>
#include <plugmc/near.h>

#define NONE 0
#define NO_FACTOR 1   /* no log_factor */
#define UPSIDE_DOWN 2 /* ln(m / n) */
#ifndef FAULT
#define FAULT NONE
#endif
#ifndef RADIUS
#define RADIUS "1.5"
#endif

typedef struct neighbour_swap {
    const char *a, *b;
    double radius;
    int64_t trials;
    int32_t species[2];
} neighbour_swap;

PLUGMC_FN int propose(const neighbour_swap *me, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int32_t a = me->species[0], b = me->species[1];
    if (!t->count[a]) return 0;
    for (int d = 0; d < t->dimension; d++)
        if (2 * me->radius > plugmc_height(t->box, d)) return 0;
    const int32_t i = (int32_t)(t->first[a] + plugmc_below(random.word[0], (uint32_t)t->count[a]));
    const double here[3] = {t->x[i], t->y[i], t->z[i]};
    const int64_t n = plugmc_count_near(t, b, here, me->radius, 0, 0, -1, 0);
    int32_t j = -1;
    if (!n) return 0;
    plugmc_count_near(t, b, here, me->radius, 0, 0, plugmc_below(random.word[1], (uint32_t)n), &j);
    const double there[3] = {t->x[j], t->y[j], t->z[j]};
    const int64_t m = plugmc_count_near(t, b, there, me->radius, &j, 1, -1, 0) + 1;
    t->kind = PLUGMC_SWAPPED;
    t->particle = i;
    t->other = j;
    if (FAULT != NO_FACTOR) t->log_factor = log((double)n / (double)m);
    if (FAULT == UPSIDE_DOWN) t->log_factor = -t->log_factor;
    return 1;
}

PLUGMC_PROPOSES(neighbour_swap, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(neighbour_swap, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    neighbour_swap *me = instance;
    int code = plugmc_find_species(host, "a", me->a, &me->species[0]);
    if (!code) code = plugmc_find_species(host, "b", me->b, &me->species[1]);
    if (!code && me->species[0] == me->species[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", me->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(neighbour_swap, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(neighbour_swap, b, NULL, "the other one"),
    PLUGMC_REAL_KEY(neighbour_swap, radius, RADIUS, 1e-6, 1e6, "length", "of the neighbourhood"),
    PLUGMC_INTEGER_KEY(neighbour_swap, trials, "10", 1, 1e9, "",
                       "trial moves per walker and sweep"),
};
static const plugmc_move moves[] = {{.name = "swap", .doc = "neighbours change places"}};

PLUGMC_PLUGIN(.name = "neighbour_swap", .summary = "neighbours change places",
              PLUGMC_KEYS(neighbour_swap, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
                                .sweep = plugmc_sweep))
#endif
