/* A pair energy of the vector between two particles. Movers ask for a pair by either of its particles,
 * whichever moves, and add what they are told along the separation:
 *
 *   the other way round   u(s) of a and b is u(-s) of b and a
 *   all directions        where there is a derivative du/dr, the energy is one of the distance
 *   beyond the range      derivatives are exactly 0, as the energy is: virials and forces add them up
 *
 * Values are compared at few separations, with those that the energy has within 1e-5 of them, since it
 * may jump. */
#include "plugin/probe_vectors.h"

#include <math.h>

#include "base/crash.h"

enum { SEPARATIONS = 16, DIRECTIONS = 4, MOST_PAIRS = 60 };

/* The first is that of the places of one particle; none is along an axis. */
static const double directions[DIRECTIONS][3] = {
    {0.48, 0.6, 0.64}, {-0.64, 0.48, 0.6}, {0.6, -0.64, 0.48}, {-0.36, -0.8, -0.48}};
static const double flat_directions[DIRECTIONS][3] = {
    {0.8, 0.6, 0}, {-0.6, 0.8, 0}, {0.28, -0.96, 0}, {-0.96, -0.28, 0}};

typedef struct vectors {
    const plugmc_system *system;
    const plugmc_term *term;
    const plugmc_pair *pair;
    const void *instance;
    bool single;
    double size; /* largest energy but those of cores: terms of it may cancel */
    plugmc_particle a, b;
    const char *first, *second; /* species */
    sentence why;
} vectors;

/* One particle as arrays of either precision. */
typedef struct other {
    double real[5];
    float real_single[5];
    plugmc_particles list;
} other;

static const plugmc_particles *other_of(other *o, const plugmc_particle *p, bool single)
{
    const double numbers[5] = {p->x, p->y, p->z, p->charge, p->diameter};
    const void *at[5];
    for (int k = 0; k < 5; k++) {
        o->real[k] = numbers[k];
        o->real_single[k] = (float)numbers[k];
        at[k] = single ? (const void *)&o->real_single[k] : &o->real[k];
    }
    o->list = (plugmc_particles){1, at[0], at[1], at[2], at[3], at[4], &p->species};
    return &o->list;
}

static void place(const vectors *v, int direction, double r, plugmc_particle *p)
{
    const double *n = (v->system->box.dimension == 2 ? flat_directions : directions)[direction];
    p->x = r * n[0];
    p->y = r * n[1];
    p->z = r * n[2];
}

/* a is moved, b stands; +infinity if they overlap. */
static double energy(const vectors *v, const plugmc_particle *a, const plugmc_particle *b)
{
    other o;
    double u = 0;
    crash_calling_its("energy");
    return v->pair->energy(v->instance, &v->system->box, 0, a, other_of(&o, b, v->single), &u)
               ? INFINITY
               : u;
}

/* a at distance r of b, which stands at the origin. */
static double energy_at(const vectors *v, int direction, double r)
{
    plugmc_particle a = v->a;
    place(v, direction, r, &a);
    return energy(v, &a, &v->b);
}

static const char *precision(const vectors *v) { return v->single ? " in single precision" : ""; }

/* ---- What must agree ------------------------------------------------------------------------- */

/* The particles stay where they are, and the other one is asked. */
static bool is_the_same_from_both(const vectors *v, int direction, double r)
{
    plugmc_particle a = v->a;
    place(v, direction, r, &a);
    const double u = energy(v, &a, &v->b), back = energy(v, &v->b, &a);
    const double size = fmax(fabs(u), fabs(back)), tolerance = v->single ? 1e-3 : 1e-9;
    if (isnan(u) || isnan(back)) return true; /* which probe.h looks for */
    if (u == back || fabs(u - back) <= tolerance * (size + 0.01 * v->size)) return true;
    if (v->single && size > 1e30) return true;
    return why_not(v->why,
                   "the pair energy of '%s' and '%s' is %.9g at the separation %.6g %.6g %.6g%s, "
                   "but %.9g with the two particles exchanged, at minus that",
                   v->first, v->second, u, a.x, a.y, a.z, precision(v), back);
}

/* The energy of the first direction, within 1e-5 of the separation. */
static bool is_the_same_in(const vectors *v, int direction, double r)
{
    const double near[3] = {energy_at(v, 0, r * (1 - 1e-5)), energy_at(v, 0, r),
                            energy_at(v, 0, r * (1 + 1e-5))};
    const double u = energy_at(v, direction, r);
    const double least = fmin(near[0], fmin(near[1], near[2])),
                 most = fmax(near[0], fmax(near[1], near[2])),
                 slack = 1e-6 * fmax(fabs(near[1]), fabs(u)) + 1e-30;
    if ((u >= least - slack && u <= most + slack) || !isfinite(near[1]) || isnan(u)) return true;
    return why_not(v->why,
                   "the pair energy of '%s' and '%s' at separation %.9g is %.9g in one direction "
                   "and %.9g in another, and has a derivative by the distance alone",
                   v->first, v->second, r, near[1], u);
}

static bool is_flat_beyond(const vectors *v, double range)
{
    for (int i = 0; i < SEPARATIONS; i++) {
        const double r = range * (1.0005 + 0.21 * i * (1 + 0.1 * i));
        plugmc_derivatives d = {0};
        plugmc_particle a = v->a;
        other o;
        place(v, 0, r, &a);
        crash_calling_its("derivatives");
        v->pair->derivatives(v->instance, &v->system->box, 0, 1, &a, other_of(&o, &v->b, v->single),
                             &d);
        const double slope = fabs(d.gradient[0]) + fabs(d.gradient[1]) + fabs(d.gradient[2]) +
                             fabs(d.virial[0]) + fabs(d.virial[1]) + fabs(d.virial[2]);
        if (slope == 0 && d.laplacian == 0) continue;
        if (isnan(slope) || isnan(d.laplacian))
            return why_not(
                v->why,
                "a derivative of the pair energy of '%s' and '%s' is not a number at "
                "separation %.9g%s, beyond the declared range of %.9g: 0 / 0, or a root or "
                "logarithm of a negative number",
                v->first, v->second, r, precision(v), range);
        return why_not(v->why,
                       "the pair energy of '%s' and '%s' has nonzero derivatives at "
                       "separation %.9g%s, beyond the declared range of %.9g: the gradient "
                       "there is %.9g %.9g %.9g",
                       v->first, v->second, r, precision(v), range, d.gradient[0], d.gradient[1],
                       d.gradient[2]);
    }
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static double separation(double end, double contact, int i)
{
    return fmax(1.0001 * contact, 0.02 * end) + end * (i + 0.37) / SEPARATIONS;
}

static bool probe_species(vectors *v)
{
    const double core = 1e8;
    const plugmc_box *box = &v->system->box;
    const double scale = box->domain == PLUGMC_DOMAIN_SPHERE ? box->radius : 0.5 * box->length[0];
    crash_calling_its("contact");
    const double contact = v->pair->contact(v->instance, &v->a, &v->b);
    crash_calling_its("range");
    const double range = v->pair->range(v->instance),
                 end = isfinite(range) && range > 0 ? range : scale;
    const bool placed = (v->pair->functions & PLUGMC_PAIR_POSITIONS) != 0,
               slopes = PLUGMC_HAS(v->pair, derivatives) && v->pair->derivatives;
    v->size = 0;
    for (int i = 0; i < SEPARATIONS; i++) {
        const double u = fabs(energy_at(v, 0, separation(end, contact, i)));
        if (u < core) v->size = fmax(v->size, u);
    }
    for (int i = 0; i < SEPARATIONS; i++) {
        const double r = separation(end, contact, i);
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            if (!is_the_same_from_both(v, direction, r)) return false;
            if (slopes && !placed && !v->single && !is_the_same_in(v, direction, r)) return false;
        }
    }
    return !slopes || !isfinite(range) || is_flat_beyond(v, fmax(range, contact));
}

static plugmc_particle particle_of(const plugmc_system *system, int32_t species)
{
    const plugmc_species *s = plugmc_species_at(system, species);
    return (plugmc_particle){.charge = s->charge, .diameter = s->diameter, .species = species};
}

/* In one precision. */
static bool probe_pairs(vectors *v)
{
    int pairs = 0;
    for (int a = 0; a < v->system->species_count; a++)
        for (int b = a; b < v->system->species_count && pairs < MOST_PAIRS; b++, pairs++) {
            v->a = particle_of(v->system, a);
            v->b = particle_of(v->system, b);
            v->first = plugmc_species_at(v->system, a)->name;
            v->second = plugmc_species_at(v->system, b)->name;
            if (!probe_species(v)) return false;
        }
    return true;
}

bool probe_vectors(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    const plugmc_plugin *single = term->plugin_single;
    vectors v = {.system = system,
                 .term = term,
                 .pair = term->plugin->potential->pair,
                 .instance = term->instance,
                 .why = why};
    if (!v.pair) return true;
    if (!probe_pairs(&v)) return false;
    if (!single || !single->potential || !single->potential->pair) return true;
    v.pair = single->potential->pair;
    v.instance = term->instance_single;
    v.single = true;
    return probe_pairs(&v);
}
