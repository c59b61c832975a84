/* near_insert: particles of a species come to within `radius` of one that is there, the host, and go from around one.
 *
 * With N of them a host is drawn by 1 / N and a position in the ball of volume v around it by 1 / v; on the way back a host by
 * 1 / (N + 1) and one of the n + 1 around it by 1 / (n + 1), so that log_factor is ln(v N / ((N + 1) (n + 1))), where n others are
 * near the host before. Nobody comes where nobody is: all numbers but 0 are reached. -DFAULT=NAME makes one of the mistakes
 * below; -DRADIUS=... is the default of the radius. */
#include <plugmc/proposal.h>
#include <plugmc/near.h>

#define NONE 0
#define ANYWHERE 1 /* the factor of an insertion anywhere, V / (N + 1) */
#define NO_HOSTS 2 /* hosts are drawn from one more on the way back, which is forgotten */
#define WIDE 3     /* a ball that meets its own image is taken, too */
#ifndef FAULT
#define FAULT NONE
#endif
#ifndef RADIUS
#define RADIUS "0.8"
#endif

typedef struct near_insert {
    const char *species;
    double radius;
    int64_t trials;
    int32_t number; /* of the species */
} near_insert;

PLUGMC_FN int is_too_wide(const near_insert *me, const plugmc_trial *t)
{
    for (int d = 0; d < t->dimension && FAULT != WIDE; d++)
        if (2 * me->radius > plugmc_height(t->box, d)) return 1;
    return 0;
}

/* ln of the factor of an insertion, with N of them before and n of those near the host. */
PLUGMC_FN double factor(const near_insert *me, const plugmc_trial *t, double N, double n)
{
    const double r = me->radius, pi = 3.14159265358979323846,
                 v = t->dimension == 3 ? 4 * pi / 3 * r * r * r : pi * r * r;
    if (FAULT == ANYWHERE) return log(t->box->volume / (N + 1));
    if (FAULT == NO_HOSTS) return log(v / (n + 1));
    return log(v * N / ((N + 1) * (n + 1)));
}

PLUGMC_FN int propose(const near_insert *me, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t N = t->count[me->number];
    const int comes = (int)(random.word[3] >> 31);
    t->kind = comes ? PLUGMC_INSERTED : PLUGMC_REMOVED;
    t->species = t->other = me->number;
    t->particle = -1;
    if (N < (comes ? 1 : 2) || is_too_wide(me, t)) return 0;
    const int32_t host =
        (int32_t)(t->first[me->number] + plugmc_below(random.word[0], (uint32_t)N));
    const double at[3] = {t->x[host], t->y[host], t->z[host]};
    const int64_t n = plugmc_count_near(t, me->number, at, me->radius, &host, 1, -1, 0);
    if (comes) {
        double v[3];
        plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
        for (int d = 0; d < 3; d++) t->position[d] = at[d] + me->radius * v[d];
        t->log_factor = factor(me, t, (double)N, (double)n);
        return 1;
    }
    if (n == 0) return 0;
    plugmc_count_near(t, me->number, at, me->radius, &host, 1,
                      plugmc_below(random.word[1], (uint32_t)n), &t->particle);
    t->log_factor = -factor(me, t, (double)N - 1, (double)n - 1);
    return 1;
}

PLUGMC_PROPOSES(near_insert, propose)

#if PLUGMC_HOST
#include <math.h>

PLUGMC_SWEEPS(near_insert, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    near_insert *me = instance;
    const int code = plugmc_find_species(host, "species", me->species, &me->number);
    if (code) return code;
    const plugmc_species *s = plugmc_species_at(host->system, me->number);
    if (isnan(s->mu) || s->capacity <= s->count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "[species %s] needs an activity, and max_count above count", me->species);
    if (PLUGMC_HAS(host, reservoir)) host->reservoir(host->context, me->number);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(near_insert, species, NULL, "which one comes and goes"),
    PLUGMC_REAL_KEY(near_insert, radius, RADIUS, 1e-6, 1e6, "length", "of the ball around a host"),
    PLUGMC_INTEGER_KEY(near_insert, trials, "20", 1, 1e9, "", "trial moves per walker and sweep"),
};
static const plugmc_move moves[] = {{.name = "insertion", .doc = "near a host, or from there"}};

PLUGMC_PLUGIN(.name = "near_insert", .summary = "insertions near particles of a species",
              PLUGMC_KEYS(near_insert, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_COUNT,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = plugmc_sweep))
#endif
