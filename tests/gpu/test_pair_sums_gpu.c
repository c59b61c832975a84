/* Sums over pairs on a GPU: the histograms of rdf, charge_density and dressed_ion against those of
 * the CPU, to the count; energies and virials to rounding. And a million ions: both ways of
 * counting give the same, and how long it all takes. All of them, and the other observables that
 * measure on a GPU, in two walkers whose boxes differ. Skipped without a GPU. */
#include "testing.h"

#include "place.h"
#include "two_boxes.h"

static double uniform(uint32_t index, uint32_t draw)
{
    plugmc_random r = plugmc_draw((plugmc_seed){71}, 0, 0, index, PLUGMC_PURPOSE_INITIAL, draw);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

/* ---- A system and an observable of it, on the CPU or the GPU --------------------------------- */

typedef enum shape { BRICK, RECTANGLE, SPHERE, OBLIQUE, SHAPES } shape;

typedef struct setup {
    bench b;
    const plugmc_plugin *plugin;
    void *instance;
    plugmc_view view;
    int64_t width;
} setup;

static void make_sphere(plugmc_box *box, double radius)
{
    *box = (plugmc_box){.domain = PLUGMC_DOMAIN_SPHERE,
                        .dimension = 3,
                        .radius = radius,
                        .length = {2 * radius, 2 * radius, 2 * radius},
                        .volume = 4 * M_PI / 3 * radius * radius * radius};
}

static const double oblique[3][3] = {{21, 0, 0}, {4, 19, 0}, {-3, 5, 22}};

static void begin(setup *s, shape shape, int64_t cations, int64_t anions, int walkers)
{
    bench_begin(&s->b, shape == RECTANGLE ? 2 : 3, (double[3]){20, 22, 24}, walkers, 3);
    const double *l = s->b.system.box.length;
    bench_vectors(&s->b, shape == OBLIQUE
                             ? oblique
                             : (const double[3][3]){{l[0], 0, 0}, {0, l[1], 0}, {0, 0, l[2]}});
    if (shape == SPHERE) make_sphere(&s->b.system.box, 12);
    bench_species(&s->b, "cation", cations, 0, 3);
    bench_species(&s->b, "anion", anions, 0, -1);
    s->b.system.threads = 2;
}

/* [walkers][particles][3], the same every time. */
static double *place_ions(const bench *b)
{
    const plugmc_box *box = &b->system.box;
    double *positions = bench_positions(b);
    for (int64_t i = 0; i < b->system.walkers * b->system.particles; i++) {
        double f[3], *r = positions + 3 * i, square = 0;
        for (uint32_t draw = 0; draw < 80; draw++) {
            square = 0;
            for (int d = 0; d < 3; d++) {
                f[d] = d < box->dimension ? uniform((uint32_t)i, 3 * draw + (uint32_t)d) : 0;
                square += pow(2 * f[d] - 1, 2);
            }
            if (box->domain == PLUGMC_DOMAIN_PERIODIC || square < 1) break;
        }
        for (int d = 0; d < 3; d++)
            r[d] = box->domain == PLUGMC_DOMAIN_SPHERE ? box->radius * (2 * f[d] - 1)
                   : box->oblique ? f[0] * box->vector[0][d] + f[1] * box->vector[1][d] +
                                        f[2] * box->vector[2][d]
                                  : box->length[d] * f[d];
        if (box->dimension == 2) r[2] = 0;
    }
    return positions;
}

static void start_observable(setup *s, const char *name, const char *settings,
                             const double *positions, int on_gpu)
{
    bench *b = &s->b;
    const size_t bytes = count_of(b) * sizeof(double);
    s->plugin = open_plugin(name);
    s->instance = bench_allocate(b->host.context, s->plugin->instance_size);
    set_parameters(s->plugin, s->instance, settings);
    onto_core(b, on_gpu);
    bench_expect(b, s->plugin->prepare(s->instance, &b->host));
    if (on_gpu) {
        plugmc_device_pointer at;
        bench_expect(b, b->host.gpu->allocate(b->host.context, bytes, &at));
        bench_expect(b, b->host.gpu->upload(b->host.context, at, positions, bytes));
        positions = (const double *)(uintptr_t)at;
    }
    s->view.size = sizeof s->view;
    bench_expect(b, b->host.view(b->host.context, positions, on_gpu, &s->view));
    plugmc_quantity q = {.size = sizeof q};
    s->width = 0;
    for (int i = 0; s->plugin->observable->quantity(s->instance, i, &q); i++)
        s->width += plugmc_quantity_length(&q);
}

static double *measure(setup *s)
{
    double *values = calloc((size_t)(s->width * s->b.system.walkers), sizeof *values);
    bench_expect(&s->b, s->plugin->observable->measure(s->instance, &s->b.host, &s->view, values));
    return values;
}

static void finish_observable(setup *s)
{
    if (s->view.on_device)
        bench_expect(&s->b,
                     s->b.host.gpu->release(s->b.host.context, (uintptr_t)s->view.positions));
    context_release(&s->b.context);
    bench_end(&s->b);
}

/* ---- Histograms ------------------------------------------------------------------------------ */

static void histograms_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const char *const methods[] = {"cells", "all_pairs"};
    static const double reach[] = {1.3, 2.7, 5.5};
    static const int64_t counts[][2] = {{3, 2}, {100, 157}, {300, 900}, {512, 512}, {5000, 2000}};
    for (int shape = 0; shape < SHAPES; shape++)
        for (int k = 0; k < 3; k++)
            for (int n = 0; n < 5; n++) {
                double *values[2][2], sum = 0;
                size_t bytes = 0;
                for (int on_gpu = 0; on_gpu < 2; on_gpu++)
                    for (int method = 0; method < 2; method++) {
                        static setup s;
                        char settings[128];
                        snprintf(settings, sizeof settings, "r_max=%g bins=%d method=%s%s",
                                 reach[k], n == 3 ? 3000 : 150, methods[method],
                                 shape == SPHERE ? " margin=6" : "");
                        begin(&s, shape, counts[n][0], counts[n][1], 1 + n % 2);
                        double *positions = place_ions(&s.b);
                        start_observable(&s, "charge_density", settings, positions, on_gpu);
                        values[on_gpu][method] = measure(&s);
                        bytes = (size_t)(s.width * s.b.system.walkers) * sizeof(double);
                        finish_observable(&s);
                        free(positions);
                    }
                for (size_t i = 0; i < bytes / sizeof(double); i++) sum += values[0][0][i];
                assert_true(sum > 0);
                for (int other = 1; other < 4; other++)
                    assert_memory_equal(values[0][0], values[other / 2][other % 2], bytes);
                for (int one = 0; one < 4; one++) free(values[one / 2][one % 2]);
            }
}

/* ---- Energies -------------------------------------------------------------------------------- */

/* Three terms on the GPU or the CPU; in a brick one of them has cells. */
static void add_potentials(bench *b, int periodic)
{
    bench_potential(b, "hard_disk", "");
    bench_potential(b, "coulomb",
                    periodic ? "bjerrum_length=7.117 minimum_image=yes" : "bjerrum_length=7.117");
    bench_potential(b, "yukawa", "bjerrum_length=2 kappa=0.4 cutoff=4");
    b->terms[2].sampled = 0;
    for (int t = 0; t < 3; t++)
        if (b->terms[t].plugin->configure)
            bench_expect(b, b->terms[t].plugin->configure(b->terms[t].instance, &b->host));
}

static void energies_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const int64_t counts[][2] = {{3, 2}, {100, 157}, {256, 768}, {1000, 3001}};
    for (int shape = 0; shape <= SPHERE; shape += SPHERE)
        for (int n = 0; n < 4; n++) {
            double *values[3];
            int64_t width = 0;
            for (int run = 0; run < 3; run++) { /* CPU, GPU, GPU again */
                static setup s;
                begin(&s, shape, counts[n][0], counts[n][1], 2);
                add_potentials(&s.b, shape == BRICK);
                double *positions = place_ions(&s.b);
                start_observable(&s, "energy", "", positions, run > 0);
                values[run] = measure(&s);
                width = s.width * s.b.system.walkers;
                finish_observable(&s);
                free(positions);
            }
            assert_int_equal(width, 2 * 4);
            for (int64_t i = 0; i < width; i++)
                assert_close(values[1][i], values[0][i], 1e-11, 1e-11);
            assert_memory_equal(values[1], values[2], (size_t)width * sizeof(double));
            for (int run = 0; run < 3; run++) free(values[run]);
        }
}

/* ---- Pressures with cores -------------------------------------------------------------------- */

/* Points in a box, none of them in each other's core: counts near contact and the virial. */
static void pressures_with_cores_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (int shape = BRICK; shape <= RECTANGLE; shape++) {
        double *values[3];
        int64_t width = 0, counted = 0;
        for (int run = 0; run < 3; run++) { /* CPU, GPU, GPU again */
            static setup s;
            begin(&s, shape, 100, 157, 2);
            for (int k = 0; k < 2; k++) { /* small enough for hardly any to overlap or attract */
                s.b.species[k].diameter = 2e-3 / (1 + k);
                s.b.species[k].charge *= 1e-3;
            }
            add_potentials(&s.b, 1);
            double *positions = place_ions(&s.b);
            start_observable(&s, "pressure", "fit_range=1000 delta_r=10", positions, run > 0);
            values[run] = measure(&s);
            width = s.width * s.b.system.walkers;
            finish_observable(&s);
            free(positions);
        }
        assert_int_equal(width, 2 * (1 + 3 * 100));
        for (int64_t i = 0; i < width; i++) {
            assert_close(values[1][i], values[0][i], 1e-11, 1e-11);
            counted += values[0][i] > 0;
        }
        assert_true(counted > 25);
        assert_memory_equal(values[1], values[2], (size_t)width * sizeof(double));
        for (int run = 0; run < 3; run++) free(values[run]);
    }
}

/* ---- Virials --------------------------------------------------------------------------------- */

/* Two terms with a range, whose energies jump there, one without; few and many cells. */
static void virials_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const int64_t counts[][2] = {{3, 2}, {100, 157}, {1000, 3001}};
    static const shape boxes[] = {BRICK, RECTANGLE, OBLIQUE};
    for (int shape = 0; shape < 3; shape++)
        for (int n = 0; n < 3; n++) {
            double *values[3];
            size_t width = 0;
            for (int run = 0; run < 3; run++) { /* CPU, GPU, GPU again */
                static setup s;
                begin(&s, boxes[shape], counts[n][0], counts[n][1], 2);
                bench_expect(
                    &s.b, bench_configured(&s.b, "yukawa", "bjerrum_length=2 kappa=0.4 cutoff=4"));
                bench_expect(&s.b,
                             bench_configured(&s.b, "born_mayer", "a=10 b=3 sigma=1 cutoff=5"));
                if (boxes[shape] != OBLIQUE)
                    bench_expect(&s.b, bench_configured(&s.b, "coulomb",
                                                        "bjerrum_length=7.117 minimum_image=yes"));
                double *positions = place_ions(&s.b);
                start_observable(&s, "virial_pressure", "", positions, run > 0);
                values[run] = measure(&s);
                width = (size_t)(s.width * s.b.system.walkers);
                finish_observable(&s);
                free(positions);
            }
            assert_int_equal(width, boxes[shape] == RECTANGLE ? 2 * 4 : 2 * 5); /* one for jumps */
            for (size_t i = 0; i < width; i++)
                assert_close(values[1][i], values[0][i], 1e-11, 1e-11);
            assert_memory_equal(values[1], values[2], width * sizeof(double));
            for (int run = 0; run < 3; run++) free(values[run]);
        }
}

/* ---- Boxes that change ----------------------------------------------------------------------- */

/* Sums of cosines and of energies to rounding, counts and fixed point exactly. */
static void walkers_have_boxes_of_their_own(void **state)
{
    (void)state;
    for (int k = 0; k < EXAMPLES; k++) {
        static found cpu, gpu, again;
        const example *e = &examples[k];
        const int exact =
            strcmp(e->observable, "energy") && strcmp(e->observable, "virial_pressure") &&
            strcmp(e->observable, "pressure") && strcmp(e->observable, "structure_factor");
        const double tolerance = exact ? 0 : 1e-11;
        measure_example(e, 2, 0, 0, &cpu);
        measure_example(e, 2, 0, 1, &gpu);
        measure_example(e, 2, 0, 1, &again);
        assert_int_equal(cpu.count, gpu.count);
        for (int w = 0; w < 2; w++)
            for (int i = 0; i < cpu.at[cpu.count]; i++)
                assert_close(gpu.values[w][i], cpu.values[w][i], tolerance, tolerance);
        assert_memory_equal(gpu.values, again.values, sizeof gpu.values);
        printf("%s %s in %d dimensions%s\n", e->observable, e->settings, e->dimension,
               e->oblique ? ", oblique" : "");
    }
}

/* ---- A million ions -------------------------------------------------------------------------- */

static double time_of(setup *s, const char *name, const char *settings, const double *positions,
                      double **values)
{
    start_observable(s, name, settings, positions, 1);
    free(measure(s)); /* the first one loads */
    const double begin = seconds();
    *values = measure(s);
    const double taken = seconds() - begin;
    printf("%s %s: %.4f s\n", name, settings, taken);
    return taken;
}

static void a_million_ions(void **state)
{
    (void)state;
    static setup s;
    static const char *const settings[] = {"r_max=228.24 margin=285.3 bins=228 method=cells",
                                           "r_max=228.24 margin=285.3 bins=228 method=all_pairs"};
    double *values[2], *positions = NULL;
    size_t bytes = 0;
    for (int method = 0; method < 2; method++) {
        begin(&s, SPHERE, 262144, 786432, 1);
        make_sphere(&s.b.system.box, 3795.31);
        if (!positions) positions = place_ions(&s.b);
        time_of(&s, "charge_density", settings[method], positions, &values[method]);
        bytes = (size_t)s.width * sizeof(double);
        finish_observable(&s);
    }
    assert_memory_equal(values[0], values[1], bytes);
    for (int method = 0; method < 2; method++) free(values[method]);

    /* every pair in a bin: the shared histograms at their busiest */
    begin(&s, BRICK, 262144, 786432, 1);
    double *in_brick = place_ions(&s.b);
    time_of(&s, "charge_density", "method=all_pairs", in_brick, &values[0]);
    finish_observable(&s);
    free(in_brick);
    free(values[0]);

    begin(&s, SPHERE, 262144, 786432, 1);
    make_sphere(&s.b.system.box, 3795.31);
    bench_potential(&s.b, "coulomb", "bjerrum_length=7.117");
    const double taken = time_of(&s, "energy", "", positions, &values[0]);
    printf("energy %.12g kT an ion, %.3g pairs/s\n", values[0][0], 0.5 * pow(1048576, 2) / taken);
    finish_observable(&s);
    free(values[0]);
    free(positions);
}

GPU_TEST_MAIN(cmocka_unit_test(histograms_are_those_of_the_cpu),
              cmocka_unit_test(energies_are_those_of_the_cpu),
              cmocka_unit_test(pressures_with_cores_are_those_of_the_cpu),
              cmocka_unit_test(virials_are_those_of_the_cpu),
              cmocka_unit_test(walkers_have_boxes_of_their_own), cmocka_unit_test(a_million_ions))
