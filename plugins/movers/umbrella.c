/* umbrella: weights of numbers of particles, of volumes or of energies, that are given.
 *
 * What `weights` says, or `strength` (x - center)^2 / 2, is added to -ln p of a walker with that number,
 * volume or energy x: to see more of what is rare, or to stay in one place (G. M. Torrie, J. P. Valleau, J. Comput.
 * Phys. 23, 187 (1977)). ln p without the weights follows as flat_histogram.h has it.
 */
#include "flat_histogram.h"

typedef struct umbrella {
    macrostate m;        /* first: it holds parameters */
    plugmc_list weights; /* parameters */
    real strength, center;
} umbrella;

static int prepare(void *instance, const plugmc_host *host)
{
    umbrella *u = instance;
    int code = macrostate_prepare(&u->m, host);
    if (code) return code;
    if (u->weights.count && u->strength != 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "weights and strength exclude each other");
    if (u->weights.count && u->weights.count != u->m.bins)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "%d weights for %lld bins",
                          u->weights.count, (long long)u->m.bins);
    for (int64_t b = 0; b < u->m.bins; b++) {
        const double x = u->m.x[b] - u->center;
        u->m.states.weight[b] = u->weights.count ? u->weights.values[b] : 0.5 * u->strength * x * x;
    }
    return PLUGMC_OK;
}

/* Weights stay. */
static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    (void)instance, (void)host, (void)sweeps;
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    (void)host;
    return macrostate_archive(instance, a);
}

static const plugmc_parameter table[] = {
    MACROSTATE_KEYS,
    PLUGMC_LIST_KEY(umbrella, weights, 0, "", -1e6, 1e6, "", "weight of each bin"),
    PLUGMC_REAL_KEY(umbrella, strength, "0", 0, 1e12, "",
                    "strength of a spring, a factor of x^2 "
                    "without a unit"),
    PLUGMC_REAL_KEY(umbrella, center, "0", -1e15, 1e15, "",
                    "position of the minimum of the spring"),
};

static const plugmc_observable observable = MACROSTATE_OBSERVABLE;

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
    .changes = PLUGMC_CHANGED_WEIGHT,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .good_for = "given weights; combine it with movers that change the variable"};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "umbrella",
              .summary = "umbrella sampling with given weights of particle numbers, volumes "
                         "or energies",
              .reference = "Torrie, Valleau, J. Comput. Phys. 23, 187 (1977)",
              PLUGMC_KEYS(umbrella, table),
              PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &macrostate_former_keys}), .mover = &mover,
              .observable = &observable, .prepare = prepare, .archive = archive)
