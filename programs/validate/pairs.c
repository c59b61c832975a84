/* Checks of pairs: those of the core, one finding each, and the loops over neighbours that movers call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"
#include "plugin/answers.h"
#include "plugin/hidden_inputs.h"
#include "plugin/probe.h"
#include "plugin/probe_vectors.h"

enum { WHY = 768, NEIGHBOURS = 24 };

/* ---- Tests of the core ----------------------------------------------------------------------- */

typedef bool core_check(const plugmc_system *, const plugmc_term *, sentence);

static int ask_core(stand *s, findings *f, core_check *test, const char *name, const char *compared,
                    const char *advice)
{
    char why[WHY];
    check_begin(f, name, NAN, "%s", compared);
    context_calling(&s->own->context, "range");
    const bool good = test(&s->session.engine.system, stand_term(s), (sentence){why, sizeof why});
    crash_called();
    if (!good)
        check_fail(f, "%s%s%s", why, advice, strstr(why, "in single") ? stand_of_prepare(s) : "");
    check_end(f);
    return 0;
}

int check_inputs(const target *t, stand *s, findings *f)
{
    (void)t;
    if (!stand_pair(s) && !stand_field(s)) {
        check_not_covered(f, "parameters", "there is no pair energy and no field");
        return 0;
    }
    return ask_core(
        s, f, check_hidden_inputs, "parameters",
        "energies with other numbers behind the end of lists, and with declared members "
        "of the struct alone",
        "");
}

static int no_pair(findings *f, const char *name)
{
    check_not_covered(f, name, "there is no pair energy");
    return 0;
}

int check_ranges(const target *t, stand *s, findings *f)
{
    (void)t;
    if (!stand_pair(s)) return no_pair(f, "range and contact");
    return ask_core(s, f, check_distances, "range and contact",
                    "range and contact distances of all pairs of species, in both precisions",
                    "; correct pair_range or pair_contact");
}

int check_line(const target *t, stand *s, findings *f)
{
    (void)t;
    if (!stand_pair(s)) return no_pair(f, "two particles");
    return ask_core(s, f, probe_pair, "two particles",
                    "energies at 240 separations: beyond the range, exchanged, float, changes, "
                    "derivatives",
                    "; all functions of the pair must belong to one energy: correct the one that "
                    "departs");
}

int check_vectors(const target *t, stand *s, findings *f)
{
    (void)t;
    if (!stand_pair(s)) return no_pair(f, "directions");
    return ask_core(s, f, probe_vectors, "directions",
                    "energies of s and -s, in four directions, and derivatives beyond the range",
                    "; the energy must not depend on which particle is asked, and derivatives must "
                    "be 0 where the energy is");
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

/* A pair facet in one precision. */
typedef struct facet {
    const plugmc_pair *pair;
    const void *instance;
    bool single;
    double tolerance;
} facet;

static facet facet_of(const stand *s, bool single)
{
    const plugmc_term *term = stand_term(s);
    const plugmc_plugin *plugin = single ? term->plugin_single : term->plugin;
    facet f = {.single = single, .tolerance = single ? 1e-4 : 1e-9};
    if (plugin && plugin->potential) f.pair = plugin->potential->pair;
    f.instance = single ? term->instance_single : term->instance;
    return f;
}

static plugmc_particle random_particle(stand *s)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &system->box;
    const int32_t kind = (int32_t)stand_below(s, system->species_count);
    plugmc_particle p = particle_of(system, kind, (double[3]){0, 0, 0});
    double *at[3] = {&p.x, &p.y, &p.z};
    for (int d = 0; d < box->dimension; d++)
        *at[d] = box->domain == PLUGMC_DOMAIN_SPHERE ? 0.5 * box->radius * stand_symmetric(s)
                                                     : box->length[d] * stand_uniform(s);
    /* as float has it, so that both precisions have the same separations */
    for (int d = 0; d < 3; d++) *at[d] = (float)*at[d];
    return p;
}

/* At a distance up to that of the farthest cells, out of contact with two positions of the probe after up to `most` tries. */
static void place_neighbours(stand *s, const facet *f, const plugmc_particle *probe,
                             const double moved[3], int most, particles *n)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &system->box;
    double reach = f->pair->range(f->instance);
    if (!isfinite(reach) || reach <= 0) reach = stand_distance(system, box) * 2;
    for (int k = 0; k < NEIGHBOURS; k++) {
        plugmc_particle other = random_particle(s);
        double at[3];
        for (int tries = 0; tries < most; tries++) {
            const double centre[3] = {probe->x, probe->y, probe->z};
            double near = INFINITY;
            for (int d = 0; d < 3; d++)
                at[d] =
                    d < box->dimension ? (float)(centre[d] + 1.1 * reach * stand_symmetric(s)) : 0;
            plugmc_wrap(box, at);
            for (int d = 0; d < 3; d++) at[d] = (float)at[d];
            for (int which = 0; which < 2; which++) {
                double sum = 0, from[3];
                for (int d = 0; d < 3; d++) from[d] = (which ? moved[d] : centre[d]) - at[d];
                if (box->domain == PLUGMC_DOMAIN_PERIODIC && !box->oblique)
                    for (int d = 0; d < box->dimension; d++)
                        from[d] -= box->length[d] * rint(from[d] / box->length[d]);
                for (int d = 0; d < 3; d++) sum += from[d] * from[d];
                near = fmin(near, sqrt(sum));
            }
            const double contact = f->pair->contact(f->instance, probe, &other);
            if (near > fmax(1.02 * contact, 0.25 * fmin(reach, stand_distance(system, box)))) break;
        }
        other = particle_of(system, other.species, at);
        particles_put(n, k, &other);
    }
}

/* `changes` pair by pair; `after` is +infinity where the two overlap. */
static void compare_each(const facet *f, const plugmc_box *box, const plugmc_particle *probe,
                         const double moved[3], const particles *n, const double *before,
                         const double *after, findings *out)
{
    double of_each[NEIGHBOURS], size = 1e-30;
    float each_single[NEIGHBOURS];
    if (!PLUGMC_HAS(f->pair, changes) || !f->pair->changes) return;
    const plugmc_particles all = particles_list(n, f->single, 0, NEIGHBOURS);
    crash_calling_its("changes");
    f->pair->changes(f->instance, box, box->domain == PLUGMC_DOMAIN_PERIODIC, probe, moved, &all,
                     f->single ? (void *)each_single : (void *)of_each);
    for (int k = 0; k < NEIGHBOURS; k++)
        if (isfinite(before[k]) && isfinite(after[k])) size += fabs(before[k]) + fabs(after[k]);
    for (int k = 0; k < NEIGHBOURS; k++) {
        const double found = f->single ? (double)each_single[k] : of_each[k];
        if (!isfinite(before[k]) || isnan(after[k]) || !(size < 1e12)) continue;
        const double away = isinf(after[k]) ? (found == INFINITY ? 0 : INFINITY)
                                            : fabs(found - (after[k] - before[k]));
        check_value(
            out, away / size / f->tolerance,
            "`changes` gives %.9g for one neighbour, but its energies differ by %.9g%s, in %s "
            "precision: correct `changes`",
            found, after[k] - before[k], isinf(after[k]) ? " (an overlap)" : "",
            f->single ? "float" : "double");
    }
}

/* Energies of single neighbours are the measure, in the same precision. */
static bool compare_loops(const facet *f, const plugmc_box *box, const plugmc_particle *probe,
                          const double moved[3], const particles *n, findings *out)
{
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const char *where = f->single ? "float" : "double";
    plugmc_particle there = *probe;
    there.x = moved[0], there.y = moved[1], there.z = moved[2];
    double before = 0, after = 0, size = 1e-30, whole = 0, change = 0, u[2][NEIGHBOURS];
    crash_calling_its("energy");
    for (int k = 0; k < NEIGHBOURS; k++) {
        const plugmc_particles one = particles_list(n, f->single, k, 1);
        for (int which = 0; which < 2; which++) {
            u[which][k] = 0;
            if (f->pair->energy(f->instance, box, periodic, which ? &there : probe, &one,
                                &u[which][k]))
                u[which][k] = INFINITY;
        }
        before += u[0][k];
        after += u[1][k];
        size += fabs(u[0][k]) + fabs(u[1][k]);
    }
    compare_each(f, box, probe, moved, n, u[0], u[1], out);
    if (!isfinite(size) || size > 1e12) return false;
    const plugmc_particles all = particles_list(n, f->single, 0, NEIGHBOURS);
    crash_calling_its("energy");
    int64_t hits = f->pair->energy(f->instance, box, periodic, probe, &all, &whole);
    check_value(
        out, hits ? NAN : fabs(whole - before) / size / f->tolerance,
        "the energy of a particle with %d neighbours is %.9g in one call and %.9g pair by "
        "pair, in %s precision: the energy of a pair must not depend on the pairs before it",
        NEIGHBOURS, whole, before, where);
    crash_calling_its("change");
    hits = f->pair->change(f->instance, box, periodic, probe, moved, &all, &change);
    check_value(
        out, hits ? NAN : fabs(change - (after - before)) / size / f->tolerance,
        "`change` with %d neighbours is %.9g, but energies differ by %.9g, in %s precision: "
        "correct pair_change",
        NEIGHBOURS, change, after - before, where);
    return true;
}

int check_batches(const target *t, stand *s, findings *f)
{
    const int rounds = t->quick ? 60 : 2000;
    const plugmc_box *box = &s->session.engine.system.box;
    int compared = 0;
    if (!stand_pair(s)) return no_pair(f, "neighbour loops");
    check_begin(
        f, "neighbour loops", 1,
        "energy, change and changes of %d neighbours with sums over single pairs, %d times; "
        "allowed 1e-9 of the sizes in double, 1e-4 in float",
        NEIGHBOURS, rounds);
    context_calling(&s->own->context, "energy");
    for (int k = 0; k < rounds; k++) {
        const facet now = facet_of(s, k & 1);
        particles n;
        if (!now.pair) continue;
        const plugmc_particle probe = random_particle(s);
        double moved[3] = {probe.x, probe.y, probe.z};
        for (int d = 0; d < box->dimension; d++)
            moved[d] = (float)(moved[d] + 0.2 * stand_distance(&s->session.engine.system, box) *
                                              stand_symmetric(s));
        plugmc_wrap(box, moved);
        for (int d = 0; d < 3; d++) moved[d] = (float)moved[d];
        place_neighbours(s, &now, &probe, moved, k % 8 < 6 ? 100 : 1, &n);
        compared += compare_loops(&now, box, &probe, moved, &n, f);
    }
    crash_called();
    if (!compared) check_leave(f, "no neighbours without overlaps were found");
    return 0;
}

/* ---- Slopes ---------------------------------------------------------------------------------- */

/* Separations of pairs of two species, and what `slopes` gives for them, in both precisions. */
typedef struct apart_pairs {
    double x[3][NEIGHBOURS], first[NEIGHBOURS], energy[NEIGHBOURS];
    float y[3][NEIGHBOURS], first_single[NEIGHBOURS], energy_single[NEIGHBOURS];
} apart_pairs;

static void ask_slopes(const facet *f, const plugmc_particle *a, const plugmc_particle *b,
                       bool energies, apart_pairs *p)
{
    const void *at[3];
    for (int d = 0; d < 3; d++) at[d] = f->single ? (const void *)p->y[d] : (const void *)p->x[d];
    void *energy = f->single ? (void *)p->energy_single : (void *)p->energy;
    crash_calling_its("slopes");
    f->pair->slopes(f->instance, a, b, NEIGHBOURS, at[0], at[1], at[2],
                    f->single ? (void *)p->first_single : (void *)p->first,
                    energies ? energy : NULL);
    for (int k = 0; k < NEIGHBOURS && f->single; k++) {
        p->first[k] = p->first_single[k];
        if (energies) p->energy[k] = p->energy_single[k];
    }
}

/* Of one pair, by the functions for a probe: du/dr / r, and the energy, +infinity where they overlap. */
static void ask_pair(const facet *f, const plugmc_box *box, const plugmc_particle *a,
                     const plugmc_particle *b, const double x[3], double *first, double *energy)
{
    particles n;
    plugmc_particle probe = *a;
    plugmc_derivatives d = {0};
    plugmc_particle other = *b;
    probe.x = x[0], probe.y = x[1], probe.z = x[2];
    other.x = other.y = other.z = 0;
    particles_put(&n, 0, &other);
    const plugmc_particles one = particles_list(&n, f->single, 0, 1);
    crash_calling_its("derivatives");
    *energy = f->pair->derivatives(f->instance, box, 0, 0, &probe, &one, &d) ? INFINITY : 0;
    *energy += d.energy;
    *first = (d.gradient[0] * x[0] + d.gradient[1] * x[1] + d.gradient[2] * x[2]) /
             (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Where terms cancel, as near the range, what is left is as exact as they are: `most` is the largest of them. */
static void compare_slopes(const facet *f, const plugmc_box *box, const plugmc_particle *a,
                           const plugmc_particle *b, apart_pairs *p, findings *out)
{
    double first[NEIGHBOURS], energy[NEIGHBOURS], most[2] = {0, 0}, alone[NEIGHBOURS];
    ask_slopes(f, a, b, false, p);
    memcpy(alone, p->first, sizeof alone);
    ask_slopes(f, a, b, true, p);
    for (int k = 0; k < NEIGHBOURS; k++) {
        ask_pair(f, box, a, b, (double[3]){p->x[0][k], p->x[1][k], p->x[2][k]}, &first[k],
                 &energy[k]);
        if (!isfinite(energy[k]) || !(fabs(first[k]) + fabs(energy[k]) < 1e12)) continue;
        most[0] = fmax(most[0], fabs(first[k]));
        most[1] = fmax(most[1], fabs(energy[k]));
    }
    for (int k = 0; k < NEIGHBOURS; k++) {
        const double r =
            sqrt(p->x[0][k] * p->x[0][k] + p->x[1][k] * p->x[1][k] + p->x[2][k] * p->x[2][k]);
        const char *where = f->single ? "float" : "double";
        if (energy[k] == INFINITY)
            check_value(
                out, p->energy[k] == INFINITY ? 0 : INFINITY,
                "`slopes` gives the energy %.9g at separation %.9g, where particles overlap, in "
                "%s precision: it must be INFINITY",
                p->energy[k], r, where);
        if (!(fabs(first[k]) <= most[0] && fabs(energy[k]) <= most[1])) continue;
        for (int which = 0; which < 2; which++)
            check_value(
                out,
                fabs((which ? p->first : alone)[k] - first[k]) /
                    (f->tolerance * (10 * fabs(first[k]) + 1e-3 * most[0]) + 1e-30),
                "`slopes` gives %.9g for du/dr / r at separation %.9g, but `derivatives` %.9g, in "
                "%s precision: correct `slopes`",
                (which ? p->first : alone)[k], r, first[k], where);
        check_value(
            out,
            fabs(p->energy[k] - energy[k]) /
                (f->tolerance * (10 * fabs(energy[k]) + 1e-3 * most[1]) + 1e-30),
            "`slopes` gives the energy %.9g at separation %.9g, but `derivatives` %.9g, in %s "
            "precision: correct `slopes`",
            p->energy[k], r, energy[k], where);
    }
}

static bool has_slopes(const plugmc_pair *pair)
{
    return pair && PLUGMC_HAS(pair, slopes) && pair->slopes && pair->derivatives;
}

int check_pair_slopes(const target *t, stand *s, findings *f)
{
    const int rounds = t->quick ? 40 : 1000;
    const plugmc_system *system = &s->session.engine.system;
    if (!has_slopes(facet_of(s, false).pair)) {
        check_not_covered(f, "slopes of pairs",
                          stand_pair(s) ? "`slopes` or `derivatives` is not offered"
                                        : "there is no pair energy");
        return 0;
    }
    check_begin(
        f, "slopes of pairs", 1,
        "`slopes` of %d pairs, %d times, with `derivatives` of single ones; allowed 1e-8 in "
        "double, 1e-3 in float",
        NEIGHBOURS, rounds);
    context_calling(&s->own->context, "slopes");
    for (int k = 0; k < rounds; k++) {
        const facet now = facet_of(s, k & 1);
        const plugmc_particle a = random_particle(s), b = random_particle(s);
        apart_pairs p;
        if (!has_slopes(now.pair)) continue;
        const double range = now.pair->range(now.instance),
                     unit = stand_distance(system, &system->box);
        const double reach = isfinite(range) && range > 0 ? range : 2 * unit;
        for (int i = 0; i < NEIGHBOURS; i++) {
            const double r = 0.1 * fmin(reach, unit) + 1.1 * reach * stand_uniform(s);
            const double angle = 2 * M_PI * stand_uniform(s), up = 0.6 * stand_symmetric(s);
            const double flat[3] = {cos(angle), sin(angle), system->box.dimension > 2 ? up : 0};
            for (int d = 0; d < 3; d++)
                p.x[d][i] = p.y[d][i] = (float)(r * flat[d] / sqrt(1 + flat[2] * flat[2]));
        }
        compare_slopes(&now, &system->box, &a, &b, &p, f);
    }
    crash_called();
    return 0;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

enum { LANES = 2 * PLUGMC_LANE_BLOCK, SLOTS = 7 };

/* Positions in units of cells, relative to the cell of the probe. */
typedef struct batch {
    float x[3][SLOTS][LANES], offset[SLOTS][3], old[3][LANES], new[3][LANES], change[LANES];
    uint8_t species[SLOTS][LANES], probe[LANES];
    const float *at[3][SLOTS];
    const uint8_t *kinds[SLOTS];
    float charge[256], diameter[256];
} batch;

static void fill_batch(stand *s, batch *b)
{
    const plugmc_system *system = &s->session.engine.system;
    const int dimension = system->box.dimension;
    for (int k = 0; k < SLOTS; k++) {
        for (int d = 0; d < 3; d++)
            b->offset[k][d] = d < dimension ? (float)(stand_below(s, 3) - 1) : 0;
        for (int d = 0; d < 3; d++) b->at[d][k] = b->x[d][k];
        b->kinds[k] = b->species[k];
        for (int l = 0; l < LANES; l++) {
            for (int d = 0; d < 3; d++)
                b->x[d][k][l] = d < dimension ? (float)(0.5 * stand_symmetric(s)) : 0;
            if (stand_below(s, 5) == 0) b->x[0][k][l] = PLUGMC_NOWHERE;
            b->species[k][l] = (uint8_t)stand_below(s, system->species_count);
        }
    }
    for (int l = 0; l < LANES; l++) {
        b->change[l] = 0;
        b->probe[l] = (uint8_t)stand_below(s, system->species_count);
        for (int d = 0; d < 3; d++) {
            b->old[d][l] = d < dimension ? (float)(0.5 * stand_symmetric(s)) : 0;
            b->new[d][l] = d < dimension ? b->old[d][l] + (float)(0.1 * stand_symmetric(s)) : 0;
        }
    }
    for (int32_t k = 0; k < system->species_count; k++) {
        b->charge[k] = (float)plugmc_species_at(system, k)->charge;
        b->diameter[k] = (float)plugmc_species_at(system, k)->diameter;
    }
}

/* The energy in double precision of a pair at a separation, and how much it varies beside it; NaN: they overlap. */
static double pair_at(const stand *s, const facet *f, const plugmc_particle *a, int32_t kind,
                      const double separation[3], double *slack)
{
    const plugmc_system *system = &s->session.engine.system;
    double u[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        particles n;
        plugmc_particle there = *a;
        const double factor = 1 + 2e-6 * (k - 1);
        there.x = separation[0] * factor;
        there.y = separation[1] * factor;
        there.z = separation[2] * factor;
        const plugmc_particle other = particle_of(system, kind, (double[3]){0, 0, 0});
        particles_put(&n, 0, &other);
        const plugmc_particles one = particles_list(&n, false, 0, 1);
        if (f->pair->energy(f->instance, &system->box, 0, &there, &one, &u[k])) return NAN;
    }
    *slack += fmax(u[0], fmax(u[1], u[2])) - fmin(u[0], fmin(u[1], u[2]));
    return u[1];
}

/* What a lane should have: its change by single pairs, the sizes of energies in it, and by how much they vary beside it. */
typedef struct lane {
    double change, size, slack;
} lane;

static lane lane_of(const stand *s, const facet *pair, const batch *b, int l, double scale)
{
    const plugmc_species *own = plugmc_species_at(&s->session.engine.system, b->probe[l]);
    const plugmc_particle a = {
        .charge = own->charge, .diameter = own->diameter, .species = b->probe[l]};
    lane out = {0, 1e-30, 0};
    for (int k = 0; k < SLOTS; k++) {
        double there[2][3], u[2];
        if (b->x[0][k][l] == PLUGMC_NOWHERE) continue;
        for (int which = 0; which < 2; which++) {
            for (int d = 0; d < 3; d++)
                there[which][d] = scale * (double)((which ? b->new[d][l] : b->old[d][l]) -
                                                   (b->x[d][k][l] + b->offset[k][d]));
            u[which] = pair_at(s, pair, &a, b->species[k][l], there[which], &out.slack);
        }
        out.change += u[1] - u[0];
        out.size += fabs(u[0]) + fabs(u[1]);
    }
    return out;
}

static bool is_usable(const lane *l) { return isfinite(l->change) && l->size < 1e8; }

/* Near the range energies are small differences of numbers of the size of others. */
static void compare_lanes(const stand *s, const facet *pair, const batch *b, double scale,
                          findings *f)
{
    lane lanes[LANES];
    double largest = 0;
    for (int l = 0; l < LANES; l++) {
        lanes[l] = lane_of(s, pair, b, l, scale);
        if (is_usable(&lanes[l])) largest = fmax(largest, lanes[l].size);
    }
    for (int l = 0; l < LANES; l++) {
        const lane *own = &lanes[l];
        if (!is_usable(own)) continue;
        check_value(f,
                    fabs(b->change[l] - own->change) /
                        (1e-3 * own->size + 1e-6 * largest + 2 * own->slack),
                    "a batch of trial moves gives the change %.9g in float, but energies in double "
                    "precision differ by %.9g: pair_energy or pair_change depends on precision",
                    (double)b->change[l], own->change);
    }
}

int check_lanes(const target *t, stand *s, findings *f)
{
    const facet pair = facet_of(s, false), single = facet_of(s, true);
    const int rounds = t->quick ? 10 : 300;
    const plugmc_system *system = &s->session.engine.system;
    batch *b = checked(calloc(1, sizeof *b));
    if (!single.pair || !PLUGMC_HAS(single.pair, lanes) || !single.pair->lanes) {
        check_not_covered(f, "batches of trial moves", "no mover asks it in batches");
        free(b);
        return 0;
    }
    const double scale = pair.pair->range(pair.instance);
    if (!isfinite(scale) || scale <= 0) {
        check_not_covered(f, "batches of trial moves",
                          "without a range there are no cells in which movers ask it in batches");
        free(b);
        return 0;
    }
    check_begin(f, "batches of trial moves", 1,
                "changes of %d trial moves in cells, in float, with energies of single pairs in "
                "double; allowed 1e-3 of the sizes",
                rounds * LANES);
    context_calling(&s->own->context, "lanes");
    for (int k = 0; k < rounds; k++) {
        fill_batch(s, b);
        const bool kinds = system->species_count > 1;
        const plugmc_lanes lanes = {.size = sizeof lanes,
                                    .lanes = LANES,
                                    .slots = SLOTS,
                                    .scale = (float)scale,
                                    .ratio = {1, 1, 1},
                                    .x = b->at[0],
                                    .y = b->at[1],
                                    .z = b->at[2],
                                    .offset = (const float(*)[3])b->offset,
                                    .species = kinds ? b->kinds : NULL,
                                    .charge = b->charge,
                                    .diameter = b->diameter,
                                    .old_x = b->old[0],
                                    .old_y = b->old[1],
                                    .old_z = b->old[2],
                                    .new_x = b->new[0],
                                    .new_y = b->new[1],
                                    .new_z = b->new[2],
                                    .probe_species = kinds ? b->probe : NULL,
                                    .change = b->change};
        crash_calling_its("lanes");
        single.pair->lanes(single.instance, &lanes);
        compare_lanes(s, &pair, b, (float)scale, f);
    }
    crash_called();
    free(b);
    return 0;
}
