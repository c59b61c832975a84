/* drift: a particle is displaced by a Gaussian vector, and along x by a drift that depends on where it is: a move and its reverse
 * are not equally probable, which log_factor says. Its width is the step, so that there is no longest displacement.
 * -DFAULT=PARAMETER: log_factor is that of the step in the section, also after the core has tuned it. */
#include <math.h>

#include <plugmc/proposal.h>

enum { NONE, PARAMETER };

typedef struct drift {
    real step, target_acceptance;
} drift;

/* Of the mean displacement along x from there, length. */
static double mean_from(const plugmc_trial *t, double x)
{
    const double k = 2 * M_PI / t->box->length[0];
    return 0.4 * t->step * t->step * k * sin(k * x);
}

static int propose(const drift *me, plugmc_trial *t)
{
    const plugmc_random chosen =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    double g[3] = {0, 0, 0};
    if (t->particles < 1) return 0;
    const int64_t i =
        plugmc_one_of_all(t, (int64_t)plugmc_below(chosen.word[0], (uint32_t)t->particles));
    for (int d = 0; d < t->dimension; d++) {
        const plugmc_random r =
            plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_TRIAL, (uint32_t)d);
        g[d] = sqrt(-2 * log(1 - plugmc_uniform_double(r.word[0], r.word[1]))) *
               cos(2 * M_PI * plugmc_uniform_double(r.word[2], r.word[3]));
    }
    const double from = mean_from(t, t->x[i]), way = from + t->step * g[0],
                 back = mean_from(t, t->x[i] + way),
                 width = FAULT == PARAMETER ? (double)me->step : t->step;
    t->kind = PLUGMC_DISPLACED;
    t->particle = (int32_t)i;
    t->position[0] = t->x[i] + way;
    t->position[1] = t->y[i] + t->step * g[1];
    t->position[2] = t->z[i] + t->step * g[2];
    t->log_factor =
        ((way - from) * (way - from) - (way + back) * (way + back)) / (2 * width * width);
    return 1;
}

PLUGMC_PROPOSES(drift, propose)
PLUGMC_SWEEPS(drift, 0)

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(drift, step, "0.5", 1e-12, 1e12, "length", "width of the Gaussian"),
    PLUGMC_REAL_KEY(drift, target_acceptance, "0", 0, 1, "",
                    "to which step is tuned; 0: it is not"),
};
static const plugmc_move moves[] = {{.name = "drift",
                                     .doc = "a particle drifts",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"}};

PLUGMC_PLUGIN(.name = "drift", .summary = "Gaussian displacements with a drift",
              PLUGMC_KEYS(drift, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = plugmc_sweep))
