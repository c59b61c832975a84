/* exchange: walkers on neighbouring rungs of a ladder change places.
 *
 * What is rare at one temperature, or with one coupling or pressure, is found from another (K. Hukushima,
 * K. Nemoto, J. Phys. Soc. Jpn. 65, 1604 (1996)). Configurations stay where they are, and the
 * multipliers of -ln p = sum_t m_t U_t + m_V V + sum_s m_s N_s change hands, so any ladder of the run will do. Walkers a
 * and b exchange with probability min(1, exp(sum_k (m_ak - m_bk) (X_ak - X_bk))), X = (U_1, ..., V, N_1, ...).
 *
 * Rungs 0 and 1, 2 and 3, ... are tried in turn with 1 and 2, 3 and 4, ...; the k-th walker of a rung
 * with the k-th of the next, by plugmc_draw_of_all(seed, sweep, k, rung, PLUGMC_PURPOSE_ACCEPT, 0). Where several
 * processes share the walkers, each makes all decisions and comes to the same. */
#include <math.h>
#include <plugmc/plugin.h>
#include <string.h>

typedef struct exchange {
    plugmc_counts *counts; /* [rungs]: of a rung with the next one */
    int32_t *on_rung;      /* [rungs][walkers / rungs]: walkers in the order of their numbers */
} exchange;

static void sort_by_rung(exchange *e, const plugmc_board *b, int32_t rungs)
{
    const int32_t each = b->walkers / rungs;
    int32_t filled[rungs];
    memset(filled, 0, sizeof filled);
    for (int32_t w = 0; w < b->walkers; w++)
        e->on_rung[b->rung[w] * each + filled[b->rung[w]]++] = w;
}

/* All pairs of a sweep. */
static int try_pairs(exchange *e, const plugmc_host *host, plugmc_board *b, uint64_t sweep)
{
    const int32_t rungs = host->system->rungs, each = b->walkers / rungs,
                  odd = (int32_t)((sweep + 1) / (uint64_t)host->every % 2);
    sort_by_rung(e, b, rungs);
    for (int32_t rung = odd; rung + 1 < rungs; rung += 2)
        for (int32_t k = 0; k < each; k++) {
            const int32_t one = e->on_rung[rung * each + k],
                          other = e->on_rung[(rung + 1) * each + k];
            const double growth = b->growth(b, one, other);
            const plugmc_random random = plugmc_draw_of_all(
                host->seed, sweep, (uint32_t)k, (uint32_t)rung, PLUGMC_PURPOSE_ACCEPT, 0);
            if (isnan(growth))
                return host->fail(host->context, PLUGMC_ERROR_STATE,
                                  "the energy of walker %d or %d is not a number in sweep %llu",
                                  one, other, (unsigned long long)sweep);
            e->counts[rung].trials++;
            if (growth > 0 && plugmc_uniform_double(random.word[0], random.word[1]) >= exp(-growth))
                continue;
            e->counts[rung].accepted++;
            b->rung[one] = rung + 1;
            b->rung[other] = rung;
        }
    return PLUGMC_OK;
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    plugmc_board board = {.size = sizeof board};
    int code = host->board(host->context, &board);
    for (uint64_t s = first; s < first + n && !code; s++)
        code = try_pairs(instance, host, &board, s);
    return code ? code : host->climb(host->context, &board);
}

static int prepare(void *instance, const plugmc_host *host)
{
    exchange *e = instance;
    const size_t walkers = (size_t)host->state->all_walkers;
    if (host->system->rungs < 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there is no ladder: give a section [ladder]");
    e->counts = host->allocate(host->context, (size_t)host->system->rungs * sizeof *e->counts);
    e->on_rung = host->allocate(host->context, walkers * sizeof *e->on_rung);
    return e->counts && e->on_rung ? PLUGMC_OK
                                   : host->fail(host->context, PLUGMC_ERROR_MEMORY,
                                                "no memory for %zu walkers", walkers);
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
    {"exchange", "two walkers change rungs; rung by rung with the next", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_GLOBAL_WALKERS,
    .changes = PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .counts = counts,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
    .joins = 1,
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "exchange",
              .summary = "walkers on neighbouring rungs of a ladder change places",
              .reference = "Hukushima, Nemoto, J. Phys. Soc. Jpn. 65, 1604 (1996)",
              .instance_size = sizeof(exchange), .mover = &mover, .prepare = prepare)
