/* insert: particles of a species come from a reservoir and go back there.
 *
 * The grand-canonical ensemble, p(N) ~ z^N / N! times the configuration integral, with the activity z of
 * [species] (mu = kT ln z). Each trial is an insertion at a random place or the removal of a random
 * particle, with equal probability, accepted with
 *
 *     min(1, z V / (N + 1) exp(-dU / kT))    and    min(1, N / (z V) exp(-dU / kT)),
 *
 * N before the move (G. E. Norman, V. S. Filinov, High Temp. 7, 216 (1969); D. J. Adams, Mol. Phys. 28,
 * 1241 (1974)). The core has z and dU, see plugmc_trial.log_factor. There are never more than `most` of
 * [species]: the ensemble ends there.
 *
 * Trial t of sweep s in walker w draws from plugmc_draw(seed, s, w, t, PLUGMC_PURPOSE_ORDER, 0) which of the
 * two it is (the highest bit of word 3) and who leaves (word 0), and a place as plugmc_draw_place says.
 */
#include <plugmc/proposal.h>

enum { INSERTION, REMOVAL }; /* in the table of moves */

typedef struct insert {
    const char *species;
    int64_t trials;
    int32_t number; /* of the species */
} insert;

PLUGMC_FN int propose(const insert *p, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const uint32_t n = (uint32_t)t->count[p->number];
    t->move = random.word[3] >> 31 ? INSERTION : REMOVAL;
    if (t->move == INSERTION) {
        t->kind = PLUGMC_INSERTED;
        t->species = p->number;
        plugmc_draw_place(t, t->position);
        t->log_factor = log(t->box->volume / ((double)n + 1));
        return 1;
    }
    t->kind = PLUGMC_REMOVED;
    t->particle = -1;
    t->other = p->number;
    if (n == 0) return 1;
    t->particle = (int32_t)(t->first[p->number] + plugmc_below(random.word[0], n));
    t->log_factor = log((double)n / t->box->volume);
    return 1;
}

PLUGMC_PROPOSES(insert, propose)

#if PLUGMC_HOST
#include "reservoir.h"

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const insert *p = instance;
    return plugmc_make_trials(host, p, p->trials, first, n);
}

static int prepare(void *instance, const plugmc_host *host)
{
    insert *p = instance;
    return find_reservoir(host, "species", p->species, &p->number);
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(insert, species, NULL, "who comes and goes"),
    PLUGMC_INTEGER_KEY(insert, trials, "100", 1, 1e9, "", "trial moves a walker and sweep"),
};

static const plugmc_move moves[] = {{"insertion", "a particle comes in at a random place", NULL},
                                    {"removal", "a random particle leaves", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "insert",
              .summary = "grand-canonical: particles come from a reservoir and go back",
              .reference = "Norman, Filinov, High Temp. 7, 216 (1969)",
              .instance_size = sizeof(insert), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .prepare = prepare)
#endif
