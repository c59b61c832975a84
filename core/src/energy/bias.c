#include "energy/bias.h"

#include <math.h>
#include <stdlib.h>

#include "energy/hamiltonian.h"
#include "energy/on_device.h"

enum { MOST_BINS = 10000000 };

const char *bias_refused(const plugmc_macrostates *m)
{
    if (!PLUGMC_HAS(m, collected)) return "the struct is too short";
    if (m->bins < 1 || m->bins > MOST_BINS) return "there are none, or too many of them";
    if (!isfinite(m->low) || !(m->width > 0)) return "bins have no place or no width";
    if (!m->of_count || !m->weight || !m->visits || !m->collected) return "an array is missing";
    return NULL;
}

int bias_open(hamiltonian *h, plugmc_macrostates *m)
{
    h->bias.of = m;
    h->bias.books =
        calloc((size_t)h->system->walkers * (size_t)m->bins, BIAS_BOOKS * sizeof *h->bias.books);
    return h->bias.books ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

void bias_close(hamiltonian *h)
{
    free(h->bias.books);
    h->bias = (bias){0}; /* memory on the device goes with it */
}

/* ---- Bins ---------------------------------------------------------------------------------------- */

static double place_of(const hamiltonian *h, int32_t w)
{
    const configuration *now = &h->walkers[w].now;
    const plugmc_macrostates *m = h->bias.of;
    double x = m->of_volume * now->box.volume;
    for (int32_t s = 0; s < h->system->species_count; s++)
        x += m->of_count[s] * (double)now->counts[s];
    return x;
}

static int64_t bin_of(const plugmc_macrostates *m, double x)
{
    return (int64_t)floor((x - m->low) / m->width);
}

static double weight_of(const plugmc_macrostates *m, int64_t bin)
{
    return m->weight[bin < 0 ? 0 : bin < m->bins ? bin : m->bins - 1];
}

static int64_t bins_outside(const plugmc_macrostates *m, int32_t w, int64_t bin)
{
    const int64_t first = m->window ? m->window[w][0] : 0,
                  last = m->window ? m->window[w][1] : m->bins - 1;
    return bin < first ? first - bin : bin > last ? bin - last : 0;
}

bool bias_concerns(const hamiltonian *h, uint32_t changes)
{
    const plugmc_macrostates *m = h->bias.of;
    bool counts = false;
    if (!m) return false;
    for (int32_t s = 0; s < h->system->species_count; s++) counts |= m->of_count[s] != 0;
    return (m->of_volume != 0 && changes & PLUGMC_CHANGED_BOX) ||
           (counts && changes & PLUGMC_CHANGED_COUNT);
}

double bias_change(const hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p)
{
    const plugmc_macrostates *m = h->bias.of;
    const configuration *now = &h->walkers[w].now;
    double change = 0;
    if (!m) return 0;
    if (c->kind == PLUGMC_RESCALED) return m->of_volume * (c->box[w].volume - now->box.volume);
    if (c->kind == PLUGMC_INSERTED || c->kind == PLUGMC_IDENTITY)
        change += m->of_count[c->species[p]];
    if (c->kind == PLUGMC_REMOVED || c->kind == PLUGMC_IDENTITY)
        change -= m->of_count[c->particle[p] < 0 ? c->other[p] : now->all.species[c->particle[p]]];
    return change;
}

bias_step bias_of(const hamiltonian *h, int32_t w, double change)
{
    const plugmc_macrostates *m = h->bias.of;
    bias_step s = {0, 0, 0, false};
    if (!m) return s;
    const double x = place_of(h, w);
    s.before = bin_of(m, x);
    s.after = change == 0 ? s.before : bin_of(m, x + change);
    s.growth = weight_of(m, s.after) - weight_of(m, s.before);
    const int64_t outside = bins_outside(m, w, s.after);
    s.leads_out = outside > 0 && outside >= bins_outside(m, w, s.before) && s.after != s.before;
    return s;
}

/* ---- Books --------------------------------------------------------------------------------------- */

void bias_note(hamiltonian *h, int32_t w, const bias_step *s, double probability, bool taken)
{
    const int64_t bins = h->bias.of->bins, at = taken ? s->after : s->before;
    double *books = &h->bias.books[w * bins * BIAS_BOOKS];
    const int way = s->after < s->before ? PLUGMC_DOWN : PLUGMC_UP;
    if (s->before >= 0 && s->before < bins && s->before != s->after) {
        books[s->before * BIAS_BOOKS + way] += probability;
        books[s->before * BIAS_BOOKS + way + 1] += 1;
    }
    if (at >= 0 && at < bins) books[at * BIAS_BOOKS + BIAS_VISITS] += 1;
#pragma omp atomic write
    h->bias.written = true;
}

/* Walkers one after the other, so that the sums do not hang on the number of threads. */
int bias_gather(hamiltonian *h, const plugmc_host *host)
{
    plugmc_macrostates *m = h->bias.of;
    double *books = h->bias.books;
    if (!m) return PLUGMC_OK;
    const size_t entries = (size_t)m->bins * BIAS_BOOKS;
    for (int32_t w = 0; w < h->system->walkers && h->bias.written; w++, books += entries)
        for (int32_t b = 0; b < m->bins; b++) {
            double *row = &books[(size_t)b * BIAS_BOOKS];
            for (int k = 0; k < BIAS_COLLECTED; k++) m->collected[b][k] += row[k];
            m->visits[b] += row[BIAS_VISITS];
            for (int k = 0; k < BIAS_BOOKS; k++) row[k] = 0;
        }
    h->bias.written = false;
    return host->gpu ? on_device_gather(h, host) : PLUGMC_OK;
}
