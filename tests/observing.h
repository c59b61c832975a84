/* What the tests of observables share: a small system of hard particles, a host that keeps the
 * messages of the plugin, and one measurement of given positions on the CPU. */
#ifndef PLUGMC_OBSERVING_H
#define PLUGMC_OBSERVING_H

#include "boxes.h"
#include "testing.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "input/parameters.h"
#include "open_plugin.h"
#include "system/system.h"

/* Opaque to plugins, so the tests have their own. */
struct plugmc_context {
    char message[512]; /* last failure or warning */
    int failures, warnings;
    void *memory[64];
    int count;
};

typedef struct bench {
    plugmc_context context;
    plugmc_host host;
    plugmc_system system;
    plugmc_species species[4];
    int64_t first[5];
    plugmc_term terms[4];
    char instances[4][64];       /* of the terms */
    const plugmc_plugin *plugin; /* observable under test */
    const plugmc_observable *observable;
    void *instance;
    double *positions; /* [walkers][particles][3] */
    plugmc_view view;
    plugmc_cells cells;
    uint64_t random;
} bench;

static inline int keep_failure(plugmc_context *c, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message, sizeof c->message, format, arguments);
    va_end(arguments);
    c->failures++;
    return code;
}

static inline void keep_warning(plugmc_context *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message, sizeof c->message, format, arguments);
    va_end(arguments);
    c->warnings++;
}

static inline void *keep_memory(plugmc_context *c, size_t bytes)
{
    assert_true(c->count < 64);
    return c->memory[c->count++] = calloc(1, bytes + 1);
}

static inline int view_cells(const plugmc_view *view, double range, plugmc_cells *out)
{
    bench *b = view->core;
    host_cells_free(&b->cells);
    int code = host_cells_build(&b->system, view->box, b->positions, range, &b->cells);
    *out = b->cells;
    return code;
}

/* An empty periodic box; length_z = 1 and two dimensions, or three. */
static inline bench *bench_new(int dimension, double x, double y, double z, int walkers)
{
    bench *b = calloc(1, sizeof *b);
    b->system = (plugmc_system){
        .temperature = 1,
        .rungs = 1,
        .size = sizeof b->system,
        .box = {PLUGMC_DOMAIN_PERIODIC, dimension, {x, y, z}, 0, x * y * z},
        .walkers = walkers,
        .species = b->species,
        .species_size = sizeof(plugmc_species),
        .term_size = sizeof(plugmc_term),
        .first = b->first,
        .terms = b->terms,
        .seed = {1},
        .threads = 1,
    };
    b->host = (plugmc_host){.size = sizeof b->host,
                            .context = &b->context,
                            .fail = keep_failure,
                            .warn = keep_warning,
                            .allocate = keep_memory,
                            .system = &b->system};
    b->random = 1;
    omp_set_num_threads(1); /* cells are sorted 1e5 times; plugins take system.threads */
    return b;
}

static inline void add_species(bench *b, const char *name, int64_t count, double diameter,
                               double charge)
{
    int s = b->system.species_count++;
    b->species[s] = (plugmc_species){name, count, diameter, charge};
    b->first[s + 1] = b->first[s] + count;
    b->system.particles = b->first[s + 1];
}

static inline void add_term(bench *b, const char *label, const plugmc_plugin *plugin, int sampled)
{
    int t = b->system.term_count++;
    report r = {0};
    assert_true(plugin->instance_size <= sizeof b->instances[t]);
    assert_int_equal(0, parameters_fill(plugin->parameters, plugin->parameter_count, 8,
                                        b->instances[t], "test.ini", NULL, &r));
    b->terms[t] = (plugmc_term){label, plugin, b->instances[t], NULL, NULL, sampled};
}

/* The observable `name` with its defaults; parameters may be set before `ready`. */
static inline void observe(bench *b, const char *name)
{
    report r = {0};
    b->plugin = open_plugin(name);
    b->observable = b->plugin->observable;
    b->instance = calloc(1, b->plugin->instance_size);
    assert_int_equal(0, parameters_fill(b->plugin->parameters, b->plugin->parameter_count, 8,
                                        b->instance, "test.ini", NULL, &r));
    b->positions = calloc((size_t)(b->system.walkers * b->system.particles * 3), sizeof(double));
    b->view = (plugmc_view){.size = sizeof b->view,
                            .positions = b->positions,
                            .cells = view_cells,
                            .core = b,
                            .box = boxes_of(&b->system),
                            .count = numbers_of(&b->system)};
}

static inline void *parameter(bench *b, const char *name)
{
    for (int i = 0; i < b->plugin->parameter_count; i++)
        if (strcmp(b->plugin->parameters[i].name, name) == 0)
            return (char *)b->instance + b->plugin->parameters[i].offset;
    fail_msg("no parameter %s", name);
    return NULL;
}

static inline int prepare(bench *b) { return b->plugin->prepare(b->instance, &b->host); }

static inline void ready(bench *b)
{
    if (prepare(b) != PLUGMC_OK) fail_msg("%s", b->context.message);
}

/* Where a quantity begins in the values of one walker, or the number of all if name is NULL. */
static inline int64_t place(bench *b, const char *name, plugmc_quantity *found)
{
    plugmc_quantity q = {.size = sizeof q};
    int64_t at = 0;
    for (int i = 0; b->observable->quantity(b->instance, i, &q); i++) {
        if (name && strcmp(q.name, name) == 0) {
            if (found) *found = q;
            return at;
        }
        at += plugmc_quantity_length(&q);
    }
    if (name) fail_msg("no quantity %s", name);
    return at;
}

static inline int try_measure(bench *b, double *values)
{
    const int code = b->observable->measure(b->instance, &b->host, &b->view, values);
    const plugmc_measures_shares *shares = plugmc_offered(b->plugin, PLUGMC_MEASURES_SHARES);
    if (!code && shares && shares->complete) shares->complete(b->instance, &b->view, values);
    return code;
}

static inline void measure(bench *b, double *values)
{
    if (try_measure(b, values) != PLUGMC_OK) fail_msg("%s", b->context.message);
}

static inline void bench_free(bench *b)
{
    for (int i = 0; i < b->context.count; i++) free(b->context.memory[i]);
    host_cells_free(&b->cells);
    free(b->instance);
    free(b->positions);
    free(b);
}

/* In [0, 1); Philox, its own counter for each test. */
static inline double uniform(bench *b)
{
    plugmc_random r =
        plugmc_draw((plugmc_seed){20240607}, b->random++, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

static inline double shortest(double difference, double length)
{
    return difference - length * rint(difference / length);
}

static inline double distance(const bench *b, const double *p, const double *q)
{
    double sum = 0;
    for (int a = 0; a < b->system.box.dimension; a++) {
        double d = shortest(p[a] - q[a], b->system.box.length[a]);
        sum += d * d;
    }
    return sqrt(sum);
}

static inline int species_at(const bench *b, int64_t i)
{
    int s = 0;
    while (i >= b->first[s + 1]) s++;
    return s;
}

/* Mean of the diameters: what hard_disk says. */
static inline double contact(const bench *b, int64_t i, int64_t j)
{
    return (b->species[species_at(b, i)].diameter + b->species[species_at(b, j)].diameter) / 2;
}

/* Independent particles; with `hard`, particles one after another where they touch none of those
 * before (random sequential insertion; up to two particles that is the equilibrium). Two particles
 * that overlap are both drawn anew. */
static inline void place_at_random(bench *b, int hard)
{
    const int64_t n = b->system.particles;
    for (int w = 0; w < b->system.walkers; w++) {
        double *r = b->positions + 3 * n * w;
        for (int64_t i = 0; i < n; i++) {
            for (int a = 0; a < b->system.box.dimension; a++)
                r[3 * i + a] = b->system.box.length[a] * uniform(b);
            for (int64_t j = 0; j < i && hard; j++) {
                if (distance(b, r + 3 * i, r + 3 * j) < contact(b, i, j)) {
                    i--;
                    break;
                }
            }
        }
    }
}

/* Mean and standard error. */
typedef struct samples {
    double sum, squares;
    int64_t n;
} samples;

static inline void add_sample(samples *s, double x)
{
    s->sum += x;
    s->squares += x * x;
    s->n++;
}

static inline double mean_of(const samples *s) { return s->sum / (double)s->n; }

static inline double variance_of(const samples *s)
{
    return (s->squares - s->sum * mean_of(s)) / ((double)s->n - 1);
}

static inline double error_of(const samples *s) { return sqrt(variance_of(s) / (double)s->n); }

#endif
