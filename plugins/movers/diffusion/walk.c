/* Moves of electrons: drift, diffusion, Metropolis. One electron of all walkers at a time, so that orbitals are
 * evaluated in one call; moves of a block of electrons are worked into the inverse matrix together. */
#include "diffusion.h"

#include <string.h>

/* ---- Psi ------------------------------------------------------------------------------------- */

/* Called from the main thread, as plugin.h promises potentials. */
int walk_orbitals(const diffusion *d, const plugmc_host *host, int spin, int64_t points, int slopes)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = points,
                                            .positions = d->batch.points,
                                            .pitch = d->wave.pitch,
                                            .values = d->batch.values,
                                            .gradients = slopes ? d->batch.slopes : NULL};
    const int code = plugmc_orbitals_of(d->wave.orbitals->plugin)
                         ->evaluate(d->wave.orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             d->wave.orbitals->label)
                : PLUGMC_OK;
}

static int outside(const plugmc_box *box, const double r[3])
{
    return box->domain != PLUGMC_DOMAIN_PERIODIC &&
           r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > box->radius * box->radius;
}

int64_t walk_parts(const diffusion *d, const walker *w, int64_t e, const double r[3], int64_t end,
                   plugmc_derivatives *out)
{
    const plugmc_box *box = &d->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const plugmc_particle probe = {
        r[0], r[1], r[2], d->wave.charge[e], d->wave.diameter[e], d->wave.species[e]};
    const int64_t middle = e < end ? e : end, after = e + 1 < end ? end - e - 1 : 0;
    const plugmc_particles left = {middle,           w->x,           w->y, w->z, d->wave.charge,
                                   d->wave.diameter, d->wave.species};
    const plugmc_particles right = {after,
                                    w->x + e + 1,
                                    w->y + e + 1,
                                    w->z + e + 1,
                                    d->wave.charge + e + 1,
                                    d->wave.diameter + e + 1,
                                    d->wave.species + e + 1};
    int64_t forbidden = outside(box, r);
    *out = (plugmc_derivatives){0};
    for (int t = 0; t < d->wave.term_count; t++) {
        const plugmc_potential *p = d->wave.terms[t]->plugin->potential;
        const void *instance = d->wave.terms[t]->instance;
        if (p->pair)
            forbidden += p->pair->derivatives(instance, box, periodic, 0, &probe, &left, out);
        if (p->pair && after)
            forbidden += p->pair->derivatives(instance, box, periodic, 0, &probe, &right, out);
        if (p->field) forbidden += p->field->derivatives(instance, &probe, out);
    }
    return forbidden;
}

/* Re grad ln Psi of an electron from its row of the inverse, its slopes [3][numbers], and q = Psi there over Psi here of
 * the determinant, 1 where it is. */
static void velocity(const diffusion *d, const slater *s, const double *row, const double *slopes,
                     double complex q, const plugmc_derivatives *parts, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] =
            creal(slater_dot(s, row, slopes + k * d->wave.numbers) / q) - 0.5 * parts->gradient[k];
}

/* The drift over tau: tau v where that is short, and no longer than the node is far where it is not: C. J.
 * Umrigar, M. P. Nightingale, K. J. Runge, J. Chem. Phys. 99, 2865 (1993), eq. (33). */
static void limited_drift(const diffusion *d, double tau, const double v[3], double out[3])
{
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double factor = 2 * tau / (1 + sqrt(1 + 2 * d->set.drift_limit * tau * square));
    for (int k = 0; k < 3; k++) out[k] = factor * v[k];
}

/* ---- A move ---------------------------------------------------------------------------------- */

static void propose(const diffusion *d, walker *w, int spin, uint64_t sweep, double tau, int64_t e)
{
    slater *s = &w->spin[spin];
    const double r[3] = {w->x[e], w->y[e], w->z[e]};
    const plugmc_random u =
        plugmc_draw(d->seed, sweep, (uint32_t)w->index, (uint32_t)e, PLUGMC_PURPOSE_TRIAL, 0);
    plugmc_derivatives parts;
    double v[3];
    if (w->lost) return; /* `there` tells where */
    walk_parts(d, w, e, r, d->system->particles, &parts);
    w->share = parts.energy;
    w->row = slater_row(s, e - d->system->first[spin]);
    velocity(d, s, w->row, w->slopes + 3 * e * d->wave.numbers, 1, &parts, v);
    limited_drift(d, tau, v, w->here);
    vmc_gaussian(&u, w->random);
    for (int k = 0; k < 3; k++) {
        w->random[k] *= sqrt(tau);
        w->there[k] = r[k] + w->here[k] + w->random[k];
    }
    plugmc_wrap(&d->system->box, w->there);
}

static void take(const diffusion *d, walker *w, int spin, int64_t e, const double *values,
                 const double *slopes, double change)
{
    slater *s = &w->spin[spin];
    slater_accept(s, e - d->system->first[spin], values);
    memcpy(w->slopes + 3 * e * d->wave.numbers, slopes,
           3 * (size_t)d->wave.numbers * sizeof *slopes);
    w->x[e] = w->there[0];
    w->y[e] = w->there[1];
    w->z[e] = w->there[2];
    w->parts += change;
}

/* The move is taken with probability min(1, p), p = |Psi'/Psi|^2 G(there -> here) / G(here -> there) with
 * G(a -> b) = exp(-|b - a - drift(a)|^2 / (2 tau)). */
static void decide(const diffusion *d, walker *w, int spin, uint64_t sweep, double tau, int crosses,
                   int64_t e, const double *values, const double *slopes)
{
    slater *s = &w->spin[spin];
    const int64_t own = e - d->system->first[spin];
    const plugmc_random u =
        plugmc_draw(d->seed, sweep, (uint32_t)w->index, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 0);
    plugmc_derivatives after;
    double v[3], back[3], forth = 0, backward = 0, length = 0;
    if (w->lost) return;
    w->counts[STEP].trials++;
    for (int k = 0; k < 3; k++) length += w->random[k] * w->random[k];
    w->proposed += length;
    if (walk_parts(d, w, e, w->there, d->system->particles, &after)) return;
    const double complex q = slater_ratio(s, own, values);
    const double square = creal(q) * creal(q) + cimag(q) * cimag(q),
                 change = after.energy - w->share;
    if (!crosses && !d->wave.is_complex && creal(q) <= 0) return;
    if (square == 0) return;
    velocity(d, s, w->row, slopes, q, &after, v);
    limited_drift(d, tau, v, back);
    for (int k = 0; k < 3; k++) {
        const double step = w->here[k] + w->random[k];
        forth += w->random[k] * w->random[k];
        backward += (step + back[k]) * (step + back[k]);
    }
    const double p = square * exp(-change + (forth - backward) / (2 * tau));
    if (isnan(p)) {
        w->lost = e + 1;
        return;
    }
    if (!(plugmc_uniform_double(u.word[0], u.word[1]) < p)) return;
    take(d, w, spin, e, values, slopes, change);
    w->accepted += length;
    w->counts[STEP].accepted++;
}

static int move_electron(diffusion *d, const plugmc_host *host, int spin, uint64_t sweep,
                         double tau, int crosses, int64_t e)
{
    const int32_t n = d->system->walkers;
    const int64_t electrons = electrons_of(d, spin), own = e - d->system->first[spin],
                  begin = own - own % d->capacity,
                  end = begin + d->capacity < electrons ? begin + d->capacity : electrons;
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1)
    for (int32_t w = 0; w < n; w++) {
        if (own == begin) slater_begin(&d->walkers[w].spin[spin], begin, end - begin);
        propose(d, &d->walkers[w], spin, sweep, tau, e);
        memcpy(d->batch.points + 3 * w, d->walkers[w].there, sizeof d->walkers[w].there);
    }
    const int code = walk_orbitals(d, host, spin, n, 1);
    if (code) return code;
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1)
    for (int32_t w = 0; w < n; w++) {
        decide(d, &d->walkers[w], spin, sweep, tau, crosses, e,
               d->batch.values + w * d->wave.numbers, d->batch.slopes + 3 * w * d->wave.numbers);
        if (own == end - 1) slater_end(&d->walkers[w].spin[spin]);
    }
    return PLUGMC_OK;
}

int walk(diffusion *d, const plugmc_host *host, uint64_t sweep, double tau, int crosses)
{
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < d->system->walkers; w++)
        d->walkers[w].proposed = d->walkers[w].accepted = 0;
    for (int spin = 0; spin < d->system->species_count; spin++)
        for (int64_t e = d->system->first[spin]; e < d->system->first[spin + 1] && !code; e++) {
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            code = move_electron(d, host, spin, sweep, tau, crosses, e);
        }
    return code;
}

/* ---- Elsewhere whatever it costs ------------------------------------------------------------- */

int walk_put(diffusion *d, const plugmc_host *host, const int32_t *electron)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < d->system->species_count && !code; spin++) {
        const int64_t begin = d->system->first[spin], end = d->system->first[spin + 1];
        int32_t n = 0;
        for (int32_t w = 0; w < d->system->walkers; w++)
            if (electron[w] >= begin && electron[w] < end)
                memcpy(d->batch.points + 3 * n++, d->walkers[w].there, sizeof d->walkers[w].there);
        if (n) code = walk_orbitals(d, host, spin, n, 1);
        n = 0;
        for (int32_t w = 0; w < d->system->walkers && !code; w++) {
            walker *one = &d->walkers[w];
            const int64_t e = electron[w];
            if (e < begin || e >= end) continue;
            const double r[3] = {one->x[e], one->y[e], one->z[e]},
                         *values = d->batch.values + n * d->wave.numbers,
                         *slopes = d->batch.slopes + 3 * n * d->wave.numbers;
            plugmc_derivatives before, after;
            walk_parts(d, one, e, one->there, d->system->particles, &after);
            walk_parts(d, one, e, r, d->system->particles, &before);
            slater_begin(&one->spin[spin], e - begin, 1);
            slater_ratio(&one->spin[spin], e - begin, values);
            take(d, one, spin, e, values, slopes, after.energy - before.energy);
            slater_end(&one->spin[spin]);
            n++;
        }
    }
    return code;
}

/* ---- Anew ------------------------------------------------------------------------------------ */

static int spin_anew(diffusion *d, const plugmc_host *host, int32_t first, int32_t n, int spin,
                     int compare)
{
    const int64_t electrons = electrons_of(d, spin), begin = d->system->first[spin];
    const int64_t row = d->wave.numbers;
    for (int32_t k = 0; k < n; k++)
        for (int64_t e = 0; e < electrons; e++) {
            const walker *w = &d->walkers[first + k];
            const double r[3] = {w->x[begin + e], w->y[begin + e], w->z[begin + e]};
            memcpy(d->batch.points + 3 * (k * electrons + e), r, sizeof r);
        }
    const int code = walk_orbitals(d, host, spin, n * electrons, 1);
#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1)
    for (int32_t k = 0; k < (code ? 0 : n); k++) {
        walker *w = &d->walkers[first + k];
        slater *s = &w->spin[spin];
        const double before = s->ln_square;
        double drift = 0;
        if (!slater_invert(s, d->batch.values + k * electrons * row, &drift))
            w->singular = 1 + spin;
        if (compare) note_drift(w, drift);
        if (compare && !s->sum) note_drift(w, fabs(s->ln_square - before) / (1 + fabs(before)));
        memcpy(w->slopes + 3 * begin * row, d->batch.slopes + 3 * k * electrons * row,
               3 * (size_t)(electrons * row) * sizeof *w->slopes);
    }
    return code;
}

/* ln |Psi|^2 of an expansion, which both spins make together; `before`: as it was kept. */
static void settle_sum(walker *w, double before, int compare)
{
    if (w->singular) return;
    if (!slater_settle(w->spin)) w->singular = 1 + (w->spin[0].n == 0);
    const double now = w->spin[0].ln_square + w->spin[1].ln_square;
    if (compare) note_drift(w, fabs(now - before) / (1 + fabs(before)));
}

static void parts_anew(const diffusion *d, walker *w, int compare)
{
    double energy = 0;
    for (int64_t e = 0; e < d->system->particles; e++) {
        const double r[3] = {w->x[e], w->y[e], w->z[e]};
        plugmc_derivatives out;
        if (walk_parts(d, w, e, r, e, &out)) energy = INFINITY;
        energy += out.energy;
    }
    if (compare) note_drift(w, fabs(energy - w->parts) / (1 + fabs(energy)));
    w->parts = energy;
}

int walk_anew(diffusion *d, const plugmc_host *host, int compare)
{
    const int32_t walkers = d->system->walkers;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < walkers; w++) {
        d->walkers[w].drift = d->walkers[w].singular = 0;
        d->walkers[w].ln_before = d->walkers[w].spin[0].ln_square + d->walkers[w].spin[1].ln_square;
    }
    for (int spin = 0; spin < SPINS; spin++)
        for (int32_t w = 0; w < walkers && electrons_of(d, spin) && !code; w += d->batch.group)
            code =
                spin_anew(d, host, w, walkers - w < d->batch.group ? walkers - w : d->batch.group,
                          spin, compare);
#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1)
    for (int32_t w = 0; w < (code ? 0 : walkers); w++) {
        if (d->wave.sum) settle_sum(&d->walkers[w], d->walkers[w].ln_before, compare);
        parts_anew(d, &d->walkers[w], compare);
    }
    return code;
}
