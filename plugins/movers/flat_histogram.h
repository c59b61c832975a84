/* What movers that weigh macrostates have in common: the variable, its bins, and ln of their probabilities.
 *
 * For numbers of particles, probabilities follow from how often trials would have led from N to N + 1 and back
 * if nothing had been weighed,
 *
 *     ln p(N + 1) - ln p(N) = ln T(N -> N + 1) - ln T(N + 1 -> N),
 *
 * T the mean probability of a trial that way, rejected ones included, which asks not how long walkers were
 * anywhere (M. Fitzgerald, R. R. Picard, R. N. Silver, Europhys. Lett. 46, 282 (1999); J. R. Errington,
 * J. Chem. Phys. 118, 9915 (2003)). It takes movers that try both ways equally often, as all do; trials that go
 * farther than to the next number, as of groups with two of a kind, are left out. So walkers
 * may share the range in windows, and weights may change while they are learned. So it is for bins of the
 * energy, of which those steps count that lead to the next bin, with transition_matrix. Else, for energies and for
 * the volume, of which a trial may change several bins, they are ln of the visits and the weight.
 */
#ifndef FLAT_HISTOGRAM_H
#define FLAT_HISTOGRAM_H

#include <math.h>
#include <plugmc/everything.h>
#include <plugmc/former_keys.h>
#include <stdio.h>
#include <string.h>

#include "molecule_kind.h"

enum { VOLUME_BINS = -1, ENERGY_BINS = -2 }; /* in place of a species */

/* The first member of such a mover. */
typedef struct macrostate {
    const char *variable; /* parameters, up to `coexistence` */
    real min, max;
    int64_t bins, windows;
    int32_t coexistence;
    const plugmc_system *system;
    int32_t species; /* or VOLUME_BINS or ENERGY_BINS; of molecules that of the first site */
    const plugmc_molecule *kind; /* of rigid molecules whose number it is; NULL: none */
    int by_steps; /* 1: from steps to the next bin; 0: from visits. Numbers have it; set before prepare for
                     energies */
    plugmc_macrostates states; /* declared */
    double *x;                 /* [bins]: number, or volume in the middle */
    double *measured; /* [bins][4] or [bins]: transition counts up to the last measurement */
    double *room;     /* [bins] */
    char lacks[160];
} macrostate;

/* The variables that there are, in words. */
#define MACROSTATE_KEYS                                                                            \
    MACROSTATE_KEYS_OF("species or molecule whose number it is, or volume, or energy",             \
                       "smallest number, volume or energy",                                        \
                       "bins of the volume or the energy; particle numbers have one each")
#define MACROSTATE_KEYS_OF(of_variable, of_min, of_bins)                                           \
    PLUGMC_TEXT_KEY(macrostate, variable, NULL, of_variable),                                      \
        PLUGMC_REAL_KEY(macrostate, min, "0", -1e15, 1e15, "", of_min),                            \
        PLUGMC_REAL_KEY(macrostate, max, "0", -1e15, 1e15, "",                                     \
                        "largest one; 0: `max_count` of the species or molecule"),                 \
        PLUGMC_INTEGER_KEY(macrostate, bins, "0", 0, 1e6, "", of_bins),                            \
        PLUGMC_INTEGER_KEY(                                                                        \
            macrostate, windows, "1", 1, 1e6, "",                                                  \
            "overlapping windows of particle numbers, assigned to the walkers in turn"),           \
        PLUGMC_FLAG_KEY(macrostate, coexistence, "no",                                             \
                        "also finds where two phases coexist; for particle numbers")

static const plugmc_former_keys macrostate_former_keys = {
    sizeof macrostate_former_keys,
    (const plugmc_former_key[]){
        {"of", "variable"}, {"least", "min"}, {"most", "max"}, {NULL, NULL}}};

static inline int macrostate_refuse(const plugmc_host *host, const char *why)
{
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s", why);
}

static inline int macrostate_check_windows(const macrostate *m, const plugmc_host *host)
{
    if (m->windows > m->bins - 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%lld windows of %lld numbers: each needs at least two",
                          (long long)m->windows, (long long)m->bins);
    if (m->system->walkers % m->windows == 0) return PLUGMC_OK;
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "%lld windows and %d walkers: each window needs as many as the others (of several processes each "
        "has a part of the walkers, and all windows)",
        (long long)m->windows, m->system->walkers);
}

/* The species or kind of molecule that is named, and how many there may be. */
static inline int macrostate_find_number(macrostate *m, const plugmc_host *host, int64_t *capacity)
{
    const plugmc_system *system = m->system;
    const int32_t k = molecule_named(system, m->variable);
    for (int32_t s = 0; s < system->species_count; s++)
        if (!strcmp(m->variable, plugmc_species_at(system, s)->name)) m->species = s;
    if (k < 0 && m->species < 0)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "variable = %s: there is no such species, and it is not 'volume' or 'energy'",
            m->variable);
    m->kind = k < 0 || m->species >= 0 ? NULL : plugmc_kind_of_molecule(system->molecules, k);
    const int code = m->kind ? PLUGMC_OK : refuse_sites(host, "variable", m->species);
    if (code) return code;
    if (m->kind) m->species = m->kind->species[0];
    if (plugmc_species_at(system, m->species)->grows || (m->kind && !m->kind->changes))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "variable = %s: [%s %s] needs max_count, the largest number that gets a weight",
            m->variable, m->kind ? "molecule" : "species", m->variable);
    *capacity = m->kind ? m->kind->capacity : plugmc_species_at(system, m->species)->capacity;
    return PLUGMC_OK;
}

/* Whose number it is, and from where to where. */
static inline int macrostate_find(macrostate *m, const plugmc_host *host)
{
    const plugmc_system *system = m->system = host->system;
    const int energy = !strcmp(m->variable, "energy"), volume = !strcmp(m->variable, "volume");
    m->species = energy ? ENERGY_BINS : VOLUME_BINS;
    m->by_steps = energy ? m->by_steps : !volume;
    if (m->coexistence && (volume || energy || system->changes & PLUGMC_CHANGED_BOX))
        return macrostate_refuse(host,
                                 "coexistence is found from numbers of particles in one volume");
    if (volume || energy) {
        if (m->bins < 2 || !(m->max > m->min))
            return macrostate_refuse(host, "a volume or an energy needs min, max and bins");
        if (volume && m->min < 0) return macrostate_refuse(host, "a volume is not below 0");
        if (m->windows > 1 && !m->by_steps)
            return macrostate_refuse(host,
                                     "windows are for numbers of particles, and for energies with "
                                     "transition_matrix");
        return macrostate_check_windows(m, host);
    }
    int64_t capacity = 0;
    const int code = macrostate_find_number(m, host, &capacity);
    if (code) return code;
    const double room = (double)capacity;
    if (m->max == 0) m->max = (real)room;
    if (m->max > room || m->min > m->max - 1 || m->min != floor(m->min) || m->max != floor(m->max))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "min and max are numbers of %s: integers, max the larger, and at most its max_count, %g",
            m->variable, room);
    if (m->bins) return macrostate_refuse(host, "bins are for the volume: each number is one");
    m->bins = (int64_t)(m->max - m->min) + 1;
    return macrostate_check_windows(m, host);
}

/* Those with a number in common follow one another. */
static inline void macrostate_make_windows(const macrostate *m, int32_t (*window)[2])
{
    for (int32_t w = 0; w < m->system->walkers; w++) {
        const int64_t k = w % m->windows;
        window[w][0] = (int32_t)(k * (m->bins - 1) / m->windows);
        window[w][1] = (int32_t)((k + 1) * (m->bins - 1) / m->windows);
    }
}

/* How many numbers a measurement has. */
static inline size_t macrostate_measured(const macrostate *m)
{
    return (size_t)m->bins * (m->by_steps ? 4 : 1);
}

/* For `prepare`: checks the keys, takes memory, declares. Weights are 0. */
static inline int macrostate_prepare(macrostate *m, const plugmc_host *host)
{
    int code = macrostate_find(m, host);
    if (code) return code;
    const int number = m->species >= 0;
    const size_t bins = (size_t)m->bins, walkers = (size_t)m->system->walkers;
    double *of_count =
        host->allocate(host->context, (size_t)m->system->species_count * sizeof *of_count);
    int32_t(*window)[2] = host->allocate(host->context, walkers * sizeof *window);
    m->x = host->allocate(host->context, bins * sizeof *m->x);
    m->room = host->allocate(host->context, bins * sizeof *m->room);
    m->measured = host->allocate(host->context, macrostate_measured(m) * sizeof *m->measured);
    const double width = number ? 1 : (m->max - m->min) / (double)bins;
    m->states = (plugmc_macrostates){
        .size = sizeof m->states,
        .bins = (int32_t)bins,
        .of_volume = m->species == VOLUME_BINS,
        .of_energy = m->species == ENERGY_BINS ? m->system->temperature : 0,
        .of_count = of_count,
        .low = number ? m->min - 0.5 : m->min,
        .width = width,
        .window = window,
        .weight = host->allocate(host->context, bins * sizeof(double)),
        .visits = host->allocate(host->context, bins * sizeof(double)),
        .collected = host->allocate(host->context, bins * 4 * sizeof(double)),
    };
    if (!of_count || !window || !m->x || !m->room || !m->measured || !m->states.weight ||
        !m->states.visits || !m->states.collected)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu bins", bins);
    for (size_t b = 0; b < bins; b++) m->x[b] = m->states.low + ((double)b + 0.5) * width;
    if (number) of_count[m->species] = 1;
    if (m->kind) { /* sites of the species of the first one */
        of_count[m->species] = 1 / (double)m->kind->stride[0];
        m->states.low += (double)m->kind->others / (double)m->kind->stride[0];
    }
    macrostate_make_windows(m, window);
    return plugmc_weighing_of(host)->declare(host->context, &m->states);
}

/* For `archive`. */
static inline int macrostate_archive(macrostate *m, plugmc_archive *a)
{
    const size_t bins = (size_t)m->bins;
    int code = a->bytes(a, "weight", m->states.weight, bins * sizeof(double));
    if (!code) code = a->bytes(a, "visits", m->states.visits, bins * sizeof(double));
    if (!code) code = a->bytes(a, "collected", m->states.collected, bins * 4 * sizeof(double));
    return code ? code
                : a->bytes(a, "measured", m->measured, macrostate_measured(m) * sizeof(double));
}

/* ---- ln of probabilities --------------------------------------------------------------------------- */

/* ln p(N + 1) - ln p(N) of bin b, from the transition counts; NaN if there are none. */
static inline double macrostate_step(const double (*collected)[4], int64_t b)
{
    const double *from = collected[b], *to = collected[b + 1];
    if (!(from[PLUGMC_UP] > 0 && to[PLUGMC_DOWN] > 0)) return NAN;
    return log(from[PLUGMC_UP] / from[PLUGMC_UP_TRIALS]) -
           log(to[PLUGMC_DOWN] / to[PLUGMC_DOWN_TRIALS]);
}

/* ln p [bins] relative to the first bin that is known, NaN where nothing leads. Returns how many are known;
 * *first is where they begin. */
static inline int64_t macrostate_chain(const double (*collected)[4], int64_t bins, double *ln_p,
                                       int64_t *first)
{
    int64_t b = 0, end;
    while (b < bins - 1 && isnan(macrostate_step(collected, b))) b++;
    *first = b;
    for (int64_t k = 0; k < bins; k++) ln_p[k] = NAN;
    ln_p[b] = 0;
    for (end = b + 1; end < bins; end++) {
        const double step = macrostate_step(collected, end - 1);
        if (isnan(step)) break;
        ln_p[end] = ln_p[end - 1] + step;
    }
    return end - b;
}

static inline double macrostate_sum(const double *ln_p, const double *x, double shift,
                                    int64_t begin, int64_t end, double *mean)
{
    double largest = -INFINITY, sum = 0, first = 0;
    for (int64_t b = begin; b < end; b++) largest = fmax(largest, ln_p[b] + shift * x[b]);
    for (int64_t b = begin; b < end; b++) {
        const double p = exp(ln_p[b] + shift * x[b] - largest);
        sum += p;
        first += p * x[b];
    }
    if (mean) *mean = first / sum;
    return log(sum) + largest;
}

/* Adds up to 1. */
static inline void macrostate_normalise(const macrostate *m, double *ln_p)
{
    int64_t begin = 0, end;
    while (begin < m->bins && isnan(ln_p[begin])) begin++;
    for (end = begin; end < m->bins && !isnan(ln_p[end]);) end++;
    const double sum = macrostate_sum(ln_p, m->x, 0, begin, end, NULL);
    for (int64_t b = begin; b < end; b++) ln_p[b] -= sum;
}

/* ---- Two phases -------------------------------------------------------------------------------------- */

enum { LN_Z, VAPOUR, LIQUID, PRESSURE, COEXISTENCE };

/* ln z is shifted until both peaks have the same area; where they part is the lowest number between them.
 * Returns whether there are two. */
static inline int macrostate_part(const macrostate *m, const double *ln_p, int64_t bins,
                                  double *shift, int64_t *parting)
{
    int64_t cut = bins / 2, before = -1;
    for (int round = 0; round < 50 && cut != before; round++) {
        double low = -100, high = 100;
        for (int k = 0; k < 200; k++) {
            *shift = 0.5 * (low + high);
            const int liquid = macrostate_sum(ln_p, m->x, *shift, cut, bins, NULL) >
                               macrostate_sum(ln_p, m->x, *shift, 0, cut, NULL);
            *(liquid ? &high : &low) = *shift;
        }
        int64_t left = 0, right = cut;
        for (int64_t b = 0; b < bins; b++) {
            int64_t *peak = b < cut ? &left : &right;
            if (ln_p[b] + *shift * m->x[b] > ln_p[*peak] + *shift * m->x[*peak]) *peak = b;
        }
        before = cut;
        for (int64_t b = left; b <= right; b++)
            if (ln_p[b] + *shift * m->x[b] < ln_p[cut] + *shift * m->x[cut]) cut = b;
        if (cut <= left || cut >= right) return 0;
        const double depth =
            fmin(ln_p[left] + *shift * m->x[left], ln_p[right] + *shift * m->x[right]) - ln_p[cut] -
            *shift * m->x[cut];
        if (depth < 0.5) return 0;
        /* what is behind the last number known must not matter */
        if (bins < m->bins &&
            ln_p[bins - 1] + *shift * m->x[bins - 1] > ln_p[right] + *shift * m->x[right] - 15)
            return 0;
    }
    *parting = cut;
    return 1;
}

/* Density and pressure where both phases have the same weight: out [COEXISTENCE], NaN where there are not
 * two. The pressure is kT / V times ln of one phase's part of the grand partition function, of which the
 * empty box is 1. */
static inline void macrostate_coexistence(const macrostate *m, const double *ln_p, double *out)
{
    const plugmc_system *s = m->system;
    const double volume = s->box.volume, kT = s->temperature;
    double shift = 0;
    int64_t cut = 0, bins = 0;
    for (int k = 0; k < COEXISTENCE; k++) out[k] = NAN;
    while (bins < m->bins && !isnan(ln_p[bins])) bins++;
    if (bins < 3 || !macrostate_part(m, ln_p, bins, &shift, &cut)) return;
    out[LN_Z] = (m->kind ? m->kind->mu : plugmc_species_at(s, m->species)->mu) / kT + shift;
    const double phase = macrostate_sum(ln_p, m->x, shift, 0, cut, &out[VAPOUR]);
    macrostate_sum(ln_p, m->x, shift, cut, bins, &out[LIQUID]);
    out[VAPOUR] /= volume;
    out[LIQUID] /= volume;
    if (m->x[0] == 0) out[PRESSURE] = kT / volume * (phase - ln_p[0]);
}

/* ---- The facet of an observable ------------------------------------------------------------------------ */

static const plugmc_listing macrostate_listing[] = {
    {"transitions", "",
     "a measurement: probabilities to go to one less, trials of that; to one more, trials of that",
     1, 0},
    {"visits", "", "trials a measurement that end in each bin", 1, 0},
    {"ln_p", "", "ln of the probability of each bin, without weights", 1, 1},
    {"ln_z_coexistence", "", "ln of the activity at which both phases have the same weight", 0, 1},
    {"density_vapour", "length^-<dimension>", "of the thin phase there", 0, 1},
    {"density_liquid", "length^-<dimension>", "of the dense phase there", 0, 1},
    {"pressure_coexistence", "<energy>/length^<dimension>", "of both phases there", 0, 1},
};

static inline const char *macrostate_axis(const macrostate *m)
{
    return m->species >= 0 ? "N" : m->species == VOLUME_BINS ? "V" : "U";
}

static inline int macrostate_quantity(void *instance, int index, plugmc_quantity *out)
{
    static const double columns[4] = {PLUGMC_DOWN, PLUGMC_DOWN_TRIALS, PLUGMC_UP, PLUGMC_UP_TRIALS};
    const macrostate *m = instance;
    if (index > 0) return 0;
    const char *axis = macrostate_axis(m);
    if (!m->by_steps)
        return plugmc_array(out, "visits", "", macrostate_listing[1].doc, m->bins, axis, m->x);
    plugmc_array(out, "transitions", "", macrostate_listing[0].doc, m->bins, axis, m->x);
    out->rank = 2;
    out->shape[1] = 4;
    out->axis[1] = "column";
    out->abscissa[1] = columns;
    return 1;
}

/* What was added to the counts since the last time; they are those of all walkers together. */
static inline int macrostate_measure(void *instance, const plugmc_host *host,
                                     const plugmc_view *view, double *values)
{
    macrostate *m = instance;
    const size_t n = macrostate_measured(m);
    const double *now = m->by_steps ? m->states.collected[0] : m->states.visits;
    (void)view;
    for (size_t k = 0; k < n; k++) values[k] = now[k] - m->measured[k];
    for (int32_t w = 1; w < host->system->walkers; w++)
        memcpy(values + (size_t)w * n, values, n * sizeof *values);
    memcpy(m->measured, now, n * sizeof *now);
    return PLUGMC_OK;
}

static inline int macrostate_derived(void *instance, int index, plugmc_quantity *out)
{
    const macrostate *m = instance;
    const plugmc_box *box = &m->system->box;
    const int two = box->dimension == 2;
    const char *density = two ? "length^-2" : "length^-3", *unit = plugmc_energy_unit(m->system);
    const plugmc_listing *l = &macrostate_listing[2 + index];
    if (index == 0)
        return plugmc_array(out, l->name, "", l->doc, m->bins, macrostate_axis(m), m->x);
    if (index > COEXISTENCE || !m->coexistence) return 0;
    const char *of_pressure = !strcmp(unit, "kT") ? (two ? "kT/length^2" : "kT/length^3")
                                                  : (two ? "energy/length^2" : "energy/length^3");
    const char *const units[] = {"", density, density, of_pressure};
    return plugmc_scalar(out, l->name, units[index - 1], l->doc);
}

static inline int macrostate_derive(void *instance, const double *means, double *out)
{
    macrostate *m = instance;
    double *ln_p = out;
    int64_t first, known = 0;
    if (!m->by_steps)
        for (int64_t b = 0; b < m->bins; b++)
            ln_p[b] = means[b] > 0 ? log(means[b]) + m->states.weight[b] : NAN;
    else
        known = macrostate_chain((const double(*)[4])means, m->bins, ln_p, &first);
    if (!m->by_steps || known > 1) macrostate_normalise(m, ln_p);
    if (m->coexistence) macrostate_coexistence(m, ln_p, out + m->bins);
    return 0;
}

static inline const char *macrostate_lacking(void *instance, const double *means)
{
    macrostate *m = instance;
    int64_t first = 0, known;
    if (!m->by_steps) return NULL;
    known = macrostate_chain((const double(*)[4])means, m->bins, m->room, &first);
    if (known == m->bins)
        return "there are not two phases: ln_p has one peak, or a second one that is not half a kT "
               "above what is between them";
    snprintf(
        m->lacks, sizeof m->lacks,
        "no trials lead on from %g to %g %s: a longer run, other windows or an activity closer to "
        "where phases coexist may help",
        m->x[known > 1 ? first + known - 1 : 0],
        m->x[known > 1 && first + known < m->bins ? first + known : m->bins - 1], m->variable);
    return m->lacks;
}

#define MACROSTATE_OBSERVABLE                                                                      \
    {                                                                                              \
        .size = sizeof(plugmc_observable), .on_device = 1, .quantity = macrostate_quantity,        \
        .measure = macrostate_measure, .derived = macrostate_derived, .derive = macrostate_derive, \
        .lacking = macrostate_lacking, .listing = macrostate_listing,                              \
        .listing_count = PLUGMC_COUNT(macrostate_listing), .listing_size = sizeof(plugmc_listing), \
        .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_WEIGHT               \
    }

#endif
