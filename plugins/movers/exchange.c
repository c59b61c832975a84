/* exchange: walkers on neighbouring rungs of a ladder change places.
 *
 * What is rare at one temperature, or with one coupling or pressure, is found from another (K. Hukushima,
 * K. Nemoto, J. Phys. Soc. Jpn. 65, 1604 (1996)). Configurations stay where they are, and the
 * multipliers of -ln p = sum_t m_t U_t + m_V V + sum_s m_s N_s change hands, so any ladder of the run will do. Walkers a
 * and b exchange with probability min(1, exp(sum_k (m_ak - m_bk) (X_ak - X_bk))), X = (U_1, ..., V).
 *
 * Rungs 0 and 1, 2 and 3, ... are tried in turn with 1 and 2, 3 and 4, ...; the k-th walker of a rung
 * with the k-th of the next, by plugmc_draw(seed, sweep, k, rung, PLUGMC_PURPOSE_ACCEPT, 0).
 */
#include <math.h>
#include <plugmc/plugin.h>
#include <string.h>

typedef struct exchange {
    plugmc_counts *counts; /* [rungs]: of a rung with the next one */
    double *extensive;     /* [walkers][width]: what multipliers multiply */
} exchange;

/* The state as it is during a sweep: its arrays, and bytes from one walker to the next. */
typedef struct rows {
    int32_t *rung;
    char *multiplier;
    size_t bytes;
} rows;

static int borrow(const plugmc_host *host, int access, rows *r)
{
    const plugmc_state *s = host->state;
    void *out[2];
    int code = s->array(s, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, access, &out[0], NULL);
    if (!code)
        code = s->array(s, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, access, &out[1], &r->bytes);
    r->rung = out[0], r->multiplier = out[1];
    return code;
}

/* -ln of the probability; a and b: rows of multipliers and of what they multiply. */
static double growth(const double *ma, const double *mb, const double *xa, const double *xb,
                     int32_t n)
{
    double sum = 0;
    for (int32_t k = 0; k < n; k++)
        if (ma[k] != mb[k]) sum -= (ma[k] - mb[k]) * (xa[k] - xb[k]);
    return sum;
}

static void swap_rows(rows *r, int32_t a, int32_t b)
{
    char row[r->bytes];
    const int32_t rung = r->rung[a];
    memcpy(row, r->multiplier + a * r->bytes, r->bytes);
    memcpy(r->multiplier + a * r->bytes, r->multiplier + b * r->bytes, r->bytes);
    memcpy(r->multiplier + b * r->bytes, row, r->bytes);
    r->rung[a] = r->rung[b];
    r->rung[b] = rung;
}

/* All pairs of a sweep; *taken grows with each that is exchanged. */
static int try_pairs(exchange *e, const plugmc_host *host, rows *r, uint64_t sweep, int *taken)
{
    const int32_t rungs = host->system->rungs, each = host->system->walkers / rungs,
                  width = host->system->multipliers;
    const int32_t *on_rung = host->by_rung(host->context);
    if (!on_rung) return PLUGMC_ERROR_MEMORY;
    const int32_t odd = (int32_t)((sweep + 1) / (uint64_t)host->every % 2);
    for (int32_t rung = odd; rung + 1 < rungs; rung += 2)
        for (int32_t k = 0; k < each; k++) {
            const int32_t a = on_rung[rung * each + k], b = on_rung[(rung + 1) * each + k];
            const double grows = growth((double *)(r->multiplier + a * r->bytes),
                                        (double *)(r->multiplier + b * r->bytes),
                                        e->extensive + a * width, e->extensive + b * width, width);
            const plugmc_random random = plugmc_draw(host->seed, sweep, (uint32_t)k, (uint32_t)rung,
                                                     PLUGMC_PURPOSE_ACCEPT, 0);
            const plugmc_not_a_number lost = {
                .size = sizeof lost, .walker = a, .particle = -1, .sweep = sweep};
            if (isnan(grows)) return host->not_a_number(host->context, &lost);
            e->counts[rung].trials++;
            if (grows > 0 && plugmc_uniform_double(random.word[0], random.word[1]) >= exp(-grows))
                continue;
            e->counts[rung].accepted++;
            swap_rows(r, a, b);
            ++*taken;
        }
    return PLUGMC_OK;
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    exchange *e = instance;
    const int32_t width = host->system->multipliers;
    rows r;
    int code = borrow(host, PLUGMC_READ, &r), taken = 0;
    for (int32_t w = 0; w < host->system->walkers && !code; w++) {
        const double *energy;
        code = host->energy(host->context, w, &energy);
        if (!code) memcpy(e->extensive + w * width, energy, (size_t)width * sizeof *energy);
    }
    for (uint64_t s = first; s < first + n && !code; s++) code = try_pairs(e, host, &r, s, &taken);
    /* written in place: others are told */
    return code || !taken ? code : borrow(host, PLUGMC_READ | PLUGMC_WRITE, &r);
}

static int prepare(void *instance, const plugmc_host *host)
{
    exchange *e = instance;
    const size_t walkers = (size_t)host->system->walkers, width = (size_t)host->system->multipliers;
    if (host->system->rungs < 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there is no ladder: give a section [ladder]");
    e->counts = host->allocate(host->context, (size_t)host->system->rungs * sizeof *e->counts);
    e->extensive = host->allocate(host->context, walkers * width * sizeof *e->extensive);
    return e->counts && e->extensive ? PLUGMC_OK
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
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
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
