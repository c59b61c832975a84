/* Decisions about changes of all walkers that a mover has proposed: plugmc_hamiltonian.decide. */
#include <math.h>

#include "energy/hamiltonian.h"
#include "energy/bias.h"

/* A walker alone, or two that are partners. */
typedef struct group {
    int32_t walker[2];
    int n;
    bool proposed, forbidden, leads_out;
    double delta;   /* of -ln p, without weights */
    double weight;  /* delta of these */
    bias_step step; /* of the first walker */
} group;

static bool proposes(const plugmc_decision *d, int32_t w)
{
    return hamiltonian_is_proposed(d->changes, w) ||
           (d->also && hamiltonian_is_proposed(d->also, w));
}

/* What one set of changes does to walker w. */
static bool add(const hamiltonian *h, const plugmc_changes *c, int32_t w, group *g, double *change)
{
    if (!c || !hamiltonian_is_proposed(c, w)) return false;
    g->forbidden |= c->forbidden[w];
    g->delta += c->forbidden[w] ? 0 : c->delta[w];
    *change += bias_change(h, c, w, w);
    return true;
}

static void add_walker(const hamiltonian *h, const plugmc_decision *d, int32_t w, group *g)
{
    double change = 0;
    const bool one = add(h, d->changes, w, g, &change), other = add(h, d->also, w, g, &change);
    const bias_step step = bias_of(h, w, change);
    if (g->n == 0) g->step = step;
    g->walker[g->n++] = w;
    g->proposed |= one || other;
    g->leads_out |= step.leads_out;
    g->weight += step.delta;
    if (d->log_factor) g->delta -= d->log_factor[w];
}

static double draw(const plugmc_host *host, const plugmc_decision *d, int32_t w)
{
    const plugmc_random random =
        plugmc_draw(host->seed, d->sweep, (uint32_t)w, d->number, PLUGMC_PURPOSE_ACCEPT, 0);
    return plugmc_uniform_double(random.word[0], random.word[1]);
}

static bool is_taken(double delta, double random) { return delta <= 0 || random < exp(-delta); }

/* Whether the decision may be another one by fresh sums: see running.h. */
static bool in_doubt(const hamiltonian *h, const plugmc_host *host, const plugmc_decision *d,
                     const group *g)
{
    double doubt = 0, size = 1;
    for (int k = 0; k < g->n; k++) {
        doubt += h->walkers[g->walker[k]].running.doubt;
        size += d->log_factor ? fabs(d->log_factor[g->walker[k]]) : 0;
    }
    if (!(doubt > 0) || !g->proposed || g->forbidden || g->delta == INFINITY) return false;
    doubt += 0x1p-40 * (size + fabs(g->delta)); /* rounding of what is added to the energies */
    const double random = draw(host, d, g->walker[0]);
    return !isfinite(g->delta) ||
           is_taken(g->delta - doubt, random) != is_taken(g->delta + doubt, random);
}

/* Whether a group's changes are taken; *lost: their delta is not a number. */
static bool decide(hamiltonian *h, const plugmc_host *host, const plugmc_decision *d,
                   const group *g, bool counted, bool *lost)
{
    const double delta = g->delta + g->weight;
    *lost = g->proposed && !g->forbidden && !(delta > -INFINITY);
    if (*lost) return false;
    const bool possible = g->proposed && !g->forbidden;
    const bool taken =
        possible && !g->leads_out && (delta <= 0 || is_taken(delta, draw(host, d, g->walker[0])));
    if (counted && g->proposed)
        bias_note(h, g->walker[0], &g->step, possible ? fmin(1, exp(-g->delta)) : 0, taken);
    return taken;
}

static int settle(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c,
                  const int64_t *taken)
{
    int64_t those[h->system->walkers]; /* that this set of changes has proposed something to */
    for (int32_t w = 0; w < h->system->walkers; w++)
        those[w] = hamiltonian_is_proposed(c, w) ? taken[w] : -1;
    return hamiltonian_settle(h, host, c, those);
}

/* Walker w, and its partner if it has one. */
static group group_of(const hamiltonian *h, const plugmc_decision *d, int32_t w, int32_t partner)
{
    group g = {.n = 0};
    add_walker(h, d, w, &g);
    if (partner != w) add_walker(h, d, partner, &g);
    return g;
}

/* The same by fresh sums. */
static int resolve_doubt(hamiltonian *h, const plugmc_host *host, const plugmc_decision *d,
                         group *g)
{
    int code = PLUGMC_OK;
    for (int k = 0; k < g->n && !code; k++)
        code = hamiltonian_resolve_doubt(h, host, d->changes, g->walker[k]);
    if (!code) *g = group_of(h, d, g->walker[0], g->walker[g->n - 1]);
    return code;
}

static bool is_of_all(const hamiltonian *h, const plugmc_changes *c)
{
    return c->first == 0 && c->walkers == h->system->walkers && c->per_walker == 1 &&
           PLUGMC_HAS(c, delta) && c->delta;
}

/* What a walker can be told without the others, beside 0 and -1 of plugmc_decision.taken. */
enum { IN_DOUBT = -2, LOST = -3 };

static int64_t decided(hamiltonian *h, const plugmc_host *host, const plugmc_decision *d,
                       const group *g, bool counted)
{
    bool lost;
    const bool taken = decide(h, host, d, g, counted, &lost);
    return lost ? LOST : taken ? 0 : -1;
}

static int fail_lost(const plugmc_host *host, const plugmc_decision *d, int32_t w)
{
    const plugmc_not_a_number where = {
        .size = sizeof where, .walker = w, .particle = -1, .sweep = d->sweep};
    return host->not_a_number(host->context, &where);
}

static int32_t partner_of(const plugmc_decision *d, int32_t w)
{
    return d->partner ? d->partner[w] : w;
}

/* Each walker, or two partners, on its own. */
static void decide_each(hamiltonian *h, const plugmc_host *host, const plugmc_decision *d,
                        bool counted)
{
    const int threads = hamiltonian_threads(h);
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int32_t w = 0; w < h->system->walkers; w++) {
        if (partner_of(d, w) < w) continue;
        const group g = group_of(h, d, w, partner_of(d, w));
        d->taken[w] = in_doubt(h, host, d, &g) ? IN_DOUBT : decided(h, host, d, &g, counted);
    }
}

int hamiltonian_decide(hamiltonian *h, const plugmc_host *host, const plugmc_decision *d,
                       uint32_t mover_changes, const int32_t *rungs, plugmc_counts *counts)
{
    const bool counted = bias_concerns(h, mover_changes);
    if (!is_of_all(h, d->changes) || (d->also && !is_of_all(h, d->also)))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "a decision needs one change for each walker, with its `delta`");
    int code = bias_is_of_energy(h) ? hamiltonian_refresh(h, host) : PLUGMC_OK;
    for (int32_t w = 0; w < h->system->walkers && bias_is_of_energy(h) && !code; w++)
        bias_find_energy(h, w);
    if (code) return code;
    decide_each(h, host, d, counted);
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const int32_t partner = partner_of(d, w);
        if (partner < w) {
            d->taken[w] = d->taken[partner];
            continue;
        }
        if (d->taken[w] == IN_DOUBT) {
            group g = group_of(h, d, w, partner);
            code = resolve_doubt(h, host, d, &g);
            if (code) return code;
            d->taken[w] = decided(h, host, d, &g, counted);
        }
        if (d->taken[w] == LOST) return fail_lost(host, d, w);
        if (!proposes(d, w) && !proposes(d, partner)) continue;
        plugmc_counts *own = &counts[rungs ? rungs[w] : 0];
        own->trials++;
        own->accepted += d->taken[w] == 0;
    }
    code = settle(h, host, d->changes, d->taken);
    return code || !d->also ? code : settle(h, host, d->also, d->taken);
}
