/* rotate: turns particles that have orientations, one after the other.
 *
 * Each sweep makes N trial moves a walker. A particle drawn at random turns about its centre: in two dimensions by an angle
 * uniform in [-step, step], in three about an axis of space, also drawn at random, by at most `step`. A turn is accepted with
 * probability min(1, exp(-change of -ln p)). Combine it with a mover that displaces the particles.
 *
 * Trial t = 0 ... N - 1 of sweep s in walker w uses, with D(purpose, draw) = plugmc_draw(seed, s, w, t, purpose, draw):
 *   particle    plugmc_below(D(ORDER, 0).word[0], N), species by species
 *   turn        plugmc_draw_turn(seed, s, w, t)
 *   acceptance  as plugmc_proposal says, from D(ACCEPT, 0)
 */
#include <plugmc/proposal.h>

#define PLUGMC_READS_ITS_PARTICLE_ALONE 1

typedef struct rotate {
    real step, target_acceptance; /* rad, 1 */
} rotate;

PLUGMC_FN int propose(const rotate *r, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(random.word[0], (uint32_t)t->particles));
    (void)r;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    t->position[0] = t->x[i];
    t->position[1] = t->y[i];
    t->position[2] = t->z[i];
    t->turns = 1;
    t->orientation = t->orientations[i];
    return plugmc_draw_turn(t->seed, t->sweep, t->walker, t->number, t->dimension, t->step,
                            &t->orientation);
}

PLUGMC_PROPOSES(rotate, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(rotate, 0) /* as many as there are particles */

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance;
    if (host->system->bodies) return PLUGMC_OK;
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "no potential of the run depends on orientations, so there is nothing to turn");
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(rotate, step, "0.2", 1e-6, 3.141592653589793, "rad",
                    "largest angle of a trial rotation"),
    PLUGMC_REAL_KEY(rotate, target_acceptance, "0", 0, 1, "",
                    "target acceptance of the tuning of step during equilibration; 0: fixed "
                    "step"),
};

static const plugmc_move moves[] = {{.name = "rotation",
                                     .doc = "one particle turns about its centre",
                                     .step_unit = "rad",
                                     .step_key = "step",
                                     .target_key = "target_acceptance",
                                     .largest = 3.141592653589793}};

PLUGMC_PLUGIN(.name = "rotate", .summary = "trial rotations of single particles",
              .reference = "Metropolis et al., J. Chem. Phys. 21, 1087 (1953)",
              PLUGMC_KEYS(rotate, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_ORIENTATION,
                                .follows = PLUGMC_CHANGED_COUNT, .sweep = plugmc_sweep,
                                .good_for = "particles with orientations, beside a mover that "
                                            "displaces them"),
              .prepare = prepare)
#endif
