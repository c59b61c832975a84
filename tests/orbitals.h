/* What the tests of orbitals share: a plugin with its parameters, opened alone in a system made by
 * hand, and evaluated at points, on the CPU and, where `gpu` is set, on the GPU. Include after
 * testing.h. */
#ifndef PLUGMC_TEST_ORBITALS_H
#define PLUGMC_TEST_ORBITALS_H

#include <complex.h>

#include "own_state.h"
#include "input/ini.h"
#include "input/parameters.h"
#include "open_plugin.h"
#include "recorder.h"
#include "rehearsing.h"

typedef struct orbital_bench {
    RECORDER;
    plugmc_host host;
    plugmc_system system;
    plugmc_species species[2];
    int64_t first[3];
    report report;
    const plugmc_plugin *plugin;
    const plugmc_orbitals *orbitals;
    void *instance;
} orbital_bench;

/* A periodic box with three vectors as rows; NULL: a sphere of radius 20. */
static inline plugmc_box bench_box(const double vector[3][3])
{
    if (!vector)
        return (plugmc_box){.domain = PLUGMC_DOMAIN_SPHERE,
                            .dimension = 3,
                            .length = {40, 40, 40},
                            .radius = 20,
                            .volume = 4 * M_PI / 3 * 8000};
    plugmc_box box = {.domain = PLUGMC_DOMAIN_PERIODIC, .dimension = 3, .oblique = 1};
    for (int d = 0; d < 3; d++) {
        const double *u = vector[(d + 1) % 3], *v = vector[(d + 2) % 3], *a = vector[d];
        box.length[d] = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        double cross[3], determinant = 0;
        for (int e = 0; e < 3; e++) {
            box.vector[d][e] = a[e];
            cross[e] = u[(e + 1) % 3] * v[(e + 2) % 3] - u[(e + 2) % 3] * v[(e + 1) % 3];
            determinant += a[e] * cross[e];
        }
        for (int e = 0; e < 3; e++) box.inverse[e][d] = cross[e] / determinant;
        box.volume = fabs(determinant);
    }
    return box;
}

static inline orbital_bench *bench_new(const double vector[3][3], int64_t up, int64_t down,
                                       int walkers, gpu *device)
{
    orbital_bench *b = calloc(1, sizeof *b);
    b->species[0] = (plugmc_species){.name = "up", .count = up, .charge = -1, .mass = 1};
    b->species[1] = (plugmc_species){.name = "down", .count = down, .charge = -1, .mass = 1};
    b->first[1] = up;
    b->first[2] = up + down;
    b->system = (plugmc_system){.temperature = 1,
                                .rungs = 1,
                                .size = sizeof b->system,
                                .box = bench_box(vector),
                                .particles = up + down,
                                .walkers = walkers,
                                .species_count = down ? 2 : 1,
                                .species = b->species,
                                .species_size = sizeof(plugmc_species),
                                .term_size = sizeof(plugmc_term),
                                .first = b->first,
                                .seed = {1},
                                .threads = 1};
    b->context = (plugmc_context){.report = &b->report,
                                  .gpu = device,
                                  .file = "test.ini",
                                  .line = 1,
                                  .section = "potential orbitals"};
    b->host = context_host(&b->context, &b->system);
    own_state(&b->context, &b->host);
    b->host.fail = bench_fail;
    b->host.warn = bench_warn;
    b->host.allocate = bench_allocate;
    b->host.rehearse = bench_rehearse;
    return b;
}

static inline void bench_free(orbital_bench *b)
{
    if (b->plugin && b->plugin->release) b->plugin->release(b->instance);
    recorder_free((recorder *)b);
    free(b->instance);
    context_release(&b->context);
    free(b);
}

/* settings: lines of an INI section. The code of configure and prepare. */
static inline int bench_try(orbital_bench *b, const char *plugin, const char *settings)
{
    char text[8192];
    ini_file ini = {0};
    if (!strcmp(plugin, "bspline_orbitals") || !strcmp(plugin, "gaussian_orbitals"))
        bench_rehearsing = plugin; /* those that read files */
    b->plugin = open_plugin(plugin);
    b->orbitals = plugmc_orbitals_of(b->plugin);
    b->instance = calloc(1, b->plugin->instance_size);
    snprintf(text, sizeof text, "[potential orbitals]\n%s\n", settings);
    if (ini_read_text("test.ini", text, &ini, &b->report) ||
        parameters_fill(b->plugin->parameters, b->plugin->parameter_count, sizeof(double),
                        b->instance, "test.ini", ini_find(&ini, "potential"), &b->report)) {
        fprintf(stderr, "settings '%s' cannot be read\n", settings);
        abort();
    }
    int code = b->plugin->configure ? b->plugin->configure(b->instance, &b->host) : PLUGMC_OK;
    if (!code) code = b->plugin->prepare(b->instance, &b->host);
    ini_free(&ini);
    return code;
}

static inline void bench_open(orbital_bench *b, const char *plugin, const char *settings)
{
    if (bench_try(b, plugin, settings) != PLUGMC_OK) fail_msg("%s", b->message);
}

/* Values, gradients and Laplacians of all orbitals of a species at points, as complex numbers in
 * double; [points][count], [points][3][count]. */
typedef struct evaluated {
    int64_t points, count;
    double complex *values, *gradients, *laplacians;
} evaluated;

static inline evaluated evaluated_new(const orbital_bench *b, int species, int64_t points)
{
    evaluated e = {.points = points, .count = b->orbitals->count(b->instance, species)};
    e.values = calloc((size_t)(points * e.count) + 1, sizeof *e.values);
    e.gradients = calloc((size_t)(3 * points * e.count) + 1, sizeof *e.gradients);
    e.laplacians = calloc((size_t)(points * e.count) + 1, sizeof *e.laplacians);
    return e;
}

static inline void evaluated_free(evaluated *e)
{
    free(e->values);
    free(e->gradients);
    free(e->laplacians);
}

/* From rows of a pitch, real or complex, float or double, without touching what is between. */
static inline void unpack(const void *from, double complex *to, int64_t rows, int64_t count,
                          int64_t pitch, int parts, int real_size)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < count; l++) {
            double part[2] = {0, 0};
            for (int p = 0; p < parts; p++) {
                int64_t at = (i * pitch + l) * parts + p;
                part[p] =
                    real_size == 4 ? (double)((const float *)from)[at] : ((const double *)from)[at];
            }
            to[i * count + l] = part[0] + I * part[1];
        }
}

/* with_derivatives 0: values only. Padding of the results is checked to be left alone. */
static inline evaluated bench_evaluate(orbital_bench *b, int species, const double *positions,
                                       int64_t points, int real_size, int with_derivatives,
                                       int on_device)
{
    const int parts = b->orbitals->complex_valued(b->instance) ? 2 : 1;
    evaluated e = evaluated_new(b, species, points);
    const int64_t pitch = e.count + 3;
    const size_t bytes = (size_t)(points * pitch * parts * real_size);
    const plugmc_gpu *gpu = b->host.gpu;
    plugmc_context *c = b->host.context;
    plugmc_device_pointer at[4] = {0};
    void *out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = malloc(i == 1 ? 3 * bytes : bytes);
        memset(out[i], 0x5a, i == 1 ? 3 * bytes : bytes);
    }
    plugmc_orbital_request q = {.size = sizeof q,
                                .on_device = on_device,
                                .species = species,
                                .real_size = real_size,
                                .points = points,
                                .positions = positions,
                                .pitch = pitch,
                                .values = out[0],
                                .gradients = with_derivatives ? out[1] : NULL,
                                .laplacians = with_derivatives ? out[2] : NULL};
    if (on_device) {
        for (int i = 0; i < 3; i++) {
            assert_int_equal(gpu->allocate(c, i == 1 ? 3 * bytes : bytes, &at[i]), 0);
            assert_int_equal(gpu->fill(c, at[i], 0x5a, i == 1 ? 3 * bytes : bytes), 0);
        }
        assert_int_equal(gpu->allocate(c, 24 * (size_t)points, &at[3]), 0);
        assert_int_equal(gpu->upload(c, at[3], positions, 24 * (size_t)points), 0);
        q.positions = (const double *)(uintptr_t)at[3];
        q.values = (void *)(uintptr_t)at[0];
        q.gradients = with_derivatives ? (void *)(uintptr_t)at[1] : NULL;
        q.laplacians = with_derivatives ? (void *)(uintptr_t)at[2] : NULL;
    }
    if (b->orbitals->evaluate(b->instance, &q)) fail_msg("%s", b->message);
    for (int i = 0; i < 3 && on_device; i++)
        assert_int_equal(gpu->download(c, out[i], at[i], i == 1 ? 3 * bytes : bytes), 0);
    for (int i = 0; i < 4 && on_device; i++) assert_int_equal(gpu->release(c, at[i]), 0);
    unpack(out[0], e.values, points, e.count, pitch, parts, real_size);
    if (with_derivatives) {
        unpack(out[1], e.gradients, 3 * points, e.count, pitch, parts, real_size);
        unpack(out[2], e.laplacians, points, e.count, pitch, parts, real_size);
    }
    const unsigned char *padding = (const unsigned char *)out[0];
    for (int64_t i = 0; i < points; i++)
        for (int64_t k = e.count * parts * real_size; k < pitch * parts * real_size; k++)
            assert_int_equal(padding[i * pitch * parts * real_size + k], 0x5a);
    for (int i = 0; i < 3; i++) free(out[i]);
    return e;
}

/* A seeded sequence of numbers. */
static inline double bench_uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Points of the box, some of them outside of it. */
static inline double *bench_points(const plugmc_box *box, int64_t points, uint64_t seed)
{
    double *r = malloc(3 * (size_t)points * sizeof *r);
    uint64_t state = seed;
    for (int64_t i = 0; i < points; i++) {
        double s[3];
        for (int d = 0; d < 3; d++)
            s[d] = (i % 5 ? 1 : 3) * bench_uniform(&state) - (i % 5 ? 0 : 1);
        for (int e = 0; e < 3; e++)
            r[3 * i + e] = box->domain == PLUGMC_DOMAIN_SPHERE
                               ? box->radius / 4 * (2 * s[e] - 1)
                               : s[0] * box->vector[0][e] + s[1] * box->vector[1][e] +
                                     s[2] * box->vector[2][e];
    }
    return r;
}

#endif
