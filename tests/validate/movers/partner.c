/* partner: a particle goes to somewhere within `radius` of one of those that are within `radius` of it. With n of them before
 * and m after the move, the reverse is proposed n / m times as often: log_factor. -DFAULT=NO_FACTOR forgets it, which shows
 * where n and m differ alone; -DRADIUS=... is the default of the radius, which may reach nobody in a system, or everybody.
 */
#include <plugmc/proposal.h>
#include <plugmc/near.h>

#define NONE 0
#define NO_FACTOR 1
#ifndef FAULT
#define FAULT NONE
#endif
#ifndef RADIUS
#define RADIUS "1.5"
#endif

typedef struct partner {
    double radius;
    int64_t trials;
    int32_t species_count;
} partner;

PLUGMC_FN int64_t count(const partner *me, const plugmc_trial *t, const double at[3], int32_t but)
{
    int64_t n = 0;
    for (int32_t s = 0; s < me->species_count; s++)
        n += plugmc_count_near(t, s, at, me->radius, &but, 1, -1, 0);
    return n;
}

/* Number k of them. */
PLUGMC_FN int32_t who_is(const partner *me, const plugmc_trial *t, const double at[3], int32_t but,
                         int64_t k)
{
    int32_t who = -1;
    for (int32_t s = 0; s < me->species_count; s++) {
        const int64_t n = plugmc_count_near(t, s, at, me->radius, &but, 1, k, &who);
        if (k < n) return who;
        k -= n;
    }
    return who;
}

PLUGMC_FN int propose(const partner *me, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    double v[3];
    if (t->particles < 2) return 0;
    const int32_t i =
        (int32_t)plugmc_one_of_all(t, plugmc_below(random.word[0], (uint32_t)t->particles));
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    const int64_t n = count(me, t, from, i);
    if (n < 1) return 0;
    const int32_t j = who_is(me, t, from, i, plugmc_below(random.word[1], (uint32_t)n));
    const double centre[3] = {t->x[j], t->y[j], t->z[j]};
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    for (int d = 0; d < 3; d++) t->position[d] = centre[d] + me->radius * v[d];
    double there[3] = {t->position[0], t->position[1], t->position[2]};
    plugmc_wrap(t->box, there);
    const int64_t m = count(me, t, there, i);
    if (m < 1) return 0;
    t->kind = PLUGMC_DISPLACED;
    t->particle = i;
    t->log_factor = FAULT == NO_FACTOR ? 0 : log((double)n / (double)m);
    return 1;
}

PLUGMC_PROPOSES(partner, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(partner, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    ((partner *)instance)->species_count = host->system->species_count;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(partner, radius, RADIUS, 1e-6, 1e6, "length", "who is near"),
    PLUGMC_INTEGER_KEY(partner, trials, "6", 1, 1e9, "", "trial moves per walker and sweep"),
};
static const plugmc_move moves[] = {{.name = "hop", .doc = "to the neighbourhood of a neighbour"}};

PLUGMC_PLUGIN(.name = "partner", .summary = "hops between neighbours", PLUGMC_KEYS(partner, table),
              .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
