/* Weights of walkers, the comb that keeps their number, and what takes the bias of that out of averages. */
#include "diffusion.h"

#include <string.h>

/* ---- The comb -------------------------------------------------------------------------------- */

/* d->share [walkers]: weights over exp(ln_unit), by one thread: a thousand take 10 us, and threads that are called and
 * have no core wait for one for milliseconds, several times a generation. */
static void share_weights(diffusion *d, double ln_unit)
{
    const int32_t n = d->system->walkers;
    for (int32_t w = 0; w < n; w++) d->population.share[w] = exp(d->walkers[w].ln_weight - ln_unit);
}

/* Shares of the largest weight; returns ln of the mean weight. */
static double share_by_largest(diffusion *d, double *sum)
{
    const int32_t n = d->system->walkers;
    double largest = -INFINITY;
    for (int32_t w = 0; w < n; w++) largest = fmax(largest, d->walkers[w].ln_weight);
    share_weights(d, largest);
    *sum = 0;
    for (int32_t w = 0; w < n; w++) *sum += d->population.share[w];
    return largest + log(*sum / n);
}

/* A comb of W teeth at equal distances over the sum of the weights, begun at a random place (M. Calandra
 * Buonocore, S. Sorella, Phys. Rev. B 57, 11446 (1998)): copies [walkers] of each. u in [0, 1). */
static void count_teeth(const diffusion *d, double u, double sum, int32_t *copies)
{
    const int32_t n = d->system->walkers;
    double before = 0;
    for (int32_t w = 0, tooth = 0; w < n; w++) {
        before += d->population.share[w] / sum * n;
        copies[w] = 0;
        while (tooth < n && (tooth + u < before || w == n - 1)) {
            copies[w]++;
            tooth++;
        }
    }
}

static void push(diffusion *d, double ln_mean)
{
    if (!d->population.kept) return;
    d->population.ring[d->population.next] = ln_mean;
    d->population.next = (d->population.next + 1) % d->population.kept;
    if (d->population.filled < d->population.kept) d->population.filled++;
}

double population_correction(const diffusion *d)
{
    double sum = 0;
    for (int64_t k = 0; k < d->population.filled; k++) sum += d->population.ring[k];
    return sum;
}

/* Survivors stay in their slots, and what more there is of them goes into those of the dead, in order: random
 * numbers belong to slots, so copies part at once. */
int population_comb(diffusion *d, const plugmc_host *host, uint64_t sweep)
{
    const int32_t n = d->system->walkers;
    const plugmc_random r = plugmc_draw(d->seed, sweep, 0, UINT32_MAX, PLUGMC_PURPOSE_TRIAL, 0);
    int32_t dead = 0, to = 0;
    double sum;
    const double ln_mean = share_by_largest(d, &sum);
    count_teeth(d, plugmc_uniform_double(r.word[0], r.word[1]), sum, d->population.copies);
    for (int32_t w = 0; w < n; w++) dead += d->population.copies[w] == 0;
    d->population.survivors = n - dead;
    push(d, ln_mean);
    for (int32_t w = 0; w < n; w++) d->population.from[w] = w;
    for (int32_t w = 0; w < n; w++)
        for (int32_t k = 1; k < d->population.copies[w]; k++) {
            while (d->population.copies[to]) to++;
            d->population.from[to++] = w;
        }
    for (int32_t w = 0; w < n; w++) {
        d->walkers[w].energy =
            d->walkers[d->population.from[w]].energy; /* who is copied is not copied to */
        d->walkers[w].age = d->walkers[d->population.from[w]].age;
        d->walkers[w].ln_weight = 0;
    }
    return d->engine->copies(d, host);
}

/* ---- Energies -------------------------------------------------------------------------------- */

/* d->found, and the places that nonlocal potentials lead to if wanted, where walkers are. */
static int ask(diffusion *d, const plugmc_host *host, uint64_t sweep,
               const plugmc_nonlocal_point **places, int64_t *count)
{
    plugmc_view view = {.size = sizeof view};
    plugmc_inverses lent = {.size = sizeof lent};
    plugmc_nonlocal_point *there = NULL;
    int code = d->engine->view(d, host, &view);
    if (!code) code = diffusion_lend(d, host, &lent);
    if (code) return code;
    view.sweep = sweep;
    const plugmc_local_energy_request request = {
        .size = sizeof request,
        .walkers = d->system->walkers,
        .view = &view,
        .inverses = d->wave.sum ? NULL : &lent,
        .energy = d->population.found,
        .points = host->gpu ? NULL : places,
        .point_ions = host->gpu || !places ? NULL : &d->population.ions,
        .point_count = count,
        .device_points = host->gpu && places ? &there : NULL};
    code = plugmc_local_energies_of(host)->local_energy(host->context, &request);
    if (host->gpu && places) *places = there;
    for (int32_t w = 0; w < d->system->walkers && !code; w++)
        if (!isfinite(d->population.found[w]))
            code = host->fail(host->context, PLUGMC_ERROR_STATE,
                              "the local energy of walker %d is %g", w, d->population.found[w]);
    return code;
}

static double mean_found(const diffusion *d)
{
    const int32_t n = d->system->walkers;
    double sum = 0;
    for (int32_t w = 0; w < n; w++) sum += d->population.found[w] - d->population.found[0];
    return d->population.found[0] + sum / n;
}

int population_look(diffusion *d, const plugmc_host *host, uint64_t sweep)
{
    const int code = ask(d, host, sweep, NULL, NULL);
    for (int32_t w = 0; w < d->system->walkers && !code; w++) {
        d->walkers[w].energy = d->population.found[w];
        d->walkers[w].ln_weight = 0;
    }
    if (code) return code;
    if (!d->population.generations) d->population.best = d->population.trial = mean_found(d);
    d->population.know_energies = 1;
    return PLUGMC_OK;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The limit of A. Zen, S. Sorella, M. J. Gillan, A. Michaelides, D. Alfe, Phys. Rev. B 93, 241118 (2016):
 * size-consistent, and gone at tau = 0. */
static double most_of(const diffusion *d)
{
    return d->set.energy_limit * sqrt((double)d->system->particles / d->set.tau);
}

static double limited(const diffusion *d, double most, double energy)
{
    return d->population.best + fmax(-most, fmin(most, energy - d->population.best));
}

/* The mean energy of late: over the generations so far, then over some 10 / Hartree. */
static void follow_energy(diffusion *d)
{
    const int32_t n = d->system->walkers;
    const double most = most_of(d);
    double sum = 0, all = 0;
    share_weights(d, 0);
    for (int32_t w = 0; w < n; w++) {
        const double weight = d->population.share[w];
        sum += weight * (limited(d, most, d->population.found[w]) - d->population.best);
        all += weight;
    }
    d->population.generations++;
    d->population.best +=
        sum / all * fmax(1 / (double)(d->population.generations + 1), fmin(1, d->set.tau / 10));
    if (d->population.generations < (uint64_t)d->set.warm_up) {
        d->population.trial = d->population.best;
        d->population.filled = d->population.next = 0; /* of another E_T */
    }
}

/* The mean and the spread of local energies in the first generation, or the first after a run was resumed. */
static void note_start(diffusion *d, double most)
{
    const int32_t n = d->system->walkers;
    double sum = 0, squares = 0;
    for (int32_t w = 0; w < n; w++) {
        const double above = limited(d, most, d->population.found[w]) - d->population.best;
        sum += above / n;
        squares += above * above / n;
    }
    d->population.start = d->population.best + sum;
    d->population.spread = sqrt(fmax(0, squares - sum * sum));
}

/* Walkers where local energies are far too low may feed each other for good if the time step is long: near a node in the
 * tails of orbitals, for instance, where what the drift should take away at once multiplies first. Otherwise the energy
 * falls by no more than about the spread that local energies have at the start: an eigenvalue lies within that (D. H.
 * Weinstein, Proc. Natl. Acad. Sci. 20, 529 (1934)). */
static int are_caught(const diffusion *d, double most)
{
    const double fallen = d->population.start - d->population.best;
    return fallen > 5 * d->population.spread && fallen > most / 2;
}

/* Says so where a few walkers, or energies far below all others, would take the population over. */
static int watch(diffusion *d, const plugmc_host *host, uint64_t sweep)
{
    const int32_t n = d->system->walkers;
    double all, sum = 0, squares = 0;
    const double ln_mean = share_by_largest(d, &all), most = most_of(d);
    int32_t cut = 0;
    for (int32_t w = 0; w < n; w++) {
        const double weight = d->population.share[w] / all * n;
        sum += weight;
        squares += weight * weight;
        cut += limited(d, most, d->population.found[w]) > d->population.found[w];
    }
    const char *cure = "use a smaller tau or a better wave function";
    if (!(fabs(ln_mean) <= 2))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "weights diverge: in sweep %llu their mean is exp(%.3g): %s",
                          (unsigned long long)sweep, ln_mean, cure);
    if (2 * cut > n + 20)
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "weights diverge: in sweep %llu the local energies of %d of %d walkers are below "
            "the limit around %.6g Hartree: %s",
            (unsigned long long)sweep, cut, n, d->population.best, cure);
    if (sum * sum / squares < 0.25 * n)
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "weights diverge: in sweep %llu the effective number is %.1f of %d walkers: %s",
            (unsigned long long)sweep, sum * sum / squares, n, cure);
    if (are_caught(d, most))
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "weights diverge: by sweep %llu the mean energy has fallen from %.6g to %.6g Hartree, "
            "while the spread of local energies was %.3g: walkers gather where these are far too "
            "low: %s, or a smaller energy_limit",
            (unsigned long long)sweep, d->population.start, d->population.best,
            d->population.spread, cure);
    return PLUGMC_OK;
}

int population_weigh(diffusion *d, const plugmc_host *host, uint64_t sweep)
{
    const plugmc_nonlocal_point *places = NULL;
    int64_t count = 0;
    const int moves = d->set.nonlocal != LOCALITY;
    const double most = most_of(d);
    int code = ask(d, host, sweep, moves ? &places : NULL, moves ? &count : NULL);
    if (code) return code;
    for (int32_t k = 0; k < d->system->walkers; k++) {
        walker *w = &d->walkers[k];
        const double tau = d->set.tau * (w->proposed > 0 ? w->accepted / w->proposed : 0),
                     mean = 0.5 * (limited(d, most, w->energy) +
                                   limited(d, most, d->population.found[k]));
        w->ln_weight = tau * (d->population.trial - mean);
        if (w->age > d->set.max_age) w->ln_weight = fmin(w->ln_weight, -log(2));
    }
    if (d->population.spread < 0) note_start(d, most);
    code = watch(d, host, sweep);
    if (code) return code;
    follow_energy(d);
    for (int32_t k = 0; k < d->system->walkers; k++) d->walkers[k].energy = d->population.found[k];
    d->population.pending = moves && count > 0;
    d->population.pending_sweep = sweep;
    d->population.pending_places = places;
    d->population.pending_count = count;
    return PLUGMC_OK;
}

/* ---- T-moves ---------------------------------------------------------------------------------- */

/* They belong to the generation before: a walker is measured where its weight was found, which is before them. */
int population_t_moves(diffusion *d, const plugmc_host *host)
{
    const plugmc_nonlocal_point *places = d->population.pending_places;
    int64_t count = d->population.pending_count;
    const uint64_t sweep = d->population.pending_sweep;
    int code = PLUGMC_OK;
    if (!d->population.pending) return PLUGMC_OK;
    if (!places) code = ask(d, host, sweep, &places, &count);
    if (!code && count) code = d->engine->t_moves(d, host, sweep, places, count);
    d->population.pending = 0;
    d->population.pending_places = NULL;
    return code;
}
