/* Bodies on trial, two at a time, at random distances and orientations:
 *
 *   sizes             the radius of the sphere inside is at most that of the sphere around; both are finite, and so is the
 *                     range of the energy
 *   far away          beyond both spheres around nothing overlaps, beyond the range the energy is exactly 0
 *   inside            bodies whose spheres inside overlap, overlap
 *   by itself         the overlap test says so, too, when it is asked without the spheres
 *   volume            is between those of the two spheres
 *   in cells          separations give what positions do
 *   two bodies        the answer is the same, to the bit, whichever of them is the probe
 *   space             it is the same after both have turned by a right angle about an axis of space, z or x, unless they nearly
 *                     touch
 *   float and double  agree, unless they nearly touch
 *   contact           just within it, float has no body apart that double has not: what a mover decides in float shall have
 *                     no overlap in double
 *
 * Two bodies nearly touch if the answer is another at a distance that differs by a millionth (in float a ten-thousandth). */
#include "plugin/probe_bodies.h"

#include <math.h>
#include <stdio.h>

#include "base/crash.h"

enum { TRIES = 400, EACH_CONTACT = 10, MOST_PAIRS = 30 };

/* One of two bodies. */
typedef struct placed {
    plugmc_particle particle;
    plugmc_orientation turned;
} placed;

typedef struct trial {
    const plugmc_system *system;
    const plugmc_term *term;
    const plugmc_body *body, *single; /* `single` is NULL without */
    double range;
    sentence why;
} trial;

/* What two bodies have: overlap, and an energy if they do not. */
typedef struct answer {
    int64_t overlaps;
    double energy;
} answer;

static bool equal(answer a, answer b)
{
    return a.overlaps == b.overlaps && (a.overlaps || a.energy == b.energy);
}

static bool close_to(answer a, answer b, double tolerance)
{
    return a.overlaps == b.overlaps &&
           (a.overlaps || fabs(a.energy - b.energy) <= tolerance * fmax(1, fabs(a.energy)));
}

/* The probe a with b, in double, or in float if `single`. */
static answer ask(const trial *t, const placed *a, const placed *b, bool single)
{
    const plugmc_body *body = single ? t->single : t->body;
    const void *instance = single ? t->term->instance_single : t->term->instance;
    const plugmc_particle *p = &b->particle;
    const float f[] = {(float)p->x, (float)p->y, (float)p->z, (float)p->charge, (float)p->diameter};
    const void *const in_float[] = {&f[0], &f[1], &f[2], &f[3], &f[4]},
                      *const in_double[] = {&p->x, &p->y, &p->z, &p->charge, &p->diameter},
                      *const *v = single ? in_float : in_double;
    const plugmc_particles other = {1, v[0], v[1], v[2], v[3], v[4], &p->species};
    answer out = {0, 0};
    crash_calling_its("energy");
    out.overlaps = body->energy(instance, &t->system->box, 0, &a->particle, &a->turned, &other,
                                &b->turned, &out.energy);
    return out;
}

static plugmc_random draw(int number, uint32_t what)
{
    return plugmc_draw((plugmc_seed){1, 0, 0}, (uint64_t)number, 0, what, PLUGMC_PURPOSE_INITIAL,
                       0);
}

/* b at the origin, a at a distance r in a random direction. */
static void place(const trial *t, int number, double r, placed *a, placed *b)
{
    const plugmc_random random = draw(number, 2);
    const int32_t dimension = t->system->box.dimension;
    const double u = 2 * M_PI * plugmc_uniform_double(random.word[0], random.word[1]),
                 z = dimension == 2 ? 0
                                    : 2 * plugmc_uniform_double(random.word[2], random.word[3]) - 1,
                 flat = sqrt(1 - z * z);
    a->particle.x = r * flat * cos(u);
    a->particle.y = r * flat * sin(u);
    a->particle.z = r * z;
    b->particle.x = b->particle.y = b->particle.z = 0;
    a->turned = plugmc_draw_orientation((plugmc_seed){1, 0, 0}, (uint64_t)number, 0, 3, dimension);
    b->turned = plugmc_draw_orientation((plugmc_seed){1, 0, 0}, (uint64_t)number, 0, 4, dimension);
}

/* Turned by a right angle about an axis of space, z, or x in three dimensions, together with its place. */
static placed turned_by_right_angle(const trial *t, placed p, bool about_x)
{
    double *const x = about_x ? &p.particle.y : &p.particle.x,
                  *const y = about_x ? &p.particle.z : &p.particle.y, before = *x;
    *x = -*y;
    *y = before;
    if (t->system->box.dimension == 2) {
        plugmc_turn_in_plane(&p.turned, PLUGMC_WHOLE_TURN / 4);
        return p;
    }
    const int32_t *q = p.turned.part;
    const double half = sqrt(0.5), i = about_x ? half : 0, k = about_x ? 0 : half;
    p.turned = (plugmc_orientation){{(int32_t)rint(half * q[0] - i * q[1] - k * q[3]),
                                     (int32_t)rint(half * q[1] + i * q[0] - k * q[2]),
                                     (int32_t)rint(half * q[2] - i * q[3] + k * q[1]),
                                     (int32_t)rint(half * q[3] + i * q[2] + k * q[0])}};
    return p;
}

/* Whether the answer does not change where the distance does by so little. */
static bool is_clear(const trial *t, int number, double r, double by, placed a, placed b)
{
    answer all[3];
    for (int k = 0; k < 3; k++) {
        place(t, number, r * (1 + by * (k - 1)), &a, &b);
        all[k] = ask(t, &a, &b, false);
    }
    return close_to(all[0], all[1], 1e3 * by) && close_to(all[2], all[1], 1e3 * by);
}

static const char *said(answer a, char words[48])
{
    if (a.overlaps) return "overlap";
    if (a.energy == 0) return "do not overlap";
    snprintf(words, 48, "have an energy of %.9g", a.energy);
    return words;
}

static bool differ(const trial *t, const placed *a, const placed *b, double r, answer first,
                   answer second, const char *when)
{
    char one[48], other[48];
    return why_not(t->why,
                   "two particles of species '%s' and '%s' at a distance of %.9g %s, and %s %s",
                   plugmc_species_at(t->system, a->particle.species)->name,
                   plugmc_species_at(t->system, b->particle.species)->name, r, said(first, one),
                   said(second, other), when);
}

/* What the author's test says by itself of bodies whose spheres are apart, or overlap inside. */
static bool try_spheres(const trial *t, double r, const placed *a, const placed *b, double around,
                        double inside)
{
    const double apart[3] = {a->particle.x, a->particle.y, a->particle.z};
    const bool beyond = r > around * (1 + 1e-6), within = r < inside * (1 - 1e-6);
    if (!PLUGMC_HAS(t->body, overlap) || !t->body->overlap || (!beyond && !within)) return true;
    crash_calling_its("body_overlap");
    const bool overlap = t->body->overlap(t->term->instance, t->system->box.dimension, apart,
                                          &a->particle, &a->turned, &b->particle, &b->turned);
    return overlap == within ||
           differ(t, a, b, r, (answer){overlap, 0}, (answer){within, 0},
                  beyond ? "by body_reach: the spheres around them do not touch"
                         : "by body_core: the spheres inside of them overlap");
}

/* The same pair, told by its separation. */
static answer ask_in_cells(const trial *t, const placed *a, const placed *b)
{
    const plugmc_particle *p = &b->particle, *q = &a->particle;
    const double x = q->x - p->x, y = q->y - p->y, z = q->z - p->z;
    const plugmc_particles other = {1, &x, &y, &z, &p->charge, &p->diameter, &p->species};
    answer out = {0, 0};
    crash_calling_its("meet");
    out.overlaps = t->body->meet(t->term->instance, t->system->box.dimension, q, &a->turned, &other,
                                 &b->turned, &out.energy);
    return out;
}

static bool try_pair(const trial *t, int number, placed a, placed b, double around, double inside)
{
    const double farthest = fmax(around, t->range),
                 r = 1.2 * farthest * plugmc_uniform_double(draw(number, 1).word[0], 7);
    place(t, number, r, &a, &b);
    const answer there = ask(t, &a, &b, false), back = ask(t, &b, &a, false);
    if (isnan(there.energy) || there.energy == -INFINITY)
        return why_not(t->why, "the energy of two particles at a distance of %.9g is %s", r,
                       isnan(there.energy)
                           ? "not a number: 0 / 0, or a root or logarithm of a negative number"
                           : "-infinity");
    if (!equal(there, back))
        return differ(t, &a, &b, r, there, back, "if the other one is the probe");
    if (r > around * (1 + 1e-6) && there.overlaps)
        return differ(t, &a, &b, r, there, (answer){0}, "by the radii that hold them");
    if (r > t->range * (1 + 1e-6) && !there.overlaps && there.energy != 0)
        return differ(t, &a, &b, r, there, (answer){0}, "by the range of the energy");
    if (r < inside * (1 - 1e-6) && !there.overlaps)
        return differ(t, &a, &b, r, there, (answer){1, 0}, "by the radii of the spheres inside");
    if (!try_spheres(t, r, &a, &b, around, inside)) return false;
    if (PLUGMC_HAS(t->body, meet) && t->body->meet) {
        const answer in_cells = ask_in_cells(t, &a, &b);
        if (!equal(there, in_cells))
            return differ(t, &a, &b, r, there, in_cells, "when their separation is given");
    }
    if (is_clear(t, number, r, 1e-6, a, b)) {
        for (int about_x = 0; about_x < t->system->box.dimension - 1; about_x++) {
            const placed c = turned_by_right_angle(t, a, about_x),
                         d = turned_by_right_angle(t, b, about_x);
            const answer turned = ask(t, &c, &d, false);
            if (!close_to(there, turned, 1e-3))
                return differ(t, &a, &b, r, there, turned,
                              "after both have turned by a right angle");
        }
    }
    if (t->single && is_clear(t, number, r, 1e-4, a, b)) {
        const answer single = ask(t, &a, &b, true);
        if (!close_to(there, single, 1e-2))
            return differ(t, &a, &b, r, there, single, "in single precision");
    }
    return true;
}

/* Along the line of two centres, from where the two overlap to where they are apart. */
static bool try_contact(const trial *t, int number, placed a, placed b, double around,
                        double inside)
{
    enum { HALVINGS = 60, STEPS = 32 };
    double within = inside > 0 ? inside / 2 : around / 4, beyond = around * (1 + 1e-6);
    place(t, number, within, &a, &b);
    if (!ask(t, &a, &b, false).overlaps) return true;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = (within + beyond) / 2;
        place(t, number, middle, &a, &b);
        *(ask(t, &a, &b, false).overlaps ? &within : &beyond) = middle;
    }
    for (int k = 0; k < STEPS; k++) {
        const double r = within * (1 - k * 0x1p-27);
        place(t, number, r, &a, &b);
        const answer there = ask(t, &a, &b, false), single = ask(t, &a, &b, true);
        if (there.overlaps && !single.overlaps)
            return differ(t, &a, &b, r, there, single,
                          "in single precision: body_overlap may return 0 only where they are "
                          "apart in spite of rounding");
    }
    return true;
}

/* Area in two dimensions. */
static double volume_of_sphere(const trial *t, double radius)
{
    return t->system->box.dimension == 2 ? M_PI * radius * radius
                                         : 4 * M_PI / 3 * radius * radius * radius;
}

static bool check_sizes(const trial *t, const plugmc_particle *p, double *around, double *inside)
{
    const char *name = plugmc_species_at(t->system, p->species)->name;
    crash_calling_its("reach");
    *around = t->body->reach(t->term->instance, p);
    crash_calling_its("core");
    *inside = t->body->core(t->term->instance, p);
    crash_calling_its("volume");
    const double volume = t->body->volume(t->term->instance, p);
    if (!(*around >= 0) || isinf(*around))
        return why_not(t->why, "the radius that holds a particle of species '%s' is %g", name,
                       *around);
    if (*around == 0) return true;
    if (!(*inside >= 0) || *inside > *around)
        return why_not(
            t->why,
            "the radius of the sphere inside a particle of species '%s' is %g, and that of the "
            "sphere around it %g",
            name, *inside, *around);
    if (!(volume >= 0) || isinf(volume))
        return why_not(t->why, "the volume of a particle of species '%s' is %g", name, volume);
    const double least = volume_of_sphere(t, *inside), most = volume_of_sphere(t, *around);
    return (volume >= least * (1 - 1e-5) && volume < most * (1 + 1e-5)) ||
           why_not(
               t->why,
               "the volume of a particle of species '%s' is %g, but the sphere inside of it has "
               "%g and the one around it %g",
               name, volume, least, most);
}

static placed body_of(const plugmc_system *system, int32_t species)
{
    const plugmc_species *s = plugmc_species_at(system, species);
    return (placed){.particle = {.charge = s->charge, .diameter = s->diameter, .species = species}};
}

bool probe_bodies(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    trial t = {.system = system, .term = term, .body = plugmc_body_of(term->plugin), .why = why};
    int pairs = 0;
    if (!t.body) return true;
    if (term->plugin_single) t.single = plugmc_body_of(term->plugin_single);
    crash_calling_its("range");
    t.range = t.body->range(term->instance);
    if (!(t.range >= 0) || isinf(t.range))
        return why_not(why, "the range of the energy of its bodies is %g", t.range);
    for (int32_t i = 0; i < system->species_count; i++)
        for (int32_t j = i; j < system->species_count && pairs < MOST_PAIRS; j++) {
            const placed a = body_of(system, i), b = body_of(system, j);
            double around[2], inside[2];
            if (!check_sizes(&t, &a.particle, &around[0], &inside[0]) ||
                !check_sizes(&t, &b.particle, &around[1], &inside[1]))
                return false;
            if (around[0] == 0 || around[1] == 0) continue;
            for (int k = 0; k < TRIES; k++)
                if (!try_pair(&t, TRIES * pairs + k, a, b, around[0] + around[1],
                              inside[0] + inside[1]))
                    return false;
            for (int k = 0; k < TRIES && t.single; k += EACH_CONTACT)
                if (!try_contact(&t, TRIES * pairs + k, a, b, around[0] + around[1],
                                 inside[0] + inside[1]))
                    return false;
            pairs++;
        }
    return true;
}
