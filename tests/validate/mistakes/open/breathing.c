/* mistake: the radial scaling r -> r exp(d) lacks its Jacobian, log_factor = dimension * d */
/* a user would see: moves towards the centre are favoured by exp(3 d): particles are too far
 * inside */
/* breathing: a particle moves along the line to the centre of the box, by a factor. */
#include <plugmc/proposal.h>

typedef struct breathing {
    real step, target_acceptance;
} breathing;

PLUGMC_FN int propose(const breathing *p, plugmc_trial *t)
{
    const plugmc_random r =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_TRIAL, 0);
    const int64_t i = plugmc_one_of_all(t, plugmc_below(r.word[2], (uint32_t)t->particles));
    const double u = plugmc_uniform_double(r.word[0], r.word[1]);
    const double factor = exp(t->step * (2 * u - 1));
    const double from[3] = {t->x[i], t->y[i], t->z[i]};
    (void)p;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    for (int d = 0; d < 3; d++) {
        const double half = d < t->dimension ? t->box->length[d] / 2 : 0;
        t->position[d] = half + factor * (from[d] - half);
        if (d < t->dimension && fabs(t->position[d] - half) >= half) return 0;
    }
    return 1;
}

PLUGMC_PROPOSES(breathing, propose)

#if PLUGMC_HOST
PLUGMC_SWEEPS(breathing, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(breathing, step, "0.2", -1e9, 1e9, "", "largest change of ln r"),
    PLUGMC_REAL_KEY(breathing, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {{.name = "radial",
                                     .doc = "moves a particle along its radius",
                                     .step_unit = "",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"}};

PLUGMC_PLUGIN(.name = "breathing", .summary = "radial moves", .reference = "",
              PLUGMC_KEYS(breathing, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
#endif
