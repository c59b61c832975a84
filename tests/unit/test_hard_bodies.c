/* Hard bodies, every shape: second virial coefficients and volumes; the answer for a pair whichever is asked; spheres around
 * and inside; float and double; paths against overlaps on the way.
 *
 * An argument is the number of pairs to look at. With a shape and a number it prints so many pairs instead, for
 * tests/cross_checks/hard_bodies.py; with `shapes` their names. */
#include "testing.h"

#include "plugmc/body_pairs.h"

#include "hard_bodies.h"

static hard_body body;

/* ---- Virial coefficients --------------------------------------------------------------------- */

enum { PER_PROBE = 256 };

/* How many of so many pairs overlap, in float as movers ask: many bodies around one. */
static int64_t overlaps_of_many(hard_body *h, int64_t groups)
{
    static float x[3][PER_PROBE], zero[PER_PROBE], one[PER_PROBE];
    static int32_t species[PER_PROBE];
    static plugmc_orientation turned[PER_PROBE];
    int64_t overlaps = 0;
    for (int64_t g = 0; g < groups; g++) {
        const plugmc_particle probe = one_of(h, 1, (double[3]){0});
        plugmc_orientation upright = plugmc_upright(h->shape->dimension);
        double energy = 0;
        for (int j = 0; j < PER_PROBE; j++) {
            const body_pair pair = random_pair(h, (uint64_t)(g * PER_PROBE + j));
            for (int d = 0; d < 3; d++) x[d][j] = (float)pair.at[d];
            species[j] = 0;
            turned[j] = pair.first;
            upright = pair.second;
        }
        const plugmc_particles others = {PER_PROBE, x[0], x[1], x[2], zero, one, species};
        overlaps += h->body[SINGLE]->energy(h->instance[SINGLE], &h->bench.system.box, 0, &probe,
                                            &upright, &others, turned, &energy);
    }
    return overlaps;
}

/* Standard error 1e-3. A right program fails one time in a thousand: 29 shapes at 4 errors. */
static void second_virial_coefficients_are_those_of_the_shapes(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        hard_body_open(&body, &shapes[k]);
        const plugmc_particle a = one_of(&body, 0, (double[3]){0});
        const int flat = shapes[k].dimension == 2;
        const double unit = flat ? M_PI : 4 * M_PI / 3, all = unit * pow(body.reach, flat ? 2 : 3),
                     inside = unit * pow(body.core, flat ? 2 : 3);
        const double share = fmax(0.02, (2 * shapes[k].virial - inside) / (all - inside)),
                     relative = (all - inside) / (2 * shapes[k].virial);
        const int64_t groups =
            1 + (int64_t)(relative * relative * share * (1 - share) * 1e6) / PER_PROBE;
        const double n = (double)groups * PER_PROBE,
                     p = (double)overlaps_of_many(&body, groups) / n,
                     error = (all - inside) / 2 * sqrt(p * (1 - p) / n);
        assert_close(body.body[DOUBLE]->volume(body.instance[DOUBLE], &a), shapes[k].volume, 1e-7,
                     0);
        assert_z(shapes[k].name, (inside + p * (all - inside)) / 2, hypot(error, shapes[k].error),
                 shapes[k].virial, 4.);
        assert_true(error < 1.2e-3 * shapes[k].virial);
        hard_body_close(&body);
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static int pairs = 40000;

/* How far near pairs are apart: either sign, from the size of the bodies down to the rounding of float. */
static double closeness(hard_body *h, uint64_t number)
{
    const double size = body.reach * pow(10, -7 * chance(h, number, 5));
    return chance(h, number, 6) < 0.5 ? -size : size;
}

static body_pair some_pair(hard_body *h, uint64_t number)
{
    return number % 2 ? near_pair(h, number, closeness(h, number)) : random_pair(h, number);
}

/* Spheres with patches are compared by their distance alone. What float takes for apart is. */
static void patchy_spheres_that_float_takes_for_apart_are(void **state)
{
    static const shape patchy = {
        "patchy_sphere", "kern_frenkel", "half_angle = 1\n", 3, 0, M_PI / 6, 2 * M_PI / 3, 0, 1};
    const plugmc_orientation upright = {{1 << 30, 0, 0, 0}};
    int overlaps = 0;
    (void)state;
    hard_body_open(&body, &patchy);
    for (int i = 0; i < 40000; i++) {
        const double z = (i % 200 + 0.5) / 100 - 1, angle = 2.399963 * i,
                     r = 1 + (i % 997 - 498) * 1e-8;
        const double at[3] = {r * sqrt(1 - z * z) * cos(angle), r * sqrt(1 - z * z) * sin(angle),
                              r * z};
        const body_pair pair = {{(float)at[0], (float)at[1], (float)at[2]}, upright, upright};
        const double square =
            pair.at[0] * pair.at[0] + pair.at[1] * pair.at[1] + pair.at[2] * pair.at[2];
        const int overlap = bodies_overlap(&body, SINGLE, &pair, 0);
        assert_true(overlap || square > 1);
        overlaps += overlap;
    }
    assert_true(overlaps > 20000);
    hard_body_close(&body);
}

static void the_answer_is_the_same_whichever_is_asked(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        int overlaps = 0;
        hard_body_open(&body, &shapes[k]);
        for (uint64_t i = 0; i < (uint64_t)pairs; i++) {
            const body_pair pair = some_pair(&body, i);
            for (int precision = 0; precision < 2; precision++) {
                const int first = bodies_overlap(&body, precision, &pair, 0);
                assert_int_equal(first, bodies_overlap(&body, precision, &pair, 1));
                overlaps += first;
            }
        }
        assert_in_range(overlaps, pairs / 4, 2 * pairs * 3 / 4);
        hard_body_close(&body);
    }
}

enum { AT_ONCE = 1003 }; /* no multiple of a vector */

/* As movers that look at many pairs ask, against one by one. Some are beside each other or on the same place along x. */
static void compare_pairs_at_once(hard_body *h)
{
    static body_pair pair[AT_ONCE];
    static float at[3][AT_ONCE + PLUGMC_LANE_BLOCK];
    static int32_t turned[2][4][AT_ONCE + PLUGMC_LANE_BLOCK];
    static uint8_t species[2][AT_ONCE + PLUGMC_LANE_BLOCK], found[AT_ONCE + PLUGMC_LANE_BLOCK];
    const float none[2] = {0, 0}, one[2] = {1, 1};
    const plugmc_body_pairs *many = plugmc_body_pairs_of(open_plugin(h->shape->plugin)->single);
    const plugmc_pairs_of_bodies pairs_at_once = {
        .size = sizeof pairs_at_once,
        .dimension = h->shape->dimension,
        .n = AT_ONCE,
        .x = at[0],
        .y = at[1],
        .z = at[2],
        .turned_a = {turned[0][0], turned[0][1], turned[0][2], turned[0][3]},
        .turned_b = {turned[1][0], turned[1][1], turned[1][2], turned[1][3]},
        .species_a = h->shape->alone ? NULL : species[0],
        .species_b = h->shape->alone ? NULL : species[1],
        .charge = none,
        .diameter = one,
    };
    int overlaps = 0;
    assert_non_null(many);
    for (int i = 0; i < AT_ONCE; i++) {
        pair[i] = some_pair(h, (uint64_t)i);
        if (i % 16 == 3) pair[i].at[0] = 0;
        if (i % 16 == 5) pair[i].at[1] = 0;
        for (int d = 0; d < 3; d++) at[d][i] = (float)pair[i].at[d];
        for (int d = 0; d < 4; d++) {
            turned[0][d][i] = pair[i].first.part[d];
            turned[1][d][i] = pair[i].second.part[d];
        }
        species[0][i] = 0;
        species[1][i] = (uint8_t)h->shape->other;
    }
    many->overlap(h->instance[SINGLE], &pairs_at_once, found);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_int_equal(found[i], bodies_overlap(h, SINGLE, &pair[i], 0));
        overlaps += found[i];
    }
    assert_in_range(overlaps, AT_ONCE / 8, AT_ONCE * 7 / 8);
}

static void many_pairs_at_once_overlap_as_one_by_one(void **state)
{
    (void)state;
    const shape alone[] = {
        {"triangle", "hard_polygon", "sides = 3\n", 2, .alone = 1},
        {"square", "hard_polygon", "sides = 4\n", 2, .alone = 1},
        {"pentagon", "hard_polygon", "sides = 5\n", 2, .alone = 1},
        {"hexagon", "hard_polygon", "sides = 6\n", 2, .alone = 1},
        {"kite", "hard_polygon", "A = 1 0  0 0.6  -0.4 0  0 -0.6\n", 2, .alone = 1},
        {"heptagon", "hard_polygon", "sides = 7\n", 2, .alone = 1},
        {"rounded_square", "hard_polygon", "sides = 4\nradius = 0.1\n", 2, .alone = 1},
        {"ellipse", "hard_ellipse", "a = 1\nb = 0.5\n", 2, .alone = 1},
    };
    for (size_t k = 0; k < SHAPES + PLUGMC_COUNT(alone); k++) {
        hard_body_open(&body, k < SHAPES ? &shapes[k] : &alone[k - SHAPES]);
        compare_pairs_at_once(&body);
        hard_body_close(&body);
    }
}

/* The functions of the shapes themselves, whose answers nobody sees outside of the spheres inside and around: with the
 * other body as far as the spheres let it. */
static void bodies_fill_their_spheres(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        double farthest = 0, nearest = INFINITY;
        hard_body_open(&body, &shapes[k]);
        for (uint64_t i = 0; i < (uint64_t)pairs; i++) {
            const double contact = -near_pair(&body, i, 0).at[0];
            farthest = fmax(farthest, contact);
            nearest = fmin(nearest, contact);
        }
        /* rounding of at[0] to float; contact within the margin */
        assert_true(farthest <= body.reach * (1 + 1e-7));
        assert_true(nearest >= body.core * (1 - 1e-6));
        printf("%s: contact at %.4f ... %.4f, spheres %.4f, %.4f\n", shapes[k].name, nearest,
               farthest, body.core, body.reach);
        assert_true(farthest > 0.8 * body.reach);
        hard_body_close(&body);
    }
}

/* How many of so many pairs of a shape near contact overlap in double and not in float; how many differ at all, and how far
 * these are from contact. */
static int count_closer(const shape *shape, int n, int *differ, double *farthest)
{
    int closer = 0;
    *differ = 0, *farthest = 0;
    hard_body_open(&body, shape);
    for (uint64_t i = 0; i < (uint64_t)n; i++) {
        const double apart = closeness(&body, i);
        const body_pair pair = near_pair(&body, i, apart);
        const int exact = bodies_overlap(&body, DOUBLE, &pair, 0),
                  rounded = bodies_overlap(&body, SINGLE, &pair, 0);
        /* on the other side it may be in contact again */
        if (exact == rounded || pair.at[0] > 0) continue;
        *differ += 1;
        closer += exact;
        *farthest = fmax(*farthest, fabs(apart) / body.reach);
    }
    printf("%s: %d of %d pairs near contact differ in float, up to %.2g of the reach; %d that "
           "overlap in double\n",
           shape->name, *differ, n, *farthest, closer);
    hard_body_close(&body);
    return closer;
}

/* Where they differ the two are in contact within rounding, and float has more of them overlap: its margin is wider. */
static void float_and_double_differ_at_contact_alone(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        int differ;
        double farthest;
        assert_int_equal(count_closer(&shapes[k], pairs, &differ, &farthest), 0);
        /* 2^-19 across, longer along the line of centres */
        assert_true(farthest < 1e-4);
    }
}

/* The longest free path of random pairs is looked at in so many steps. */
enum { STEPS = 20 };

static int overlaps_on_the_way(hard_body *h, const body_pair *pair, int32_t axis, double from,
                               double to)
{
    int overlaps = 0;
    for (int k = 0; k < STEPS; k++) {
        body_pair now = *pair;
        now.at[axis] += from + (to - from) * k / (STEPS - 1);
        overlaps += bodies_overlap(h, DOUBLE, &now, 0);
    }
    return overlaps;
}

static void paths_end_where_bodies_touch(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        int meet = 0, grazing = 0;
        hard_body_open(&body, &shapes[k]);
        for (uint64_t i = 0; i < (uint64_t)pairs / 8; i++) {
            const body_pair pair = random_pair(&body, i);
            const int32_t axis = (int32_t)(i % (uint64_t)shapes[k].dimension);
            const double way = path_of(&body, &pair, axis), little = 1e-9 * body.reach;
            if (bodies_overlap(&body, DOUBLE, &pair, 0)) {
                assert_true(way == 0);
            } else if (isinf(way)) {
                assert_int_equal(
                    overlaps_on_the_way(&body, &pair, axis, 0, 2 * body.reach - pair.at[axis]), 0);
            } else {
                assert_true(way >= 0);
                if (way > little)
                    assert_int_equal(overlaps_on_the_way(&body, &pair, axis, 0, way - little), 0);
                meet++;
                grazing += !overlaps_on_the_way(&body, &pair, axis, way + little, way + little);
            }
        }
        printf("%s: %d of %d meet, %d of them graze\n", shapes[k].name, meet, pairs / 8, grazing);
        assert_true(meet > pairs / 400);
        assert_true(grazing <= 3);
        hard_body_close(&body);
    }
}

/* Where the first one has been stopped it is free to go back, and so is the other one. */
static void bodies_that_touch_may_part(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        hard_body_open(&body, &shapes[k]);
        for (uint64_t i = 0; i < (uint64_t)pairs / 8; i++) {
            body_pair pair = near_pair(&body, i, 0.5 * body.reach);
            const double way = path_of(&body, &pair, 0);
            pair.at[0] += way;
            assert_true(path_of(&body, &pair, 0) < 1e-9 * body.reach);
            const body_pair other = {
                {-pair.at[0], -pair.at[1], -pair.at[2]}, pair.second, pair.first};
            const double back = shapes[k].other ? INFINITY : path_of(&body, &other, 0);
            if (!isinf(back)) fail_msg("%s: %g after %g", shapes[k].name, back, way);
        }
        hard_body_close(&body);
    }
}

/* ---- Bodies that are aligned ------------------------------------------------------------------ */

/* Half a turn, or a quarter, about an axis: axes of cubes stay exact. */
static plugmc_orientation quarter_turn(int which)
{
    const int32_t one = 1 << 29;
    const plugmc_orientation turns[] = {
        {{2 * one, 0, 0, 0}}, {{one, one, 0, 0}}, {{one, 0, -one, 0}}, {{one, 0, 0, one}},
        {{0, 2 * one, 0, 0}}, {{0, one, one, 0}}, {{0, 0, one, -one}}, {{one, one, one, one}}};
    return turns[which % 8];
}

/* Faces, edges and corners of cubes side by side, all of it exact in float: what touches overlaps. */
static void aligned_cubes_touch_at_their_edge(void **state)
{
    (void)state;
    const shape cube = {"cube", "hard_polyhedron", "shape = cube\n", 3, 0, 1, 5.5, 0};
    hard_body_open(&body, &cube);
    for (int k = 0; k < 21 * 21 * 21 * 8; k++) {
        body_pair pair = {{(k % 21 - 10) / 8., (k / 21 % 21 - 10) / 8., (k / 441 % 21 - 10) / 8.},
                          quarter_turn(k / 9261),
                          quarter_turn(k % 8)};
        const double farthest = fmax(fmax(fabs(pair.at[0]), fabs(pair.at[1])), fabs(pair.at[2]));
        for (int precision = 0; precision < 2; precision++) {
            assert_int_equal(bodies_overlap(&body, precision, &pair, 0), farthest <= 1);
            assert_int_equal(bodies_overlap(&body, precision, &pair, 1), farthest <= 1);
        }
    }
    hard_body_close(&body);
}

/* Two bodies of one orientation, whose contact is known: `apart` times as far in the direction of `point`, which is where
 * the second one touches the first, in its axes. */
static void touches_at(hard_body *h, uint64_t number, const double point[3])
{
    const double apart[4] = {0.9, 1 - 2e-4, 1 + 2e-4, 1.1};
    body_pair pair = random_pair(h, number);
    pair.second = pair.first;
    const plugmc_pose pose = plugmc_pose_of(&pair.first, h->shape->dimension);
    for (int k = 0; k < 4; k++) {
        for (int d = 0; d < 3; d++)
            pair.at[d] = (float)(apart[k] * (point[0] * pose.x[d] + point[1] * pose.y[d] +
                                             point[2] * pose.z[d]));
        for (int precision = 0; precision < 2; precision++)
            assert_int_equal(bodies_overlap(h, precision, &pair, 0), apart[k] < 1);
    }
}

/* Rods side by side, end to end, and end beside end; ellipsoids that are spheres in other units. */
static void parallel_rods_and_ellipsoids_touch_where_they_should(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        const int rods = !strcmp(shapes[k].plugin, "spherocylinder");
        double axes[3] = {0};
        if (shapes[k].other || (!rods && sscanf(shapes[k].keys, "a = %lf b = %lf c = %lf", &axes[0],
                                                &axes[1], &axes[2]) < 2))
            continue;
        hard_body_open(&body, &shapes[k]);
        for (uint64_t i = 0; i < 2000; i++) {
            const double d = body.core, length = body.reach - d, x = length * chance(&body, i, 7),
                         angle = 2 * M_PI * chance(&body, i, 8),
                         z = shapes[k].dimension == 2 ? 0 : 2 * chance(&body, i, 9) - 1,
                         rest = sqrt(1 - z * z);
            const double around[2] = {shapes[k].dimension == 2 ? 1 : cos(angle),
                                      shapes[k].dimension == 2 ? 0 : sin(angle)};
            const double beside[3] = {i % 2 ? x : 0, d * around[0], d * around[1]},
                         ahead[3] = {length + d * cos(angle), d * sin(angle), 0},
                         sphere[3] = {2 * axes[0] * rest * cos(angle),
                                      2 * axes[1] * rest * sin(angle), 2 * axes[2] * z};
            if (rods && cos(angle) > 0) touches_at(&body, i, ahead);
            /* along the side, so that the way to contact is not oblique */
            if (rods && x < 2 * d) touches_at(&body, i, beside);
            if (!rods) touches_at(&body, i, sphere);
        }
        hard_body_close(&body);
    }
}

/* ---- What is refused -------------------------------------------------------------------------- */

static const struct {
    const char *plugin, *keys;
    int dimension;
    const char *sentence;
} refused[] = {
    {"spherocylinder", "length = 3\ndiameter = 0 1\n", 3,
     "rods of species 'A' have length 3 but diameter 0: set both to 0 if it has none"},
    {"spherocylinder", "length = 0\ndiameter = 0\n", 3,
     "no species has a rod: set a diameter above 0"},
    {"spherocylinder", "length = 1 2 3\n", 3,
     "length has 3 numbers: for 2 species there must be 1 or 2 (one per species)"},
    {"hard_ellipse", "a = 1\nb = 0\n", 2,
     "the semi-axes of species 'A' are 1 and 0: the longer one may be up to 100 times the shorter "
     "one; set both to 0 if it has none"},
    {"hard_ellipse", "a = 1\nb = 1\n", 3,
     "ellipses are two-dimensional: set [box] dimension = 2, or take [potential hard_ellipsoid]"},
    {"hard_ellipse", "a = 0\nb = 0\n", 2, "no species has an ellipse: set a and b above 0"},
    {"hard_ellipsoid", "a = 1\nb = 1\nc = 0.001\n", 3,
     "the semi-axes of species 'A' are 1, 1 and 0.001: the longest may be up to 100 times the "
     "shortest; set all to 0 if it has none"},
    {"hard_ellipsoid", "a = 1\nb = 1\nc = 1\n", 2,
     "ellipsoids are three-dimensional: set [box] dimension = 3, or take [potential "
     "hard_ellipse]"},
    {"hard_polyhedron", "shape = cube\n", 2,
     "polyhedra are three-dimensional: set [box] dimension = 3"},
    {"hard_polyhedron", "", 3,
     "no species has a polyhedron: give `shape`, or the vertices of a species under its name"},
    {"hard_polyhedron", "A = 1 1 1 -1 -1 1 1 -1 -1\n", 3,
     "the polyhedron of species 'A' has fewer than 4 vertices"},
    {"hard_polyhedron", "A = 1 1 1 -1 -1 1 1 -1 -1 -1 1\n", 3,
     "the polyhedron of species 'A' has coordinates that are no multiple of three: give x, y and z "
     "of each vertex"},
    {"hard_polyhedron", "A = 1 0 0 0 1 0 -1 0 0 0 -1 0\n", 3,
     "the polyhedron of species 'A' lies in a plane"},
    {"hard_polyhedron", "A = 1 1 1 2 0 0 0 2 0 0 0 2\n", 3,
     "the polyhedron of species 'A' does not contain the origin, about which it turns"},
    {"hard_polyhedron", "A = 1 1 1 1 -1 -1 -1 1 -1 -1 -1 1 0.1 0.1 0.1\n", 3,
     "the polyhedron of species 'A' has no corner at vertex 5 (0.1, 0.1, 0.1), which is inside of "
     "the others' hull, on a face or on an edge"},
    {"hard_polyhedron", "A = 1 1 1 1 -1 -1 -1 1 -1 -1 -1 1 1 0 0\n", 3,
     "the polyhedron of species 'A' has no corner at vertex 5 (1, 0, 0), which is inside of the "
     "others' hull, on a face or on an edge"},
    {"hard_polyhedron", "shape = cube\nraduis = 0.1\n", 3,
     "raduis is neither a key nor the name of a species"},
    {"union_of_polyhedra", "", 3, "no species has a body: give the parts of one under its name"},
    {"union_of_polyhedra", "A = 3 0 0 1 0\n", 2,
     "part 1 of the body of species 'A' has fewer coordinates than its vertices need"},
    {"union_of_polyhedra", "A = 3 0 0 0 1 1 0\n", 2,
     "part 1 of the body of species 'A' is not convex, or its corners do not run counter-clockwise"},
    {"union_of_polyhedra", "A = 3 0 0 1 0 0 1 2 0 0 1 0\n", 2,
     "part 2 of the body of species 'A' must begin with the number of its corners, 3 to 64"},
    {"union_of_polyhedra", "A = 3 0 0 1 0 0 1 3 0.1 0.1 1.1 0.1 0.1 1.1\n", 2,
     "parts 1 and 2 of the body of species 'A' overlap: they may only touch"},
    {"union_of_polyhedra", "A = 4 0 0 0 1 0 0 0 1 0 1 1 0\n", 3,
     "part 1 of the body of species 'A' lies in a plane"},
    {"union_of_polyhedra", "A = 5 0 0 0 1 0 0 0 1 0 0 0 1 0.1 0.1 0.1\n", 3,
     "part 1 of the body of species 'A' has a vertex inside of the others' hull"},
    {"union_of_spheres", "", 3, "no species has a body: give the spheres of one under its name"},
    {"union_of_spheres", "A = 0 0 1\n", 3,
     "the body of species 'A' has numbers that are no multiple of four: give x, y, z and the "
     "radius of each sphere"},
    {"union_of_spheres", "A = 0 0 1 0.5\n", 2,
     "the body of species 'A' has numbers that are no multiple of three: give x, y and the radius "
     "of each disk"},
    {"union_of_spheres", "A = 0 0 1 0\n", 3,
     "the body of species 'A' has a radius that is not above 0"},
    {"union_of_spheres", "C = 0 0 1 1\n", 3, "C is neither a key nor the name of a species"},
    {"hard_polygon", "sides = 4\nC = 1 2 3\n", 2, "C is neither a key nor the name of a species"},
};

static void degenerate_shapes_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < PLUGMC_COUNT(refused); k++) {
        const shape one = {.name = refused[k].sentence,
                           .plugin = refused[k].plugin,
                           .keys = refused[k].keys,
                           .dimension = refused[k].dimension};
        assert_int_equal(hard_body_try(&body, &one), PLUGMC_ERROR_INPUT);
        assert_string_equal(body.bench.message, refused[k].sentence);
        hard_body_close(&body);
    }
}

/* Areas and volumes of unions that are known. */
static void volumes_of_unions_are_exact(void **state)
{
    (void)state;
    const double lens = M_PI * 2.6 * 0.4 * 0.4 / 12; /* of two spheres of radius 0.5 at 0.6 */
    const shape unions[] = {
        {"disk", "union_of_spheres", "A = 0.3 0.1 0.5\n", 2, .volume = M_PI / 4},
        {"twice", "union_of_spheres", "A = 0 0 0.5 0 0 0.5 0.1 0 0.2\n", 2, .volume = M_PI / 4},
        {"two", "union_of_spheres", "A = 0 0 0.5 0 2 1\n", 2, .volume = M_PI * 1.25},
        {"ring", "union_of_spheres",
         "A = 1 0 0 0.5  -1 0 0 0.5  0 1 0 0.5  0 -1 0 0.5  0 0 1 0.5  0 0 -1 0.5\n", 3,
         .volume = M_PI},
        {"chain", "union_of_spheres", "A = 0 0.6 0 0.5  0 0 0 0.5  0 -0.6 0 0.5\n", 3,
         .volume = M_PI / 2 - 2 * lens},
        {"within", "union_of_spheres", "A = 0 0 0 1  0.2 0.3 0.1 0.5\n", 3, .volume = 4 * M_PI / 3},
    };
    for (size_t k = 0; k < PLUGMC_COUNT(unions); k++) {
        hard_body_open(&body, &unions[k]);
        const plugmc_particle a = one_of(&body, 0, (double[3]){0});
        assert_close(body.body[DOUBLE]->volume(body.instance[DOUBLE], &a), unions[k].volume, 1e-8,
                     0);
        hard_body_close(&body);
    }
}

static void shapes_are_told_as_gsd_has_them(void **state)
{
    (void)state;
    const struct {
        const char *name, *json;
    } told[] = {
        {"rod",
         "{\"type\": \"ConvexPolyhedron\", \"rounding_radius\": 0.5, \"vertices\": [[-2.5, 0, 0], "
         "[2.5, 0, 0]]}"},
        {"ellipse", "{\"type\": \"Ellipsoid\", \"a\": 1, \"b\": 0.5, \"c\": 0.5}"},
        {"triaxial", "{\"type\": \"Ellipsoid\", \"a\": 1.5, \"b\": 1, \"c\": 0.6}"},
        {"polyhedra",
         "{\"type\": \"ConvexPolyhedron\", \"rounding_radius\": 0, \"vertices\": [[1, 0.1, 0], "
         "[-0.7, 0.8, 0.1], [-0.6, -0.9, -0.2], [0.1, 0.2, 1.3], [0.2, -0.1, -0.6], "
         "[0.6, -0.7, 0.5]]}"},
        {"square_of_parts",
         "{\"type\": \"Mesh\", \"vertices\": [[-0.5, -0.5, 0], [0, -0.5, 0], [0, 0.5, 0], [-0.5, 0.5, "
         "0], [0, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0]], \"indices\": [[0, 1, 2], [0, "
         "2, 3], [4, 5, 6], [4, 6, 7]]}"},
        {"dumbbell",
         "{\"type\": \"SphereUnion\", \"centers\": [[-0.5, 0, 0], [0.5, 0, 0]], \"diameters\": "
         "[1, 1]}"},
    };
    for (size_t i = 0; i < PLUGMC_COUNT(told); i++) {
        char json[512], part[16];
        int k = 0;
        while (strcmp(shapes[k].name, told[i].name)) k++;
        hard_body_open(&body, &shapes[k]);
        const plugmc_particle a = one_of(&body, 0, (double[3]){0});
        const int length = body.body[DOUBLE]->shape(body.instance[DOUBLE], &a, json, sizeof json);
        assert_string_equal(json, told[i].json);
        assert_int_equal(length, strlen(json));
        assert_int_equal(body.body[DOUBLE]->shape(body.instance[DOUBLE], &a, NULL, 0), length);
        assert_int_equal(body.body[DOUBLE]->shape(body.instance[DOUBLE], &a, part, sizeof part),
                         length);
        assert_memory_equal(part, json, sizeof part - 1);
        hard_body_close(&body);
    }
}

/* SHAPE N: pairs near contact, a line each: position of the first, orientations, answers in double and float. */
static int print_pairs(const char *name, uint64_t n)
{
    int k = 0;
    while (k < SHAPES && strcmp(shapes[k].name, name)) k++;
    if (k == SHAPES) return fprintf(stderr, "no shape '%s'\n", name), 2;
    hard_body_open(&body, &shapes[k]);
    for (uint64_t i = 0; i < n; i++) {
        const body_pair pair = near_pair(&body, i, body.reach * 0.04 * (chance(&body, i, 5) - 0.5));
        const int32_t *a = pair.first.part, *b = pair.second.part;
        printf("%.17g %.17g %.17g %d %d %d %d %d %d %d %d %d %d\n", pair.at[0], pair.at[1],
               pair.at[2], a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3],
               bodies_overlap(&body, DOUBLE, &pair, 0), bodies_overlap(&body, SINGLE, &pair, 0));
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degenerate_shapes_are_refused),
        cmocka_unit_test(shapes_are_told_as_gsd_has_them),
        cmocka_unit_test(volumes_of_unions_are_exact),
        cmocka_unit_test(patchy_spheres_that_float_takes_for_apart_are),
        cmocka_unit_test(the_answer_is_the_same_whichever_is_asked),
        cmocka_unit_test(many_pairs_at_once_overlap_as_one_by_one),
        cmocka_unit_test(bodies_fill_their_spheres),
        cmocka_unit_test(aligned_cubes_touch_at_their_edge),
        cmocka_unit_test(parallel_rods_and_ellipsoids_touch_where_they_should),
        cmocka_unit_test(paths_end_where_bodies_touch),
        cmocka_unit_test(bodies_that_touch_may_part),
        cmocka_unit_test(float_and_double_differ_at_contact_alone),
        cmocka_unit_test(second_virial_coefficients_are_those_of_the_shapes),
    };
    if (argc == 2 && !strcmp(argv[1], "shapes")) {
        for (int k = 0; k < SHAPES; k++) puts(shapes[k].name);
        return 0;
    }
    if (argc == 2) pairs = atoi(argv[1]);
    if (argc == 4 &&
        !strcmp(argv[1], "closer")) { /* SHAPE N: whether float finds what double does */
        int k = 0, differ;
        double farthest;
        while (k < SHAPES && strcmp(shapes[k].name, argv[2])) k++;
        return k == SHAPES || count_closer(&shapes[k], atoi(argv[3]), &differ, &farthest) > 0;
    }
    if (argc == 3) return print_pairs(argv[1], strtoull(argv[2], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
