/* Hard bodies that tests look at: shapes with what is known of them, opened in both precisions without an INI file, and pairs
 * of them. Include after testing.h. */
#ifndef PLUGMC_TEST_HARD_BODIES_H
#define PLUGMC_TEST_HARD_BODIES_H

#include "input/parameters.h"
#include "movers.h"

typedef struct shape {
    const char *name, *plugin, *keys;
    int dimension, other; /* the pair is one of species A and one of species B (1) or A (0) */
    double volume, virial,
        error; /* of A; second virial coefficient of the pair, and its error if it is not exact */
    int alone; /* there is no species B */
} shape;

/* Volumes V, surfaces S and mean radii R give the virial coefficients: (V1 + V2 + R1 S2 + R2 S1) / 2, and in two dimensions
 * (A1 + A2 + P1 P2 / (2 pi)) / 2 (A. Isihara, J. Chem. Phys. 18, 1446 (1950)). R and S of polyhedra are from the hulls of
 * Python's scipy. Those of dumbbells are integrals over the angle between two of them; that of two ells is half the mean area,
 * over angles, in which the centre of one must not be, a union of convex polygons. */
static const shape shapes[] = {
    {"discorectangle", "spherocylinder", "length = 4\n", 2, 0, 4.78539816, 14.66375451, 0},
    {"rods_and_disks", "spherocylinder", "length = 3 0\ndiameter = 1 1.5\n", 2, 1, 3.78539816,
     6.20436926, 0},
    {"ellipse", "hard_ellipse", "a = 1\nb = 0.5\n", 2, 0, 1.57079633, 3.43820164, 0},
    {"long_ellipse", "hard_ellipse", "a = 0.1\nb = 0.9\n", 2, 0, 0.28274334, 1.35385290, 0},
    {"ellipses", "hard_ellipse", "a = 1 0.3\nb = 0.5 0.6\n", 2, 1, 1.57079633, 2.18858469, 0},
    {"square", "hard_polygon", "sides = 4\n", 2, 0, 1, 2.27323954, 0},
    {"rounded_triangle", "hard_polygon", "sides = 3\nradius = 0.2\n", 2, 0, 1.15867641, 2.60053736,
     0},
    {"rod", "spherocylinder", "length = 5\n", 3, 0, 4.45058959, 37.43731246, 0},
    {"short_rod", "spherocylinder", "length = 1\n", 3, 0, 1.30899694, 6.02138592, 0},
    {"needle", "spherocylinder", "length = 10\ndiameter = 0.5\n", 3, 0, 2.02894526, 47.38568919, 0},
    {"rods_and_spheres", "spherocylinder", "length = 3 0\ndiameter = 1 1.5\n", 3, 1, 2.87979327,
     11.45372322, 0},
    {"prolate", "hard_ellipsoid", "a = 1.5\nb = 0.5\nc = 0.5\n", 3, 0, 1.57079633, 8.56672886, 0},
    {"long_prolate", "hard_ellipsoid", "a = 0.2\nb = 0.2\nc = 2\n", 3, 0, 0.33510322, 4.42045494,
     0},
    {"oblate", "hard_ellipsoid", "a = 0.3\nb = 0.9\nc = 0.9\n", 3, 0, 1.01787602, 5.55124030, 0},
    {"triaxial", "hard_ellipsoid", "a = 1.5\nb = 1\nc = 0.6\n", 3, 0, 3.76991118, 17.79588275, 0},
    {"ellipsoids", "hard_ellipsoid", "a = 1.5 0.4\nb = 1 0.4\nc = 0.6 0.8\n", 3, 1, 3.76991118,
     7.60581003, 0},
    {"tetrahedron", "hard_polyhedron", "shape = tetrahedron\n", 3, 0, 0.11785113, 0.90789161, 0},
    {"cube", "hard_polyhedron", "shape = cube\n", 3, 0, 1, 5.5, 0},
    {"octahedron", "hard_polyhedron", "shape = octahedron\n", 3, 0, 0.47140452, 2.50739501, 0},
    {"dodecahedron", "hard_polyhedron", "shape = dodecahedron\n", 3, 0, 7.66311896, 34.94771792, 0},
    {"icosahedron", "hard_polyhedron", "shape = icosahedron\n", 3, 0, 2.18169499, 9.72519392, 0},
    {"rounded_cube", "hard_polyhedron", "shape = cube\nradius = 0.25\n", 3, 0, 3.15449847,
     14.65228561, 0},
    {"rounded_tetrahedron", "hard_polyhedron", "shape = tetrahedron\nradius = 0.1\n", 3, 0,
     0.35256400, 2.02323131, 0},
    {"polyhedra", "hard_polyhedron",
     "A = 1 0.1 0  -0.7 0.8 0.1  -0.6 -0.9 -0.2  0.1 0.2 1.3  0.2 -0.1 -0.6  0.6 -0.7 0.5\n"
     "shape = cube\n",
     3, 1, 1.20233333, 6.23252074, 0},
    {"dumbbell", "union_of_spheres", "A = -0.5 0 0 0.5  0.5 0 0 0.5\n", 3, 0, 1.04719755, 5.7008,
     2e-4},
    {"short_dumbbell", "union_of_spheres", "A = 0 0 -0.3 0.5  0 0 0.3 0.5\n", 3, 0, 0.93828901,
     4.1982, 1e-4},
    {"square_of_parts", "union_of_polyhedra",
     "A = 4 -0.5 -0.5 0 -0.5 0 0.5 -0.5 0.5  4 0 -0.5 0.5 -0.5 0.5 0.5 0 0.5\n", 2, 0, 1,
     2.27323954, 0},
    {"ell", "union_of_polyhedra",
     "A = 4 -0.5 -0.5 1 -0.5 1 0.5 -0.5 0.5  4 -0.5 0.5 0.5 0.5 0.5 1.5 -0.5 1.5\n", 2, 0, 2.5,
     6.08483, 1e-5},
    {"cube_of_parts", "union_of_polyhedra",
     "A = 8 0 0.5 0.5 0 0.5 -0.5 0 -0.5 0.5 0 -0.5 -0.5 0.5 0.5 0.5 0.5 0.5 -0.5 0.5 -0.5 0.5 "
     "0.5 -0.5 -0.5  8 0 0.5 0.5 0 0.5 -0.5 0 -0.5 0.5 0 -0.5 -0.5 -0.5 0.5 0.5 -0.5 0.5 -0.5 "
     "-0.5 -0.5 0.5 -0.5 -0.5 -0.5\n",
     3, 0, 1, 5.5, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

enum { DOUBLE, SINGLE };

/* A shape in both precisions. */
typedef struct hard_body {
    bench bench;
    const shape *shape;
    const plugmc_body *body[2];
    void *instance[2];
    double reach, core; /* sums for the two of the pair */
} hard_body;

/* Two bodies: where the first is as seen from the second. */
typedef struct body_pair {
    double at[3];
    plugmc_orientation first, second;
} body_pair;

/* PLUGMC_OK, or a code, with the sentence in bench.message. */
static inline int hard_body_try(hard_body *h, const shape *shape)
{
    report report = {0};
    ini_file ini;
    char text[2048];
    int code = PLUGMC_OK;
    bench_begin(&h->bench, shape->dimension, (const double[3]){100, 100, 100}, 1, 2026);
    bench_species(&h->bench, "A", 1, 1, 0);
    if (!shape->alone) bench_species(&h->bench, "B", 1, 1, 0);
    h->shape = shape;
    snprintf(text, sizeof text, "[potential %s]\n%s", shape->plugin, shape->keys);
    if (ini_read_text("test.ini", text, &ini, &report)) fail_msg("cannot read: %s", text);
    for (int k = 0; k < 2 && !code; k++) {
        const plugmc_plugin *plugin = open_plugin(shape->plugin);
        if (k == SINGLE) plugin = plugin->single;
        h->body[k] = plugmc_body_of(plugin);
        h->instance[k] = bench_allocate(h->bench.host.context, plugin->instance_size);
        if (parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size,
                            h->instance[k], "test.ini", &ini.sections[0], &report))
            fail_msg("parameters of %s", shape->name);
        code = plugin->configure(h->instance[k], &h->bench.host);
    }
    ini_free(&ini);
    return code;
}

static inline plugmc_particle one_of(const hard_body *h, int second, const double at[3])
{
    return (plugmc_particle){
        .x = at[0], .y = at[1], .z = at[2], .diameter = 1, .species = second ? h->shape->other : 0};
}

static inline void hard_body_open(hard_body *h, const shape *shape)
{
    if (hard_body_try(h, shape)) fail_msg("%s: %s", shape->name, h->bench.message);
    const plugmc_particle a = one_of(h, 0, (double[3]){0}), b = one_of(h, 1, (double[3]){0});
    h->reach = h->body[DOUBLE]->reach(h->instance[DOUBLE], &a) +
               h->body[DOUBLE]->reach(h->instance[DOUBLE], &b);
    h->core = h->body[DOUBLE]->core(h->instance[DOUBLE], &a) +
              h->body[DOUBLE]->core(h->instance[DOUBLE], &b);
}

static inline void hard_body_close(hard_body *h) { recorder_free((recorder *)&h->bench); }

/* Whether two bodies overlap, asked from the first or the second one. */
static inline int bodies_overlap(hard_body *h, int precision, const body_pair *pair,
                                 int from_second)
{
    const double zero[3] = {0};
    const plugmc_particle first = one_of(h, 0, pair->at), second = one_of(h, 1, zero),
                          *probe = from_second ? &second : &first,
                          *other = from_second ? &first : &second;
    const float x[5] = {(float)other->x, (float)other->y, (float)other->z, 0, 1};
    const double y[5] = {other->x, other->y, other->z, 0, 1};
    const int single = precision == SINGLE;
    const void *at[5];
    double energy = 0;
    for (int d = 0; d < 5; d++) at[d] = single ? (const void *)&x[d] : &y[d];
    const plugmc_particles others = {1, at[0], at[1], at[2], at[3], at[4], &other->species};
    return (int)h->body[precision]->energy(h->instance[precision], &h->bench.system.box, 0, probe,
                                           from_second ? &pair->second : &pair->first, &others,
                                           from_second ? &pair->first : &pair->second, &energy);
}

/* How far the first can go along an axis, in double precision. */
static inline double path_of(hard_body *h, const body_pair *pair, int32_t axis)
{
    const double zero[5] = {0, 0, 0, 0, 1};
    const plugmc_particle first = one_of(h, 0, pair->at), second = one_of(h, 1, zero);
    const plugmc_particles others = {1,        &zero[0], &zero[1],       &zero[2],
                                     &zero[3], &zero[4], &second.species};
    double out = NAN;
    h->body[DOUBLE]->paths(h->instance[DOUBLE], h->shape->dimension, axis, &first, &pair->first,
                           &others, &pair->second, &out);
    return out;
}

/* Uniform in [0, 1). */
static inline double chance(hard_body *h, uint64_t number, int which)
{
    const plugmc_random random = plugmc_draw(h->bench.system.seed, number, 0, 0,
                                             PLUGMC_PURPOSE_OBSERVABLE, (uint32_t)which / 4);
    return random.word[which % 4] * 0x1p-32;
}

/* The first one uniform where it is neither farther than the spheres around the two reach nor nearer than those inside; both
 * at random orientations. */
static inline body_pair random_pair(hard_body *h, uint64_t number)
{
    const int dimension = h->shape->dimension;
    body_pair pair = {.at = {0}};
    const double least = pow(h->core / h->reach, dimension),
                 r = h->reach * pow(least + (1 - least) * chance(h, number, 0), 1.0 / dimension),
                 z = dimension == 2 ? 0 : 2 * chance(h, number, 1) - 1,
                 angle = 2 * M_PI * chance(h, number, 2);
    pair.at[0] = r * sqrt(1 - z * z) * cos(angle);
    pair.at[1] = r * sqrt(1 - z * z) * sin(angle);
    pair.at[2] = r * z;
    pair.first = plugmc_draw_orientation(h->bench.system.seed, number, 0, 0, dimension);
    pair.second = plugmc_draw_orientation(h->bench.system.seed, number, 0, 1, dimension);
    return pair;
}

/* The first one on the left of the second, its centre at its height, so that they are `apart` from contact along x. */
static inline body_pair near_pair(hard_body *h, uint64_t number, double apart)
{
    body_pair pair = random_pair(h, number);
    pair.at[0] = -1.01 * h->reach;
    pair.at[1] = pair.at[2] = 0;
    pair.at[0] = (float)(pair.at[0] + path_of(h, &pair, 0) - apart);
    return pair;
}

#endif
