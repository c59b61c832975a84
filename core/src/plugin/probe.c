/* A pair potential on trial. Movers rely on more than they can see: that there is nothing beyond
 * the range (or cells leave it out), that float and double are one potential, that it does not
 * matter which of two particles is asked, that differences and derivatives belong to the energy.
 * All of this is tried with two particles on a line:
 *
 *   beyond the range   the energy is exactly 0, in both precisions, and nothing overlaps
 *   inside             it is neither NaN nor -infinity; +infinity is a place where nothing can be
 *   two particles      the energy is the same whichever of them is the probe
 *   float and double   agree
 *   `change`           is the difference of two energies
 *   `derivatives`      give the energy, and the gradient and Laplacian that its differences give
 *
 * One that depends on places (PLUGMC_PAIR_POSITIONS) is tried on the same line, where only what belongs to it is seen: its
 * Laplacian is compared with differences in all directions.
 *
 * Not tried are distances below contact and below a thousandth of the range (without one, of half
 * the box). An attraction without a floor (Born-Mayer) may fall to -infinity there, which is
 * physics; at distances that are met it may not.
 *
 * Energies may jump and bend (cut potentials, steps). So values are compared with the least and
 * most that the energy has within 1e-5 of the separation, and differences only where they do not
 * depend on their width. An energy that is rounded to single precision on its way (plugmc_exp) has
 * steps, which second differences of a narrow width do not see: they are as wide as the steps ask.
 * Tolerances are relative to the largest energy within a factor of 1.3 of
 * the separation, since terms of that size may cancel: 1e-9 in double, 1e-3 where float is in play.
 */
#include "plugin/probe.h"

#include <math.h>

#include "base/crash.h"

enum { INSIDE = 240, BEYOND = 40, MOST_PAIRS = 60 };

typedef struct trial {
    const plugmc_system *system;
    const plugmc_term *term;
    const plugmc_pair *pair, *single; /* facets; single is NULL without */
    plugmc_particle a, b;
    const char *first, *second; /* species */
    double range, contact, scale;
    double r[INSIDE], u[INSIDE], size[INSIDE]; /* separations, energies, largest energy near */
    double steps[INSIDE]; /* of rounding: how far energies near are from smooth */
    sentence why;
} trial;

static bool probe_species(trial *);

static plugmc_particle particle_of(const plugmc_system *system, int32_t species)
{
    const plugmc_species *s = plugmc_species_at(system, species);
    return (plugmc_particle){.charge = s->charge, .diameter = s->diameter, .species = species};
}

bool probe_pair(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    const plugmc_plugin *single = term->plugin_single;
    trial t = {.system = system, .term = term, .pair = term->plugin->potential->pair, .why = why};
    int pairs = 0;
    if (!t.pair) return true;
    if (single && single->potential) t.single = single->potential->pair;
    crash_calling_its("range");
    t.range = t.pair->range(term->instance);
    for (int a = 0; a < system->species_count; a++)
        for (int b = a; b < system->species_count && pairs < MOST_PAIRS; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a),
                                 *sb = plugmc_species_at(system, b);
            if (sa->count < 1 || sb->count < (a == b ? 2 : 1)) continue;
            t.a = particle_of(system, a);
            t.b = particle_of(system, b);
            t.first = sa->name;
            t.second = sb->name;
            pairs++;
            if (!probe_species(&t)) return false;
        }
    return true;
}

/* ---- Two particles --------------------------------------------------------------------------- */

/* A direction along no axis and no diagonal; in two dimensions in the plane. */
static void place(const trial *t, double r, plugmc_particle *p)
{
    const double flat[3] = {0.8, 0.6, 0}, space[3] = {0.48, 0.6, 0.64};
    const double *n = t->system->box.dimension == 2 ? flat : space;
    p->x = r * n[0];
    p->y = r * n[1];
    p->z = r * n[2];
}

/* One particle at the origin, as arrays of either precision. */
typedef struct other {
    double zero, charge, diameter;
    float zero_single, charge_single, diameter_single;
    int32_t species;
    plugmc_particles list;
} other;

static const plugmc_particles *other_of(other *o, const plugmc_particle *p, bool single)
{
    *o = (other){.charge = p->charge,
                 .diameter = p->diameter,
                 .charge_single = (float)p->charge,
                 .diameter_single = (float)p->diameter,
                 .species = p->species};
    const void *zero = single ? (const void *)&o->zero_single : &o->zero;
    o->list = (plugmc_particles){.n = 1, .x = zero, .y = zero, .z = zero, .species = &o->species};
    o->list.charge = single ? (const void *)&o->charge_single : &o->charge;
    o->list.diameter = single ? (const void *)&o->diameter_single : &o->diameter;
    return &o->list;
}

/* Energy with the probe `a` at distance r of `b`; +infinity if they overlap. */
static double energy(const trial *t, bool single, plugmc_particle a, plugmc_particle b, double r)
{
    const plugmc_pair *pair = single ? t->single : t->pair;
    other o;
    double u = 0;
    place(t, r, &a);
    crash_calling_its("energy");
    int64_t hits = pair->energy(single ? t->term->instance_single : t->term->instance,
                                &t->system->box, 0, &a, other_of(&o, &b, single), &u);
    return hits ? INFINITY : u;
}

static double energy_at(const trial *t, double r) { return energy(t, false, t->a, t->b, r); }

double probe_energy(const plugmc_system *system, const plugmc_term *term, int32_t a, int32_t b,
                    double r)
{
    const trial t = {.system = system,
                     .term = term,
                     .pair = term->plugin->potential->pair,
                     .a = particle_of(system, a),
                     .b = particle_of(system, b)};
    return energy_at(&t, r);
}

/* Least and most of it within 1e-5 of the separation. */
static void bounds(const trial *t, double r, double *least, double *most)
{
    const double u[3] = {energy_at(t, r * (1 - 1e-5)), energy_at(t, r),
                         energy_at(t, r * (1 + 1e-5))};
    *least = fmin(u[0], fmin(u[1], u[2]));
    *most = fmax(u[0], fmax(u[1], u[2]));
}

/* ---- What must agree ------------------------------------------------------------------------- */

static bool is_zero_beyond(trial *t)
{
    if (isinf(t->range)) return true;
    const double from = fmax(t->range, t->contact);
    for (int i = 0; i < BEYOND; i++)
        for (int single = 0; single <= (t->single != NULL); single++) {
            const double far = i < BEYOND / 2 ? 1 + 2e-5 * pow(1e5, i / (BEYOND / 2 - 1.0))
                                              : 1.0137 + (i - BEYOND / 2) * (4.0 / (BEYOND / 2));
            const double r = (from > 0 ? from : t->scale) * far;
            const double u = energy(t, single, t->a, t->b, r);
            if (u == 0) continue;
            if (isinf(u))
                return why_not(t->why,
                               "'%s' and '%s' overlap at separation %.9g%s, beyond contact "
                               "(%.9g) and range (%.9g)",
                               t->first, t->second, r, single ? " in single precision" : "",
                               t->contact, t->range);
            return why_not(t->why,
                           "the pair energy of '%s' and '%s' is %.9g at separation %.9g%s, "
                           "beyond the declared range of %.9g",
                           t->first, t->second, u, r, single ? " in single precision" : "",
                           t->range);
        }
    return true;
}

static bool is_number_inside(trial *t)
{
    for (int i = 0; i < INSIDE; i++)
        for (int single = 0; single <= (t->single != NULL); single++) {
            const double u = single ? energy(t, true, t->a, t->b, t->r[i]) : t->u[i];
            if (isnan(u) || u == -INFINITY)
                return why_not(t->why,
                               "the pair energy of '%s' and '%s' is %s at separation %.9g%s",
                               t->first, t->second, isnan(u) ? "NaN" : "-infinity", t->r[i],
                               single ? " in single precision" : "");
        }
    return true;
}

static bool is_symmetric(trial *t)
{
    for (int i = 0; i < INSIDE; i++) {
        const double u = t->u[i], back = energy(t, false, t->b, t->a, t->r[i]);
        if (u == back || fabs(u - back) <= 1e-9 * t->size[i]) continue;
        return why_not(t->why,
                       "the pair energy of '%s' and '%s' is %.9g at separation %.9g, but "
                       "%.9g if they are exchanged",
                       t->first, t->second, u, t->r[i], back);
    }
    return true;
}

static bool is_same_in_float(trial *t)
{
    const double huge = 1e30; /* near the end of float */
    for (int i = 0; t->single && i < INSIDE; i++) {
        double least, most, u = energy(t, true, t->a, t->b, t->r[i]);
        bounds(t, t->r[i], &least, &most);
        const double slack = 1e-3 * t->size[i] + 1e-30;
        if (most > huge || least < -huge || (u >= least - slack && u <= most + slack)) continue;
        return why_not(t->why,
                       "the pair energy of '%s' and '%s' at separation %.9g is %.9g in double "
                       "precision and %.9g in single",
                       t->first, t->second, t->r[i], t->u[i], u);
    }
    return true;
}

/* Neighbouring separations, there and back. */
static bool changes_are_differences(trial *t)
{
    for (int i = 0; i + 1 < INSIDE; i++)
        for (int single = 0; single <= (t->single != NULL); single++) {
            const plugmc_pair *pair = single ? t->single : t->pair;
            const double size = fmax(t->size[i], t->size[i + 1]);
            plugmc_particle from = t->a, to = t->a;
            other o;
            double change = 0;
            place(t, t->r[i], &from);
            place(t, t->r[i + 1], &to);
            const double u[2] = {energy(t, single, t->a, t->b, t->r[i]),
                                 energy(t, single, t->a, t->b, t->r[i + 1])};
            if (isinf(u[0]) || isinf(u[1]) || size > 1e30) continue;
            crash_calling_its("change");
            pair->change(single ? t->term->instance_single : t->term->instance, &t->system->box, 0,
                         &from, (double[3]){to.x, to.y, to.z}, other_of(&o, &t->b, single),
                         &change);
            if (fabs(change - (u[1] - u[0])) <= (single ? 1e-3 : 1e-9) * size + 1e-30) continue;
            return why_not(t->why,
                           "the pair energy of '%s' and '%s' changes by %.9g from separation %.9g "
                           "to %.9g%s, but `change` says %.9g",
                           t->first, t->second, u[1] - u[0], t->r[i], t->r[i + 1],
                           single ? " in single precision" : "", change);
        }
    return true;
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

typedef struct slopes {
    double first, second; /* du/dr, d2u/dr2 */
} slopes;

static slopes differences(const trial *t, double r, double width)
{
    const double u[3] = {energy_at(t, r - width), energy_at(t, r), energy_at(t, r + width)};
    return (slopes){(u[2] - u[0]) / (2 * width), (u[2] - 2 * u[1] + u[0]) / (width * width)};
}

/* Energy with the probe at r on the line and `by` beside it in one direction. */
static double energy_beside(const trial *t, double r, int direction, double by)
{
    plugmc_particle a = t->a;
    other o;
    double u = 0;
    place(t, r, &a);
    *(direction == 0 ? &a.x : direction == 1 ? &a.y : &a.z) += by;
    crash_calling_its("energy");
    const int64_t hits =
        t->pair->energy(t->term->instance, &t->system->box, 0, &a, other_of(&o, &t->b, false), &u);
    return hits ? INFINITY : u;
}

static double laplacian_by_differences(const trial *t, double r, double width)
{
    double sum = 0;
    for (int d = 0; d < t->system->box.dimension; d++)
        sum += energy_beside(t, r, d, width) - 2 * energy_at(t, r) + energy_beside(t, r, d, -width);
    return sum / (width * width);
}

/* Differences of two widths that agree: no jump or bend is near, and rounding does not show. */
static bool is_settled(double wide, double narrow, double slack)
{
    return isfinite(wide) && isfinite(narrow) &&
           fabs(wide - narrow) <= 1e-3 * fabs(narrow) + 0.1 * slack;
}

/* Inside by more than the differences are wide; edges are where energies jump. */
static bool is_away_from_edges(const trial *t, double r)
{
    return fabs(r - t->range) > 1e-2 * r && r > 1.01 * t->contact;
}

/* Fourth differences of an energy that is smooth are nothing over so short a way: what is left of
 * them is rounding. */
static double steps_at(const trial *t, double r)
{
    enum { POINTS = 9 };
    double u[POINTS], most = 0;
    for (int k = 0; k < POINTS; k++) u[k] = energy_at(t, r * (1 + 5e-5 * (k - POINTS / 2)));
    for (int k = 0; k + 4 < POINTS; k++) {
        const double fourth = u[k] - 4 * u[k + 1] + 6 * u[k + 2] - 4 * u[k + 3] + u[k + 4];
        if (isfinite(fourth)) most = fmax(most, fabs(fourth) / 8);
    }
    return most;
}

/* Half the width of second differences, relative to the separation: the steps of the energy make
 * them wrong by a twentieth of what is allowed; 0 where they would have to be too wide. */
static double width_of(const trial *t, int i, double slack)
{
    enum { A_TWENTIETH = 20 };
    const double least = 1e-4, most = 0.04, r = t->r[i];
    const double width = sqrt(4 * t->steps[i] * A_TWENTIETH / slack) / r;
    const double to_edge = fmin(fabs(r - t->range) / r, 1 - t->contact / r);
    if (!(width > least)) return least;
    return width < most && 3 * width < to_edge ? width : 0;
}

static bool derivative_is_wrong(trial *t, int i, bool single)
{
    const plugmc_pair *pair = single ? t->single : t->pair;
    const double r = t->r[i], size = t->size[i];
    const double tolerance = single ? 1e-2 : 1e-3, slack = tolerance * size / r;
    plugmc_particle a = t->a;
    plugmc_derivatives d = {0};
    other o;
    place(t, r, &a);
    crash_calling_its("derivatives");
    pair->derivatives(single ? t->term->instance_single : t->term->instance, &t->system->box, 0, 1,
                      &a, other_of(&o, &t->b, single), &d);
    const double first = (d.gradient[0] * a.x + d.gradient[1] * a.y + d.gradient[2] * a.z) / r;
    const int placed = (pair->functions & PLUGMC_PAIR_POSITIONS) != 0;
    const double second =
        placed ? d.laplacian : d.laplacian - (t->system->box.dimension - 1) * first / r;
    const slopes wide = differences(t, r, 2e-4 * r), narrow = differences(t, r, 1e-4 * r);
    const char *where = single ? " in single precision" : "";
    if (isfinite(t->u[i]) && (isnan(first) || isnan(d.laplacian)))
        return !why_not(
            t->why,
            "the %sderivative of the pair energy of '%s' and '%s' is not a number at "
            "separation %.9g%s, where the energy is %.9g: 0 / 0, or a root or logarithm of "
            "a negative number",
            isnan(first) ? "" : "second ", t->first, t->second, r, where, t->u[i]);
    if (!(fabs(d.energy - t->u[i]) <= (single ? 1e-3 : 1e-9) * size + 1e-30))
        return !why_not(t->why,
                        "the pair energy of '%s' and '%s' at separation %.9g is %.9g, but %.9g "
                        "beside its derivatives%s",
                        t->first, t->second, r, t->u[i], d.energy, where);
    if (is_settled(wide.first, narrow.first, slack) &&
        !(fabs(first - narrow.first) <= tolerance * fabs(narrow.first) + slack))
        return !why_not(t->why,
                        "the derivative of the pair energy of '%s' and '%s' is %.9g at "
                        "separation %.9g%s, but finite differences give %.9g",
                        t->first, t->second, first, r, where, narrow.first);
    const double slack2 = 10 * tolerance * size / (r * r), width = width_of(t, i, slack2) * r;
    if (!(width > 0) || !is_settled(wide.first, narrow.first, slack)) return false;
    const double wider =
        placed ? laplacian_by_differences(t, r, 2 * width) : differences(t, r, 2 * width).second;
    const double found =
        placed ? laplacian_by_differences(t, r, width) : differences(t, r, width).second;
    return is_settled(wider, found, slack2) &&
           !(fabs(second - found) <= 10 * tolerance * fabs(found) + slack2) &&
           !why_not(t->why,
                    "the second derivative of the pair energy of '%s' and '%s' is %.9g at "
                    "separation %.9g%s, but finite differences give %.9g",
                    t->first, t->second, second, r, where, found);
}

/* Within a factor of 1.3, since the steps do not show where an energy is flat: the third largest, as
 * a jump of the energy looks like one of them at a place or two. */
static void find_steps(trial *t)
{
    double own[INSIDE];
    for (int i = 0; i < INSIDE; i++) own[i] = steps_at(t, t->r[i]);
    for (int i = 0; i < INSIDE; i++) {
        double most[3] = {0};
        for (int k = 0; k < INSIDE; k++) {
            double next = own[k];
            if (!(t->r[k] > t->r[i] / 1.3 && t->r[k] < t->r[i] * 1.3)) continue;
            for (int m = 0; m < 3; m++)
                if (next > most[m]) {
                    const double smaller = most[m];
                    most[m] = next;
                    next = smaller;
                }
        }
        t->steps[i] = most[2];
    }
}

static bool derivatives_are_right(trial *t)
{
    if (!PLUGMC_HAS(t->pair, derivatives) || !t->pair->derivatives) return true;
    find_steps(t);
    for (int i = 0; i < INSIDE; i++)
        for (int single = 0; single <= (t->single != NULL); single++) {
            const double huge = single ? 1e25 : 1e200;
            if (single && (!PLUGMC_HAS(t->single, derivatives) || !t->single->derivatives))
                continue;
            if (!is_away_from_edges(t, t->r[i]) || !(t->size[i] < huge)) continue;
            if (derivative_is_wrong(t, i, single)) return false;
        }
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Half of them equally spaced, half by equal factors; kept a little apart from both ends. */
static void choose_separations(trial *t)
{
    const double end = isinf(t->range) || t->range <= 0 ? t->scale : t->range;
    const double begin = fmax(t->contact * (1 + 1e-4), 1e-3 * end);
    for (int i = 0; i < INSIDE; i++) {
        const double part = ((i >> 1) + 0.5 * (i & 1) + 0.31) / (INSIDE / 2 + 0.5);
        const double r = begin >= end ? begin * (1 + part)
                         : i & 1      ? begin + (end - begin) * part
                                      : begin * pow(end / begin, part);
        t->r[i] = r;
        t->u[i] = energy_at(t, r);
    }
}

/* The largest finite energy within a factor of 1.3. */
static void find_sizes(trial *t)
{
    for (int i = 0; i < INSIDE; i++) {
        t->size[i] = 0;
        for (int k = 0; k < INSIDE; k++)
            if (t->r[k] > t->r[i] / 1.3 && t->r[k] < t->r[i] * 1.3 && isfinite(t->u[k]))
                t->size[i] = fmax(t->size[i], fabs(t->u[k]));
    }
}

static bool probe_species(trial *t)
{
    const plugmc_box *box = &t->system->box;
    crash_calling_its("contact");
    t->contact = t->pair->contact(t->term->instance, &t->a, &t->b);
    t->scale = box->domain == PLUGMC_DOMAIN_SPHERE ? 2 * box->radius : 0.5 * box->length[0];
    choose_separations(t);
    find_sizes(t);
    return is_number_inside(t) && is_zero_beyond(t) && is_symmetric(t) && is_same_in_float(t) &&
           changes_are_differences(t) && derivatives_are_right(t);
}
