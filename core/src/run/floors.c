/* Whether pair energies have a lower bound. See floors.h.
 *
 * Two particles are brought together, from the range inwards, until something keeps them apart: a hard core, or a
 * barrier that nobody crosses. Each minimum on the way is refined. It is bottomless
 *
 *   if the energy there is so low that a double does not tell kT any more, as -1e30 in place of a guard of 1e30, or
 *   if it is low and narrow: half of it is gone within a millionth of the distance. That is a pole, -1 / (r - 1)^2;
 *   a well, however deep, is wider.
 *
 * Likewise where nothing keeps particles apart and the energy still falls at a trillionth of the range. A logarithm
 * falls, too, but never that low. */
#include "run/floors.h"

#include <math.h>
#include <stdlib.h>

#include "base/crash.h"
#include "plugin/probe.h"
#include "run/refusals.h"

static const double barrier = 1e12;  /* kT: nobody crosses it */
static const double lost = -1e15;    /* kT: a double does not resolve 1 kT there */
static const double low = -1e4;      /* kT */
static const double narrow = 1e-6;   /* of a distance */
static const double nearest = 1e-12; /* of the range */
static const double coarse_at =
    1e-3; /* of the range: nearer there are poles at 0 alone, so steps are longer */

/* Two species on one rung. */
typedef struct pair_on_rung {
    const simulation *sim;
    const double *multipliers; /* [terms] */
    int32_t a, b;
    double contact; /* length; 0: there is no hard core */
    double at;      /* where there is no floor */
} pair_on_rung;

static const plugmc_pair *pair_of(const plugmc_term *term)
{
    const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
    const int has_energy = pair && pair->functions & PLUGMC_PAIR_ENERGY;
    return has_energy && !(pair->functions & PLUGMC_PAIR_PLACES) ? pair : NULL;
}

/* kT, of one term. */
static double share_of(const pair_on_rung *p, int32_t t, double r)
{
    const plugmc_term *term = &p->sim->terms[t];
    if (!pair_of(term) || p->multipliers[t] == 0) return 0; /* it may be infinite */
    const crash_record outer = crash_calling_potential(term->label, "energy");
    const double u = probe_energy(&p->sim->system, term, p->a, p->b, r);
    crash_called_within(outer);
    return p->multipliers[t] * u;
}

/* kT */
static double energy_at(const pair_on_rung *p, double r)
{
    double sum = 0;
    for (int32_t t = 0; t < p->sim->system.term_count; t++) sum += share_of(p, t, r);
    return sum;
}

/* The place of the least energy between two distances, by golden sections. */
static double refined(const pair_on_rung *p, double left, double right)
{
    const double golden = 0.6180339887498949;
    for (int k = 0; k < 80; k++) {
        const double inner = right - golden * (right - left),
                     outer = left + golden * (right - left);
        if (energy_at(p, inner) < energy_at(p, outer))
            right = outer;
        else
            left = inner;
    }
    return energy_at(p, left) < energy_at(p, right) ? left : right;
}

/* What it is beside a single distance at which it is minus infinity, as that of a logarithm is. */
static double finite_at(const pair_on_rung *p, double r)
{
    const double beside = 4e-16, u = energy_at(p, r);
    if (u != -INFINITY) return u;
    return fmin(energy_at(p, r * (1 - beside)), energy_at(p, r * (1 + beside)));
}

/* Half of the energy at r is gone at both other distances. */
static bool is_bottomless(const pair_on_rung *p, double r, double inwards, double outwards)
{
    const double u = finite_at(p, r);
    if (u < lost) return true;
    return u < low && fmin(energy_at(p, inwards), energy_at(p, outwards)) > u / 2;
}

static bool minimum_is_bottomless(pair_on_rung *p, double left, double right)
{
    p->at = refined(p, left, right);
    return is_bottomless(p, p->at, p->at * (1 - narrow), p->at * (1 + narrow));
}

/* Where particles come as near as they can, it has one side alone. */
static bool end_is_bottomless(pair_on_rung *p, double r, double far)
{
    p->at = r;
    return is_bottomless(p, r, far, far);
}

static bool has_no_floor(pair_on_rung *p, double range)
{
    const double end = fmax(p->contact * (1 + narrow * narrow), nearest * range);
    double r[2] = {range, range},
           u[2] = {INFINITY, INFINITY}; /* of the last two, the latest first */
    while (r[0] > end && !(u[0] >= barrier && u[0] < INFINITY && r[0] < range)) {
        const double next = fmax(end, r[0] * (r[0] > coarse_at * range ? 0.995 : 0.9));
        const double v = energy_at(p, next);
        if (v == INFINITY) break;
        if (v < lost && finite_at(p, next) < lost) {
            p->at = next;
            return true;
        }
        if (u[0] < u[1] && u[0] <= v && minimum_is_bottomless(p, next, r[1])) return true;
        r[1] = r[0], u[1] = u[0];
        r[0] = next, u[0] = v;
    }
    if (r[0] > end) return false;
    return end_is_bottomless(p, end, p->contact > 0 ? end * (1 + narrow) : narrow * range);
}

/* ---- Pairs and rungs ------------------------------------------------------------------------- */

static double contact_of(const simulation *sim, int32_t a, int32_t b)
{
    const plugmc_species *sa = plugmc_species_at(&sim->system, a),
                         *sb = plugmc_species_at(&sim->system, b);
    const plugmc_particle one = {.charge = sa->charge, .diameter = sa->diameter, .species = a};
    const plugmc_particle other = {.charge = sb->charge, .diameter = sb->diameter, .species = b};
    double contact = 0;
    for (int32_t t = 0; t < sim->system.term_count; t++) {
        const plugmc_term *term = &sim->terms[t];
        const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
        if (!pair) continue;
        const crash_record outer = crash_calling_potential(term->label, "contact");
        contact = fmax(contact, pair->contact(term->instance, &one, &other));
        crash_called_within(outer);
    }
    return contact;
}

/* The range; without one, half the box. */
static double farthest_of(const simulation *sim)
{
    const plugmc_box *box = &sim->system.box;
    double half = box->domain == PLUGMC_DOMAIN_SPHERE ? 2 * box->radius : INFINITY;
    if (isfinite(sim->system.range)) return sim->system.range;
    for (int d = 0; d < box->dimension && box->domain != PLUGMC_DOMAIN_SPHERE; d++)
        half = fmin(half, box->length[d] / 2);
    return half;
}

static const double *multipliers_on(const simulation *sim, int32_t rung)
{
    return &sim->ladder.multipliers[rung * sim->ladder.width];
}

/* Whether a rung before has the same couplings: a temperature does not decide about a floor. */
static bool is_known(const simulation *sim, int32_t rung)
{
    for (int32_t k = 0; k < rung; k++) {
        bool same = true;
        for (int32_t t = 0; t < sim->system.term_count && same; t++) {
            const double mine = multipliers_on(sim, rung)[t] * sim->ladder.temperature[rung];
            const double other = multipliers_on(sim, k)[t] * sim->ladder.temperature[k];
            same = fabs(mine - other) <= 1e-12 * fabs(other);
        }
        if (same) return true;
    }
    return false;
}

/* Of the one that lowers the energy most. */
static int32_t guilty_term(const pair_on_rung *p)
{
    int32_t guilty = 0;
    double least = INFINITY;
    for (int32_t t = 0; t < p->sim->system.term_count; t++) {
        const double share = share_of(p, t, p->at);
        if (share < least) least = share, guilty = t;
    }
    return guilty;
}

/* " where hs.coupling = -1", or nothing without a ladder. */
static const char *words_of_rung(const ladder *l, int32_t rung, char words[256])
{
    int used = 0;
    words[0] = 0;
    for (int d = 0; d < l->rank && used < 256; d++)
        used += snprintf(words + used, 256 - (size_t)used, "%s%s = %.9g", d ? " and " : " where ",
                         l->keys[d], l->values[rung * l->rank + d]);
    return words;
}

static int refuse(simulation *sim, const pair_on_rung *p, int32_t rung)
{
    const int32_t t = guilty_term(p);
    const instance *owner = instance_of_term(sim, &sim->terms[t]);
    const plugmc_context *context = &owner->context;
    const ini_entry *coupling = ini_get(owner->section->section, "coupling");
    const bool turned = p->multipliers[t] < 0;
    char where[256];
    return report_error(
        sim->report, EXIT_INPUT, context->file, turned && coupling ? coupling->line : context->line,
        "[%s] the energy of '%s' and '%s' has no lower bound%s: it goes to %.3g kT at r = %.6g, and "
        "nothing keeps them apart%s",
        context->section, plugmc_species_at(&sim->system, p->a)->name,
        plugmc_species_at(&sim->system, p->b)->name, words_of_rung(&sim->ladder, rung, where),
        energy_at(p, p->at), p->at,
        turned
            ? ". A coupling below 0 turns repulsion into attraction: give one of at least 0, or add a "
              "potential with a core, such as hard_sphere with diameters above 0"
            : ": add a potential with a core, such as hard_sphere with diameters above 0");
}

/* All pairs of species of which two particles can meet. */
static int check_rung(simulation *sim, int32_t rung)
{
    const double range = farthest_of(sim);
    int code = 0;
    for (int32_t a = 0; a < sim->system.species_count && !code; a++)
        for (int32_t b = a; b < sim->system.species_count && !code; b++) {
            const plugmc_species *sa = plugmc_species_at(&sim->system, a),
                                 *sb = plugmc_species_at(&sim->system, b);
            if (sa->most < 1 || sb->most < (a == b ? 2 : 1)) continue;
            pair_on_rung p = {.sim = sim,
                              .multipliers = multipliers_on(sim, rung),
                              .a = a,
                              .b = b,
                              .contact = contact_of(sim, a, b)};
            if (has_no_floor(&p, range)) code = refuse(sim, &p, rung);
        }
    return code;
}

int check_floors(simulation *sim)
{
    bool any = false;
    int code = 0;
    for (int32_t t = 0; t < sim->system.term_count; t++) any |= pair_of(&sim->terms[t]) != NULL;
    for (int32_t k = 0; k < sim->ladder.rungs && any && !code; k++)
        if (!is_known(sim, k)) code = check_rung(sim, k);
    return code;
}
