#include "energy/bias.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/insertions.h"
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
    h->bias.transitions = calloc((size_t)h->system->walkers * (size_t)m->bins,
                                 BIAS_TRANSITIONS * sizeof *h->bias.transitions);
    h->bias.energy = calloc((size_t)h->system->walkers, sizeof *h->bias.energy);
    return h->bias.transitions && h->bias.energy ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

void bias_close(hamiltonian *h)
{
    free(h->bias.transitions), free(h->bias.energy);
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
    return bias_is_of_energy(h) ? x + m->of_energy * h->bias.energy[w] : x;
}

/* An infinite energy is far behind the last bin. */
static int64_t bin_of(const plugmc_macrostates *m, double x)
{
    static const double far = 1e15;
    const double bin = floor((x - m->low) / m->width);
    return (int64_t)(bin > far ? far : bin < -far ? -far : bin);
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

bool bias_is_of_energy(const hamiltonian *h)
{
    const plugmc_macrostates *m = h->bias.of;
    return m && PLUGMC_HAS(m, of_energy) && m->of_energy != 0;
}

/* Terms of a walker, each times what multiplies it. */
static double reduced(const hamiltonian *h, int32_t w, const double *energy)
{
    const double *multiplier = &h->multipliers[(int64_t)w * h->width];
    double sum = 0;
    for (int k = 0; k < h->count; k++) {
        const int t = h->terms[k].index;
        if (multiplier[t] != 0) sum += multiplier[t] * energy[t];
    }
    return sum;
}

void bias_find_energy(hamiltonian *h, int32_t w)
{
    double energy[h->system->term_count + 1];
    hamiltonian_energy_anew(h, w, energy);
    h->bias.energy[w] = reduced(h, w, energy);
}

bool bias_concerns(const hamiltonian *h, uint32_t changes)
{
    const plugmc_macrostates *m = h->bias.of;
    bool counts = false;
    if (!m) return false;
    for (int32_t s = 0; s < h->system->species_count; s++) counts |= m->of_count[s] != 0;
    if (bias_is_of_energy(h) &&
        changes & (PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT))
        return true;
    return (m->of_volume != 0 && changes & PLUGMC_CHANGED_BOX) ||
           (counts && changes & PLUGMC_CHANGED_COUNT);
}

double bias_change(const hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p)
{
    const plugmc_macrostates *m = h->bias.of;
    const configuration *now = &h->walkers[w].now;
    double change = 0;
    if (!m) return 0;
    if (bias_is_of_energy(h) && !c->forbidden[p])
        change = m->of_energy * reduced(h, w, &c->change[p * h->system->term_count]);
    if (c->kind == PLUGMC_RESCALED)
        return change + m->of_volume * (c->box[w].volume - now->box.volume);
    if (c->kind < PLUGMC_INSERTED) return change;
    for (int32_t s = 0; s < h->system->species_count; s++) {
        const int64_t more = count_change(h, c, w, p, s);
        if (more) change += (double)more * m->of_count[s];
    }
    return change;
}

bias_step bias_of(const hamiltonian *h, int32_t w, double change)
{
    const plugmc_macrostates *m = h->bias.of;
    bias_step s = {0, 0, 0, change, false};
    if (!m) return s;
    const double x = place_of(h, w);
    s.before = bin_of(m, x);
    s.after = change == 0 ? s.before : bin_of(m, x + change);
    s.delta = weight_of(m, s.after) - weight_of(m, s.before);
    const int64_t outside = bins_outside(m, w, s.after);
    s.leads_out = outside > 0 && outside >= bins_outside(m, w, s.before) && s.after != s.before;
    return s;
}

/* ---- Books --------------------------------------------------------------------------------------- */

void bias_note(hamiltonian *h, int32_t w, const bias_step *s, double probability, bool taken)
{
    const int64_t bins = h->bias.of->bins, at = taken ? s->after : s->before;
    double *transitions = &h->bias.transitions[w * bins * BIAS_TRANSITIONS];
    const int way = s->after < s->before ? PLUGMC_DOWN : PLUGMC_UP;
    const bool of_energy = bias_is_of_energy(h), next = llabs(s->after - s->before) == 1;
    if (s->before >= 0 && s->before < bins && of_energy) {
        double *of_bin = &transitions[s->before * BIAS_TRANSITIONS];
        if (next) of_bin[way] += probability;
        of_bin[PLUGMC_DOWN_TRIALS] += 1;
        of_bin[PLUGMC_UP_TRIALS] += 1;
    } else if (s->before >= 0 && s->before < bins && next) {
        transitions[s->before * BIAS_TRANSITIONS + way] += probability;
        transitions[s->before * BIAS_TRANSITIONS + way + 1] += 1;
    }
    if (of_energy && taken) h->bias.energy[w] += s->change / h->bias.of->of_energy;
    if (at >= 0 && at < bins) transitions[at * BIAS_TRANSITIONS + BIAS_VISITS] += 1;
#pragma omp atomic write
    h->bias.written = true;
}

int bias_gather(hamiltonian *h, const plugmc_host *host)
{
    plugmc_macrostates *m = h->bias.of;
    if (!m || !(h->bias.written || h->bias.written_on_device)) return PLUGMC_OK;
    const size_t entries = (size_t)m->bins * BIAS_TRANSITIONS;
    double *transitions = h->bias.transitions, *sums = calloc(entries, sizeof *sums);
    int code = sums ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int32_t w = 0; w < h->system->walkers && h->bias.written && !code;
         w++, transitions += entries)
        for (size_t k = 0; k < entries; k++) sums[k] += transitions[k];
    if (h->bias.written && !code)
        memset(h->bias.transitions, 0, entries * (size_t)h->system->walkers * sizeof *transitions);
    h->bias.written = false;
    if (h->bias.written_on_device && !code) code = on_device_gather(h, host, sums);
    for (int32_t b = 0; b < m->bins && !code; b++) {
        const double *row = &sums[(size_t)b * BIAS_TRANSITIONS];
        for (int k = 0; k < BIAS_COLLECTED; k++) m->collected[b][k] += row[k];
        m->visits[b] += row[BIAS_VISITS];
    }
    free(sums);
    return code;
}

/* ---- Checkpoints ---------------------------------------------------------------------------------- */

static size_t each(const hamiltonian *h)
{
    return (size_t)h->system->walkers * (size_t)h->bias.of->bins * BIAS_TRANSITIONS;
}

size_t bias_transitions(const hamiltonian *h) { return h->bias.of ? 2 * each(h) : 0; }

int bias_read(hamiltonian *h, const plugmc_host *host, double *transitions)
{
    memcpy(transitions, h->bias.transitions, each(h) * sizeof *transitions);
    memset(transitions + each(h), 0, each(h) * sizeof *transitions);
    return h->bias.written_on_device ? on_device_read_transitions(h, host, transitions + each(h))
                                     : PLUGMC_OK;
}

static bool any(const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (x[k] != 0) return true;
    return false;
}

int bias_write(hamiltonian *h, const plugmc_host *host, const double *transitions)
{
    memcpy(h->bias.transitions, transitions, each(h) * sizeof *transitions);
    h->bias.written = any(transitions, each(h));
    h->bias.written_on_device = any(transitions + each(h), each(h));
    return h->bias.written_on_device ? on_device_write_transitions(h, host, transitions + each(h))
                                     : PLUGMC_OK;
}
