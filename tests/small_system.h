/* What the tests of the system, its initial states and the serial mover share: configurations made
 * by hand, plugins from the build tree, and the pairs of a configuration the slow way. */
#ifndef PLUGMC_SMALL_SYSTEM_H
#define PLUGMC_SMALL_SYSTEM_H

#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "open_plugin.h"
#include "initial/initial.h"
#include "system/geometry.h"
#include "initial/initial.h"
#include "system/system.h"

enum { SQUARE, TRIANGULAR, RECTANGLE, SPHERE };   /* [box] shape */
enum { STATE_LATTICE, STATE_RANDOM, STATE_FILE }; /* [initial] state */

/* A run of up to 4 species with hard cores. */
typedef struct small {
    config config;
    species_section species[4];
    const char *names[4];
    plugmc_system system;
    plugmc_term terms[4];
    double scale; /* of the diameters: the one parameter of hard_disk */
    report report;
    double *positions; /* [walkers][particles][3] */
} small;

/* One species A of n particles of diameter 1, one walker; the box is up to the test. */
static inline small small_new(int dimension, int64_t n)
{
    small s = {.scale = 1};
    s.config.ini.path = "test.ini";
    s.config.run = (run_section){.sweeps = 1, .seed = 2024, .walkers = 1, .threads = 2};
    s.config.box = (box_section){.dimension = dimension};
    s.config.initial = (initial_section){.frame = -1, .random_fraction = 0.2, .attempts = 100000};
    s.config.species_count = 1;
    s.species[0] = (species_section){.count = n, .diameter = 1};
    const char *const names[] = {"A", "B", "C", "D"};
    memcpy(s.names, names, sizeof names);
    return s;
}

/* system_build and the check of the density; the exit code. */
static inline int small_build(small *s)
{
    s->config.species = s->species;
    s->config.species_names = s->names;
    int code = system_build(&s->config, &s->system, &s->report);
    if (code) return code;
    code = check_density_of_spheres(&s->config, &s->system, &s->report);
    if (code) system_free(&s->system);
    return code;
}

static inline void small_hard_cores(small *s)
{
    s->terms[0] = (plugmc_term){
        .label = "cores", .plugin = open_plugin("hard_disk"), .instance = &s->scale, .sampled = 1};
    s->system.terms = s->terms;
    s->system.term_size = sizeof *s->terms;
    s->system.term_count = 1;
}

/* initial_state; the exit code. */
static inline int small_start(small *s)
{
    size_t n = 3 * (size_t)s->system.particles * (size_t)s->system.walkers;
    free(s->positions);
    s->positions = malloc(n * sizeof *s->positions);
    for (size_t i = 0; i < n; i++) s->positions[i] = NAN;
    return initial_state(&s->config, &s->system, 0, s->positions, NULL, NULL, &s->report);
}

static inline void small_free(small *s)
{
    system_free(&s->system);
    free(s->positions);
}

static inline double small_distance(const plugmc_box *box, const double *a, const double *b)
{
    double square = 0;
    for (int d = 0; d < box->dimension; d++) {
        double x = a[d] - b[d];
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) x -= box->length[d] * round(x / box->length[d]);
        square += x * x;
    }
    return sqrt(square);
}

/* Smallest distance over contact distance of all pairs of a walker, contacts by the diameters. */
static inline double small_closest(const small *s, const double *positions)
{
    double closest = INFINITY;
    for (int64_t i = 0; i < s->system.particles; i++)
        for (int64_t j = 0; j < i; j++) {
            double contact =
                0.5 * (plugmc_species_at(&s->system, species_of(&s->system, i))->diameter +
                       plugmc_species_at(&s->system, species_of(&s->system, j))->diameter);
            double r = small_distance(&s->system.box, &positions[3 * i], &positions[3 * j]);
            closest = fmin(closest, r / contact);
        }
    return closest;
}

/* All in the box, or in the sphere, and flat in two dimensions. */
static inline void small_assert_inside(const small *s, const double *positions)
{
    const plugmc_box *box = &s->system.box;
    for (int64_t i = 0; i < s->system.particles; i++) {
        const double *r = &positions[3 * i];
        if (box->dimension == 2) assert_true(r[2] == 0);
        for (int d = 0; d < box->dimension && box->domain == PLUGMC_DOMAIN_PERIODIC; d++)
            assert_true(r[d] >= 0 && r[d] < box->length[d]);
        if (box->domain == PLUGMC_DOMAIN_SPHERE)
            assert_true(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= box->radius * box->radius);
    }
}

#endif
