/* own_pair: pairs of two species come and go, anywhere in the box, and the mover decides itself. -DFAULT=NAME makes one of
 * these mistakes. */
#include <math.h>
#include <stdlib.h>

#include <plugmc/changes.h>
#include <plugmc/everything.h>

enum {
    NONE,
    OTHER_N,     /* the number of the first species stands for that of the second */
    ONE_VOLUME,  /* the volume of the second particle is forgotten */
    NO_ACTIVITY, /* energies alone are summed up: no activities */
    ONE_TERM     /* the first potential alone counts: here that of like particles */
};

typedef struct own_pair {
    const char *a, *b;
    int64_t trials;
    int32_t number[2];
} own_pair;

static double log_factor(const plugmc_system *system, const int64_t *n, int comes)
{
    const double volume = system->box.volume;
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        const double count = (double)n[FAULT == OTHER_N ? 0 : k],
                     space = FAULT == ONE_VOLUME && k ? 1 : volume;
        sum += comes ? log(space / (count + 1)) : log(count / space);
    }
    return sum;
}

static double delta_of(const plugmc_system *system, const plugmc_changes *c)
{
    double sum = 0;
    for (int32_t t = 0; t < system->term_count; t++) sum += c->change[t] / system->temperature;
    if (FAULT == NO_ACTIVITY) return sum;
    return *c->delta - (FAULT == ONE_TERM ? sum - c->change[0] / system->temperature : 0);
}

static int try_one(const own_pair *me, const plugmc_host *host, uint64_t sweep, int32_t w,
                   uint32_t number)
{
    const plugmc_hamiltonian *h = plugmc_hamiltonian_of(host);
    const plugmc_system *system = host->system;
    plugmc_random word[3];
    double position[2][3] = {{0}}, change[8], delta = 0;
    int32_t forbidden = 0, members[2];
    int64_t taken = -1, *count;
    void *counts;
    int code = host->state->array(host->state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ,
                                  &counts, NULL);
    if (code) return code;
    count = (int64_t *)counts + w * system->species_count;
    for (uint32_t k = 0; k < 3; k++)
        word[k] = plugmc_draw(host->seed, sweep, (uint32_t)w, number, PLUGMC_PURPOSE_TRIAL, k);
    const int comes = (int)(word[0].word[0] >> 31);
    const int64_t n[2] = {count[me->number[0]], count[me->number[1]]};
    for (int k = 0; k < 2; k++) {
        for (int d = 0; d < system->box.dimension; d++)
            position[k][d] = system->box.length[d] * plugmc_uniform_float(word[1 + k].word[d]);
        members[k] = comes  ? me->number[k]
                     : n[k] ? (int32_t)(system->first[me->number[k]] +
                                        plugmc_below(word[1 + k].word[3], (uint32_t)n[k]))
                            : -1 - me->number[k];
    }
    const plugmc_changes c = {.size = sizeof c,
                              .kind = comes ? PLUGMC_GROUP_INSERTED : PLUGMC_GROUP_REMOVED,
                              .first = w,
                              .walkers = 1,
                              .per_walker = 1,
                              .particle = members,
                              .species = members,
                              .position = (const double(*)[3])position,
                              .change = change,
                              .forbidden = &forbidden,
                              .delta = &delta,
                              .group = 2};
    code = h->energies(host->context, &c);
    if (code) return code;
    const double u = plugmc_uniform_double(word[0].word[1], word[0].word[2]);
    const int possible = !forbidden && (comes || (n[0] > 0 && n[1] > 0));
    if (possible && log(u) < log_factor(system, n, comes) - delta_of(system, &c)) taken = 0;
    h->count(host->context, 0, w, taken == 0);
    return h->settle(host->context, &c, &taken);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const own_pair *me = instance;
    int code = PLUGMC_OK;
    for (uint64_t s = sweeps->first; s < sweeps->first + sweeps->n && !code; s++)
        for (int32_t w = 0; w < host->system->walkers && !code; w++)
            for (int64_t t = 0; t < me->trials && !code; t++)
                code = try_one(me, host, s, w, (uint32_t)t);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    own_pair *me = instance;
    const char *names[2] = {me->a, me->b};
    int code = PLUGMC_OK;
    for (int k = 0; k < 2 && !code; k++) {
        code = plugmc_find_species(host, k ? "b" : "a", names[k], &me->number[k]);
        const plugmc_species *s = code ? NULL : plugmc_species_at(host->system, me->number[k]);
        if (s && (isnan(s->mu) || s->capacity <= s->count))
            code = host->fail(host->context, PLUGMC_ERROR_INPUT, "%s needs a reservoir", names[k]);
    }
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(own_pair, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(own_pair, b, NULL, "the other one"),
    PLUGMC_INTEGER_KEY(own_pair, trials, "20", 1, 1e9, "", "trial moves per walker and sweep"),
};
static const plugmc_move moves[] = {{.name = "pair", .doc = "a pair comes or goes"}};

PLUGMC_PLUGIN(.name = "own_pair", .summary = "pairs come and go", PLUGMC_KEYS(own_pair, table),
              .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_COUNT,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep))
