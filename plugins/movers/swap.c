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
#include <string.h>
static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const swap *s = instance;
    return plugmc_make_trials(host, s, s->trials, first, n);
}

static int prepare(void *instance, const plugmc_host *host)
{
    swap *s = instance;
    const char *const names[2] = {s->a, s->b};
    for (int k = 0; k < 2; k++) {
        int32_t found = 0, n = host->system->species_count;
        while (found < n && strcmp(plugmc_species_at(host->system, found)->name, names[k])) found++;
        if (found == n)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s = %s: there is no such species", k ? "b" : "a", names[k]);
        s->species[k] = found;
    }
    if (s->species[0] == s->species[1])
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", s->a);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(swap, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(swap, b, NULL, "the other one"),
    PLUGMC_INTEGER_KEY(swap, trials, "100", 1, 1e9, "", "trial moves a walker and sweep"),
};

static const plugmc_move moves[] = {{"swap", "two particles take each other's place", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
    .good_for =
        "dense mixtures, in which particles of unlike kind hardly pass each other; beside a mover that displaces",
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "swap",
              .summary = "exchanges places of particles of two species",
              .reference = "Grigera, Parisi, Phys. Rev. E 63, 045102 (2001)",
              .instance_size = sizeof(swap), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .prepare = prepare)
#endif
