/* mistake: V / N instead of V / (N + 1) for an insertion */
/* a user would see: the density is too high by about one particle per box, and from an empty box
 * the factor is infinite */
/* grand: grand-canonical insertion and removal of one species. */
#include <plugmc/proposal.h>

typedef struct grand {
    const char *species;
    int64_t trials;
    int32_t number;
} grand;

PLUGMC_FN int propose(const grand *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const double n = (double)t->count[p->number], v = t->box->volume;
    const int in = (int)(r.word[3] & 1u);
    t->move = in ? 0 : 1;
    if (in) {
        t->kind = PLUGMC_INSERTED;
        t->species = p->number;
        plugmc_draw_position(t, t->position);
        t->log_factor = log(v / n);
        return 1;
    }
    if (n < 1) return 0;
    t->kind = PLUGMC_REMOVED;
    t->other = p->number;
    t->particle = (int32_t)(t->first[p->number] + plugmc_below(r.word[0], (uint32_t)n));
    t->log_factor = log(n / v);
    return 1;
}

PLUGMC_PROPOSES(grand, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(grand, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    grand *p = instance;
    const int code = plugmc_find_species(host, "species", p->species, &p->number);
    if (!code) host->reservoir(host->context, p->number);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(grand, species, NULL, "species of the reservoir"),
    PLUGMC_INTEGER_KEY(grand, trials, "20", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {{.name = "insertion", .doc = "inserts a particle"},
                                    {.name = "removal", .doc = "removes a particle"}};

PLUGMC_PLUGIN(.name = "grand", .summary = "grand-canonical moves", .reference = "",
              PLUGMC_KEYS(grand, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = plugmc_sweep))
#endif
