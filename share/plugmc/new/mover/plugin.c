/* PLUGIN_NAME: a particle jumps to a position anywhere in the box.
 *
 * Particle and position are drawn uniformly, so a jump is as probable as its reverse, and is accepted with probability
 * min(1, exp(-change of -ln p)). The core finds the change and decides, on the CPU or a GPU. N. Metropolis et al.,
 * J. Chem. Phys. 21, 1087 (1953). */
#include <plugmc/proposal.h>

typedef struct jump {
    int64_t trials;
} jump;

/* One trial move; 0: there is nothing to try. For a small displacement draw a position around x[particle],
 * y[particle], z[particle] of the trial, and make `step` a key. */
PLUGMC_FN int propose(const jump *me, plugmc_trial *trial)
{
    (void)me;
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_ORDER, 0);
    if (!trial->particles) return 0;
    trial->kind = PLUGMC_DISPLACED;
    trial->particle = (int32_t)plugmc_one_of_all(
        trial, (int64_t)plugmc_below(random.word[0], (uint32_t)trial->particles));
    plugmc_draw_position(trial, trial->position);
    return 1;
}

PLUGMC_PROPOSES(jump, propose)

/* From here on it is for the CPU alone. */
#if PLUGMC_HOST
/* Trial moves of a walker in a sweep; 0: as many as there are particles. */
PLUGMC_SWEEPS(jump, me->trials)

/* Key, default (NULL: required), smallest and largest value, unit, meaning. */
static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(jump, trials, "0", 0, 1e9, "",
                       "trial moves per walker and sweep; 0: as many as there are particles"),
};

/* Kinds of trial move, which are counted apart. */
static const plugmc_move moves[] = {{.name = "jump", .doc = "a particle goes anywhere"}};

PLUGMC_PLUGIN(.name = "PLUGIN_NAME", .summary = "jumps of particles to anywhere in the box",
              .reference = "Metropolis et al., J. Chem. Phys. 21, 1087 (1953)",
              PLUGMC_KEYS(jump, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
