/* Checks of energies of single particles. */
#include <math.h>
#include <stdlib.h>

#include "base/crash.h"
#include "checks.h"

enum { PARTICLES = MOST_PARTICLES };

/* A field facet in one precision. */
typedef struct facet {
    const plugmc_field *field;
    const void *instance;
    bool single;
} facet;

static facet facet_of(const stand *s, bool single)
{
    const plugmc_term *term = stand_term(s);
    const plugmc_plugin *plugin = single ? term->plugin_single : term->plugin;
    return (facet){plugin && plugin->potential ? plugin->potential->field : NULL,
                   single ? term->instance_single : term->instance, single};
}

/* Anywhere in the box; float has the same positions. */
static void draw(stand *s, particles *p)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &system->box;
    for (int k = 0; k < PARTICLES; k++) {
        const int32_t kind = (int32_t)stand_below(s, system->species_count);
        double at[3];
        stand_position(s, box, at);
        for (int d = 0; d < 3; d++) at[d] = (float)at[d];
        const plugmc_particle a = particle_of(system, kind, at);
        particles_put(p, k, &a);
    }
}

static double ask(const facet *f, const particles *p, int first, int count, int64_t *forbidden)
{
    const plugmc_particles list = particles_list(p, f->single, first, count);
    double u = 0;
    crash_calling_its("energy");
    *forbidden = f->field->energy(f->instance, &list, &u);
    return u;
}

/* Largest and least energy of a particle within 1e-6 of the box. */
static void bounds(const stand *s, const facet *f, const particles *p, int k, double *least,
                   double *most)
{
    const double width =
        1e-6 * stand_distance(&s->session.engine.system, &s->session.engine.system.box);
    int64_t hit;
    *least = *most = ask(f, p, k, 1, &hit);
    for (int d = 0; d < s->session.engine.system.box.dimension; d++)
        for (int way = -1; way <= 1; way += 2) {
            particles moved = *p;
            moved.x[d][k] += way * width;
            const double u = ask(f, &moved, k, 1, &hit);
            *least = fmin(*least, u);
            *most = fmax(*most, u);
        }
}

/* Whether all positions near a particle are forbidden as its own is, or none as it is not. */
static bool is_inside_region(const stand *s, const facet *f, const particles *p, int k)
{
    const double width =
        1e-4 * stand_distance(&s->session.engine.system, &s->session.engine.system.box);
    int64_t own, hit;
    bool same = true;
    ask(f, p, k, 1, &own);
    for (int d = 0; d < s->session.engine.system.box.dimension; d++)
        for (int way = -1; way <= 1; way += 2) {
            particles moved = *p;
            moved.x[d][k] += way * width;
            ask(f, &moved, k, 1, &hit);
            same &= !hit == !own;
        }
    return same;
}

/* Energies in both precisions above the lowest one: a large constant costs digits of a float that energies themselves do not
 * show. NaN: not to be compared. */
static void compare_differences(const stand *s, const particles *p, const double u[2][PARTICLES],
                                findings *f)
{
    const double kT = s->session.engine.system.temperature;
    int lowest = -1;
    for (int k = 0; k < PARTICLES; k++)
        if (!isnan(u[0][k]) && (lowest < 0 || u[0][k] < u[0][lowest])) lowest = k;
    for (int k = 0; k < PARTICLES && lowest >= 0; k++) {
        if (isnan(u[0][k])) continue;
        const double exact = u[0][k] - u[0][lowest], found = u[1][k] - u[1][lowest];
        check_value(
            f, fabs(found - exact) / (1e-2 * exact + 1e-2 * (isfinite(kT) ? kT : 1)),
            "the field at %.6g %.6g %.6g and %.6g %.6g %.6g differs by %.9g in double precision and "
            "by %.9g in float: a constant as large as %.3g costs the digits of a float; leave it out",
            p->x[0][k], p->x[1][k], p->x[2][k], p->x[0][lowest], p->x[1][lowest], p->x[2][lowest],
            exact, found, u[0][lowest]);
    }
}

static void compare_precisions(const stand *s, const particles *p, double size, findings *f)
{
    const facet both[2] = {facet_of(s, false), facet_of(s, true)};
    double energies[2][PARTICLES];
    if (!both[1].field) return;
    for (int k = 0; k < PARTICLES; k++) {
        energies[0][k] = NAN;
        int64_t hits[2];
        double least, most;
        const double u[2] = {ask(&both[0], p, k, 1, &hits[0]), ask(&both[1], p, k, 1, &hits[1])};
        if (!hits[0] != !hits[1] && is_inside_region(s, &both[0], p, k))
            check_value(f, INFINITY,
                        "the position %.6g %.6g %.6g is %s in double precision and %s in float: "
                        "*outside must not depend on precision",
                        p->x[0][k], p->x[1][k], p->x[2][k], hits[0] ? "forbidden" : "allowed",
                        hits[1] ? "forbidden" : "allowed");
        if (hits[0] || hits[1] || fabs(u[0]) > 1e30) continue;
        bounds(s, &both[0], p, k, &least, &most);
        const double away = fmax(0, fmax(least - u[1], u[1] - most));
        if (most - least < 1e-3) energies[0][k] = u[0], energies[1][k] = u[1];
        check_value(f, isnan(u[1]) ? NAN : away / (1e-3 * fmax(fabs(u[0]), 1e-3 * size) + 1e-30),
                    "the field at %.6g %.6g %.6g is %.9g in double precision and %.9g in float: "
                    "field_energy must not depend on precision%s",
                    p->x[0][k], p->x[1][k], p->x[2][k], u[0], u[1], stand_of_prepare(s));
    }
    compare_differences(s, p, energies, f);
}

/* Single particles against all together, in one precision. Returns the sum of sizes. */
static double compare_loops(const facet *now, const particles *p, findings *f)
{
    int64_t hits = 0, one, all;
    double sum = 0, size = 0, u[PARTICLES];
    for (int k = 0; k < PARTICLES; k++) {
        u[k] = ask(now, p, k, 1, &one);
        hits += one;
        if (one) continue;
        if (isnan(u[k]) || u[k] == -INFINITY)
            check_value(f, NAN,
                        "the field at %.6g %.6g %.6g is %g: it must be a number everywhere "
                        "in the box; set *outside at forbidden positions",
                        p->x[0][k], p->x[1][k], p->x[2][k], u[k]);
        sum += u[k];
        size += fabs(u[k]);
    }
    const double whole = ask(now, p, 0, PARTICLES, &all);
    check_value(
        f, all == hits ? 0 : 2,
        "%lld of %d particles are at forbidden positions one by one, but %lld of them in one "
        "call: a particle must not depend on those before it",
        (long long)hits, PARTICLES, (long long)all);
    if (!hits && isfinite(size))
        check_value(
            f, fabs(whole - sum) / ((now->single ? 1e-4 : 1e-9) * size + 1e-30),
            "the energy of %d particles is %.9g in one call and %.9g one by one: the energy "
            "of a particle must not depend on those before it",
            PARTICLES, whole, sum);
    return size;
}

int check_fields(const target *t, stand *s, findings *f)
{
    const int rounds = t->quick ? 20 : 1000;
    if (!stand_field(s)) {
        check_not_covered(f, "field", "there is no field");
        return 0;
    }
    check_begin(f, "field", 1,
                "energies of %d particles at random positions, %d times: one by one and together, "
                "double and float; allowed 1e-9 and 1e-3 of the sizes",
                PARTICLES, rounds);
    context_calling(&s->own->context, "energy");
    for (int k = 0; k < rounds; k++) {
        particles p;
        draw(s, &p);
        const facet one = facet_of(s, false), other = facet_of(s, true);
        const double size = compare_loops(&one, &p, f);
        if (other.field) compare_loops(&other, &p, f);
        compare_precisions(s, &p, size / PARTICLES, f);
    }
    crash_called();
    return 0;
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

static double energy_at(const facet *f, const particles *p, int k, int d, double by)
{
    particles moved;
    int64_t hit;
    for (int e = 0; e < 5; e++) moved.x[e][k] = p->x[e][k];
    moved.species[k] = p->species[k];
    moved.x[d][k] += by;
    const double u = ask(f, &moved, k, 1, &hit);
    return hit ? NAN : u;
}

/* Second differences along d: as slopes, so that their widths can be compared likewise. */
static void find_sides(const facet *f, const particles *p, int k, int d, double unit,
                       two_sides *first, double second[WIDTHS])
{
    const double here = energy_at(f, p, k, d, 0);
    for (int j = 0; j < WIDTHS; j++) {
        const double h = slope_widths[j] * unit, left = energy_at(f, p, k, d, -h),
                     right = energy_at(f, p, k, d, h);
        first->left[j] = (here - left) / h;
        first->right[j] = (right - here) / h;
        second[j] += (right - 2 * here + left) / (h * h);
    }
}

static void compare_slopes(const stand *s, const facet *now, const particles *p, int k, findings *f,
                           int *compared)
{
    const plugmc_system *system = &s->session.engine.system;
    const double unit = stand_distance(system, &system->box);
    const plugmc_particle one = {p->x[0][k], p->x[1][k], p->x[2][k],
                                 p->x[3][k], p->x[4][k], p->species[k]};
    plugmc_derivatives own = {0};
    double second[WIDTHS] = {0}, found = 0;
    two_sides sides;
    bool settled;
    const double u = energy_at(now, p, k, 0, 0);
    if (isnan(u) || now->field->derivatives(now->instance, &one, &own)) return;
    check_value(f, fabs(own.energy - u) / (1e-9 * fabs(u) + 1e-30),
                "the field at %.6g %.6g %.6g is %.9g, but %.9g beside its derivatives", one.x,
                one.y, one.z, u, own.energy);
    for (int d = 0; d < system->box.dimension; d++)
        if (isfinite(u) && (isnan(own.gradient[d]) || isnan(own.laplacian)))
            check_fail(f,
                       "the %s of the field is not a number at %.6g %.6g %.6g, where the energy is "
                       "%.9g: 0 / 0, or a root or logarithm of a negative number",
                       isnan(own.gradient[d]) ? "gradient" : "Laplacian", one.x, one.y, one.z, u);
    for (int d = 0; d < system->box.dimension; d++) {
        find_sides(now, p, k, d, unit, &sides, second);
        const double tolerance = 3e-3 * fabs(own.gradient[d]) + 1e-4 * fabs(u) / unit + 1e-12;
        const bool wrong = slope_is_wrong(&sides, own.gradient[d], tolerance, &found, &settled);
        if (!settled) continue;
        ++*compared;
        const double away = fabs(own.gradient[d] - found) / tolerance;
        check_value(f, wrong ? fmax(1.01, away) : away,
                    "the derivative of the field along %c at %.6g %.6g %.6g is %.9g by "
                    "field_derivative, but finite differences give %.9g",
                    "xyz"[d], one.x, one.y, one.z, own.gradient[d], found);
    }
    for (int j = 0; j < WIDTHS; j++) sides.left[j] = sides.right[j] = second[j];
    const double tolerance = 0.02 * fabs(own.laplacian) + 2e-3 * fabs(u) / (unit * unit) + 1e-9;
    const bool wrong = slope_is_wrong(&sides, own.laplacian, tolerance, &found, &settled);
    if (!settled) return;
    const double away = fabs(own.laplacian - found) / tolerance;
    check_value(f, wrong ? fmax(1.01, away) : away,
                "the Laplacian of the field at %.6g %.6g %.6g is %.9g by field_derivative, but "
                "finite differences give %.9g",
                one.x, one.y, one.z, own.laplacian, found);
}

/* The corner, the middle and a middle of an edge, where distances and slopes are 0 and no random position is. */
static void put_on_symmetry(const stand *s, particles *p)
{
    static const double at[][3] = {
        {0, 0, 0}, {0.5, 0.5, 0.5}, {0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 0.5}};
    const plugmc_box *box = &s->session.engine.system.box;
    const int sphere = box->domain == PLUGMC_DOMAIN_SPHERE;
    for (int k = 0; k < (sphere ? 1 : 5) && k < PARTICLES; k++)
        for (int d = 0; d < 3; d++)
            p->x[d][k] = sphere || d >= box->dimension
                             ? 0
                             : at[k][0] * box->vector[0][d] + at[k][1] * box->vector[1][d] +
                                   (box->dimension == 3 ? at[k][2] * box->vector[2][d] : 0);
}

int check_field_slopes(const target *t, stand *s, findings *f)
{
    const facet now = facet_of(s, false);
    const int rounds = t->quick ? 5 : 300;
    int compared = 0;
    if (!now.field || !PLUGMC_HAS(now.field, derivatives) || !now.field->derivatives) {
        check_not_covered(f, "derivatives of the field",
                          now.field ? "the field has no derivatives" : "there is no field");
        return 0;
    }
    check_begin(f, "derivatives of the field", 1,
                "gradient and Laplacian with differences of %d widths; allowed 0.3 %% and 2 %%",
                WIDTHS);
    context_calling(&s->own->context, "derivatives");
    for (int k = 0; k <= rounds; k++) {
        particles p;
        draw(s, &p);
        if (k == 0) put_on_symmetry(s, &p);
        for (int i = 0; i < PARTICLES; i++) compare_slopes(s, &now, &p, i, f, &compared);
    }
    crash_called();
    if (!compared) check_leave(f, "it is not smooth enough: differences of no two widths agree");
    return 0;
}
