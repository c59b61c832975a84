/* exchange: walkers on neighbouring rungs of a ladder change places.
 *
 * What is rare at one temperature, or with one coupling or pressure, is found from another (K. Hukushima,
 * K. Nemoto, J. Phys. Soc. Jpn. 65, 1604 (1996)). Configurations stay where they are, and the
 * multipliers of -ln p = sum_t m_t U_t + m_V V + sum_s m_s N_s change hands, so any ladder of the run will do. Walkers a
 * and b exchange with probability min(1, exp(sum_k (m_ak - m_bk) (X_ak - X_bk))), X = (U_1, ..., V, N_1, ...).
 *
 * Rungs 0 and 1, 2 and 3, ... are tried in turn with 1 and 2, 3 and 4, ...; the k-th walker of a rung
 * with the k-th of the next, by plugmc_draw_of_all(seed, sweep, k, rung, PLUGMC_PURPOSE_ACCEPT, 0). Where several
 * processes share the walkers, each makes all decisions and comes to the same. On a ladder in two variables the
 * next rung is that along one of them and, the next time, along the other; with `along` one variable alone.
 *
 * Walkers that share what they have, as the boxes of `transfer`, change rungs together: number k to k + 1 of a rung with
 * those of the next, by the sum of their exponents. Else liquid would gather on the one rung and vapour on the other. */
#include <math.h>
#include <plugmc/everything.h>
#include <string.h>

typedef struct exchange {
    int64_t along; /* parameter */

    plugmc_counts *counts; /* [rungs]: of a rung with the next one */
} exchange;

/* Rungs as they are tried in a sweep: each whose place along an axis is `odd`, or not, with the next one there. */
typedef struct pairing {
    int32_t stride, length, odd; /* length: rungs along the axis; stride: from one to the next */
} pairing;

static pairing pairing_of(const exchange *e, const plugmc_host *host, uint64_t sweep)
{
    const plugmc_system *system = host->system;
    const uint64_t turn = (sweep + 1) / (uint64_t)host->every;
    const int two = PLUGMC_HAS(system, ladder_shape) && system->ladder_rank == 2;
    if (!two) return (pairing){1, system->rungs, (int32_t)(turn % 2)};
    const int along = e->along ? (int)e->along - 1 : (int)(turn % 2);
    return (pairing){along ? 1 : system->ladder_shape[1], system->ladder_shape[along],
                     (int32_t)((e->along ? turn : turn / 2) % 2)};
}

/* Whether a rung has a next one that it is tried with. */
static int is_tried(const pairing *p, int32_t rung)
{
    const int32_t place = rung / p->stride % p->length;
    return place % 2 == p->odd && place + 1 < p->length;
}

/* How many change rungs at once. */
static int32_t together_of(const plugmc_system *system)
{
    return PLUGMC_HAS(system, together) && system->together > 1 ? system->together : 1;
}

/* Walkers a[0], ... a[n - 1] and b[0], ... of `rung` and of the next, from the k-th ones on. */
static int try_them(exchange *e, const plugmc_host *host, uint64_t sweep, int32_t rung, int32_t k,
                    const int32_t *a, const int32_t *b, int32_t n)
{
    const plugmc_random random = plugmc_draw_of_all(host->seed, sweep, (uint32_t)k, (uint32_t)rung,
                                                    PLUGMC_PURPOSE_ACCEPT, 0);
    double growth = 0;
    int code = PLUGMC_OK;
    const plugmc_not_a_number lost = {
        .size = sizeof lost, .walker = -1, .particle = -1, .sweep = sweep};
    for (int32_t i = 0; i < n && !code; i++) {
        double own = 0;
        code = plugmc_rungs_of(host)->exchange_delta(host->context, a[i], b[i], &own);
        growth += own;
    }
    if (code) return code;
    if (isnan(growth)) return host->not_a_number(host->context, &lost);
    e->counts[rung].trials++;
    if (growth > 0 && plugmc_uniform_double(random.word[0], random.word[1]) >= exp(-growth))
        return PLUGMC_OK;
    e->counts[rung].accepted++;
    for (int32_t i = 0; i < n && !code; i++)
        code = plugmc_rungs_of(host)->exchange_rungs(host->context, a[i], b[i]);
    return code;
}

/* All of a sweep. */
static int try_all(exchange *e, const plugmc_host *host, uint64_t sweep)
{
    const int32_t rungs = host->system->rungs, each = host->state->of_run / rungs,
                  n = together_of(host->system),
                  *on_rung = plugmc_rungs_of(host)->by_rung(host->context);
    const pairing p = pairing_of(e, host, sweep);
    int code = on_rung ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int32_t rung = 0; rung < rungs; rung++)
        for (int32_t k = 0; k + n <= each && is_tried(&p, rung) && !code; k += n)
            code = try_them(e, host, sweep, rung, k, &on_rung[rung * each + k],
                            &on_rung[(rung + p.stride) * each + k], n);
    return code;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    int code = PLUGMC_OK;
    for (uint64_t s = first; s < first + n && !code; s++) code = try_all(instance, host, s);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    exchange *e = instance;
    const int32_t rungs = host->system->rungs;
    if (rungs < 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there is no ladder: give a section [ladder]");
    if (e->along > 1 && !(PLUGMC_HAS(host->system, ladder_rank) && host->system->ladder_rank > 1))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "along: the ladder has one variable");
    e->counts = host->allocate(host->context, (size_t)rungs * sizeof *e->counts);
    return e->counts
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d rungs", rungs);
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    exchange *e = instance;
    const size_t bytes = (size_t)host->system->rungs * sizeof *out;
    memcpy(out, e->counts, bytes);
    if (clear) memset(e->counts, 0, bytes);
    return PLUGMC_OK;
}

static const plugmc_move moves[] = {
    {.name = "exchange", .doc = "exchanges the walkers of neighbouring rungs"}};

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(
        exchange, along, "0", 0, 2, "",
        "for a ladder in two variables: exchanges along the first or the second one; 0: both "
        "in turn"),
};

PLUGMC_PLUGIN(.name = "exchange",
              .summary = "replica exchange between neighbouring rungs of a "
                         "ladder",
              .reference = "Hukushima, Nemoto, J. Phys. Soc. Jpn. 65, 1604 (1996)",
              PLUGMC_KEYS(exchange, table),
              PLUGMC_MOVER_WITH(
                  moves,
                  .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID |
                           PLUGMC_GLOBAL_WALKERS,
                  .changes = PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                  .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep, .counts = counts, .couples = 1,
                  .good_for =
                      "barriers that trap a run at one temperature, pressure or coupling, but not "
                      "on higher rungs"),
              .prepare = prepare)
