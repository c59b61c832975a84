/* coulomb_spme on a GPU against the CPU at the same settings: single precision, double precision,
 * both ways of spreading, grids that tiles do not fit, walkers with boxes of their own; bits from run
 * to run; positions that are none. */
#include "testing.h"

#include "on_gpu.h"
#include "spme_system.h"

/* What the device finds for all walkers. */
typedef struct found {
    double *energy, *virial, *forces; /* [walkers], [walkers][3], [walkers][particles][3] */
} found;

enum { WANT_ENERGY = 1, WANT_FORCES = 2, WANT_VIRIAL = 4, WANT_ALL = 7 };

static size_t force_bytes(const spme_system *s)
{
    return 3 * (size_t)(s->system.walkers * s->system.particles) * sizeof(double);
}

static plugmc_device_pointer memory(const spme_system *s, size_t bytes)
{
    plugmc_device_pointer at = 0;
    assert_int_equal(s->host.gpu->allocate(s->host.context, bytes, &at), PLUGMC_OK);
    return at;
}

static found found_new(const spme_system *s)
{
    const size_t walkers = (size_t)s->system.walkers;
    return (found){calloc(walkers, sizeof(double)), calloc(3 * walkers, sizeof(double)),
                   calloc(1, force_bytes(s))};
}

static void found_free(found f)
{
    free(f.energy);
    free(f.virial);
    free(f.forces);
}

static plugmc_total_request request_of(plugmc_view *view, plugmc_device_pointer out, size_t walkers,
                                       int want)
{
    double *energy = (double *)(uintptr_t)out, *virial = energy + walkers,
           *forces = virial + 3 * walkers;
    return (plugmc_total_request){.size = sizeof(plugmc_total_request),
                                  .view = view,
                                  .energy = want & WANT_ENERGY ? energy : NULL,
                                  .forces = want & WANT_FORCES ? forces : NULL,
                                  .virial = want & WANT_VIRIAL ? virial : NULL};
}

/* One evaluation, with or without recording it in a graph that is then launched twice. */
static found on_device(spme_system *s, const double *positions, int want, int graph)
{
    const plugmc_gpu *gpu = s->host.gpu;
    plugmc_context *c = s->host.context;
    const size_t walkers = (size_t)s->system.walkers, sums = 4 * walkers * sizeof(double);
    found f = found_new(s);
    plugmc_device_pointer in = memory(s, force_bytes(s)), out = memory(s, sums + force_bytes(s));
    plugmc_view view = {.size = sizeof view};
    plugmc_graph *recorded = NULL;
    assert_int_equal(gpu->upload(c, in, positions, force_bytes(s)), PLUGMC_OK);
    s->host.view(c, (const double *)(uintptr_t)in, 1, &view);
    const plugmc_total_request request = request_of(&view, out, walkers, want);
    if (graph) assert_int_equal(gpu->graph_begin(c), PLUGMC_OK);
    assert_int_equal(s->total->energy(s->instance, &request), PLUGMC_OK);
    if (graph) assert_int_equal(gpu->graph_end(c, &recorded), PLUGMC_OK);
    for (int k = 0; k < graph; k++) assert_int_equal(gpu->graph_launch(c, recorded), PLUGMC_OK);
    assert_int_equal(gpu->download(c, f.energy, out, walkers * sizeof(double)), PLUGMC_OK);
    assert_int_equal(
        gpu->download(c, f.virial, out + walkers * sizeof(double), 3 * walkers * sizeof(double)),
        0);
    assert_int_equal(gpu->download(c, f.forces, out + sums, force_bytes(s)), PLUGMC_OK);
    gpu->release(c, in);
    gpu->release(c, out);
    return f;
}

/* `changes`: what movers change, PLUGMC_CHANGED_*. */
static void begin_changing(spme_system *s, charges c, const char *settings, uint32_t changes)
{
    messages m;
    spme_begin(s, c, device, 2);
    s->system.changes = changes;
    messages_begin(&m);
    const int code = spme_try(s, settings);
    const char *said = messages_end(&m);
    if (code) fail_msg("coulomb_spme cannot be prepared with %s: %s", settings, said);
}

static void begin(spme_system *s, charges c, const char *settings)
{
    begin_changing(s, c, settings, 0);
}

/* Differences in units of the rms force, and of the energy without what is constant. */
static void compare_system(const char *name, spme_system *s, double tolerance)
{
    const int64_t n = s->system.walkers * s->system.particles;
    const double *r = s->charges.positions;
    found host = found_new(s);
    assert_int_equal(mesh_of(s, r, host.energy, host.forces, host.virial), PLUGMC_OK);
    found here = on_device(s, r, WANT_ALL, 0);
    const double force = rms(here.forces, host.forces, n) / rms(host.forces, NULL, n);
    double energy = 0, virial = 0;
    for (int w = 0; w < s->system.walkers; w++) {
        energy = fmax(energy, fabs(here.energy[w] / host.energy[w] - 1));
        for (int d = 0; d < 3; d++)
            virial = fmax(virial, fabs(here.virial[3 * w + d] - host.virial[3 * w + d]) /
                                      fabs(host.energy[w]));
    }
    printf("%s: forces %.1e, energy %.1e, virial %.1e\n", name, force, energy, virial);
    assert_true(force < tolerance && energy < 2 * tolerance && virial < 2 * tolerance);
    found again = on_device(s, r, WANT_ALL, 0), alone = on_device(s, r, WANT_ENERGY, 0),
          moving = on_device(s, r, WANT_FORCES, 0);
    const size_t walkers = (size_t)s->system.walkers * sizeof(double);
    assert_memory_equal(again.forces, here.forces, force_bytes(s));
    assert_memory_equal(moving.forces, here.forces, force_bytes(s));
    assert_memory_equal(again.virial, here.virial, 3 * walkers);
    assert_memory_equal(alone.energy, here.energy, walkers);
    found_free(host);
    found_free(here);
    found_free(again);
    found_free(alone);
    found_free(moving);
}

static void compare(const char *name, charges c, const char *settings, double tolerance)
{
    spme_system s;
    begin(&s, c, settings);
    compare_system(name, &s, tolerance);
    spme_end(&s);
}

/* Walker w gets edges `factor[w]` times as long, with its particles. */
static void scale_boxes(spme_system *s, const double (*factor)[3])
{
    void *boxes;
    const int64_t n = s->system.particles;
    const plugmc_state *state = s->context.stage->state;
    assert_int_equal(state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST,
                                  PLUGMC_READ | PLUGMC_WRITE, &boxes, NULL),
                     PLUGMC_OK);
    for (int32_t w = 0; w < s->system.walkers; w++) {
        plugmc_scale_box((plugmc_box *)boxes + w, factor[w]);
        for (int64_t k = 0; k < 3 * n; k++) s->charges.positions[3 * n * w + k] *= factor[w][k % 3];
    }
}

static charges gas(double x, double y, double z, int64_t pairs, int walkers)
{
    charges c = new_charges((double[3]){x, y, z}, walkers, pairs, 1, pairs, -1, 0, 0);
    scatter(&c, 0, 31);
    return c;
}

#define USUAL "bjerrum_length = 2\ncutoff = 5\ntolerance = 0.1\nalpha = 0.4\n"
#define SINGLE_LIMIT 2e-6
#define DOUBLE_LIMIT 1e-12

static void single_precision_agrees_with_the_cpu(void **state)
{
    (void)state;
    compare("order 4, 32^3", gas(32, 32, 32, 1600, 1), USUAL "order = 4\ngrid = 32\n",
            SINGLE_LIMIT);
    compare("order 5, 36 x 40 x 27", gas(32, 40, 30, 1600, 1), USUAL "order = 5\ngrid = 36 40 27\n",
            SINGLE_LIMIT);
    compare("order 6, 30^3, optimal", gas(30, 30, 30, 1300, 1),
            USUAL "order = 6\ngrid = 30\ninfluence = optimal\n", SINGLE_LIMIT);
    compare("order 7, 20 x 9 x 33", gas(20, 11, 30, 300, 1), USUAL "order = 7\ngrid = 20 9 33\n",
            SINGLE_LIMIT);
    compare("order 8, 8 x 16 x 24", gas(10, 20, 30, 300, 1), USUAL "order = 8\ngrid = 8 16 24\n",
            SINGLE_LIMIT);
    compare("order 4, 108^3", gas(108, 108, 108, 63000, 1), USUAL "order = 4\ngrid = 108\n",
            SINGLE_LIMIT);
}

static void double_precision_agrees_with_the_cpu(void **state)
{
    (void)state;
    for (int order = 4; order <= 8; order++) {
        char text[512], name[64];
        snprintf(text, sizeof text, USUAL "precision = double\ngrid = 18 30 25\norder = %d\n",
                 order);
        snprintf(name, sizeof name, "double, order %d", order);
        compare(name, gas(20, 30, 25, 700, 1), text, DOUBLE_LIMIT);
    }
}

static void gathering_by_grid_points_agrees(void **state)
{
    (void)state;
    compare("gather, order 4", gas(32, 32, 32, 1600, 1),
            USUAL "order = 4\ngrid = 32\nspreading = gather\n", SINGLE_LIMIT);
    compare("gather, order 6, crowded", gas(20, 20, 20, 4000, 1),
            USUAL "order = 6\ngrid = 18 20 15\nspreading = gather\n", SINGLE_LIMIT);
    compare("gather, double", gas(20, 20, 20, 400, 2),
            USUAL "order = 8\ngrid = 18 20 15\nspreading = gather\nprecision = double\n",
            DOUBLE_LIMIT);
}

/* More charges in a tile than its first page holds, and than a block looks at at once. The unit of
 * the sums, which must not overflow wherever the charges are, follows from a round of its own. */
static void crowds_are_summed_too(void **state)
{
    (void)state;
    compare("a charge a cell", gas(16, 16, 16, 2000, 1), USUAL "order = 6\ngrid = 16\n",
            SINGLE_LIMIT);
    compare("four charges a cell", gas(16, 16, 16, 8000, 1), USUAL "order = 6\ngrid = 16\n",
            SINGLE_LIMIT);
    for (int precise = 0; precise < 2; precise++) {
        charges c = gas(32, 32, 32, 2000, 1);
        for (int64_t k = 0; k < 3 * charge_count(&c); k++)
            c.positions[k] = 15 + c.positions[k] / 16;
        compare("all in a corner of a tile", c,
                precise ? USUAL "order = 4\ngrid = 32\nprecision = double\n"
                        : USUAL "order = 4\ngrid = 32\n",
                precise ? DOUBLE_LIMIT : SINGLE_LIMIT);
    }
}

static void walkers_and_exclusions_agree(void **state)
{
    (void)state;
    compare("5 walkers", gas(16, 18, 20, 200, 5), USUAL "order = 6\ngrid = 20\n", SINGLE_LIMIT);
    charges c = new_charges((double[3]){16, 18, 20}, 3, 200, 2, 100, -1, 20, 0);
    scatter(&c, 0, 5);
    compare("charged, a neutral species", c, USUAL "order = 5\ngrid = 20\n", SINGLE_LIMIT);
    compare("balanced", gas(16, 18, 20, 200, 2), USUAL "grid = 20\nbalance_forces = yes\n",
            SINGLE_LIMIT);
    compare("water, double", water("spce-2.xyz"),
            USUAL "grid = 24\nmolecule = 1 2\nprecision = double\nbalance_forces = yes\n", 1e-11);
    compare("long molecules", gas(16, 18, 20, 200, 2),
            USUAL "grid = 20\nmolecule = 5 5\nprecision = double\n",
            1e-11); /* partners beyond the cutoff as well */
}

/* What is wrong in one box and right in another shows, as boxes differ by some per cent. */
static void compare_boxes(const char *name, charges c, const char *settings, double tolerance)
{
    static const double factor[3][3] = {{1, 1, 1}, {0.95, 0.95, 0.95}, {0.93, 1.01, 0.98}};
    spme_system s;
    begin_changing(&s, c, settings, PLUGMC_CHANGED_BOX);
    scale_boxes(&s, factor);
    compare_system(name, &s, tolerance);
    spme_end(&s);
}

static void walkers_with_boxes_of_their_own_agree(void **state)
{
    (void)state;
    compare_boxes("boxes", gas(16, 18, 20, 200, 3), USUAL "order = 6\ngrid = 20\n", SINGLE_LIMIT);
    compare_boxes("boxes, optimal", gas(16, 18, 20, 200, 3),
                  USUAL "order = 5\ngrid = 20 18 25\ninfluence = optimal\n", SINGLE_LIMIT);
    compare_boxes("boxes, gather, double", gas(16, 18, 20, 200, 3),
                  USUAL "grid = 18 20 15\nspreading = gather\nprecision = double\n", DOUBLE_LIMIT);
    compare_boxes("boxes, long molecules, balanced", gas(16, 18, 20, 200, 3),
                  USUAL "grid = 20\nmolecule = 5 5\nprecision = double\nbalance_forces = yes\n",
                  1e-11);
    charges c = new_charges((double[3]){16, 18, 20}, 3, 200, 2, 100, -1, 20, 0);
    scatter(&c, 0, 5);
    compare_boxes("boxes, charged", c, USUAL "grid = 20\nprecision = double\n", DOUBLE_LIMIT);
}

/* Kernels for boxes of walkers give the bits of those for one box as long as all have it. */
static void boxes_that_have_not_changed_give_the_same_bits(void **state)
{
    (void)state;
    found f[2];
    size_t bytes = 0;
    for (int k = 0; k < 2; k++) {
        spme_system s;
        begin_changing(&s, gas(16, 18, 20, 200, 2), USUAL "grid = 20\n",
                       k ? PLUGMC_CHANGED_BOX : 0);
        f[k] = on_device(&s, s.charges.positions, WANT_ALL, 0);
        bytes = force_bytes(&s);
        spme_end(&s);
    }
    assert_memory_equal(f[0].forces, f[1].forces, bytes);
    assert_memory_equal(f[0].energy, f[1].energy, 2 * sizeof(double));
    assert_memory_equal(f[0].virial, f[1].virial, 6 * sizeof(double));
    found_free(f[0]);
    found_free(f[1]);
}

static void a_recorded_evaluation_is_the_same_each_time(void **state)
{
    (void)state;
    for (int gather = 0; gather < 2; gather++) {
        spme_system s;
        char text[512];
        charges c = gas(30, 30, 30, 1300, 2);
        snprintf(text, sizeof text, USUAL "grid = 30\nspreading = %s\n",
                 gather ? "gather" : "sorted");
        begin(&s, c, text);
        found once = on_device(&s, c.positions, WANT_ALL, 0),
              twice = on_device(&s, c.positions, WANT_ALL, 2);
        for (int64_t k = 0; k < 3 * 2 * s.system.particles; k++)
            assert_true(twice.forces[k] == once.forces[k] + once.forces[k]);
        for (int w = 0; w < 2; w++) assert_true(twice.energy[w] == once.energy[w] + once.energy[w]);
        found_free(once);
        found_free(twice);
        spme_end(&s);
    }
}

/* By the observable, which takes the forces from where the positions are. */
static void the_net_force_is_that_of_the_cpu(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/net_force.so", TEST_PLUGINS);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    const plugmc_plugin *plugin = ((plugmc_entry *)dlsym(handle, "plugmc_plugin_entry"))();
    for (int balanced = 0; balanced < 2; balanced++) {
        spme_system s;
        charges c = gas(16, 18, 20, 200, 2);
        begin(&s, c,
              balanced ? USUAL "grid = 16\nprecision = double\nbalance_forces = yes\n"
                       : USUAL "grid = 16\nprecision = double\n");
        s.term.sampled = 1;
        void *instance = s.host.allocate(s.host.context, plugin->instance_size);
        plugmc_device_pointer in = memory(&s, force_bytes(&s));
        plugmc_view here = {.size = sizeof here}, there = {.size = sizeof there};
        double values[2][8];
        assert_int_equal(plugin->prepare(instance, &s.host), PLUGMC_OK);
        assert_int_equal(s.host.gpu->upload(s.host.context, in, c.positions, force_bytes(&s)), 0);
        s.host.view(s.host.context, c.positions, 0, &here);
        s.host.view(s.host.context, (const double *)(uintptr_t)in, 1, &there);
        assert_int_equal(plugin->observable->measure(instance, &s.host, &here, values[0]), 0);
        assert_int_equal(plugin->observable->measure(instance, &s.host, &there, values[1]), 0);
        printf("net force %.1e, %.1e on the CPU\n", values[1][0], values[0][0]);
        for (int i = 0; i < 8; i++) assert_close(values[1][i], values[0][i], 1e-8, 1e-12);
        assert_true(balanced ? values[1][0] < 1e-12 : values[1][0] > 1e-6);
        s.host.gpu->release(s.host.context, in);
        spme_end(&s);
    }
    dlclose(handle);
}

/* Without waiting for the device nothing can be said; but nothing looks right either. */
static void positions_that_are_none_give_nan(void **state)
{
    (void)state;
    for (int gather = 0; gather < 2; gather++) {
        spme_system s;
        char text[512];
        charges c = gas(20, 20, 20, 400, 2);
        const int64_t n = charge_count(&c);
        snprintf(text, sizeof text, USUAL "grid = 20\nspreading = %s\n",
                 gather ? "gather" : "sorted");
        begin(&s, c, text);
        found good = on_device(&s, c.positions, WANT_ALL, 0);
        const double kept = c.positions[3 * (n + 7) + 2];
        c.positions[3 * (n + 7) + 2] = gather ? INFINITY : NAN; /* of the second walker */
        found bad = on_device(&s, c.positions, WANT_ALL, 0);
        assert_true(bad.energy[0] == good.energy[0] && isnan(bad.energy[1]));
        assert_true(isnan(bad.virial[5]) && isnan(bad.forces[3 * (n + 7)]) &&
                    isnan(bad.forces[6 * n - 1]));
        assert_memory_equal(bad.forces, good.forces, 3 * (size_t)n * sizeof(double));
        c.positions[3 * (n + 7) + 2] = kept;
        found after = on_device(&s, c.positions, WANT_ALL, 0);
        assert_memory_equal(after.forces, good.forces, force_bytes(&s));
        found_free(good);
        found_free(bad);
        found_free(after);
        spme_end(&s);
    }
}

GPU_TEST_MAIN(cmocka_unit_test(single_precision_agrees_with_the_cpu),
              cmocka_unit_test(double_precision_agrees_with_the_cpu),
              cmocka_unit_test(gathering_by_grid_points_agrees),
              cmocka_unit_test(crowds_are_summed_too),
              cmocka_unit_test(walkers_and_exclusions_agree),
              cmocka_unit_test(walkers_with_boxes_of_their_own_agree),
              cmocka_unit_test(boxes_that_have_not_changed_give_the_same_bits),
              cmocka_unit_test(a_recorded_evaluation_is_the_same_each_time),
              cmocka_unit_test(the_net_force_is_that_of_the_cpu),
              cmocka_unit_test(positions_that_are_none_give_nan))
