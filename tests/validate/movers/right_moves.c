/* right_moves: moves with detailed balance that sample some of the systems of plugmc validate slowly, in part or not at all.
 * -DMOVE=...:
 *
 *   TOGETHER   two particles are displaced by one vector, so that their separation stays
 *   NEAR       a particle is displaced with all those within a distance of 1.5: who is one group remains one
 *   TINY       a particle is displaced by a hundredth of its diameter at most
 */
#include <plugmc/proposal.h>
#include <plugmc/near.h>

#define PLUGMC_GROUPS 64

#define TOGETHER 0
#define NEAR 1
#define TINY 2

typedef struct right_moves {
    int64_t trials;
    int32_t species_count;
} right_moves;

PLUGMC_FN int propose(const right_moves *me, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    plugmc_group *group = t->group;
    double v[3];
    if (t->particles < (MOVE == TOGETHER ? 2 : 1)) return 0;
    const int64_t n = t->particles, k = plugmc_below(random.word[0], (uint32_t)n),
                  i = plugmc_one_of_all(t, k);
    const double centre[3] = {t->x[i], t->y[i], t->z[i]};
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    for (int d = 0; d < 3; d++) v[d] *= MOVE == TINY ? 0.01 : 0.8;
    t->kind = PLUGMC_GROUP_DISPLACED;
    group->n = MOVE == TOGETHER ? 2 : 1;
    group->members[0] = (int32_t)i;
    if (MOVE == TOGETHER)
        group->members[1] = (int32_t)plugmc_one_of_all(
            t, (k + 1 + plugmc_below(random.word[1], (uint32_t)(n - 1))) % n);
    if (MOVE == NEAR)
        group->n = (int32_t)plugmc_list_near(t, me->species_count, centre, 1.5, group->members,
                                             group->capacity);
    if (group->n > group->capacity) return 0;
    for (int32_t m = 0; m < group->n; m++) {
        const int32_t j = group->members[m];
        const double to[3] = {t->x[j] + v[0], t->y[j] + v[1], t->z[j] + v[2]};
        for (int d = 0; d < 3; d++) group->positions[m][d] = to[d];
    }
    const double there[3] = {centre[0] + v[0], centre[1] + v[1], centre[2] + v[2]};
    int64_t others = 0;
    for (int32_t s = 0; MOVE == NEAR && s < me->species_count; s++)
        others += plugmc_count_near(t, s, there, 1.5, group->members, group->n, -1, 0);
    return others == 0;
}

PLUGMC_PROPOSES(right_moves, propose)

#if PLUGMC_HOST
static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const right_moves *me = instance;
    const plugmc_proposal proposal = {.size = sizeof proposal,
                                      .trials = me->trials,
                                      .parameters = me,
                                      .propose = plugmc_propose,
                                      .parameters_size = sizeof *me,
                                      .together = PLUGMC_GROUPS};
    return host->trials(host->context, &proposal, sweeps->first, sweeps->n);
}

static int prepare(void *instance, const plugmc_host *host)
{
    ((right_moves *)instance)->species_count = host->system->species_count;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(right_moves, trials, "6", 1, 1e9, "", "trial moves per walker and sweep"),
};
static const plugmc_move moves[] = {{.name = "group", .doc = "displaces particles"}};

PLUGMC_PLUGIN(.name = "right_moves", .summary = "displaces particles by one vector",
              PLUGMC_KEYS(right_moves, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = sweep))
#endif
