/* mistake: the decision uses exp(+change of -ln p) */
/* a user would see: cold walkers get the configurations with high energies: energies along the
 * ladder are all alike or reversed */
/* tempering: swaps walkers of neighbouring rungs of a ladder. */
#include <math.h>
#include <plugmc/changes.h>

typedef struct tempering {
    int64_t tries;
    plugmc_counts *counts; /* [rungs] */
} tempering;

static int try_rungs(tempering *e, const plugmc_host *host, uint64_t sweep, int64_t number)
{
    const int32_t rungs = host->system->rungs, each = host->state->of_run / rungs;
    int code = PLUGMC_OK;
    for (int32_t rung = (int32_t)((sweep + (uint64_t)number) % 2); rung + 1 < rungs && !code;
         rung += 2) {
        const int32_t *by_rung = plugmc_rungs_of(host)->by_rung(host->context);
        if (!by_rung) return PLUGMC_ERROR_MEMORY;
        for (int32_t k = 0; k < each && !code; k++) {
            const int32_t a = by_rung[rung * each + k], b = by_rung[(rung + 1) * each + k];
            const plugmc_random r =
                plugmc_draw_of_all(host->seed, sweep, (uint32_t)k,
                                   (uint32_t)(rung + number * rungs), PLUGMC_PURPOSE_ACCEPT, 0);
            double delta = 0;
            code = plugmc_rungs_of(host)->exchange_delta(host->context, a, b, &delta);
            if (code) break;
            e->counts[rung].trials++;
            if (plugmc_uniform_double(r.word[0], r.word[1]) >= exp(delta)) continue;
            e->counts[rung].accepted++;
            code = plugmc_rungs_of(host)->exchange_rungs(host->context, a, b);
        }
    }
    return code;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    tempering *e = instance;
    int code = PLUGMC_OK;
    for (uint64_t s = sweeps->first; s < sweeps->first + sweeps->n; s++)
        for (int64_t k = 0; k < e->tries && !code; k++) code = try_rungs(e, host, s, k);
    return code;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    tempering *e = instance;
    for (int32_t r = 0; r < host->system->rungs; r++) {
        out[r] = e->counts[r];
        if (clear) e->counts[r] = (plugmc_counts){0, 0};
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    tempering *e = instance;
    e->counts = host->allocate(host->context, (size_t)host->system->rungs * sizeof *e->counts);
    return e->counts ? PLUGMC_OK
                     : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for counts");
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(tempering, tries, "1", 1, 1e9, "", "rounds of swaps in a sweep"),
};

static const plugmc_move moves[] = {{.name = "swap", .doc = "swaps walkers of neighbouring rungs"}};

PLUGMC_PLUGIN(.name = "tempering", .summary = "swaps of rungs", .reference = "",
              PLUGMC_KEYS(tempering, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                                .couples = 1, .counts = counts, .sweep = sweep))
