/* Contact distances and wells of all pairs of species. See pair_table.h. */
#include "engine/pair_table.h"

#include <math.h>
#include <string.h>

#include "base/crash.h"
#include "plugin/probe.h"

enum { STEPS = 4000, MOST_LISTED = 32 };

typedef struct well {
    double contact;   /* where overlaps end; 0: there are none */
    double zero;      /* last change from repulsion to attraction on the way out; NaN: none */
    double at, depth; /* of the least energy beyond contact; NaN: it is nowhere below 0 */
    bool undefined;   /* some energy is not a number */
} well;

/* One that depends on places is no function of a distance. */
static bool is_pair(const plugmc_term *term)
{
    const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
    return pair && !(pair->functions & PLUGMC_PAIR_POSITIONS);
}

/* In the unit of energy, couplings included. */
static double energy_of(const engine *engine, int32_t a, int32_t b, double r)
{
    double sum = 0;
    for (int32_t t = 0; t < engine->system.term_count; t++) {
        const plugmc_term *term = &engine->terms[t];
        if (!is_pair(term)) continue;
        const double factor = engine->ladder.multipliers[t] * engine->ladder.temperature[0];
        const crash_record outer = crash_calling_potential(term->label, "energy");
        const double u = probe_energy(&engine->system, term, a, b, r);
        crash_called_within(outer);
        sum += isinf(u) ? u : factor * u;
    }
    return sum;
}

/* Where a function that is of one kind at `low` and of the other at `high` changes. */
static double change(const engine *engine, int32_t a, int32_t b, double low, double high,
                     bool (*of_low)(double))
{
    for (int k = 0; k < 60; k++) {
        const double middle = (low + high) / 2;
        if (of_low(energy_of(engine, a, b, middle)))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Hard cores are infinite; where a guard forbids distances the energy is 1e30, times the coupling. */
static bool overlaps(double u) { return u > 1e25; }
static bool repels(double u) { return u > 0; }

/* Where overlaps end, by a jump; 0 if the energy merely falls below what overlaps are taken for. */
static double contact_between(const engine *engine, int32_t a, int32_t b, double low, double high)
{
    const double at = change(engine, a, b, low, high, overlaps);
    return energy_of(engine, a, b, at * (1 + 1e-9)) < 1e20 ? at : 0;
}

/* The least between two separations, by golden sections. */
static void refine(const engine *engine, int32_t a, int32_t b, double low, double high, well *w)
{
    const double golden = 0.6180339887498949;
    for (int k = 0; k < 80; k++) {
        const double left = high - golden * (high - low), right = low + golden * (high - low);
        if (energy_of(engine, a, b, left) < energy_of(engine, a, b, right))
            high = right;
        else
            low = left;
    }
    const double at = (low + high) / 2, u = energy_of(engine, a, b, at);
    if (u <= w->depth) w->at = at, w->depth = u;
}

static well well_of(const engine *engine, int32_t a, int32_t b, double farthest)
{
    const double step = farthest / STEPS;
    well w = {.zero = NAN, .at = NAN, .depth = 0};
    double before = INFINITY;
    for (int k = 1; k <= STEPS; k++) {
        const double r = k * step, u = energy_of(engine, a, b, r);
        if (isnan(u)) w.undefined = true;
        if (overlaps(before) && !overlaps(u) && k > 1)
            w.contact = contact_between(engine, a, b, r - step, r);
        if (before > 0 && !overlaps(before) && u < 0)
            w.zero = change(engine, a, b, r - step, r, repels);
        if (u < w.depth) w.at = r, w.depth = u;
        before = u;
    }
    if (!isnan(w.at))
        refine(engine, a, b, fmax(w.at - step, w.contact), fmin(w.at + step, farthest), &w);
    return w;
}

static void put(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, "  %-10s", "-");
    else
        fprintf(out, "  %-10.6g", value);
}

/* The range; without one, half the box. */
static double farthest_of(const engine *engine)
{
    const plugmc_box *box = &engine->system.box;
    double half = INFINITY;
    for (int d = 0; d < box->dimension; d++) half = fmin(half, box->length[d] / 2);
    return isfinite(engine->system.range) && engine->system.range > 0 ? engine->system.range * 1.05
                                                                      : half;
}

void pair_table_write(FILE *out, const engine *engine, const char *begin)
{
    const plugmc_system *system = &engine->system;
    const units *u = &engine->config.units;
    bool any = false;
    for (int32_t t = 0; t < system->term_count; t++) any |= is_pair(&engine->terms[t]);
    if (!any || system->species_count > MOST_LISTED) return;
    fprintf(out, "%s%-24s  %-10s  %-10s  %-10s  least energy (%s)\n", begin, "pair", "contact",
            "zero at", "least at", u->given ? u->energy : plugmc_energy_unit(system));
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = a; b < system->species_count; b++) {
            const well w = well_of(engine, a, b, farthest_of(engine));
            char name[80];
            snprintf(name, sizeof name, "%.32s-%.32s", plugmc_species_at(system, a)->name,
                     plugmc_species_at(system, b)->name);
            fprintf(out, "%s%-24s", begin, name);
            if (w.undefined) {
                fputs("  its energy is not a number\n", out);
                continue;
            }
            put(out, w.contact > 0 ? w.contact : NAN);
            put(out, w.zero);
            put(out, w.at);
            put(out, isnan(w.at) ? NAN : w.depth);
            fputs("\n", out);
        }
}
