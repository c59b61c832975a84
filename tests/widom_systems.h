/* Configurations for tests of widom, on the CPU or a GPU: boxes of all shapes, pairs near and far, fields,
 * tails, some particles that are not there, walkers that weigh energies differently. Include after
 * testing.h. */
#ifndef PLUGMC_WIDOM_SYSTEMS_H
#define PLUGMC_WIDOM_SYSTEMS_H

#include "place.h"

enum { WIDOM_WALKERS = 3, WIDOM_TERMS = 3 };

typedef struct widom_system {
    const char *name;
    int dimension;
    enum { BRICK, OBLIQUE, BALL } shape;
    double edge;                            /* of the box, length; radius of a ball */
    int64_t count[2];                       /* of A and B, at the start */
    int64_t absent;                         /* of A, in walker 1 */
    double diameter;                        /* of A; that of B is 1 */
    const char *potentials[WIDOM_TERMS][2]; /* name, settings */
    int weighted;                           /* walkers weigh the first term differently */
    double stretch;                         /* that of walker w is 1 + w stretch times as long */
} widom_system;

#define WIDOM_LJ                                                                                   \
    {                                                                                              \
        "lennard_jones", "epsilon=1 cutoff=2.5"                                                    \
    }

static const widom_system widom_systems[] = {
    {"Lennard-Jones, dense",
     3,
     BRICK,
     9,
     {250, 333},
     0,
     1,
     {WIDOM_LJ, {"lennard_jones_tail", ""}},
     0},
    {"Lennard-Jones, weighted", 3, BRICK, 9, {150, 133}, 0, 1, {WIDOM_LJ}, 1},
    {"Lennard-Jones disks", 2, BRICK, 20, {100, 40}, 17, 1, {WIDOM_LJ}, 0},
    {"hard mixture", 3, BRICK, 8, {40, 60}, 11, 0.7, {{"hard_disk", ""}}, 0},
    {"hard disks in a tiny box", 2, BRICK, 2.9, {1, 1}, 1, 1, {{"hard_disk", ""}}, 0},
    {"oblique", 3, OBLIQUE, 7, {40, 30}, 5, 1, {WIDOM_LJ, {"hard_disk", ""}}, 0},
    {"ions",
     3,
     BRICK,
     8,
     {20, 20},
     3,
     1,
     {{"hard_disk", ""}, {"coulomb", "bjerrum_length=2 minimum_image=yes"}},
     0},
    {"ions in a ball",
     3,
     BALL,
     5,
     {20, 20},
     0,
     1,
     {{"hard_disk", ""}, {"coulomb", "bjerrum_length=2"}, {"spherical_wall", "radius=5.5"}},
     0},
    {"core and shell in a ball",
     3,
     BALL,
     6,
     {70, 60},
     9,
     1,
     {{"hard_disk", ""}, {"yukawa", "bjerrum_length=2 kappa=1 cutoff=3"}},
     0},
    {"many in one cell",
     3,
     BRICK,
     6,
     {1000, 300},
     40,
     0.2,
     {{"lennard_jones", "epsilon=0.02 sigma=0.4 cutoff=2.9"}},
     0},
    {"boxes that change",
     3,
     BRICK,
     7,
     {100, 90},
     12,
     1,
     {WIDOM_LJ, {"lennard_jones_tail", ""}},
     1,
     0.15},
    {"oblique boxes that change", 3, OBLIQUE, 7, {50, 40}, 0, 1, {WIDOM_LJ}, 0, 0.1},
};
enum { WIDOM_SYSTEMS = sizeof widom_systems / sizeof *widom_systems };

typedef struct widom_run {
    bench b;
    void *instance;
    const plugmc_plugin *plugin;
    plugmc_view view;
    double *positions; /* [walkers][particles][3] */
    ladder rungs;
    state state;
} widom_run;

static inline double widom_number(uint32_t i, uint32_t walker, int d)
{
    return (plugmc_draw((plugmc_seed){5}, 0, walker, i, PLUGMC_PURPOSE_INITIAL, 0).word[d] + 0.5) *
           0x1p-32;
}

/* A jittered lattice of as many sites as are needed, in an order that mixes the species; in a ball anywhere.
 * Walkers have other jitters. NaN where nobody is. */
static inline void widom_positions(const widom_system *s, const bench *b, const plugmc_view *view,
                                   double *r)
{
    const int64_t *counts = view->count;
    const int64_t n = b->system.particles;
    int side = 1;
    while (pow(side, s->dimension) < (double)n) side++;
    const int sites = s->dimension == 2 ? side * side : side * side * side;
    for (int w = 0; w < b->system.walkers; w++)
        for (int64_t i = 0; i < n; i++, r += 3) {
            const int64_t at = i * sites / n;
            const int64_t site[3] = {at % side, at / side % side, at / side / side};
            double f[3] = {0, 0, 0}, square = 0;
            for (int d = 0; d < s->dimension; d++) {
                const double u = widom_number((uint32_t)i, (uint32_t)w, d);
                f[d] = s->shape == BALL ? 2 * u - 1 : ((double)site[d] + u) / side;
                square += f[d] * f[d];
            }
            r[0] = r[1] = r[2] = 0;
            for (int d = 0; d < 3; d++)
                for (int e = 0; e < 3; e++)
                    r[e] += f[d] * (s->shape == BALL ? 0 : view->box[w].vector[d][e]);
            for (int d = 0; d < 3 && s->shape == BALL; d++)
                r[d] = 0.95 * s->edge * f[d] / fmax(1, sqrt(square));
            if (s->dimension == 2) r[2] = 0;
            const int species = i >= b->first[1];
            if (i - b->first[species] >= counts[2 * w + species]) r[0] = r[1] = r[2] = NAN;
        }
}

static inline void widom_box(const widom_system *s, bench *b)
{
    const double l = s->edge, z = s->dimension == 2 ? 1 : 1.1 * l;
    bench_begin(b, s->dimension, (double[]){l, 1.05 * l, z}, WIDOM_WALKERS, 9);
    if (s->shape == BALL) {
        b->system.box = (plugmc_box){.domain = PLUGMC_DOMAIN_SPHERE,
                                     .dimension = 3,
                                     .radius = l,
                                     .length = {2 * l, 2 * l, 2 * l},
                                     .volume = 4 * M_PI / 3 * l * l * l};
        return;
    }
    bench_vectors(b, s->shape == OBLIQUE
                         ? (const double[3][3]){{l, 0, 0}, {0.2 * l, l, 0}, {-0.1 * l, 0.1 * l, l}}
                         : (const double[3][3]){{l, 0, 0}, {0, 1.05 * l, 0}, {0, 0, z}});
}

/* What the core keeps of all walkers, each of which has multipliers of its own: a ladder. */
static inline void widom_make_state(widom_run *run, const widom_system *s)
{
    bench *b = &run->b;
    const int width = b->system.term_count + 3;
    void *at;
    b->system.multipliers = run->rungs.width = width;
    b->system.rungs = run->rungs.rungs = WIDOM_WALKERS;
    run->rungs.multipliers = calloc((size_t)(WIDOM_WALKERS * width), sizeof(double));
    for (int w = 0; w < WIDOM_WALKERS; w++)
        for (int t = 0; t < b->system.term_count; t++)
            run->rungs.multipliers[w * width + t] =
                t == 0 && s->weighted ? 0.5 + 0.3 * w : 1 / b->system.temperature;
    state_begin(&run->state, &b->system, &run->rungs, &b->host, 0, b->system.walkers);
    b->context.stage->state = b->host.state = &run->state.face;
    bench_expect(b, run->state.face.array(&run->state.face, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST,
                                          PLUGMC_WRITE, &at, NULL));
    for (int w = 0; w < WIDOM_WALKERS; w++) {
        ((int64_t *)at)[2 * w] = s->count[0] - (w == 1 ? s->absent : 0);
        ((int64_t *)at)[2 * w + 1] = s->count[1];
    }
    if (!(s->stretch > 0)) return;
    bench_expect(b, run->state.face.array(&run->state.face, PLUGMC_STATE_BOX, PLUGMC_ON_HOST,
                                          PLUGMC_WRITE, &at, NULL));
    for (int w = 0; w < WIDOM_WALKERS; w++) {
        const double more = 1 + s->stretch * w;
        plugmc_box *box = (plugmc_box *)at + w;
        *box = b->system.box;
        plugmc_scale_box(box, (const double[3]){more, more * more, 1});
    }
}

static inline void widom_begin_run(widom_run *run, const widom_system *s, const char *species,
                                   const char *settings, int threads, int on_gpu)
{
    bench *b = &run->b;
    widom_box(s, b);
    b->system.temperature = 1.3;
    bench_species(b, "A", s->count[0], s->diameter, 0.5);
    bench_species(b, "B", s->count[1], 1, -0.5);
    for (int k = 0; k < 2; k++) b->species[k].capacity = b->species[k].count;
    b->system.threads = threads;
    b->system.changes = (s->absent ? (uint32_t)PLUGMC_CHANGED_COUNT : 0) |
                        (s->stretch > 0 ? (uint32_t)PLUGMC_CHANGED_BOX : 0);
    b->system.weighted = s->weighted;
    for (int t = 0; t < WIDOM_TERMS && s->potentials[t][0]; t++)
        bench_expect(b, bench_configured(b, s->potentials[t][0], s->potentials[t][1]));
    run->plugin = open_plugin("widom");
    run->instance = bench_allocate(b->host.context, run->plugin->instance_size);
    set_all(b, run->plugin, run->instance, settings);
    for (int32_t k = 0; k < run->plugin->parameter_count; k++)
        if (!strcmp(run->plugin->parameters[k].name, "species"))
            set_parameter(run->plugin, run->instance, &run->plugin->parameters[k], species);
    onto_core(b, on_gpu);
    b->host.fail = bench_fail;
    widom_make_state(run, s);
    bench_expect(b, bench_prepare(b));
    bench_expect(b, run->plugin->prepare(run->instance, &b->host));
    run->view.size = sizeof run->view;
    bench_expect(b, b->host.view(b->host.context, NULL, 0, &run->view));
    run->positions = bench_positions(b);
    widom_positions(s, b, &run->view, run->positions);
    const double *there = run->positions;
    if (on_gpu) {
        const size_t bytes = count_of(b) * sizeof(double);
        plugmc_device_pointer at;
        bench_expect(b, b->host.gpu->allocate(b->host.context, bytes, &at));
        bench_expect(b, b->host.gpu->upload(b->host.context, at, run->positions, bytes));
        there = (const double *)(uintptr_t)at;
    }
    bench_expect(b, b->host.view(b->host.context, there, on_gpu, &run->view));
    run->view.sweep = 1234567890123;
}

/* The mean of exp(-dU/kT) in each walker. */
static inline void widom_measure(widom_run *run, double factor[WIDOM_WALKERS])
{
    double values[4 * WIDOM_WALKERS];
    const uint32_t changes = run->b.system.changes;
    const int width = changes & PLUGMC_CHANGED_COUNT ? 4 : changes ? 3 : 1;
    bench_expect(&run->b,
                 run->plugin->observable->measure(run->instance, &run->b.host, &run->view, values));
    for (int w = 0; w < WIDOM_WALKERS; w++) factor[w] = values[w * width];
}

static inline void widom_end_run(widom_run *run)
{
    bench *b = &run->b;
    if (run->view.on_device)
        bench_expect(b, b->host.gpu->release(b->host.context, (uintptr_t)run->view.positions));
    free(run->positions);
    for (int t = 0; t < b->system.term_count; t++)
        if (b->terms[t].plugin->release) b->terms[t].plugin->release(b->terms[t].instance);
    state_end(&run->state);
    free(run->rungs.multipliers);
    context_release(&b->context);
    bench_end(b);
}

#endif
