/* Systems for the tests of movers that take the sequential Metropolis sweep of long-range
 * potentials (brush, parallel_reduction), on CPU and GPU; and the sweep written down a second time:
 * one particle after the other, all pairs in double precision. Include after movers.h, forces.h. */
#ifndef PLUGMC_TEST_BRUSH_H
#define PLUGMC_TEST_BRUSH_H

#include "boxes.h"
#include "system/system.h"

#include "../plugins/movers/brush/trial.h"

enum { LIKE_SERIAL_SPECIES = 3, LIKE_SERIAL_TERMS = 3 };

typedef struct electrolyte {
    const char *name;
    int dimension;
    double radius;       /* of a sphere; 0: periodic */
    double vector[3][3]; /* periodic: lattice vectors */
    struct {
        int64_t count;
        double diameter, charge;
    } species[LIKE_SERIAL_SPECIES];
    struct {
        const char *name, *settings;
    } potential[LIKE_SERIAL_TERMS];
    int slope; /* a one-body energy along x as well */
    double step;
} electrolyte;

/* Mixed valences in a sphere with hard cores and a wall; boxes with the minimum image; a disk and
 * an oblique box; a potential of finite range; a field. Species do not end where panels do. */
static const electrolyte in_a_sphere = {
    .name = "mixed valences in a sphere",
    .dimension = 3,
    .radius = 12.3,
    .species = {{250, 1.0, 3}, {500, 0.8, -1}, {250, 1.2, -1}},
    .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=1.5"}, {"spherical_wall", ""}},
    .step = 4};
static const electrolyte in_a_box = {
    .name = "minimum image in a brick",
    .dimension = 3,
    .vector = {{18.7, 0, 0}, {0, 21.3, 0}, {0, 0, 17.1}},
    .species = {{250, 1.0, 2}, {500, 0.8, -1}, {250, 1.2, 0}},
    .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=2 minimum_image=yes"}},
    .step = 1.5};
static const electrolyte in_a_disk = {.name = "two dimensions, in a disk",
                                      .dimension = 2,
                                      .radius = 31,
                                      .species = {{333, 1.0, 1}, {334, 1.0, -1}, {333, 0.5, 2}},
                                      .potential = {{"hard_disk", ""},
                                                    {"coulomb", "bjerrum_length=1"},
                                                    {"yukawa", "bjerrum_length=0.5 kappa=0.3"}},
                                      .step = 6};
static const electrolyte in_a_square = {
    .name = "two dimensions, periodic",
    .dimension = 2,
    .vector = {{47.9, 0, 0}, {0, 53.3, 0}, {0, 0, 1}},
    .species = {{500, 1.0, 1}, {500, 1.1, -1}},
    .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=1 minimum_image=yes"}},
    .step = 5};
static const electrolyte in_an_oblique_box = {
    .name = "oblique box",
    .dimension = 3,
    .vector = {{19.7, 0, 0}, {4.3, 18.1, 0}, {-3.1, 2.2, 17.3}},
    .species = {{400, 0.7, 2}, {300, 0.9, -1}},
    .potential = {{"hard_disk", ""}, {"yukawa", "bjerrum_length=2 kappa=0.2"}},
    .step = 2};
static const electrolyte of_finite_range = {
    .name = "Lennard-Jones, periodic",
    .dimension = 3,
    .vector = {{11.3, 0, 0}, {0, 12.1, 0}, {0, 0, 10.9}},
    .species = {{700, 0.6, 0}, {300, 0.9, 0}},
    .potential = {{"hard_disk", ""},
                  {"lennard_jones", "epsilon=1 sigma=0.9 cutoff=2.5 truncation=shift"}},
    .step = 0.4};
static const electrolyte in_a_field = {
    .name = "one-body energy and wall in a sphere",
    .dimension = 3,
    .radius = 14.9,
    .species = {{500, 1.0, 1}, {500, 1.0, -1}},
    .potential = {{"hard_disk", ""},
                  {"coulomb", "bjerrum_length=2"},
                  {"spherical_wall", "radius=13.7 keeps=centres"}},
    .slope = 1,
    .step = 3};

/* Nobody is farther from another than the diameter of the sphere, but proposals may be, where the
 * energy is not a number. */
static const electrolyte of_a_table_that_ends = {
    .name = "energies as far as the sphere reaches",
    .dimension = 3,
    .radius = 6,
    .species = {{150, 0.5, 0}, {153, 0.5, 0}},
    .potential = {{"hard_disk", ""},
                  {TEST_OWN_PLUGINS "/test_hole", "strength=0.1 cutoff=60 hole=0 beyond=12"}},
    .step = 3};

/* ---- A field that is no plugin --------------------------------------------------------------- */

/* u = steepness * x, and nobody below x = -9. */
typedef struct slope {
    double steepness;
} slope;
typedef struct slope_single {
    float steepness;
} slope_single;

static const char slope_text[] =
    "typedef struct parameters { real steepness; } parameters;\n"
    "PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int "
    "*outside)\n"
    "{\n    if (r.x < (real)-9) *outside = 1;\n    return p->steepness * r.x;\n}\n"
    "#include <plugmc/field.h>\n";

static int64_t slope_of(const void *instance, const plugmc_particles *particles, double *energy)
{
    const double *x = (const double *)particles->x;
    int64_t outside = 0;
    for (int64_t i = 0; i < particles->n; i++) {
        *energy += ((const slope *)instance)->steepness * x[i];
        outside += x[i] < -9;
    }
    return outside;
}

static const plugmc_parameter slope_table[] = {
    PLUGMC_REAL_KEY(slope, steepness, NULL, -1e9, 1e9, "", "")};
static const plugmc_parameter slope_table_single[] = {
    PLUGMC_REAL_KEY(slope_single, steepness, NULL, -1e9, 1e9, "", "")};
static const plugmc_field slope_facet = {
    .size = sizeof slope_facet, .functions = PLUGMC_FIELD_ENERGY, .energy = slope_of};
static const plugmc_potential slope_only = {.size = sizeof slope_only, .field = &slope_facet};
#define SLOPE(size_of_real, list)                                                                  \
    {                                                                                              \
        .size = sizeof(plugmc_plugin), .real_size = size_of_real, .kind = PLUGMC_POTENTIAL,        \
        .name = "slope", .potential = &slope_only, .parameters = list, .parameter_count = 1,       \
        .parameter_size = sizeof(plugmc_parameter), .source = slope_text,                          \
        .source_end = slope_text + sizeof slope_text - 1, .source_name = "slope"                   \
    }
static const plugmc_plugin slope_plugin = SLOPE(sizeof(double), slope_table),
                           slope_plugin_single = SLOPE(sizeof(float), slope_table_single);
static slope slope_instance = {0.3};
static slope_single slope_instance_single = {0.3f};

/* ---- Systems --------------------------------------------------------------------------------- */

/* Cells for movers that ask for them, freed with the next ones. */
static plugmc_cells cells_given;

static inline int cells_of_view(const plugmc_view *view, double range, plugmc_cells *out)
{
    const bench *b = (const bench *)view->core;
    host_cells_free(&cells_given);
    int code = host_cells_build(&b->system, view->box, view->positions, range, &cells_given);
    *out = cells_given;
    return code;
}

static inline int view_with_cells(plugmc_context *context, const double *positions,
                                  int32_t on_device, plugmc_view *out)
{
    assert_int_equal(out->size, sizeof *out);
    *out = (plugmc_view){.size = sizeof *out,
                         .positions = positions,
                         .on_device = on_device,
                         .cells = cells_of_view,
                         .box = boxes_of(&((const bench *)context)->system),
                         .count = numbers_of(&((const bench *)context)->system),
                         .core = context};
    return PLUGMC_OK;
}

/* A system, on the CPU; the potentials are configured, not prepared. */
static inline void electrolyte_begin(bench *b, const electrolyte *e, int walkers, int threads)
{
    const double r2 = 2 * e->radius;
    bench_begin(b, e->dimension, (double[3]){r2, r2, r2}, walkers, 2017);
    if (e->radius > 0) {
        b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
        b->system.box.radius = e->radius;
    } else {
        bench_vectors(b, e->vector);
    }
    b->system.threads = threads;
    b->host.view = view_with_cells;
    for (int s = 0; s < LIKE_SERIAL_SPECIES; s++)
        if (e->species[s].count)
            bench_species(b, "ion", e->species[s].count, e->species[s].diameter,
                          e->species[s].charge);
    for (int t = 0; t < LIKE_SERIAL_TERMS; t++)
        if (e->potential[t].name)
            bench_expect(b, bench_configured(b, e->potential[t].name, e->potential[t].settings));
    if (e->slope)
        b->terms[b->system.term_count++] = (plugmc_term){.label = "slope",
                                                         .plugin = &slope_plugin,
                                                         .instance = &slope_instance,
                                                         .plugin_single = &slope_plugin_single,
                                                         .instance_single = &slope_instance_single,
                                                         .sampled = 1,
                                                         .host = &b->host};
}

static inline void electrolyte_end(bench *b)
{
    host_cells_free(&cells_given);
    bench_end(b);
}

static inline plugmc_particle bench_particle(const bench *b, int64_t i, const double r[3])
{
    const plugmc_species *s = bench_species_of(b, i);
    return (plugmc_particle){r[0], r[1], r[2], s->charge, s->diameter, (int32_t)(s - b->species)};
}

/* Particles of a walker as structure of arrays in double precision; released with free(p->x). */
typedef struct columns {
    int64_t n;
    double *x, *y, *z, *charge, *diameter;
    int32_t *species;
} columns;

static inline columns columns_of(const bench *b, const double *positions)
{
    const int64_t n = b->system.particles;
    double *d = (double *)calloc((size_t)(6 * n), sizeof *d);
    columns c = {n, d, d + n, d + 2 * n, d + 3 * n, d + 4 * n, (int32_t *)(d + 5 * n)};
    for (int64_t i = 0; i < n; i++) {
        const plugmc_particle p = bench_particle(b, i, &positions[3 * i]);
        c.x[i] = p.x, c.y[i] = p.y, c.z[i] = p.z;
        c.charge[i] = p.charge, c.diameter[i] = p.diameter, c.species[i] = p.species;
    }
    return c;
}

static inline plugmc_particles some_of(const columns *c, int64_t begin, int64_t end)
{
    return (plugmc_particles){end - begin,       c->x + begin,      c->y + begin,
                              c->z + begin,      c->charge + begin, c->diameter + begin,
                              c->species + begin};
}

/* Does a particle at r overlap with the first n, or is it where it may not be? */
static inline int no_place_for(const bench *b, const columns *c, int64_t n,
                               const plugmc_particle *p)
{
    const plugmc_system *s = &b->system;
    const int periodic = s->box.domain == PLUGMC_DOMAIN_PERIODIC;
    const plugmc_particles before = some_of(c, 0, n),
                           one = {1, &p->x, &p->y, &p->z, &p->charge, &p->diameter, &p->species};
    double unused = 0;
    int64_t bad =
        !periodic && p->x * p->x + p->y * p->y + p->z * p->z > s->box.radius * s->box.radius;
    for (int t = 0; t < s->term_count && !bad; t++) {
        const plugmc_potential *u = s->terms[t].plugin->potential;
        if (u->pair && u->pair->functions & PLUGMC_PAIR_CONTACT)
            bad += u->pair->energy(s->terms[t].instance, &s->box, periodic, p, &before, &unused);
        if (u->field) bad += u->field->energy(s->terms[t].instance, &one, &unused);
    }
    return bad != 0;
}

/* No particle of any walker overlaps, or is where it may not be, in double precision. */
static inline void assert_no_overlaps(const bench *b, const double *positions)
{
    const int64_t n = b->system.particles;
    for (int32_t w = 0; w < b->system.walkers; w++) {
        columns c = columns_of(b, positions + 3 * n * w);
        for (int64_t i = 0; i < n; i++) {
            const double r[3] = {c.x[i], c.y[i], c.z[i]};
            const plugmc_particle p = bench_particle(b, i, r);
            if (no_place_for(b, &c, i, &p))
                fail_msg("walker %d, particle %lld at %.17g %.17g %.17g overlaps or is forbidden",
                         w, (long long)i, r[0], r[1], r[2]);
        }
        free(c.x);
    }
}

/* Places at random without overlaps, another for every walker; to be freed. */
static inline double *random_places(const bench *b)
{
    const plugmc_box *box = &b->system.box;
    const int64_t n = b->system.particles;
    double *positions = bench_positions(b);
    for (int32_t w = 0; w < b->system.walkers; w++) {
        double *x = positions + 3 * n * w;
        columns c = columns_of(b, x);
        for (int64_t i = 0, attempt = 0; i < n; attempt++) {
            const plugmc_random u = plugmc_draw((plugmc_seed){7}, (uint64_t)attempt, (uint32_t)w,
                                                (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
            double r[3] = {0, 0, 0};
            for (int d = 0; d < box->dimension; d++)
                for (int e = 0; e < box->dimension; e++)
                    r[d] += (box->domain == PLUGMC_DOMAIN_PERIODIC
                                 ? u.word[e] * 0x1p-32 * box->vector[e][d]
                                 : (d == e) * (u.word[e] * 0x1p-31 - 1) * box->radius);
            const plugmc_particle p = bench_particle(b, i, r);
            if (no_place_for(b, &c, i, &p)) continue;
            c.x[i] = r[0], c.y[i] = r[1], c.z[i] = r[2];
            memcpy(&x[3 * i++], r, sizeof r);
        }
        free(c.x);
    }
    return positions;
}

/* A direction at random. */
static inline void direction(uint32_t i, double v[3])
{
    double square = 2;
    for (uint32_t draw = 0; square > 1; draw++) {
        const plugmc_random u =
            plugmc_draw((plugmc_seed){5}, 0, 0, i, PLUGMC_PURPOSE_INITIAL, draw);
        square = 0;
        for (int d = 0; d < 3; d++) {
            v[d] = u.word[d] * 0x1p-31 - 1;
            square += v[d] * v[d];
        }
    }
    for (int d = 0; d < 3; d++) v[d] /= sqrt(square);
}

/* 150 pairs whose second particle touches the first, a last bit apart, on a lattice that is no
 * multiple of the quantum; in the sphere also 40 particles that touch the wall, in the box pairs on
 * both sides of its faces. */
static const electrolyte touching_in_a_sphere = {
    .name = "touching, in a sphere",
    .dimension = 3,
    .radius = 40,
    .species = {{300, 1, 1}, {40, 1.5, 0}},
    .potential = {{"hard_disk", ""}, {"spherical_wall", ""}},
    .step = 1};
static const electrolyte touching_in_a_box = {.name = "touching, periodic",
                                              .dimension = 3,
                                              .vector = {{24.7, 0, 0}, {0, 24.7, 0}, {0, 0, 24.7}},
                                              .species = {{300, 1, 0}},
                                              .potential = {{"hard_disk", ""}},
                                              .step = 1};

static inline double *touching_places(const bench *b)
{
    const int in_a_box = b->system.box.radius == 0;
    double *x = bench_positions(b), v[3];
    for (int64_t i = 0; i < b->system.particles; i++) {
        const int64_t site[3] = {i / 2 % 6, i / 12 % 6, i / 72 % 6};
        direction((uint32_t)i, v);
        for (int d = 0; d < 3; d++) {
            double *r = &x[3 * i + d];
            if (i >= 300) /* on the wall */
                *r = v[d] * (40 - 0.75) * (1 - 0x1p-52);
            else if (i % 2) /* touches the one before */
                *r = x[3 * i - 3 + d] + v[d] * (1 + 4e-16);
            else
                *r = 4.1 * (double)site[d] - (in_a_box ? 0.1 : 10.3);
        }
        if (i % 2 || i >= 300) plugmc_wrap(&b->system.box, &x[3 * i]);
    }
    for (int64_t i = 0; i < 300; i += 2) plugmc_wrap(&b->system.box, &x[3 * i]);
    return x;
}

/* Energy of one walker: every pair once and all fields, in double precision. */
static inline double energy_of_places(const bench *b, const double *positions)
{
    const plugmc_system *s = &b->system;
    columns c = columns_of(b, positions);
    double sum = 0;
    for (int64_t i = 0; i < c.n; i++) {
        const plugmc_particle p = bench_particle(b, i, &positions[3 * i]);
        const plugmc_particles after = some_of(&c, i + 1, c.n), one = some_of(&c, i, i + 1);
        for (int t = 0; t < s->term_count; t++) {
            const plugmc_potential *u = s->terms[t].plugin->potential;
            if (u->pair && u->pair->functions & PLUGMC_PAIR_ENERGY)
                u->pair->energy(s->terms[t].instance, &s->box,
                                s->box.domain == PLUGMC_DOMAIN_PERIODIC, &p, &after, &sum);
            if (u->field) u->field->energy(s->terms[t].instance, &one, &sum);
        }
    }
    free(c.x);
    return sum;
}

/* ---- The sweep a second time ----------------------------------------------------------------- */

/* The domain as the movers have it: with places rounded to a power of two that float holds exactly
 * on both sides of the middle, or not rounded. */
static inline brush_domain domain_with(const bench *b, int rounded)
{
    const plugmc_box *box = &b->system.box;
    brush_domain d = {.radius2 = box->radius * box->radius,
                      .dimension = box->dimension,
                      .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                      .oblique = box->oblique};
    double half = 0;
    memcpy(d.edge, box->length, sizeof d.edge);
    memcpy(d.vector, box->vector, sizeof d.vector);
    memcpy(d.inverse, box->inverse, sizeof d.inverse);
    for (int k = 0; k < box->dimension; k++)
        half = box->oblique ? half + box->length[k] : fmax(half, 0.5 * box->length[k]);
    if (rounded) d.quantum = exp2(ceil(log2(half)) - 23);
    return d;
}

/* What was seen of the decisions: how many differed from those in double precision, all within
 * `threshold` of the threshold or a relative 1e-6 of contact. */
typedef struct tally {
    int64_t trials, accepted, ambiguous;
    double farthest; /* |change - threshold| of one that differed */
} tally;

/* Smallest relative distance from contact, |r / contact - 1|, of a particle with all others. */
static inline double nearness(const bench *b, const columns *c, int64_t i, const plugmc_particle *p)
{
    const plugmc_system *s = &b->system;
    double nearest = INFINITY;
    for (int t = 0; t < s->term_count; t++) {
        const plugmc_pair *pair = s->terms[t].plugin->potential->pair;
        if (!pair || !(pair->functions & PLUGMC_PAIR_CONTACT)) continue;
        for (int64_t j = 0; j < c->n; j++) {
            const double r[3] = {c->x[j], c->y[j], c->z[j]};
            const plugmc_particle q = bench_particle(b, j, r);
            const double contact = pair->contact(s->terms[t].instance, p, &q);
            double d[3] = {p->x - q.x, p->y - q.y, p->z - q.z}, square = 0;
            for (int k = 0; k < s->box.dimension; k++) {
                if (!s->box.radius) d[k] -= s->box.length[k] * rint(d[k] / s->box.length[k]);
                square += d[k] * d[k];
            }
            if (j != i) nearest = fmin(nearest, fabs(sqrt(square) / contact - 1));
        }
    }
    return nearest;
}

/* Follows the decisions of a mover through sweep number `sweep` of walker w, from its places before
 * to those after, and compares every `every`th with the decision of double precision in the same
 * situation. `before` becomes `after`. */
static inline void follow(const bench *b, const brush_domain *domain, double step, uint64_t sweep,
                          int32_t w, int64_t every, double *before, const double *after,
                          double tolerance, tally *seen)
{
    const plugmc_system *s = &b->system;
    columns c = columns_of(b, before);
    for (int64_t i = 0; i < c.n; i++) {
        double to[3];
        memcpy(to, &before[3 * i], sizeof to);
        int allowed = brush_displace(domain, s->seed, sweep, (uint32_t)w, (uint32_t)i, step, to);
        const double threshold = brush_threshold(s->seed, sweep, (uint32_t)w, (uint32_t)i);
        const plugmc_particle old = bench_particle(b, i, &before[3 * i]),
                              new = bench_particle(b, i, to);
        const plugmc_particles sides[2] = {some_of(&c, 0, i), some_of(&c, i + 1, c.n)},
                               here = some_of(&c, i, i + 1),
                               there = {1,           &to[0],        &to[1],      &to[2],
                                        here.charge, here.diameter, here.species};
        double change = 0, fields[2] = {0, 0};
        int64_t bad = 0, unused = 0;
        for (int t = 0; t < s->term_count && i % every == 0; t++) {
            const plugmc_potential *u = s->terms[t].plugin->potential;
            const void *instance = s->terms[t].instance;
            for (int k = 0; k < 2 && u->pair; k++)
                bad += u->pair->change(instance, &s->box, s->box.domain == PLUGMC_DOMAIN_PERIODIC,
                                       &old, to, &sides[k], &change);
            if (!u->field) continue;
            bad += u->field->energy(instance, &there, &fields[1]);
            unused += u->field->energy(instance, &here, &fields[0]);
        }
        change += fields[1] - fields[0];
        const int moved = !memcmp(to, &after[3 * i], sizeof to),
                  wanted = allowed && !bad && change < threshold;
        if (!moved && memcmp(&before[3 * i], &after[3 * i], sizeof to))
            fail_msg("sweep %llu: particle %lld is neither where it was nor where it tried to go",
                     (unsigned long long)sweep, (long long)i);
        seen->trials++;
        seen->accepted += moved;
        if (moved != wanted && i % every == 0) {
            const double gap = fabs(change - threshold);
            seen->ambiguous++;
            if (!(allowed && gap < tolerance) &&
                !(tolerance > 0 && nearness(b, &c, i, &new) < 1e-6))
                fail_msg(
                    "sweep %llu, particle %lld: %s, but change - threshold is %g, overlaps %lld",
                    (unsigned long long)sweep, (long long)i, moved ? "accepted" : "rejected",
                    change - threshold, (long long)bad);
            if (gap < tolerance) seen->farthest = fmax(seen->farthest, gap);
        }
        c.x[i] = after[3 * i], c.y[i] = after[3 * i + 1], c.z[i] = after[3 * i + 2];
    }
    memcpy(before, after, (size_t)(3 * c.n) * sizeof *before);
    free(c.x);
}

#endif
