/* Whether pair energies have a lower bound. See floors.h.
 *
 * Two particles are brought together, from the range inwards, until something keeps them apart: a hard core, or a
 * barrier that nobody crosses. Each minimum on the way is refined. It is bottomless
 *
 *   if the energy there is so low that a double does not tell kT any more, as -1e30 in place of a guard of 1e30, or
 *   if it is low and narrow: half of it is gone within a millionth of the distance. That is a pole, -1 / (r - 1)^2;
 *   a well, however deep, is wider.
 *
 * A pole may be too weak for a minimum on a slope; it is looked for where an energy is far below a polynomial through
 * its neighbours.
 *
 * Likewise where particles are as near as they come, at contact or at a trillionth of the range. A weak pole there is known
 * by how the energy falls on the last steps. With x the distance from there, c ln x falls by the same in each decade, and
 * leaves exp(-U / kT) a weight up to c = d dimensions; what falls faster and faster leaves none. */
#include "engine/floors.h"

#include <math.h>

#include "base/crash.h"
#include "plugin/probe.h"
#include "system/molecule_kinds.h"

static const double barrier = 1e12;  /* kT: nobody crosses it */
static const double lost = -1e15;    /* kT: a double does not resolve 1 kT there */
static const double low = -1e4;      /* kT */
static const double narrow = 1e-6;   /* of a distance */
static const double nearest = 1e-12; /* of the range */
static const double closest =
    1e-14; /* of a contact, from there: a hundred times what a double resolves */
static const double coarse_at =
    1e-3; /* of the range: nearer there are poles at 0 alone, so steps are longer */

/* Two species on one rung. */
typedef struct pair_on_rung {
    const plugmc_system *system;
    const double *multipliers; /* [terms] */
    int32_t a, b;
    double contact; /* length; 0: there is no hard core */
    double at;      /* where there is no floor */
} pair_on_rung;

static const plugmc_pair *pair_of(const plugmc_term *term)
{
    const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
    const int has_energy = pair && pair->functions & PLUGMC_PAIR_ENERGY;
    return has_energy && !(pair->functions & PLUGMC_PAIR_POSITIONS) ? pair : NULL;
}

/* kT, of one term. */
static double share_of(const pair_on_rung *p, int32_t t, double r)
{
    const plugmc_term *term = plugmc_term_at(p->system, t);
    if (!pair_of(term) || p->multipliers[t] == 0) return 0; /* it may be infinite */
    const crash_record outer = crash_calling_potential(term->label, "energy");
    const double u = probe_energy(p->system, term, p->a, p->b, r);
    crash_called_within(outer);
    return p->multipliers[t] * u;
}

/* kT */
static double energy_at(const pair_on_rung *p, double r)
{
    double sum = 0;
    for (int32_t t = 0; t < p->system->term_count; t++) sum += share_of(p, t, r);
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

/* Whether the energy falls for ever where particles come nearest: at each step, of which the latter half is a larger fall
 * than the former, as it is not where differences of large numbers leave their rounding errors. */
static bool falls_on(pair_on_rung *p, double range)
{
    enum { STEPS = 8, HALF = STEPS / 2 };
    const double rounding = 1e-12;
    const bool hard = p->contact > 0;
    const double unit = hard ? p->contact : range;
    double u[STEPS + 1];
    for (int k = 0; k <= STEPS; k++) {
        p->at = p->contact + unit * nearest * pow(closest / nearest, (double)k / STEPS);
        u[k] = energy_at(p, p->at);
        if (!(u[k] < barrier) || (k && !(u[k] < u[k - 1]))) return false;
    }
    const double outer = u[0] - u[HALF], inner = u[HALF] - u[STEPS];
    if (inner <= rounding * fabs(u[STEPS])) return false;
    const double power = (outer + inner) / log(nearest / closest);
    return inner > 1.2 * outer || power >= (hard ? 1 : p->system->box.dimension);
}

/* Energies on the way inwards, by steps of equal ratio. */
enum { MOST_STEPS = 2048, REACH = 3 };
typedef struct inwards {
    int count;
    double r[MOST_STEPS], u[MOST_STEPS];
} inwards;

/* The polynomial through three energies on each side of step k (Lagrange), at r. */
static double through_neighbours(const inwards *way, int k, double r)
{
    double sum = 0;
    for (int i = k - REACH; i <= k + REACH; i++) {
        double weight = i == k ? 0 : 1;
        for (int j = k - REACH; j <= k + REACH && weight != 0; j++)
            if (j != i && j != k) weight *= (r - way->r[j]) / (way->r[i] - way->r[j]);
        sum += weight * way->u[i];
    }
    return sum;
}

/* How far an energy is from there, if it is more than rounding; in ln r steps are equal, and weights the same. */
static double residual(const inwards *way, int k)
{
    const double *u = way->u + k, rounding = 1e-13, size = fmax(fabs(u[-REACH]), fabs(u[REACH])),
                 through = (15 * (u[-1] + u[1]) - 6 * (u[-2] + u[2]) + (u[-3] + u[3])) / 20;
    return fabs(u[0] - through) > rounding * size ? u[0] - through : 0;
}

/* Far more below its neighbours than energies some steps away are. */
static bool sticks_out(const inwards *way, int k)
{
    enum { AWAY = 8 };
    const double more = 30, here = residual(way, k);
    return here < 0 && here < -more * fabs(residual(way, k - AWAY)) &&
           here < -more * fabs(residual(way, k + AWAY));
}

/* The place beside step k where the energy is farthest below its neighbours' polynomial, by golden sections. */
static double lowest_beside(const pair_on_rung *p, const inwards *way, int k)
{
    const double golden = 0.6180339887498949;
    double left = way->r[k + 1], right = way->r[k - 1];
    for (int i = 0; i < 80; i++) {
        const double inner = right - golden * (right - left),
                     outer = left + golden * (right - left);
        if (energy_at(p, inner) - through_neighbours(way, k, inner) <
            energy_at(p, outer) - through_neighbours(way, k, outer))
            right = outer;
        else
            left = inner;
    }
    return (left + right) / 2;
}

/* Poles so weak that they make no minimum on the way, as -1e-10 / (r - 1)^2 on a slope. */
static bool has_weak_pole(pair_on_rung *p, const inwards *way)
{
    enum { EDGE = 8 + REACH };
    for (int k = EDGE; k < way->count - EDGE; k++) {
        if (!sticks_out(way, k)) continue;
        p->at = lowest_beside(p, way, k);
        if (is_bottomless(p, p->at, p->at * (1 - narrow), p->at * (1 + narrow))) return true;
    }
    return false;
}

static bool has_no_floor(pair_on_rung *p, double range)
{
    const double end = fmax(p->contact * (1 + narrow * narrow), nearest * range);
    inwards way = {0};
    double r[2] = {range, range},
           u[2] = {INFINITY, INFINITY}; /* of the last two, the latest first */
    while (r[0] > end && !(u[0] >= barrier && u[0] < INFINITY && r[0] < range)) {
        const bool fine = r[0] > coarse_at * range;
        const double next = fmax(end, r[0] * (fine ? 0.995 : 0.9)), v = energy_at(p, next);
        if (v == INFINITY) break;
        if (v < lost && finite_at(p, next) < lost) {
            p->at = next;
            return true;
        }
        if (u[0] < u[1] && u[0] <= v && minimum_is_bottomless(p, next, r[1])) return true;
        r[1] = r[0], u[1] = u[0];
        r[0] = next, u[0] = v;
        if (fine && next > end && way.count < MOST_STEPS)
            way.r[way.count] = next, way.u[way.count++] = v;
    }
    if (has_weak_pole(p, &way)) return true;
    if (r[0] > end) return false;
    return end_is_bottomless(p, end, p->contact > 0 ? end * (1 + narrow) : narrow * range) ||
           falls_on(p, range);
}

/* ---- Pairs and rungs ------------------------------------------------------------------------- */

/* What is nearer is forbidden: by a hard core, or since the spheres inside of two hard bodies overlap. */
static double contact_of(const plugmc_system *system, int32_t a, int32_t b)
{
    const plugmc_species *sa = plugmc_species_at(system, a), *sb = plugmc_species_at(system, b);
    const plugmc_particle one = {.charge = sa->charge, .diameter = sa->diameter, .species = a};
    const plugmc_particle other = {.charge = sb->charge, .diameter = sb->diameter, .species = b};
    double contact = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        const plugmc_body *body = plugmc_body_of(term->plugin);
        if (!term->sampled) continue;
        const crash_record outer = crash_calling_potential(term->label, "contact");
        if (pair) contact = fmax(contact, pair->contact(term->instance, &one, &other));
        if (body && body->functions & PLUGMC_BODY_OVERLAP) {
            const double inside[] = {body->core(term->instance, &one),
                                     body->core(term->instance, &other)};
            if (inside[0] > 0 && inside[1] > 0) contact = fmax(contact, inside[0] + inside[1]);
        }
        crash_called_within(outer);
    }
    return contact;
}

/* The range; without one, half the box. */
static double farthest_of(const plugmc_system *system)
{
    const plugmc_box *box = &system->box;
    double half = box->domain == PLUGMC_DOMAIN_SPHERE ? 2 * box->radius : INFINITY;
    if (isfinite(system->range)) return system->range;
    for (int d = 0; d < box->dimension && box->domain != PLUGMC_DOMAIN_SPHERE; d++)
        half = fmin(half, box->length[d] / 2);
    return half;
}

static const double *multipliers_on(const ladder *l, int32_t rung)
{
    return &l->multipliers[rung * l->width];
}

/* Whether a rung before has the same couplings: a temperature does not decide about a floor. */
static bool is_known(const plugmc_system *system, const ladder *l, int32_t rung)
{
    for (int32_t k = 0; k < rung; k++) {
        bool same = true;
        for (int32_t t = 0; t < system->term_count && same; t++) {
            const double mine = multipliers_on(l, rung)[t] * l->temperature[rung];
            const double other = multipliers_on(l, k)[t] * l->temperature[k];
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
    for (int32_t t = 0; t < p->system->term_count; t++) {
        const double share = share_of(p, t, p->at);
        if (share < least) least = share, guilty = t;
    }
    return guilty;
}

/* A site of a molecule may have no core of its own, as the hydrogen of many models of water, since other sites of the
 * molecule keep others away from it. How near these let them come is not looked at. */
static bool is_kept_by_molecule(const plugmc_system *system, int32_t s)
{
    const plugmc_species *species = plugmc_species_at(system, s);
    return species->capacity > 0 && room_of_sites(system, s) == species->capacity;
}

/* All pairs of species of which two particles can meet. */
static bool find_on_rung(const plugmc_system *system, const ladder *l, int32_t rung,
                         bottomless_pair *out)
{
    const double range = farthest_of(system);
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = a; b < system->species_count; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a),
                                 *sb = plugmc_species_at(system, b);
            if (is_kept_by_molecule(system, a) || is_kept_by_molecule(system, b)) continue;
            if (sa->capacity < 1 || sb->capacity < (a == b ? 2 : 1)) continue;
            pair_on_rung p = {.system = system,
                              .multipliers = multipliers_on(l, rung),
                              .a = a,
                              .b = b,
                              .contact = contact_of(system, a, b)};
            if (!has_no_floor(&p, range)) continue;
            *out = (bottomless_pair){rung, a, b, guilty_term(&p), p.at, energy_at(&p, p.at)};
            return true;
        }
    return false;
}

bool floors_find_none(const plugmc_system *system, const ladder *l, bottomless_pair *out)
{
    bool any = false;
    for (int32_t t = 0; t < system->term_count; t++)
        any |= pair_of(plugmc_term_at(system, t)) != NULL;
    for (int32_t k = 0; k < l->rungs && any; k++)
        if (!is_known(system, l, k) && find_on_rung(system, l, k, out)) return true;
    return false;
}
