/* insert_molecule: rigid molecules of a kind come from a reservoir and go back there.
 *
 * The grand-canonical ensemble, as mover insert has it for particles, where N is the number of molecules and z the activity of
 * [molecule NAME]: a molecule that does not interact has the density z. Each trial is an insertion at a random position with a
 * random orientation, or the removal of a random molecule, with equal probability, accepted with
 *
 *     min(1, z V / (N + 1) W exp(-dU' / kT))    and    min(1, N / (z V) / W exp(-dU' / kT)),
 *
 * N before the move. W is the mean, over `trial_positions` positions with `trial_orientations` orientations each, of the
 * Boltzmann factor of pairs and fields; an insertion selects one of these by its factor, and a removal counts
 * the molecule's own place and orientation among them. dU' is the change of all other energies: waves, self and
 * excluded energies of an Ewald sum, tails (D. Frenkel, B. Smit, Understanding Molecular Simulation, sections 5.6 and 13.2). The
 * core does this, see plugmc_trial.trial_orientations. The number never exceeds `max_count`: the ensemble is cut off there.
 *
 * Trial t of sweep s in walker w draws from plugmc_draw(seed, s, w, t, PLUGMC_PURPOSE_ORDER, 0) which of the two it is (the
 * highest bit of word 3) and which molecule is removed (word 0), positions by plugmc_draw_trial_position, orientations by
 * plugmc_draw_orientation, with keys increased likewise. */
#include <plugmc/proposal.h>

enum { INSERTION, REMOVAL }; /* in the table of moves */

typedef struct insert_molecule {
    const char *molecule;
    int64_t trials, trial_positions, trial_orientations;
    int32_t kind;
} insert_molecule;

PLUGMC_FN int propose(const insert_molecule *p, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const plugmc_molecule *kind = plugmc_kind_of_molecule(t->molecules, p->kind);
    const uint32_t n = (uint32_t)plugmc_molecules_of_kind(kind, t->with_sites);
    t->move = random.word[3] >> 31 ? INSERTION : REMOVAL;
    t->trial_positions = (int32_t)p->trial_positions;
    t->trial_orientations = (int32_t)p->trial_orientations;
    if (t->move == INSERTION) {
        t->kind = PLUGMC_MOLECULE_INSERTED;
        t->species = p->kind;
        plugmc_draw_position(t, t->position);
        t->log_factor = log(t->box->volume / ((double)n + 1));
        return 1;
    }
    t->kind = PLUGMC_MOLECULE_REMOVED;
    t->particle = -1;
    t->other = p->kind;
    if (n == 0) return 1;
    t->particle = (int32_t)plugmc_site_number(kind, plugmc_below(random.word[0], n), 0);
    t->log_factor = log((double)n / t->box->volume);
    return 1;
}

PLUGMC_PROPOSES(insert_molecule, propose)

#if PLUGMC_HOST
#include "molecule_kind.h"

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const insert_molecule *p = instance;
    const plugmc_proposal proposal = {.size = sizeof proposal,
                                      .trials = p->trials,
                                      .parameters = p,
                                      .propose = plugmc_propose,
                                      .parameters_size = sizeof *p,
                                      .trial_positions =
                                          (int32_t)(p->trial_positions * p->trial_orientations)};
    return host->trials(host->context, &proposal, sweeps->first, sweeps->n);
}

static int prepare(void *instance, const plugmc_host *host)
{
    insert_molecule *p = instance;
    const int code = find_molecules_of_reservoir(host, "molecule", p->molecule, &p->kind);
    return code ? code : choices_are_too_many(host, p->trial_positions, p->trial_orientations);
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(insert_molecule, molecule, NULL,
                    "rigid molecules that are inserted and removed: NAME of [molecule NAME]"),
    PLUGMC_INTEGER_KEY(insert_molecule, trials, "100", 1, 1e9, "",
                       "trial moves per walker and sweep"),
    PLUGMC_INTEGER_KEY(insert_molecule, trial_positions, "1", 1, PLUGMC_MOST_TRIAL_POSITIONS, "",
                       "trial positions of an insertion"),
    PLUGMC_INTEGER_KEY(insert_molecule, trial_orientations, "1", 1, PLUGMC_MOST_TRIAL_POSITIONS, "",
                       "trial orientations at each of them; one of all is selected with its "
                       "Rosenbluth weight"),
};

static const plugmc_move moves[] = {
    {.name = "insertion", .doc = "inserts a molecule at a random position"},
    {.name = "removal", .doc = "removes a random molecule"}};

PLUGMC_PLUGIN(.name = "insert_molecule",
              .summary = "grand-canonical: insertion and removal of rigid molecules",
              .reference = "Frenkel, Smit, Understanding Molecular Simulation, section 5.6",
              PLUGMC_KEYS(insert_molecule, table),
              PLUGMC_MOVER_WITH(
                  moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
                  .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION |
                             PLUGMC_CHANGED_ORIENTATION,
                  .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep,
                  .good_for = "rigid molecules in contact with a reservoir; combine it with rigid"),
              .prepare = prepare)
#endif
