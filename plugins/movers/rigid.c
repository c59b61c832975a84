/* rigid: displaces and turns rigid molecules, one after the other.
 *
 * Half of the trial moves displace a molecule drawn at random by a vector uniform in the ball of radius `step`. The other half
 * turn one about an axis of space, drawn at random too, by at most `turn`; what stays where it is is the point that
 * [molecule NAME] calls `centre`. Both are accepted with probability min(1, exp(-change of -ln p)). A move and its
 * reverse are equally probable, and by turns on integers (plugmc/orientation.h) all orientations are. Molecules keep their shape
 * exactly: sites are always computed from the first site and the orientation. Combine it with `serial` for particles
 * that are in no molecule.
 *
 * Trial t of sweep s in walker w draws with D(purpose, draw) = plugmc_draw(seed, s, w, t, purpose, draw):
 *   molecule     random: plugmc_below(D(ORDER, 0).word[0], M); sequential: t modulo M; kind by kind
 *   displacement step * v, where v is that of plugmc_draw_in_ball(seed, s, w, t)
 *   turn         plugmc_draw_turn(seed, s, w, t)
 *   acceptance   as plugmc_proposal says, from D(ACCEPT, 0)
 */
#include <plugmc/proposal.h>

enum { DISPLACEMENT, TURN }; /* in the table of moves */
enum { ORDER_RANDOM, ORDER_SEQUENTIAL };

typedef struct rigid {
    int64_t trials;
    int32_t order;
    real step, turn, target_acceptance; /* length, rad, 1 */
} rigid;

/* The centre stays, so the first site goes where the offset from it has turned to. Returns 0 if the trial has to be rejected. */
PLUGMC_FN int turn_molecule(plugmc_trial *t, const plugmc_molecule *kind)
{
    double before[3], after[3];
    t->turns = 1;
    t->orientation = t->orientations[t->particle];
    plugmc_turn_vector(&t->orientation, kind->centre, before);
    const int possible = plugmc_draw_turn(t->seed, t->sweep, t->walker, t->number, t->dimension,
                                          t->step, &t->orientation);
    plugmc_turn_vector(&t->orientation, kind->centre, after);
    for (int d = 0; d < 3; d++) t->position[d] += before[d] - after[d];
    return possible;
}

PLUGMC_FN int propose(const rigid *r, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    int64_t within;
    const int64_t molecules = plugmc_molecules_present(t->molecules, t->with_sites, NULL);
    double v[3];
    if (!molecules) return 0;
    /* in order a sweep goes on where the one before has ended, if its trial moves are fewer than the molecules */
    const uint64_t before = t->sweep * (uint64_t)((r->trials + 1 - t->move) / 2);
    const int64_t one = r->order == ORDER_RANDOM
                            ? plugmc_below(random.word[0], (uint32_t)molecules)
                            : (int64_t)((before + t->number) % (uint64_t)molecules);
    const plugmc_molecule *kind =
        plugmc_present_molecule(t->molecules, t->with_sites, one, &within);
    t->kind = PLUGMC_MOLECULE_DISPLACED;
    t->particle = (int32_t)plugmc_site_number(kind, within, 0);
    t->position[0] = t->x[t->particle];
    t->position[1] = t->y[t->particle];
    t->position[2] = t->z[t->particle];
    if (t->move == TURN) return turn_molecule(t, kind);
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    for (int d = 0; d < 3; d++) t->position[d] += t->step * v[d];
    return 1;
}

PLUGMC_PROPOSES(rigid, propose)

#if PLUGMC_HOST
/* Where numbers change, turns have numbers that do not depend on how many molecules there are. */
static const uint32_t numbers_of_turns = 1u << 31;

static int numbers_change(const plugmc_molecules *all)
{
    int change = 0;
    for (int32_t k = 0; k < all->kinds; k++) change |= plugmc_kind_of_molecule(all, k)->changes;
    return change;
}

/* As many trial moves of each kind; an odd one is a displacement. */
static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const rigid *r = instance;
    const plugmc_molecules *all = host->system->molecules;
    const int as_many = !r->trials && numbers_change(all); /* as there are molecules now */
    const int64_t trials = r->trials ? r->trials : 2 * all->count;
    int code = PLUGMC_OK;
    for (uint64_t k = 0; k < sweeps->n && !code; k++)
        for (int32_t move = DISPLACEMENT; move <= TURN && !code; move++) {
            const int64_t half = (trials + 1 - move) / 2;
            const plugmc_proposal proposal = {.size = sizeof proposal,
                                              .move = move,
                                              .trials = as_many ? 0 : half,
                                              .from = move != TURN ? 0
                                                      : as_many    ? numbers_of_turns
                                                                   : (uint32_t)trials,
                                              .for_molecules = 1,
                                              .parameters = r,
                                              .propose = plugmc_propose,
                                              .parameters_size = sizeof *r};
            if (half > 0 || as_many)
                code = host->trials(host->context, &proposal, sweeps->first + k, 1);
        }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance;
    if (host->system->molecules) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "there are no rigid molecules to move: describe them in a section "
                      "[molecule NAME]");
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(rigid, trials, "0", 0, 1e8, "",
                       "trial moves per walker and sweep; 0: two for each molecule"),
    PLUGMC_CHOICE_KEY(rigid, order, "random", "random|sequential",
                      "order of the molecules: random, or one after the other"),
    PLUGMC_REAL_KEY(rigid, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a molecule, uniform in the ball"),
    PLUGMC_REAL_KEY(rigid, turn, "0.2", 1e-6, 3.141592653589793, "rad",
                    "largest angle of a trial rotation"),
    PLUGMC_REAL_KEY(rigid, target_acceptance, "0", 0, 1, "",
                    "target acceptance of the tuning of step and turn during equilibration; 0: "
                    "fixed"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "a molecule goes elsewhere",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"},
                                    {.name = "rotation",
                                     .doc = "a molecule turns about its centre",
                                     .step_unit = "rad",
                                     .step_key = "turn",
                                     .target_key = "target_acceptance",
                                     .largest = 3.141592653589793}};

PLUGMC_PLUGIN(.name = "rigid", .summary = "displaces and turns rigid molecules",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids, section 4.7",
              PLUGMC_KEYS(rigid, table),
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU |
                                         PLUGMC_KEEPS_MOLECULES | PLUGMC_KEEPS_RIGID,
                                .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep,
                                .good_for = "the molecules of [molecule NAME]; beside serial for "
                                            "other particles, and volume"),
              .prepare = prepare)
#endif
