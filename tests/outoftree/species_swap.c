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
        const int64_t *first = &trial->first[s->species[k]];
        chosen[k] =
            (int32_t)(first[0] + plugmc_below(random.word[k], (uint32_t)(first[1] - first[0])));
    }
    trial->kind = PLUGMC_SWAPPED;
    trial->particle = chosen[0];
    trial->other = chosen[1];
    return 1;
}

PLUGMC_PROPOSES(species_swap, propose)

/* From here on it is for the host alone. */
#if PLUGMC_HOST
#include <string.h>

/* Sweeps first ... first + n - 1, of `trials` trial moves a walker each. */
static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const species_swap *s = instance;
    return plugmc_make_trials(host, s, s->trials, first, n);
}

static int find_species(const plugmc_host *host, const char *key, const char *name, int32_t *number)
{
    const plugmc_system *system = host->system;
    for (int32_t k = 0; k < system->species_count; k++)
        if (!strcmp(plugmc_species_at(system, k)->name, name)) {
            *number = k;
            return PLUGMC_OK;
        }
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s = %s: there is no such species", key,
                      name);
}

static int prepare(void *instance, const plugmc_host *host)
{
    species_swap *s = instance;
    int code = find_species(host, "a", s->a, &s->species[0]);
    if (!code) code = find_species(host, "b", s->b, &s->species[1]);
    if (!code && s->species[0] == s->species[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", s->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(species_swap, a, NULL, "one species"),
    PLUGMC_TEXT_KEY(species_swap, b, NULL, "the other one"),
    PLUGMC_INTEGER_KEY(species_swap, trials, "100", 1, 1e9, "", "trial moves a walker and sweep"),
};

/* Its kinds of trial move: name, what it is, unit of its step (NULL: it has none). */
static const plugmc_move moves[] = {{"swap", "two particles take each other's place", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .sweep = sweep,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "species_swap",
              .summary = "exchanges the places of particles of two species",
              .reference = "Grigera, Parisi, Phys. Rev. E 63, 045102 (2001)",
              .instance_size = sizeof(species_swap), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .prepare = prepare)
#endif
