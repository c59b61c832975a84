/* insert: particles of a species come from a reservoir and go back there.
 *
 * The grand-canonical ensemble, p(N) ~ z^N / N! times the configuration integral, with the activity z of
 * [species] (mu = kT ln z). Each trial is an insertion at a random place or the removal of a random
 * particle, with equal probability, accepted with
 *
 *     min(1, z V / (N + 1) exp(-dU / kT))    and    min(1, N / (z V) exp(-dU / kT)),
 *
 * N before the move (G. E. Norman, V. S. Filinov, High Temp. 7, 216 (1969); D. J. Adams, Mol. Phys. 28,
 * 1241 (1974)). The core has z and dU, see plugmc_trial.log_factor. The number never exceeds `max_count` of
 * [species]: the ensemble is cut off there.
 *
 * With `trial_positions` = k above 1 an insertion has k trial positions, and one of them is selected with its
 * Boltzmann factor. A removal finds the same weight for the way back: the exponentials above become means over k
 * positions
 * (Rosenbluth weights; K. Esselink, L. D. J. C. Loyens, B. Smit, Phys. Rev. E 51, 1560 (1995)). The core does this,
 * see plugmc_trial.trial_positions.
 *
 * Trial t of sweep s in walker w draws from plugmc_draw(seed, s, w, t, PLUGMC_PURPOSE_ORDER, 0) which of the
 * two it is (the highest bit of word 3) and which particle is removed (word 0), and a position by
 * plugmc_draw_position.
 */
#include <plugmc/proposal.h>

#define PLUGMC_TRIAL_POSITIONS 1
#define PLUGMC_READS_ITS_PARTICLE_ALONE 1

enum { INSERTION, REMOVAL }; /* in the table of moves */

typedef struct insert {
    const char *species;
    int64_t trials, trial_positions;
    int32_t number; /* of the species */
} insert;

PLUGMC_FN int propose(const insert *p, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const uint32_t n = (uint32_t)t->count[p->number];
    t->move = random.word[3] >> 31 ? INSERTION : REMOVAL;
    t->trial_positions = (int32_t)p->trial_positions;
    if (t->move == INSERTION) {
        t->kind = PLUGMC_INSERTED;
        t->species = p->number;
        plugmc_draw_position(t, t->position);
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
#include <plugmc/former_keys.h>

#include "reservoir.h"
#include "speeds.h"

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    const insert *p = instance;
    const plugmc_proposal proposal = {.size = sizeof proposal,
                                      .trials = p->trials,
                                      .parameters = p,
                                      .propose = plugmc_propose,
                                      .parameters_size = sizeof *p,
                                      .trial_positions = (int32_t)p->trial_positions};
    return host->trials(host->context, &proposal, first, n);
}

/* A many-body term that depends on positions evaluates one change at a time. */
static int check_trial_positions(const insert *p, const plugmc_host *host)
{
    for (int32_t t = 0; t < host->system->term_count && p->trial_positions > 1; t++) {
        const plugmc_term *term = plugmc_term_at(host->system, t);
        const plugmc_total *total = term->plugin->potential->total;
        if (term->sampled && total && plugmc_follows_positions(total))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "trial_positions = %lld: the many-body term '%s' depends on positions, "
                "so only one trial position is possible",
                (long long)p->trial_positions, term->label);
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    insert *p = instance;
    const int code = find_reservoir(host, "species", p->species, &p->number);
    return code ? code : check_trial_positions(p, host);
}

/* The energy of one particle at one position. */
static int speed(const void *instance, const plugmc_system *system, plugmc_speed *out)
{
    const double trials = (double)((const insert *)instance)->trials;
    if (any_many_body(system)) return PLUGMC_UNANSWERED;
    out->seconds = 0.5 * seconds_one_by_one(system);
    out->trials = trials * system->walkers;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(insert, species, NULL, "species that is inserted and removed"),
    PLUGMC_INTEGER_KEY(insert, trials, "100", 1, 1e9, "", "trial moves per walker and sweep"),
    PLUGMC_INTEGER_KEY(
        insert, trial_positions, "1", 1, PLUGMC_MOST_TRIAL_POSITIONS, "",
        "trial positions of an insertion; one is selected with its Rosenbluth weight"),
};

static const plugmc_former_keys former_keys = {
    sizeof former_keys, (const plugmc_former_key[]){{"places", "trial_positions"}, {NULL, NULL}}};

static const plugmc_move moves[] = {
    {.name = "insertion", .doc = "inserts a particle at a random position"},
    {.name = "removal", .doc = "removes a random particle"}};

PLUGMC_PLUGIN(.name = "insert", .summary = "grand-canonical: insertion and removal of particles",
              .reference = "Norman, Filinov, High Temp. 7, 216 (1969)", PLUGMC_KEYS(insert, table),
              PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &former_keys}),
              PLUGMC_MOVER_WITH(
                  moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
                  .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
                  .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep, .speed = speed,
                  .good_for =
                      "open systems in contact with a reservoir; combine it with a mover that "
                      "displaces"),
              .prepare = prepare)
#endif
