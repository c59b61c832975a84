/* Checkpoints: what there was at the last refresh, where matrices followed from places alone, and how many sweeps
 * were made since, which are made again when a run is resumed. Saving matrices would take a thousand times the
 * space. */
#include "diffusion.h"

#include <stdlib.h>
#include <string.h>

/* The population at a time, but for places. */
typedef struct population {
    int64_t know_energies, /* and in its second bit whether T-moves are pending */ generations,
        filled, next, survivors;
    double best, trial;
    double *ring;        /* [kept] */
    double (*walker)[3]; /* [walkers] energy, ln_weight, age */
} population;

enum { NOW, THEN }; /* of two in memory: at the checkpoint, at the base */

int checkpoint_prepare(diffusion *d, const plugmc_host *host)
{
    const size_t walkers = (size_t)d->system->walkers;
    d->last.before = host->allocate(host->context, 2 * sizeof *d->last.before);
    for (int k = 0; k < 2 && d->last.before; k++) {
        population *p = &d->last.before[k];
        p->ring = host->allocate(host->context, ((size_t)d->population.kept + 1) * sizeof *p->ring);
        p->walker = host->allocate(host->context, walkers * sizeof *p->walker);
    }
    return d->last.before && d->last.before[NOW].ring && d->last.before[NOW].walker &&
                   d->last.before[THEN].ring && d->last.before[THEN].walker
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers",
                            walkers);
}

static void note_population(const diffusion *d, population *out)
{
    out->know_energies = d->population.know_energies | d->population.pending << 1;
    out->generations = (int64_t)d->population.generations;
    out->filled = d->population.filled;
    out->next = d->population.next;
    out->survivors = d->population.survivors;
    out->best = d->population.best;
    out->trial = d->population.trial;
    memcpy(out->ring, d->population.ring, (size_t)d->population.kept * sizeof *d->population.ring);
    for (int32_t w = 0; w < d->system->walkers; w++) {
        out->walker[w][0] = d->walkers[w].energy;
        out->walker[w][1] = d->walkers[w].ln_weight;
        out->walker[w][2] = (double)d->walkers[w].age;
    }
}

static void restore_population(diffusion *d, const population *from)
{
    d->population.know_energies = from->know_energies & 1;
    d->population.pending = from->know_energies >> 1 & 1;
    d->population.pending_places = NULL;
    d->population.generations = (uint64_t)from->generations;
    d->population.filled = from->filled;
    d->population.next = from->next;
    d->population.survivors = from->survivors;
    d->population.best = from->best;
    d->population.trial = from->trial;
    memcpy(d->population.ring, from->ring, (size_t)d->population.kept * sizeof *d->population.ring);
    for (int32_t w = 0; w < d->system->walkers; w++) {
        d->walkers[w].energy = from->walker[w][0];
        d->walkers[w].ln_weight = from->walker[w][1];
        d->walkers[w].age = (int64_t)from->walker[w][2];
    }
}

int checkpoint_begin(diffusion *d, const plugmc_host *host, uint64_t sweep)
{
    note_population(d, &d->last.before[THEN]);
    d->last.base_sweep = sweep;
    d->last.since = 0;
    d->last.fresh = 0;
    return d->engine->keep_base(d, host);
}

/* ---- Resuming -------------------------------------------------------------------------------- */

/* What a run has counted, and not reported yet, is not counted again. */
static int run_again(diffusion *d, const plugmc_host *host, uint64_t sweeps)
{
    const uint64_t first = d->last.base_sweep;
    const size_t bytes = (size_t)d->system->walkers * sizeof(plugmc_counts[KINDS]);
    plugmc_counts(*counts)[KINDS] = malloc(bytes);
    int code =
        counts ? PLUGMC_OK : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory to resume");
    for (int32_t w = 0; w < d->system->walkers && !code; w++)
        memcpy(counts[w], d->walkers[w].counts, sizeof counts[w]);
    for (uint64_t k = 0; k < sweeps && !code; k++)
        code = diffusion_sweep(d, host, first + k * (uint64_t)host->every);
    for (int32_t w = 0; w < d->system->walkers && counts; w++)
        memcpy(d->walkers[w].counts, counts[w], sizeof counts[w]);
    free(counts);
    return code;
}

/* Runs the chain again from the base, and compares where it ends. */
static int follow(diffusion *d, const plugmc_host *host, uint64_t sweeps, const double *base)
{
    const size_t bytes = 3 * (size_t)(d->system->particles * d->system->walkers) * sizeof(double);
    double *end = malloc(bytes), *found = malloc(bytes);
    int code = end && found ? PLUGMC_OK
                            : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory to resume");
    if (!code) code = d->engine->fetch(d, host, end);
    if (!code) code = diffusion_take(d, host, base);
    if (!code) restore_population(d, &d->last.before[THEN]);
    if (!code) code = run_again(d, host, sweeps);
    if (!code) code = d->engine->fetch(d, host, found);
    if (!code && memcmp(end, found, bytes)) {
        host->warn(host->context,
                   "this machine does not reproduce the chain bit for bit from the last "
                   "refresh; the run continues from the positions and weights of the "
                   "checkpoint");
        code = diffusion_take(d, host, end);
    }
    free(end);
    free(found);
    return code;
}

/* ---- In and out ------------------------------------------------------------------------------ */

static int archive_population(diffusion *d, plugmc_archive *a, int which)
{
    static const char *const names[2][4] = {
        {"population", "energies", "mean_weights", "walkers"},
        {"base_population", "base_energies", "base_mean_weights", "base_walkers"}};
    population *p = &d->last.before[which];
    int64_t whole[] = {p->know_energies, p->generations, p->filled, p->next, p->survivors};
    double energies[] = {p->best, p->trial};
    int code = a->bytes(a, names[which][0], whole, sizeof whole);
    if (!code) code = a->bytes(a, names[which][1], energies, sizeof energies);
    if (!code && d->population.kept)
        code = a->bytes(a, names[which][2], p->ring, (size_t)d->population.kept * sizeof *p->ring);
    if (!code) code = plugmc_archive_walkers(a, names[which][3], p->walker, sizeof *p->walker);
    if (code || !a->reading) return code;
    p->know_energies = whole[0];
    p->generations = whole[1];
    p->filled = whole[2];
    p->next = whole[3];
    p->survivors = whole[4];
    p->best = energies[0];
    p->trial = energies[1];
    return PLUGMC_OK;
}

/* [walkers][2] squares of displacements since they were last reported. */
static int archive_reported(diffusion *d, const plugmc_host *host, plugmc_archive *a)
{
    const size_t walkers = (size_t)d->system->walkers;
    double(*squares)[2] = malloc(walkers * sizeof *squares);
    int code = squares
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a checkpoint");
    for (size_t w = 0; w < walkers && !code; w++) {
        squares[w][0] = d->walkers[w].all_proposed;
        squares[w][1] = d->walkers[w].all_accepted;
    }
    if (!code) code = plugmc_archive_walkers(a, "squares", squares, sizeof *squares);
    for (size_t w = 0; w < walkers && !code; w++) {
        d->walkers[w].all_proposed = squares[w][0];
        d->walkers[w].all_accepted = squares[w][1];
    }
    free(squares);
    return code;
}

static int is_possible(const diffusion *d, const plugmc_host *host, uint64_t since)
{
    for (int k = 0; k < 2; k++) {
        const population *p = &d->last.before[k];
        if (p->filled < 0 || p->filled > d->population.kept || p->next < 0 ||
            p->next > d->population.kept)
            return host->fail(
                host->context, PLUGMC_ERROR_STATE,
                "the checkpoint has the mean weights of %lld generations, but %lld are "
                "expected",
                (long long)p->filled, (long long)d->population.kept);
    }
    if (since <= (uint64_t)d->set.refresh) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_STATE,
                      "the checkpoint is %llu sweeps after its last refresh, which come every %lld",
                      (unsigned long long)since, (long long)d->set.refresh);
}

int checkpoint_archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    diffusion *d = instance;
    const size_t numbers = 3 * (size_t)d->system->particles;
    uint64_t since = d->last.since;
    double *base = calloc(numbers * (size_t)d->system->walkers, sizeof *base);
    int code = base ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a checkpoint");
    if (!code && !a->reading) note_population(d, &d->last.before[NOW]);
    if (!code && !a->reading && since) code = d->engine->fetch_base(d, host, base);
    if (!code) code = archive_population(d, a, NOW);
    if (!code) code = archive_population(d, a, THEN);
    if (!code) code = a->bytes(a, "base_sweep", &d->last.base_sweep, sizeof d->last.base_sweep);
    if (!code) code = a->bytes(a, "sweeps_since", &since, sizeof since);
    if (!code) code = plugmc_archive_walkers(a, "base", base, numbers * sizeof *base);
    if (!code && a->reading) code = is_possible(d, host, since);
    if (!code && a->reading && since && !(a->changed & PLUGMC_CHANGED_POSITION))
        code = follow(d, host, since, base);
    if (!code && a->reading) restore_population(d, &d->last.before[NOW]);
    if (!code) code = archive_reported(d, host, a);
    free(base);
    return code;
}
