/* mistake: log_factor has the wrong sign for insertions and removals */
/* a user would see: numbers of particles run away from z V: full or empty boxes */
/* reservoir_insert: particles come from a reservoir of given activity and go back there. */
#include <plugmc/proposal.h>

typedef struct reservoir_insert {
    const char *species;
    int64_t trials;
    int32_t number;
} reservoir_insert;

PLUGMC_FN int propose(const reservoir_insert *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t n = t->count[p->number];
    if (r.word[3] >> 31) {
        t->kind = PLUGMC_INSERTED;
        t->species = p->number;
        plugmc_draw_position(t, t->position);
        t->log_factor = log(((double)n + 1) / t->box->volume);
        return 1;
    }
    if (n == 0) return 0;
    t->kind = PLUGMC_REMOVED;
    t->other = p->number;
    t->particle = (int32_t)(t->first[p->number] + plugmc_below(r.word[0], (uint32_t)n));
    t->log_factor = log(t->box->volume / (double)n);
    return 1;
}

PLUGMC_PROPOSES(reservoir_insert, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(reservoir_insert, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    reservoir_insert *p = instance;
    const int code = plugmc_find_species(host, "species", p->species, &p->number);
    if (!code) host->reservoir(host->context, p->number);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(reservoir_insert, species, NULL, "species of the reservoir"),
    PLUGMC_INTEGER_KEY(reservoir_insert, trials, "20", 1, 1e9, "",
                       "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {{.name = "exchange", .doc = "inserts or removes a particle"}};

PLUGMC_PLUGIN(.name = "reservoir_insert", .summary = "insertion and removal", .reference = "",
              PLUGMC_KEYS(reservoir_insert, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = plugmc_sweep))
#endif
