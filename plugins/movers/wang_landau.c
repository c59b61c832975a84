/* wang_landau: learns weights that make all numbers of particles, all volumes or all energies equally probable.
 *
 * In the first `learning` sweeps, each time it acts, the weight of each bin grows by f times its visits since
 * the last time over their mean: what was visited is made less probable. f begins with 1 and is halved when
 * all bins have been visited at least 0.8 times as often as the mean; once it would be below 1 / t, t the
 * number of times that it has acted, it is 1 / t (F. Wang, D. P. Landau, Phys. Rev. Lett. 86, 2050 (2001);
 * R. E. Belardinelli, V. D. Pereyra, Phys. Rev. E 75, 046701 (2007)). After that weights stay, and ln p follows
 * as flat_histogram.h has it: f need not be small.
 */
#include "flat_histogram.h"

typedef struct wang_landau {
    macrostate m;     /* first: it holds parameters */
    int64_t learning; /* parameter: sweeps */
    double *visited;  /* [bins]: since f was halved, by the last time it acted */
    struct {
        double f, times; /* how often it has acted */
        int32_t late;    /* 1: f is 1 / times */
    } now;
} wang_landau;

static void learn(wang_landau *l)
{
    macrostate *m = &l->m;
    double *visits = m->states.visits, sum = 0, seen = 0, least = INFINITY;
    const double bins = (double)m->bins;
    for (int64_t b = 0; b < m->bins; b++) sum += visits[b];
    if (sum == 0) return;
    for (int64_t b = 0; b < m->bins; b++) {
        m->states.weight[b] += l->now.f * visits[b] / sum * bins;
        l->visited[b] += visits[b];
        seen += l->visited[b];
        least = fmin(least, l->visited[b]);
        visits[b] = 0;
    }
    l->now.times++;
    if (!l->now.late && least >= 0.8 * seen / bins) {
        l->now.f /= 2;
        memset(l->visited, 0, (size_t)m->bins * sizeof *l->visited);
    }
    l->now.late |= l->now.f < 1 / l->now.times;
    if (l->now.late) l->now.f = 1 / l->now.times;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    wang_landau *l = instance;
    (void)host, (void)n;
    if (first < (uint64_t)l->learning) learn(l);
    return PLUGMC_OK;
}

/* Numbers from before the weights stayed would be of another ensemble. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const wang_landau *l = instance;
    if (view->sweep < (uint64_t)l->learning)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "learning = %lld exceeds equilibration: increase [run] equilibrate to at least "
            "that number",
            (long long)l->learning);
    return macrostate_measure(instance, host, view, values);
}

static int prepare(void *instance, const plugmc_host *host)
{
    wang_landau *l = instance;
    int code = macrostate_prepare(&l->m, host);
    if (code) return code;
    l->now.f = 1;
    l->visited = host->allocate(host->context, (size_t)l->m.bins * sizeof *l->visited);
    return l->visited ? PLUGMC_OK
                      : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld bins",
                                   (long long)l->m.bins);
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    wang_landau *l = instance;
    (void)host;
    int code = macrostate_archive(&l->m, a);
    if (!code) code = a->bytes(a, "visited", l->visited, (size_t)l->m.bins * sizeof *l->visited);
    return code ? code : a->bytes(a, "now", &l->now, sizeof l->now);
}

static const plugmc_parameter table[] = {
    MACROSTATE_KEYS,
    PLUGMC_INTEGER_KEY(wang_landau, learning, NULL, 1, 1e14, "sweeps",
                       "sweeps in which weights are learned, at most [run] equilibrate"),
};

static const plugmc_observable observable = {.size = sizeof observable,
                                             .on_device = 1,
                                             .quantity = macrostate_quantity,
                                             .measure = measure,
                                             .derived = macrostate_derived,
                                             .derive = macrostate_derive,
                                             .lacking = macrostate_lacking,
                                             .listing = macrostate_listing,
                                             .listing_count = PLUGMC_COUNT(macrostate_listing),
                                             .listing_size = sizeof(plugmc_listing),
                                             .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                        PLUGMC_CHANGED_WEIGHT};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
    .changes = PLUGMC_CHANGED_WEIGHT,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .good_for =
        "a first estimate of unknown weights; combine it with movers that change the variable"};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "wang_landau",
              .summary = "learns weights that make all particle numbers, volumes or energies "
                         "equally probable",
              .reference = "Wang, Landau, Phys. Rev. Lett. 86, 2050 (2001)",
              PLUGMC_KEYS(wang_landau, table),
              PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &macrostate_former_keys}), .mover = &mover,
              .observable = &observable, .prepare = prepare, .archive = archive)
