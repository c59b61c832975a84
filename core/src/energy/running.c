/* See running.h. */
#include "energy/running.h"

#include <math.h>
#include <string.h>

/* What one trial move may add to the error of a term, in units of the largest energy that it has had, plus one energy
 * unit for each particle. The rounding of one change is some 2^-50 of its largest pair energy; the margin costs nothing,
 * since a random number is that close to a probability once in a billion times. */
static const double error_of_change = 0x1p-40;

bool running_serves(const hamiltonian *h, const plugmc_host *host, const plugmc_changes *c)
{
    return PLUGMC_HAS(c, for_decision) && c->for_decision && !host->gpu && !h->has_totals &&
           !h->bias.of;
}

static double largest_of(const hamiltonian *h, const double *energy, double largest)
{
    for (int k = 0; k < h->count; k++) {
        const double x = fabs(energy[h->terms[k].index]);
        largest = x <= largest ? largest : x; /* NaN too */
    }
    return largest;
}

void running_start(const hamiltonian *h, walker_energy *e, const double *energy)
{
    running_energy *r = &e->running;
    memcpy(r->energy, energy, sizeof *energy * (size_t)h->system->term_count);
    r->largest = largest_of(h, energy, (double)e->now.present);
    r->changes = 0;
    r->known = isfinite(r->largest);
}

void running_add(const hamiltonian *h, walker_energy *e, const double *change)
{
    running_energy *r = &e->running;
    r->known &= change != NULL;
    if (!r->known) return;
    for (int t = 0; t < h->system->term_count; t++) r->energy[t] += change[t];
    r->largest = largest_of(h, r->energy, largest_of(h, change, r->largest));
    r->changes++;
    r->known = isfinite(r->largest);
}

double running_doubt(const hamiltonian *h, int32_t w)
{
    const running_energy *r = &h->walkers[w].running;
    const double *multiplier = &h->multipliers[(int64_t)w * h->width];
    double sum = 0;
    for (int k = 0; k < h->count; k++) sum += fabs(multiplier[h->terms[k].index]);
    return r->known ? sum * error_of_change * r->largest * (double)(r->changes + 1) : INFINITY;
}
