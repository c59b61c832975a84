/* Observables of walkers whose boxes differ, on the CPU or a GPU: what each gives in a run in which boxes
 * change, and what it gives in one whose fixed box is that of one walker. Include after testing.h. */
#ifndef PLUGMC_TWO_BOXES_H
#define PLUGMC_TWO_BOXES_H

#include "place.h"

/* An observable in a system of two species. Boxes at the start are squares, cubes or, oblique, the
 * parallelepiped of these vectors. */
typedef struct example {
    const char *observable, *settings;
    double k_max; /* structure_factor: in the box at the start */
    int dimension, oblique;
    double diameter;
    const char *potentials[4]; /* "NAME SETTINGS" */
} example;

#define HARD "hard_disk "
#define YUKAWA "yukawa bjerrum_length=2 kappa=0.4 cutoff=4"
#define LENNARD_JONES "lennard_jones epsilon=1 cutoff=2.5"
#define COULOMB "coulomb bjerrum_length=2 minimum_image=yes"

static const example examples[] = {
    {"energy", "", 0, 3, 0, 1, {YUKAWA, COULOMB, HARD}},
    {"energy", "", 0, 2, 0, 1, {LENNARD_JONES, COULOMB}},
    {"energy", "", 0, 3, 1, 1, {YUKAWA, LENNARD_JONES}},
    {"virial_pressure", "", 0, 3, 0, 1, {YUKAWA, LENNARD_JONES, COULOMB}},
    {"virial_pressure", "", 0, 2, 0, 1, {LENNARD_JONES}},
    {"virial_pressure", "", 0, 3, 1, 1, {LENNARD_JONES, "lennard_jones_tail "}},
    {"pressure", "fit_range=0.5 delta_r=0.02", 0, 3, 0, 1, {HARD, YUKAWA}},
    {"pressure", "fit_range=0.5 delta_r=0.02", 0, 2, 0, 0.9, {HARD, YUKAWA}},
    {"hard_pressure", "fit_range=0.5 delta_r=0.02", 0, 3, 0, 1, {HARD}},
    {"hard_pressure", "fit_range=0.5 delta_r=0.02", 0, 2, 0, 1, {HARD}},
    {"hard_pressure", "fit=no", 0, 3, 0, 1, {HARD}},
    {"rdf", "r_max=4.5 method=all_pairs", 0, 3, 0, 1, {HARD}},
    {"rdf", "r_max=1.7 method=cells", 0, 2, 0, 1, {HARD}},
    {"rdf", "r_max=4", 0, 3, 1, 1, {HARD}},
    {"charge_density", "r_max=2.5 method=cells", 0, 3, 0, 1, {HARD}},
    {"structure_factor", "", 4.1, 3, 0, 1, {HARD}},
    {"structure_factor", "shells=5", 3.3, 3, 1, 1, {HARD}},
    {"structure_factor", "", 4.1, 2, 0, 1, {HARD}},
    {"hexatic_order", "cutoff=1.7", 0, 2, 0, 1, {HARD}},
};
enum { EXAMPLES = sizeof examples / sizeof *examples, NUMBERS_MOST = 20000 };

/* Of one measurement. */
typedef struct found {
    int count; /* quantities, measured and derived */
    char name[64][64];
    int at[65];
    double values[2][NUMBERS_MOST]; /* [walkers] */
} found;

static inline int side_of(const example *e) { return e->dimension == 2 ? 12 : 6; }

static inline plugmc_box box_at_start(const example *e)
{
    static bench b;
    const double edge = 1.6 * side_of(e), z = e->dimension == 2 ? 1 : edge;
    memset(&b, 0, sizeof b);
    bench_vectors(&b, e->oblique ? (const double[3][3]){{edge, 0, 0}, {1.5, edge, 0}, {-1, 1, edge}}
                                 : (const double[3][3]){{edge, 0, 0}, {0, edge, 0}, {0, 0, z}});
    b.system.box.dimension = e->dimension;
    return b.system.box;
}

/* That of walker 0 or 1; where waves are to have the same shells, of the same shape. */
static inline plugmc_box box_of_walker(const example *e, int w, double *larger)
{
    static const double like[2][3] = {{1.13, 1.13, 1.13}, {1.31, 1.31, 1.31}},
                        unlike[2][3] = {{1.02, 1.21, 1.1}, {1.4, 1.05, 1.23}};
    plugmc_box box = box_at_start(e);
    plugmc_scale_box(&box, e->k_max > 0 ? like[w] : unlike[w]);
    *larger = like[w][0];
    return box;
}

/* A lattice, each particle up to a sixth of its constant off: none overlap. [particles][3]. */
static inline void place_in(const example *e, const plugmc_box *box, int w, double *r)
{
    const int side = side_of(e), n = e->dimension == 2 ? side * side : side * side * side;
    for (int i = 0; i < n; i++) {
        const int site[3] = {i * 7 % n % side, i * 7 % n / side % side, i * 7 % n / side / side};
        const plugmc_random draw =
            plugmc_draw((plugmc_seed){8}, (uint64_t)w, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        for (int k = 0; k < 3; k++) r[3 * i + k] = 0;
        for (int d = 0; d < e->dimension; d++) {
            const double f = (site[d] + 0.5 + (draw.word[d] * 0x1p-32 - 0.5) / 3) / side;
            for (int k = 0; k < 3; k++) r[3 * i + k] += f * box->vector[d][k];
        }
    }
}

static inline void keep_boxes(bench *b, const plugmc_box *boxes)
{
    const plugmc_state *state = b->context.stage->state;
    void *at = NULL;
    bench_expect(b, state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_WRITE, &at, NULL));
    memcpy(at, boxes, (size_t)b->system.walkers * sizeof *boxes);
}

static inline void note(found *out, const plugmc_quantity *q)
{
    assert_true(out->count < 64);
    snprintf(out->name[out->count], sizeof out->name[0], "%s", q->name);
    out->at[out->count + 1] = out->at[out->count] + (int)plugmc_quantity_length(q);
    out->count++;
    assert_true(out->at[out->count] <= NUMBERS_MOST);
}

/* All that it measures, and what is derived from the values of each walker. */
static inline void measure_all(bench *b, const plugmc_plugin *plugin, void *instance,
                               const plugmc_view *view, found *out)
{
    plugmc_quantity q = {.size = sizeof q};
    const plugmc_observable *calls = plugin->observable;
    const plugmc_measures_later *later = plugmc_offered(plugin, PLUGMC_MEASURES_LATER);
    const plugmc_measures_shares *shares = plugmc_offered(plugin, PLUGMC_MEASURES_SHARES);
    *out = (found){0};
    for (int i = 0; calls->quantity(instance, i, &q); i++) note(out, &q);
    const int width = out->at[out->count];
    for (int i = 0; calls->derived && calls->derived(instance, i, &q); i++) note(out, &q);
    double *values = calloc((size_t)(b->system.walkers * width), sizeof *values);
    if (view->on_device && later) {
        bench_expect(b, later->launch(instance, &b->host, view));
        bench_expect(b, b->host.gpu->arrive(b->host.context));
    }
    bench_expect(b, calls->measure(instance, &b->host, view, values));
    if (shares && shares->complete) shares->complete(instance, view, values);
    for (int w = 0; w < b->system.walkers; w++) {
        memcpy(out->values[w], values + w * width, (size_t)width * sizeof *values);
        if (calls->derived && out->at[out->count] > width)
            assert_int_equal(calls->derive(instance, out->values[w], out->values[w] + width), 0);
    }
    free(values);
}

/* A system with this box at the start, its potentials and the observable prepared; the settings are of a
 * box that is `larger` times that of the example. Returns the code of prepare. */
static inline int set_up(bench *b, const example *e, const plugmc_box *start, double larger,
                         int walkers, int on_gpu, void **instance)
{
    const int n = e->dimension == 2 ? 144 : 216;
    const plugmc_plugin *plugin = open_plugin(e->observable);
    char settings[128];
    bench_begin(b, e->dimension, start->length, walkers, 3);
    b->system.box = *start;
    b->system.changes = walkers > 1 ? PLUGMC_CHANGED_BOX : 0;
    bench_species(b, "A", n / 3, e->diameter, 0.5);
    bench_species(b, "B", n - n / 3, 1, -0.25);
    for (int t = 0; t < 4 && e->potentials[t]; t++) {
        char *name = bench_allocate(b->host.context, strlen(e->potentials[t]) + 1);
        const char *space = strchr(e->potentials[t], ' ');
        memcpy(name, e->potentials[t], (size_t)(space - e->potentials[t])); /* the label */
        bench_expect(b, bench_configured(b, name, space + 1));
    }
    snprintf(settings, sizeof settings, "%s", e->settings);
    if (e->k_max > 0)
        snprintf(settings, sizeof settings, "%s k_max=%.17g", e->settings, e->k_max / larger);
    *instance = bench_allocate(b->host.context, plugin->instance_size);
    set_all(b, plugin, *instance, settings);
    onto_core(b, on_gpu);
    b->host.fail = bench_fail;
    bench_expect(b, bench_prepare(b));
    return plugin->prepare(*instance, &b->host);
}

static inline void tear_down(bench *b)
{
    for (int t = 0; t < b->system.term_count; t++)
        if (b->terms[t].plugin->release) b->terms[t].plugin->release(b->terms[t].instance);
    context_release(&b->context);
    bench_end(b);
}

/* walkers = 2: both of them in a run that began in another box. 1: walker `only` in a fixed box. */
static inline void measure_example(const example *e, int walkers, int only, int on_gpu, found *out)
{
    static bench b;
    plugmc_box boxes[2], start = box_at_start(e);
    double larger = 1, ignored;
    for (int w = 0; w < walkers; w++)
        boxes[w] = box_of_walker(e, walkers == 1 ? only : w, walkers == 1 ? &larger : &ignored);
    void *instance;
    if (set_up(&b, e, walkers == 1 ? boxes : &start, larger, walkers, on_gpu, &instance))
        fail_msg("%s: %s", e->observable, b.message);
    keep_boxes(&b, boxes);
    double *positions = bench_positions(&b);
    for (int w = 0; w < walkers; w++)
        place_in(e, &boxes[w], walkers == 1 ? only : w, positions + 3 * b.system.particles * w);
    const double *there = positions;
    if (on_gpu) {
        const size_t bytes = count_of(&b) * sizeof(double);
        plugmc_device_pointer at;
        bench_expect(&b, b.host.gpu->allocate(b.host.context, bytes, &at));
        bench_expect(&b, b.host.gpu->upload(b.host.context, at, positions, bytes));
        there = (const double *)(uintptr_t)at;
    }
    plugmc_view view = {.size = sizeof view};
    bench_expect(&b, b.host.view(b.host.context, there, on_gpu, &view));
    measure_all(&b, open_plugin(e->observable), instance, &view, out);
    if (on_gpu) bench_expect(&b, b.host.gpu->release(b.host.context, (uintptr_t)there));
    free(positions);
    tear_down(&b);
}

#endif
