/* serial: one trial move after the other; on the CPU what every faster mover is compared with.
 *
 * The algorithm of N. Metropolis, A. W. Rosenbluth, M. N. Rosenbluth, A. H. Teller, E. Teller,
 * J. Chem. Phys. 21, 1087 (1953): a particle is displaced by a vector uniform in the disk (ball)
 * of radius `step`, and the move is accepted with probability min(1, exp(-change of -ln p)).
 * One sweep is N trial moves a walker. Everything is in double precision, and every energy change
 * is computed anew: nothing is cached that could go wrong. On a GPU each of many walkers is a block of
 * threads, and takes the same decisions but for the rounding of sums.
 *
 * Random numbers, so that another mover can take the same decisions. Trial t = 0 ... N - 1 of
 * sweep s in walker w uses, with D(purpose, draw) = plugmc_draw(seed, s, w, t, purpose, draw):
 *   particle      sequential: t; random: plugmc_below(D(ORDER, 0).word[0], N), species by species
 *   displacement  step * v, where v is that of plugmc_draw_in_ball(seed, s, w, t)
 *   acceptance    as plugmc_proposal says, from D(ACCEPT, 0)
 */
#include <plugmc/proposal.h>

#define PLUGMC_READS_ITS_PARTICLE_ALONE 1

enum { ORDER_RANDOM, ORDER_SEQUENTIAL };

typedef struct serial {
    int32_t order;
    real step, target_acceptance; /* length, 1 */
} serial;

PLUGMC_FN int propose(const serial *s, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_one_of_all(
        t, s->order == ORDER_RANDOM ? plugmc_below(random.word[0], (uint32_t)t->particles)
                                    : t->number);
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    double v[3];
    plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, v);
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++)
        t->position[d] = d < t->dimension ? from[d] + t->step * v[d] : from[d];
    return 1;
}

PLUGMC_PROPOSES(serial, propose)

#if PLUGMC_HOST
#include "speeds.h"

PLUGMC_SWEEPS(serial, 0) /* as many as there are particles */

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(serial, order, "random", "random|sequential",
                      "order of the particles: random, or one after the other"),
    PLUGMC_REAL_KEY(serial, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a trial move, uniform in the disk or ball"),
    PLUGMC_REAL_KEY(serial, target_acceptance, "0", 0, 1, "",
                    "target acceptance of the tuning of step during equilibration; 0: fixed "
                    "step"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(
        .name = "serial", .summary = "one Metropolis trial move after the other: the reference",
        .reference = "Metropolis et al., J. Chem. Phys. 21, 1087 (1953)",
        PLUGMC_KEYS(serial, table),
        PLUGMC_MOVER_WITH(
            moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
            .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_COUNT,
            .sweep = plugmc_sweep,
            .good_for = "all systems except electrons, changing numbers of particles, and many "
                        "walkers on a GPU",
            .same_moves = "brush checkerboard ewald_serial", .speed = speed_one_by_one))
#endif
