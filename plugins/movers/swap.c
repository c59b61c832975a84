/* swap: particles of two species, or rigid molecules of two kinds, take each other's place.
 *
 * Particles of unlike size diffuse slowly, or not at all, where they are dense; swapping finds the
 * others (T. S. Grigera, G. Parisi, Phys. Rev. E 63, 045102 (2001)). One of `a` and one of `b` is drawn. Of molecules the first
 * sites change places, and each keeps its orientation. */
#include <plugmc/proposal.h>

typedef struct swap {
    const char *a, *b;
    int64_t trials;
    int32_t species[2]; /* numbers of a and b, or of kinds of molecules */
    int32_t of_molecules;
} swap;

PLUGMC_FN int propose(const swap *s, plugmc_trial *trial)
{
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_TRIAL, 0);
    int32_t chosen[2];
    for (int k = 0; k < 2 && s->of_molecules; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(trial->molecules, s->species[k]);
        const int64_t n = plugmc_molecules_of_kind(kind, trial->with_sites);
        if (n == 0) return 0;
        chosen[k] = (int32_t)plugmc_site_number(kind, plugmc_below(random.word[k], (uint32_t)n), 0);
    }
    for (int k = 0; k < 2 && !s->of_molecules; k++) {
        const int64_t first = trial->first[s->species[k]], n = trial->count[s->species[k]];
        if (n == 0) return 0;
        chosen[k] = (int32_t)(first + plugmc_below(random.word[k], (uint32_t)n));
    }
    trial->kind = s->of_molecules ? PLUGMC_MOLECULES_SWAPPED : PLUGMC_SWAPPED;
    trial->particle = chosen[0];
    trial->other = chosen[1];
    return 1;
}

PLUGMC_PROPOSES(swap, propose)

#if PLUGMC_HOST
#include "molecule_kind.h"

PLUGMC_SWEEPS(swap, me->trials)

static int prepare(void *instance, const plugmc_host *host)
{
    swap *s = instance;
    int code = both_are_alike(host, s->a, s->b, &s->of_molecules);
    if (!code) code = find_particles_or_molecules(host, "a", s->a, &s->species[0]);
    if (!code) code = find_particles_or_molecules(host, "b", s->b, &s->species[1]);
    if (!code && s->species[0] == s->species[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", s->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(swap, a, NULL, "one species, or NAME of [molecule NAME]"),
    PLUGMC_TEXT_KEY(swap, b, NULL, "the other species, or kind of molecule"),
    PLUGMC_INTEGER_KEY(swap, trials, "100", 1, 1e9, "", "trial moves per walker and sweep"),
};

static const plugmc_move moves[] = {
    {.name = "swap", .doc = "exchanges two particles or molecules"}};

PLUGMC_PLUGIN(
        .name = "swap",
        .summary = "exchanges positions of particles of two species, or of molecules of two kinds",
        .reference = "Grigera, Parisi, Phys. Rev. E 63, 045102 (2001)", PLUGMC_KEYS(swap, table),
        PLUGMC_MOVER_WITH(
            moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
            .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
            .sweep = plugmc_sweep,
            .good_for = "dense mixtures, in which unlike particles hardly pass each other; combine "
                        "it with a mover that displaces"),
        .prepare = prepare)
#endif
