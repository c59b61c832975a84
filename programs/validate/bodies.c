/* Checks of bodies: the trial of two bodies that every run makes, sizes, turns of both, and free paths against overlaps. */
#include <math.h>

#include "base/crash.h"
#include "checks.h"
#include "plugin/probe_bodies.h"

/* One of two bodies. */
typedef struct placed {
    plugmc_particle particle;
    plugmc_orientation turned;
} placed;

static const plugmc_body *body_of(const stand *s) { return plugmc_body_of(s->own->plugin); }

static bool leave_others(const stand *s, findings *f, const char *name)
{
    if (!body_of(s)) check_not_covered(f, name, "it is of no bodies");
    return !body_of(s);
}

int check_bodies(const target *t, stand *s, findings *f)
{
    char why[768];
    (void)t;
    if (leave_others(s, f, "two bodies")) return 0;
    check_begin(
        f, "two bodies", NAN,
        "overlaps and energies of two bodies at 400 distances and orientations: exchanged, beyond "
        "both spheres around, within both inside, turned together, float");
    context_calling(&s->own->context, "energy");
    const bool good =
        probe_bodies(&s->session.engine.system, stand_term(s), (sentence){why, sizeof why});
    crash_called();
    if (!good) check_fail(f, "%s", why);
    return 0;
}

static plugmc_particles list_of(const placed *b)
{
    const plugmc_particle *p = &b->particle;
    return (plugmc_particles){1, &p->x, &p->y, &p->z, &p->charge, &p->diameter, &p->species};
}

static double *coordinate(plugmc_particle *p, int d)
{
    return d == 0 ? &p->x : d == 1 ? &p->y : &p->z;
}

/* ---- Sizes ------------------------------------------------------------------------------------- */

/* A species has a body, one of a sphere inside and a sphere around it. */
static void compare_sizes(const stand *s, int32_t kind, findings *f, int *compared)
{
    const plugmc_system *system = &s->session.engine.system;
    const double origin[3] = {0, 0, 0};
    const plugmc_particle a = particle_of(system, kind, origin);
    const plugmc_body *body = body_of(s);
    const double around = body->reach(s->own->data, &a), inside = body->core(s->own->data, &a),
                 volume = body->volume(s->own->data, &a);
    const int dimension = system->box.dimension;
    const double unit = dimension == 2 ? M_PI : 4 * M_PI / 3, slack = 1 + 1e-5;
    const char *name = plugmc_species_at(system, kind)->name,
               *word = dimension == 2 ? "area" : "volume";
    if (!(around > 0)) return;
    ++*compared;
    if (volume > unit * pow(around, dimension) * slack)
        check_fail(
            f,
            "the %s of '%s' is %.6g by body_volume, and that of the sphere that holds it %.6g (radius %.6g "
            "by body_reach): one of the two is wrong",
            word, name, volume, unit * pow(around, dimension), around);
    if (volume * slack < unit * pow(inside, dimension))
        check_fail(
            f,
            "the %s of '%s' is %.6g by body_volume, and that of the sphere inside %.6g (radius %.6g by "
            "body_core): one of the two is wrong; 0 is right for a sphere that is not known",
            word, name, volume, unit * pow(inside, dimension), inside);
}

/* Two bodies of a species, one at the origin and one near it, and how far their spheres around reach together. */
typedef struct couple {
    placed a, b;
    double around;
} couple;

static couple draw_couple(stand *s, int32_t kind, int number, double within)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_seed seed = {.key = 0x636f75706c65};
    const double origin[3] = {0, 0, 0};
    couple c = {.around = 0};
    placed *both[2] = {&c.a, &c.b};
    for (int k = 0; k < 2; k++) {
        both[k]->particle = particle_of(system, kind, origin);
        both[k]->turned =
            plugmc_draw_orientation(seed, (uint64_t)number, 0, (uint32_t)k, system->box.dimension);
        c.around += body_of(s)->reach(s->own->data, &both[k]->particle);
    }
    for (int d = 0; d < system->box.dimension; d++)
        *coordinate(&c.a.particle, d) = within * c.around * stand_symmetric(s);
    return c;
}

static bool couple_overlaps(const stand *s, const couple *c)
{
    const plugmc_particles others = list_of(&c->b);
    double u = 0;
    crash_calling_its("energy");
    return body_of(s)->energy(s->own->data, &s->session.engine.system.box, 0, &c->a.particle,
                              &c->a.turned, &others, &c->b.turned, &u) > 0;
}

/* What two bodies of fixed orientations exclude to each other is at least (2 V^(1/d))^d = 2^d V (Brunn and Minkowski), and just that if both
 * are alike, convex, and the same turned by half a turn. */
static void compare_excluded(stand *s, int32_t kind, bool quick, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const int dimension = system->box.dimension, samples = quick ? 20000 : 200000;
    const double origin[3] = {0, 0, 0};
    const plugmc_particle one = particle_of(system, kind, origin);
    const double volume = body_of(s)->volume(s->own->data, &one);
    if (!(body_of(s)->reach(s->own->data, &one) > 0)) return;
    for (int number = 0; number < 6; number++) {
        const couple of = draw_couple(s, kind, number, 0);
        const double box = pow(2 * of.around, dimension);
        int hits = 0;
        for (int k = 0; k < samples; k++) {
            couple c = draw_couple(s, kind, number, 1);
            if (number % 2 == 0) c.b.turned = c.a.turned;
            hits += couple_overlaps(s, &c);
        }
        const double excluded = box * hits / samples,
                     error = box * sqrt((double)hits * (1 - (double)hits / samples)) / samples;
        if (hits < 100 || excluded * 1.01 + 5 * error >= pow(2, dimension) * volume) continue;
        check_fail(
            f,
            "two bodies of '%s' overlap in %s of %.4g(%.1g) for the place of one beside the other, but "
            "for bodies of %.6g (body_volume) it is at least %.6g: correct body_volume, or the overlap",
            plugmc_species_at(system, kind)->name, dimension == 2 ? "an area" : "a volume",
            excluded, error, volume, pow(2, dimension) * volume);
    }
}

/* By the author's test alone, a at (x, 0, 0) from b. */
static bool overlap_at(const stand *s, const couple *c, double x)
{
    const double apart[3] = {x, 0, 0};
    crash_calling_its("overlap");
    return body_of(s)->overlap(s->own->data, s->session.engine.system.box.dimension, apart,
                               &c->a.particle, &c->a.turned, &c->b.particle, &c->b.turned) != 0;
}

/* The largest distance along x at which they overlap; 0: none. */
static double contact_along_x(const stand *s, const couple *c)
{
    enum { POINTS = 64 };
    const double farthest = 1.6 * c->around;
    double low = 0, high = farthest;
    for (int k = POINTS - 1; k > 0 && low == 0; k--)
        if (overlap_at(s, c, farthest * k / POINTS))
            low = farthest * k / POINTS, high = low + farthest / POINTS;
    for (int k = 0; k < 12 && low > 0; k++) {
        const double middle = (low + high) / 2;
        *(overlap_at(s, c, middle) ? &low : &high) = middle;
    }
    return low;
}

static void turn_a_little(stand *s, plugmc_orientation *turned, double step)
{
    const double by = step * stand_symmetric(s);
    if (s->session.engine.system.box.dimension == 2)
        plugmc_turn_in_plane(turned,
                             (int32_t)(by * PLUGMC_WHOLE_TURN / 4) & (PLUGMC_WHOLE_TURN - 1));
    else
        plugmc_turn_in_space(turned, (int32_t)stand_below(s, 3), (int32_t)(0x1p30 * by));
}

/* Two bodies of a species are turned until they touch as far from each other as they can: tip to tip, which random orientations hardly
 * find. */
static void compare_reach(stand *s, int32_t kind, findings *f)
{
    enum { STARTS = 12, STEPS = 120 };
    double farthest = 0;
    const couple of = draw_couple(s, kind, 0, 0);
    if (!(of.around > 0) || !PLUGMC_HAS(body_of(s), overlap) || !body_of(s)->overlap) return;
    for (int number = 0; number < STARTS; number++) {
        couple best = draw_couple(s, kind, number, 0);
        double most = contact_along_x(s, &best);
        for (int k = 0; k < STEPS; k++) {
            couple tried = best;
            const double step = 0.9 * pow(0.95, k);
            turn_a_little(s, &tried.a.turned, step);
            turn_a_little(s, &tried.b.turned, step);
            const double contact = contact_along_x(s, &tried);
            if (contact >= most) most = contact, best = tried;
        }
        farthest = fmax(farthest, most);
    }
    if (farthest > of.around * (1 + 1e-6))
        check_fail(
            f,
            "two bodies of '%s' overlap at a distance of %.6g, but their spheres around reach %.6g "
            "together: body_reach is too small",
            plugmc_species_at(&s->session.engine.system, kind)->name, farthest, of.around);
}

/* ---- Turned together ----------------------------------------------------------------------------- */

/* Turns all by the same random angle: both bodies, and the place of the first. False where one of them cannot be turned. */
static bool turn_couple(stand *s, couple *c)
{
    const int dimension = s->session.engine.system.box.dimension;
    const int32_t axis = (int32_t)stand_below(s, 3),
                  angle = (int32_t)stand_below(s, PLUGMC_WHOLE_TURN),
                  tangent = (int32_t)(0x1p30 * stand_symmetric(s));
    plugmc_orientation upright = plugmc_upright(dimension),
                       *all[] = {&upright, &c->a.turned, &c->b.turned};
    for (int k = 0; k < 3; k++)
        if (dimension == 2)
            plugmc_turn_in_plane(all[k], angle);
        else if (!plugmc_turn_in_space(all[k], axis, tangent))
            return false;
    const plugmc_pose r = plugmc_pose_of(&upright, dimension);
    const double x = c->a.particle.x, y = c->a.particle.y, z = c->a.particle.z;
    for (int d = 0; d < dimension; d++)
        *coordinate(&c->a.particle, d) =
            x * (double)r.x[d] + y * (double)r.y[d] + (dimension == 3 ? z * (double)r.z[d] : 0);
    return true;
}

/* 1: they overlap, also a little nearer and farther; 0: they do not; -1: they touch, or nearly do. */
static int surely_overlaps(const stand *s, const couple *c)
{
    int found[3];
    for (int k = 0; k < 3; k++) {
        couple moved = *c;
        for (int d = 0; d < s->session.engine.system.box.dimension; d++)
            *coordinate(&moved.a.particle, d) *= 1 + 1e-4 * (k - 1);
        found[k] = couple_overlaps(s, &moved);
    }
    return found[0] == found[1] && found[1] == found[2] ? found[1] : -1;
}

int check_body_turns(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const int rounds = t->quick ? 2000 : 40000;
    int compared = 0;
    if (leave_others(s, f, "bodies turned together")) return 0;
    check_begin(
        f, "bodies turned together", NAN,
        "overlaps of two bodies before and after both, with the line between them, are turned by the same "
        "angle, %d times",
        rounds);
    context_calling(&s->own->context, "energy");
    for (int k = 0; k < rounds; k++) {
        const int32_t kind = (int32_t)stand_below(s, system->species_count);
        couple before = draw_couple(s, kind, k, 0.7), after = before;
        if (!(before.around > 0) || !turn_couple(s, &after)) continue;
        const int was = surely_overlaps(s, &before), is = surely_overlaps(s, &after);
        compared += was >= 0 && is >= 0;
        if (was < 0 || is < 0 || was == is) continue;
        check_fail(
            f,
            "two bodies of '%s' %s, but %s when both, with the line between them, are turned by the same "
            "angle: a point (u, v, w) of a body is at u x + v y + w z from its centre, where x, y, z are its own "
            "plugmc_pose",
            plugmc_species_at(system, kind)->name, was ? "overlap" : "are apart",
            is ? "overlap" : "are apart");
        break;
    }
    crash_called();
    if (!compared) check_leave(f, "no species has a body");
    return 0;
}

int check_body_sizes(const target *t, stand *s, findings *f)
{
    int compared = 0;
    if (leave_others(s, f, "sizes of bodies")) return 0;
    check_begin(
        f, "sizes of bodies", NAN,
        "volumes with those of the spheres around and inside, and with what bodies exclude: body_volume, body_reach, "
        "body_core");
    context_calling(&s->own->context, "reach, core or volume");
    for (int32_t k = 0; k < s->session.engine.system.species_count; k++)
        compare_sizes(s, k, f, &compared), compare_reach(s, k, f);
    for (int32_t k = 0; k < s->session.engine.system.species_count; k++)
        compare_excluded(s, k, t->quick, f);
    crash_called();
    if (!compared) check_leave(f, "no species has a body");
    return 0;
}

/* ---- Free paths -------------------------------------------------------------------------------- */

/* Two bodies, the first of which goes along an axis. */
typedef struct passage {
    const stand *s;
    placed a, b;
    int axis;
    /* Sum of both radii. */
    double around;
} passage;

static bool overlap_after(const passage *p, double way)
{
    placed a = p->a;
    const plugmc_particles others = list_of(&p->b);
    double u = 0;
    *coordinate(&a.particle, p->axis) += way;
    crash_calling_its("energy");
    return body_of(p->s)->energy(p->s->own->data, &p->s->session.engine.system.box, 0, &a.particle,
                                 &a.turned, &others, &p->b.turned, &u) > 0;
}

static double path_of(const passage *p)
{
    const plugmc_particles others = list_of(&p->b);
    double way = NAN;
    crash_calling_its("paths");
    body_of(p->s)->paths(p->s->own->data, p->s->session.engine.system.box.dimension, p->axis,
                         &p->a.particle, &p->a.turned, &others, &p->b.turned, &way);
    return way;
}

/* b at the origin, a before it on the axis and beside it. */
static bool draw_passage(stand *s, int number, passage *p)
{
    const plugmc_system *system = &s->session.engine.system;
    const int32_t dimension = system->box.dimension;
    const plugmc_seed seed = {.key = 0x626f6479};
    double at[3] = {0, 0, 0};
    *p = (passage){.s = s, .axis = number % dimension};
    placed *both[2] = {&p->a, &p->b};
    for (int k = 0; k < 2; k++) {
        const int32_t kind = (int32_t)stand_below(s, system->species_count);
        both[k]->particle = particle_of(system, kind, at);
        both[k]->turned =
            plugmc_draw_orientation(seed, (uint64_t)number, 0, (uint32_t)k, dimension);
        const double reach = body_of(s)->reach(s->own->data, &both[k]->particle);
        if (!(reach > 0)) return false;
        p->around += reach;
    }
    for (int d = 0; d < dimension; d++)
        *coordinate(&p->a.particle, d) =
            d == p->axis ? -1.5 * p->around : 0.95 * p->around * stand_symmetric(s);
    return true;
}

/* What may have gone wrong: contacts without an overlap behind them, of which bodies that graze each other have some. */
typedef struct contacts {
    int met, without;
    double way;
} contacts;

static void compare_passage(const passage *p, findings *f, contacts *all)
{
    const double small = 1e-5 * p->around, way = path_of(p),
                 end = isfinite(way) ? way - small : 3 * p->around;
    for (int k = 0; k <= 40; k++) {
        const double here = k < 40 ? end * k / 40 : end;
        if (isnan(way) || (here >= 0 && overlap_after(p, here))) {
            check_fail(
                f,
                "a body can go %.6g along %c before it touches another one by body_path (or body_gap), but they "
                "overlap after %.6g: look at signs and at body_core, since bodies whose spheres inside overlap, "
                "overlap",
                way, "xyz"[p->axis], here);
            return;
        }
    }
    if (!isfinite(way)) return;
    bool meets = false;
    for (double beyond = small; beyond < 0.02 * p->around && !meets; beyond *= 3)
        meets = overlap_after(p, way + beyond);
    all->met++;
    if (!meets) all->without++, all->way = way;
}

int check_body_paths(const target *t, stand *s, findings *f)
{
    const int rounds = t->quick ? 1000 : 20000;
    contacts all = {0};
    if (leave_others(s, f, "paths of bodies")) return 0;
    if (!body_of(s)->paths) {
        check_not_covered(f, "paths of bodies", "it has neither body_path nor body_gap");
        return 0;
    }
    check_begin(f, "paths of bodies", NAN,
                "how far bodies go before they touch, with overlaps before and behind, %d times",
                rounds);
    context_calling(&s->own->context, "paths");
    for (int k = 0; k < rounds; k++) {
        passage p;
        if (draw_passage(s, k, &p)) compare_passage(&p, f, &all);
    }
    crash_called();
    if (all.without > 1 + all.met / 100)
        check_fail(
            f,
            "%d of %d bodies that touch another one after a way do not overlap a little farther, such as "
            "after %.6g: body_reach is too small (bodies are apart if their spheres around are), or "
            "body_path is not of the same body as the overlap",
            all.without, all.met, all.way);
    else if (!all.met)
        check_leave(f, "no two bodies have met");
    return 0;
}
