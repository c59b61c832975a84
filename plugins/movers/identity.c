/* identity: a particle of one species becomes one of another, where it is; or a rigid molecule one of another kind.
 *
 * The semi-grand ensemble: the number of both together stays, and their activities, mu or activity of
 * [species], decide how many there are of each (D. A. Kofke, E. D. Glandt, Mol. Phys. 64, 1105 (1988)).
 * With equal probability one of `a` is to become one of `b` or the other way round: accepted with
 *
 *     min(1, N_a / (N_b + 1) z_b / z_a exp(-dU / kT)),    N before the move.
 *
 * The core has z and dU, see plugmc_trial.log_factor. Draws: plugmc_draw(seed, sweep, walker, trial,
 * PLUGMC_PURPOSE_ORDER, 0), the highest bit of word 3 for the direction, word 0 for the particle.
 *
 * A molecule of the other kind has its first site where that of the former one was, and a random orientation. Of m
 * `trial_orientations` one is selected by its Boltzmann factor of pairs and fields; with W_b and W_a the means of these factors,
 * that of the molecule that leaves over its own orientation and m - 1 others, exp(-dU / kT) above is W_b / W_a exp(-dU' / kT), U' all
 * other terms. Orientations are those of plugmc_draw_orientation, with keys increased as plugmc_draw_trial_position does it.
 */
#include <plugmc/proposal.h>

#define PLUGMC_READS_ITS_PARTICLE_ALONE 1

typedef struct identity {
    const char *a, *b;
    int64_t trials, trial_orientations;
    int32_t number[2]; /* of the species, or of the kinds of molecules */
    int32_t of_molecules;
} identity;

PLUGMC_FN int propose_molecule(const identity *p, plugmc_trial *t, int32_t from, int32_t to,
                               uint32_t word)
{
    const plugmc_molecule *kind = plugmc_kind_of_molecule(t->molecules, from),
                          *other = plugmc_kind_of_molecule(t->molecules, to);
    const uint32_t n = (uint32_t)plugmc_molecules_of_kind(kind, t->with_sites);
    t->kind = PLUGMC_MOLECULE_IDENTITY;
    t->species = to;
    t->particle = -1;
    t->other = from;
    t->trial_orientations = (int32_t)p->trial_orientations;
    if (n == 0) return 1;
    t->particle = (int32_t)plugmc_site_number(kind, plugmc_below(word, n), 0);
    t->log_factor = log((double)n / ((double)plugmc_molecules_of_kind(other, t->with_sites) + 1));
    return 1;
}

PLUGMC_FN int propose(const identity *p, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int back = (int)(random.word[3] >> 31);
    const int32_t from = p->number[back], to = p->number[!back];
    if (p->of_molecules) return propose_molecule(p, t, from, to, random.word[0]);
    const uint32_t n = (uint32_t)t->count[from];
    t->kind = PLUGMC_IDENTITY;
    t->species = to;
    t->particle = -1;
    t->other = from;
    if (n == 0) return 1;
    t->particle = (int32_t)(t->first[from] + plugmc_below(random.word[0], n));
    t->log_factor = log((double)n / ((double)t->count[to] + 1));
    return 1;
}

PLUGMC_PROPOSES(identity, propose)

#if PLUGMC_HOST
#include "molecule_kind.h"
#include "reservoir.h"

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const identity *p = instance;
    const plugmc_proposal proposal = {
        .size = sizeof proposal,
        .trials = p->trials,
        .parameters = p,
        .propose = plugmc_propose,
        .parameters_size = sizeof *p,
        .trial_positions = (int32_t)(p->of_molecules ? 2 * p->trial_orientations : 1)};
    return host->trials(host->context, &proposal, sweeps->first, sweeps->n);
}

static int prepare(void *instance, const plugmc_host *host)
{
    identity *p = instance;
    int code = both_are_alike(host, p->a, p->b, &p->of_molecules);
    if (!code && !p->of_molecules && p->trial_orientations > 1)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "trial_orientations = %lld: particles keep their orientations; several are "
            "those of rigid molecules",
            (long long)p->trial_orientations);
    if (!code)
        code = p->of_molecules ? find_molecules_of_reservoir(host, "a", p->a, &p->number[0])
                               : find_reservoir(host, "a", p->a, &p->number[0]);
    if (!code)
        code = p->of_molecules ? find_molecules_of_reservoir(host, "b", p->b, &p->number[1])
                               : find_reservoir(host, "b", p->b, &p->number[1]);
    if (!code && p->number[0] == p->number[1])
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "a and b are both %s", p->a);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(identity, a, NULL, "one species, or NAME of [molecule NAME]"),
    PLUGMC_TEXT_KEY(identity, b, NULL, "the other species, or kind of molecule"),
    PLUGMC_INTEGER_KEY(identity, trials, "100", 1, 1e9, "", "trial moves per walker and sweep"),
    PLUGMC_INTEGER_KEY(identity, trial_orientations, "1", 1, PLUGMC_MOST_TRIAL_POSITIONS / 2, "",
                       "trial orientations of a molecule; one of them is selected with its "
                       "Rosenbluth weight"),
};

static const plugmc_move moves[] = {
    {.name = "identity", .doc = "changes the species of a particle, or the kind of a molecule"}};

PLUGMC_PLUGIN(
        .name = "identity",
        .summary = "semi-grand-canonical: particles change their species, or molecules their kind",
        .reference = "Kofke, Glandt, Mol. Phys. 64, 1105 (1988)", PLUGMC_KEYS(identity, table),
        PLUGMC_MOVER_WITH(
            moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
            .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
            .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep,
            .good_for = "mixtures with given differences of chemical potentials; combine it with a "
                        "mover that displaces"),
        .prepare = prepare)
#endif
