/* The services of the GPU, on a GPU: memory, kernels, graphs, fused potentials against the host,
 * cells, and what is said when something fails. Skipped without a GPU. */
#include "boxes.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "fused_values.h"
#include "on_gpu.h"
#include "engine/services.h"
#include "system/system.h"

static plugmc_context context;
static const plugmc_gpu *services;

static const char text[] =
    "extern \"C\" __global__ void add(float *x, float y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y; }\n"
    "extern \"C\" __global__ void twice(float *x, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }\n"
    "extern \"C\" __global__ void reverse(float *x)\n"
    "{ extern __shared__ float held[]; int n = gridDim.x ? 16384 : 0;\n"
    "  for (int i = threadIdx.x; i < n; i += blockDim.x) held[i] = x[i];\n"
    "  __syncthreads();\n"
    "  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = held[n - 1 - i]; }\n"
    "extern \"C\" __global__ void slow(float *x, long long cycles)\n"
    "{ long long begin = clock64(); while (clock64() - begin < cycles) ; x[0] += 1; }\n"
    "extern \"C\" __global__ void crash(float *x) { x[1ll << 50] = 1; }\n";
static const plugmc_gpu_source source = {sizeof source, "test.cu", text, NULL, 0, 0};
static const uint32_t one[3] = {1, 1, 1}, threads[3] = {256, 1, 1}, blocks[3] = {4, 1, 1};

static plugmc_kernel *kernel(const char *name)
{
    plugmc_kernel *k = NULL;
    assert_int_equal(services->kernel(&context, &source, name, &k), PLUGMC_OK);
    assert_non_null(k);
    return k;
}

static plugmc_device_pointer memory(size_t bytes)
{
    plugmc_device_pointer p = 0;
    assert_int_equal(services->allocate(&context, bytes, &p), PLUGMC_OK);
    assert_true(p != 0);
    return p;
}

static void assert_says(char *said, const char *what)
{
    if (!strstr(said, what)) fail_msg("'%s' is not in: %s", what, said);
}

static void memory_is_zeroed_copied_and_filled(void **state)
{
    (void)state;
    enum { N = 100000 };
    static uint8_t in[N], out[N];
    plugmc_device_pointer a = memory(N), b = memory(N);
    memset(out, 1, N);
    assert_int_equal(services->download(&context, out, a, N), PLUGMC_OK);
    assert_memory_equal(out, in, N);
    for (int i = 0; i < N; i++) in[i] = (uint8_t)(7 * i);
    assert_int_equal(services->upload(&context, a, in, N), PLUGMC_OK);
    assert_int_equal(services->copy(&context, b, a, N), PLUGMC_OK);
    assert_int_equal(services->fill(&context, b + 10, 0x55, 20), PLUGMC_OK);
    assert_int_equal(services->download(&context, out, b, N), PLUGMC_OK);
    memset(in + 10, 0x55, 20);
    assert_memory_equal(out, in, N);
    assert_int_equal(services->release(&context, a), PLUGMC_OK);
    assert_int_equal(services->release(&context, b), PLUGMC_OK);
}

static void a_host_buffer_can_be_used_again_after_upload(void **state)
{
    (void)state;
    enum { N = 1 << 22 };
    float *buffer = malloc(N * sizeof(float)), *out = malloc(N * sizeof(float));
    plugmc_device_pointer x = memory(N * sizeof(float)), y = memory(sizeof(float));
    long long cycles = 50000000; /* the copy waits behind a kernel of some 30 ms */
    assert_int_equal(
        services->launch(&context, kernel("slow"), one, one, 0, (void *[]){&y, &cycles}),
        PLUGMC_OK);
    for (int i = 0; i < N; i++) buffer[i] = (float)i;
    assert_int_equal(services->upload(&context, x, buffer, N * sizeof(float)), PLUGMC_OK);
    memset(buffer, 0xff, N * sizeof(float));
    assert_int_equal(services->download(&context, out, x, N * sizeof(float)), PLUGMC_OK);
    for (int i = 0; i < N; i++) assert_true(out[i] == (float)i);
    services->release(&context, x);
    services->release(&context, y);
    free(buffer);
    free(out);
}

static void a_kernel_asked_for_twice_is_the_same(void **state)
{
    (void)state;
    char copy[sizeof text];
    memcpy(copy, text, sizeof text);
    const plugmc_gpu_source elsewhere = {sizeof elsewhere, "test.cu", copy, NULL, 0, 0};
    plugmc_kernel *k = NULL;
    assert_int_equal(services->kernel(&context, &elsewhere, "add", &k), PLUGMC_OK);
    assert_ptr_equal(k, kernel("add"));
    assert_ptr_not_equal(k, kernel("twice"));
}

static void a_graph_runs_its_launches_each_time(void **state)
{
    (void)state;
    enum { N = 1000 };
    float out[N], y = 1;
    int n = N;
    plugmc_device_pointer x = memory(sizeof out);
    plugmc_graph *graph = NULL;
    plugmc_kernel *add = kernel("add"), *twice = kernel("twice");
    assert_int_equal(services->graph_begin(&context), PLUGMC_OK);
    assert_int_equal(services->launch(&context, add, blocks, threads, 0, (void *[]){&x, &y, &n}),
                     0);
    assert_int_equal(services->launch(&context, twice, blocks, threads, 0, (void *[]){&x, &n}), 0);
    assert_int_equal(services->graph_end(&context, &graph), PLUGMC_OK);
    assert_int_equal(services->download(&context, out, x, sizeof out), PLUGMC_OK);
    assert_true(out[N - 1] == 0); /* recorded, not run */
    for (int i = 0; i < 3; i++)
        assert_int_equal(services->graph_launch(&context, graph), PLUGMC_OK);
    assert_int_equal(services->synchronize(&context), PLUGMC_OK);
    assert_int_equal(services->download(&context, out, x, sizeof out), PLUGMC_OK);
    for (int i = 0; i < N; i++) assert_true(out[i] == 14); /* ((1) 2 + 1) 2 + 1) 2 */
    services->release(&context, x);
}

/* Each kernel by its name, and what is not a kernel of ours behind the one before it. */
static void a_profile_shows_where_the_time_goes(void **state)
{
    (void)state;
    float y = 1;
    int n = 1000, count = 0;
    long long cycles = 2000000; /* half a millisecond and more */
    plugmc_device_pointer x = memory(4000), large = memory((size_t)1 << 30);
    plugmc_kernel *add = kernel("add"), *slow = kernel("slow");
    plugmc_graph *graph = NULL;
    gpu_share *shares = NULL;
    assert_int_equal(services->graph_begin(&context), PLUGMC_OK);
    services->launch(&context, add, blocks, threads, 0, (void *[]){&x, &y, &n});
    assert_int_equal(services->graph_end(&context, &graph), PLUGMC_OK);
    assert_int_equal(gpu_profile_begin(device), PLUGMC_OK);
    for (int i = 0; i < 3; i++) {
        services->launch(&context, slow, blocks, threads, 0, (void *[]){&x, &cycles});
        services->launch(&context, add, blocks, threads, 0, (void *[]){&x, &y, &n});
        services->fill(&context, large, 0, (size_t)1 << 30);
        services->graph_launch(&context, graph);
    }
    assert_int_equal(gpu_profile_end(device, &shares, &count), PLUGMC_OK);
    assert_int_equal(count, 3);
    const char *const names[] = {"slow", "add", "graph"};
    for (int i = 0; i < 3; i++) {
        printf("%s: %lld launches, %.1f us, behind them %.1f us\n", shares[i].name,
               (long long)shares[i].launches, 1e6 * shares[i].seconds, 1e6 * shares[i].behind);
        assert_string_equal(shares[i].name, names[i]);
        assert_int_equal(shares[i].launches, 3);
        assert_true(shares[i].seconds > 0 && shares[i].behind >= 0);
    }
    assert_true(shares[0].seconds > 1.5e-3); /* three times half a millisecond */
    assert_true(shares[1].seconds < 0.2 * shares[0].seconds);
    assert_true(shares[1].behind > 3e-4); /* 3 GiB at less than 10 TB/s */
    free(shares);
    services->launch(&context, add, blocks, threads, 0, (void *[]){&x, &y, &n}); /* not looked at */
    services->release(&context, x);
    services->release(&context, large);
}

static void memory_is_not_taken_while_a_graph_is_recorded(void **state)
{
    (void)state;
    plugmc_device_pointer x = 1;
    plugmc_graph *graph = NULL;
    assert_int_equal(services->graph_begin(&context), PLUGMC_OK);
    capture c = capture_begin();
    int code = services->allocate(&context, 16, &x);
    char *said = capture_end(&c);
    assert_int_equal(code, PLUGMC_ERROR_STATE);
    assert_says(said, "between graph_begin and graph_end");
    free(said);
    assert_int_equal(services->graph_end(&context, &graph), PLUGMC_OK);
    x = memory(16); /* and then it is */
    services->release(&context, x);
}

static void a_kernel_may_have_more_shared_memory_than_48_kib(void **state)
{
    (void)state;
    enum { N = 16384 };
    static float in[N], out[N];
    if (services->shared_per_block < (int)sizeof in) skip();
    plugmc_device_pointer x = memory(sizeof in);
    for (int i = 0; i < N; i++) in[i] = (float)i;
    assert_int_equal(services->upload(&context, x, in, sizeof in), PLUGMC_OK);
    assert_int_equal(
        services->launch(&context, kernel("reverse"), one, threads, sizeof in, (void *[]){&x}),
        PLUGMC_OK);
    assert_int_equal(services->download(&context, out, x, sizeof out), PLUGMC_OK);
    for (int i = 0; i < N; i++) assert_true(out[i] == in[N - 1 - i]);

    capture c = capture_begin();
    int code =
        services->launch(&context, kernel("reverse"), one, threads, 100 << 20, (void *[]){&x});
    char *said = capture_end(&c);
    assert_int_equal(code, PLUGMC_ERROR_DEVICE);
    assert_says(said, "kernel 'reverse' of 'test.cu' cannot have 104857600 bytes");
    free(said);
    services->release(&context, x);
}

static void too_much_memory_is_refused_with_numbers(void **state)
{
    (void)state;
    plugmc_device_pointer x = 1;
    capture c = capture_begin();
    int code = services->allocate(&context, (size_t)1 << 45, &x);
    char *said = capture_end(&c);
    assert_int_equal(code, PLUGMC_ERROR_MEMORY);
    assert_true(x == 0);
    assert_says(said, "sim.ini:7: [mover test] out of GPU memory: 33554432.0 MiB were requested");
    assert_says(said, "MiB are free");
    free(said);
    x = memory(1024); /* what fits is still given */
    services->release(&context, x);
}

static void wrong_calls_are_named(void **state)
{
    (void)state;
    plugmc_kernel *k = NULL;
    capture c = capture_begin();
    int unknown = services->kernel(&context, &source, "no_such", &k);
    int foreign = services->release(&context, 12345);
    char *said = capture_end(&c);
    assert_int_equal(unknown, PLUGMC_ERROR_DEVICE);
    assert_int_equal(foreign, PLUGMC_ERROR_STATE);
    assert_says(said, "GPU source 'test.cu' has no kernel 'no_such'");
    assert_says(said, "GPU memory is released that was not allocated");
    free(said);
}

/* ---- Fused potentials ---- */

/* Runs mover_text for a pair of species. */
static void run_probe(const plugmc_system *system, bool in_double, const double at[6], int a, int b,
                      double values[16])
{
    const plugmc_gpu_source mover = {sizeof mover,  "mover.cu", mover_text,
                                     mover_defines, 1,          in_double};
    plugmc_kernel *k = NULL;
    float at_float[6], values_float[16];
    plugmc_device_pointer in = memory(6 * sizeof(double)), out = memory(16 * sizeof(double));
    gpu_bind(device, system, &device_messages);
    assert_int_equal(services->kernel(&context, &mover, "probe", &k), PLUGMC_OK);
    for (int i = 0; i < 6; i++) at_float[i] = (float)at[i];
    services->upload(&context, in, in_double ? (const void *)at : at_float,
                     6 * (in_double ? sizeof(double) : sizeof(float)));
    assert_int_equal(services->launch(&context, k, one, one, 0, (void *[]){&in, &a, &b, &out}), 0);
    assert_int_equal(services->download(&context, in_double ? (void *)values : values_float, out,
                                        16 * (in_double ? sizeof(double) : sizeof(float))),
                     0);
    for (int i = 0; i < 16 && !in_double; i++) values[i] = (double)values_float[i];
    services->release(&context, in);
    services->release(&context, out);
}

static void fused_potentials_agree_with_the_host(void **state)
{
    (void)state;
    const plugmc_term terms[] = {LJ_TERM, CORE_TERM, LJ_TERM, SMALL_CORE_TERM};
    for (int in_double = 0; in_double < 2; in_double++)
        for (int species = 1; species <= 3; species++)
            for (int pair = 0; pair < species * species; pair++) {
                plugmc_system s = make_system(3, species, PLUGMC_DOMAIN_PERIODIC, terms, 4);
                const int a = pair / species, b = pair % species;
                double v[16];
                run_probe(&s, in_double, fused_at, a, b, v);
                assert_fused_values(v, in_double, species, a, b);
            }
    gpu_bind(device, NULL, &device_messages);
}

/* ---- Cells ---- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Every particle is in the cell it belongs to, in order of its index, and wrapped. */
static void assert_sorted(const plugmc_system *s, const plugmc_cells *c, const double *positions)
{
    const int64_t n = s->particles;
    const double low = s->box.domain == PLUGMC_DOMAIN_SPHERE ? -s->box.radius : 0;
    for (int64_t w = 0; w < s->walkers; w++) {
        const uint32_t *start = c->start + w * (c->cells + 1), *order = c->order + w * n;
        assert_int_equal(start[0], 0);
        assert_int_equal(start[c->cells], n);
        for (int64_t cell = 0; cell < c->cells; cell++) {
            assert_true(start[cell] <= start[cell + 1]);
            for (uint32_t e = start[cell]; e < start[cell + 1]; e++) {
                assert_true(e == start[cell] || order[e - 1] < order[e]);
                const double *x = c->positions + 3 * (w * n + e);
                int64_t at = 0;
                for (int d = 2; d >= 0; d--) {
                    double from = positions[3 * (w * n + order[e]) + d];
                    if (s->box.domain == PLUGMC_DOMAIN_PERIODIC && d < s->box.dimension) {
                        assert_true(x[d] >= 0 && x[d] < s->box.length[d]);
                        double moved = (x[d] - from) / s->box.length[d];
                        assert_true(fabs(moved - rint(moved)) < 1e-14 * (1 + fabs(moved)));
                    } else {
                        assert_true(x[d] == from);
                    }
                    int64_t k = (int64_t)((x[d] - low) / (s->box.length[d] / c->count[d]));
                    if (k > c->count[d] - 1 || c->count[d] == 1) k = c->count[d] - 1;
                    at = at * c->count[d] + k;
                }
                assert_int_equal(at, cell);
            }
        }
    }
}

/* Everyone in the one cell of an oblique box, wrapped by whole lattice vectors. */
static void assert_one_cell(const plugmc_system *s, const plugmc_cells *c, const double *positions)
{
    assert_int_equal(c->cells, 1);
    for (int64_t w = 0; w < s->walkers; w++)
        assert_true(c->start[2 * w] == 0 && c->start[2 * w + 1] == s->particles);
    for (int64_t i = 0; i < s->walkers * s->particles; i++) {
        const double *x = c->positions + 3 * i, *from = positions + 3 * i;
        assert_int_equal(c->order[i], i % s->particles);
        for (int d = 0; d < 3; d++) {
            double inside = 0, moved = 0;
            for (int e = 0; e < 3; e++) {
                inside += x[e] * s->box.inverse[e][d];
                moved += (x[e] - from[e]) * s->box.inverse[e][d];
            }
            assert_true(inside > -1e-14 && inside < 1 + 1e-14);
            assert_true(fabs(moved - rint(moved)) < 1e-14);
        }
    }
}

/* A view of positions in device memory. */
static plugmc_view view_there(const plugmc_system *s, plugmc_device_pointer positions)
{
    const plugmc_host host = {.context = &context, .gpu = services, .system = s};
    return (plugmc_view){.size = sizeof(plugmc_view),
                         .positions = (const double *)(uintptr_t)positions,
                         .on_device = 1,
                         .box = boxes_of(s),
                         .device_box = device_boxes_of(&host)};
}

static void check_cells(const plugmc_system *s, double range)
{
    const size_t entries = (size_t)s->walkers * (size_t)s->particles;
    double *positions = malloc(3 * entries * sizeof *positions);
    uint64_t random = 12345;
    for (size_t i = 0; i < entries; i++)
        for (int d = 0; d < 3; d++) {
            double u = uniform(&random);
            /* some outside, some exactly on the edges */
            if (s->box.domain == PLUGMC_DOMAIN_PERIODIC)
                positions[3 * i + d] =
                    i % 7 ? (1.4 * u - 0.2) * s->box.length[d] : s->box.length[d];
            else
                positions[3 * i + d] = (2 * u - 1) * s->box.radius;
            if (d >= s->box.dimension) positions[3 * i + d] = 0;
        }
    plugmc_device_pointer on_device = memory(3 * entries * sizeof(double));
    services->upload(&context, on_device, positions, 3 * entries * sizeof(double));

    plugmc_cells found, host;
    const plugmc_view view = view_there(s, on_device);
    assert_int_equal(gpu_cells_build(device, s, &view, range, NULL, &found), PLUGMC_OK);
    size_t starts = (size_t)s->walkers * (size_t)(found.cells + 1);
    uint32_t *start = malloc(starts * sizeof *start), *order = malloc(entries * sizeof *order);
    double *sorted = malloc(3 * entries * sizeof *sorted);
    services->download(&context, start, (plugmc_device_pointer)(uintptr_t)found.start,
                       starts * sizeof *start);
    services->download(&context, order, (plugmc_device_pointer)(uintptr_t)found.order,
                       entries * sizeof *order);
    services->download(&context, sorted, (plugmc_device_pointer)(uintptr_t)found.positions,
                       3 * entries * sizeof *sorted);
    plugmc_cells copied = found;
    copied.start = start;
    copied.order = order;
    copied.positions = sorted;
    (s->box.oblique ? assert_one_cell : assert_sorted)(s, &copied, positions);

    assert_int_equal(host_cells_build(s, view.box, positions, range, &host), PLUGMC_OK);
    assert_memory_equal(host.count, found.count, sizeof host.count);
    assert_memory_equal(host.start, start, starts * sizeof *start);
    assert_memory_equal(host.order, order, entries * sizeof *order);
    assert_memory_equal(host.positions, sorted, 3 * entries * sizeof *sorted);
    host_cells_free(&host);
    services->release(&context, on_device);
    free(positions);
    free(start);
    free(order);
    free(sorted);
}

static void cells_agree_with_the_host_and_with_brute_force(void **state)
{
    (void)state;
    static const struct {
        int dimension;
        enum plugmc_domain domain;
        int64_t particles;
        int walkers;
        double range;
    } cases[] = {
        {2, PLUGMC_DOMAIN_PERIODIC, 1, 1, 1.0},
        {2, PLUGMC_DOMAIN_PERIODIC, 5000, 3, 1.0},
        {3, PLUGMC_DOMAIN_PERIODIC, 20000, 2, 0.31},
        {3, PLUGMC_DOMAIN_SPHERE, 3000, 5, 1.7},
        {2, PLUGMC_DOMAIN_SPHERE, 3000, 1, 0.2},
        {3, PLUGMC_DOMAIN_PERIODIC, 300000, 1, INFINITY},
        {3, PLUGMC_DOMAIN_PERIODIC, 100, 700, 5.0},
        {2, PLUGMC_DOMAIN_PERIODIC, 70000, 1, 0.01},
        {2, PLUGMC_DOMAIN_PERIODIC, 5000, 3, 1.0}, /* again, with the buffers kept */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        plugmc_system s = make_system(cases[i].dimension, 1, cases[i].domain, NULL, 0);
        s.particles = cases[i].particles;
        s.walkers = cases[i].walkers;
        check_cells(&s, cases[i].range);
    }
}

static void an_oblique_box_is_one_cell(void **state)
{
    (void)state;
    plugmc_system s = make_system(3, 1, PLUGMC_DOMAIN_PERIODIC, NULL, 0);
    const plugmc_box box = {
        .domain = PLUGMC_DOMAIN_PERIODIC,
        .dimension = 3,
        .oblique = 1,
        .length = {4, 5, 13},
        .volume = 192,
        .vector = {{4, 0, 0}, {3, 4, 0}, {-3, 4, 12}},
        .inverse = {{1. / 4, 0, 0}, {-3. / 16, 1. / 4, 0}, {1. / 8, -1. / 12, 1. / 12}}};
    s.box = box;
    s.particles = 5000;
    s.walkers = 3;
    check_cells(&s, 1.0);
}

static void cells_of_two_ranges_live_side_by_side(void **state)
{
    (void)state;
    plugmc_system s = make_system(3, 1, PLUGMC_DOMAIN_PERIODIC, NULL, 0);
    plugmc_cells a, b, again;
    plugmc_device_pointer positions = memory(3 * (size_t)s.particles * sizeof(double));
    const plugmc_view view = view_there(&s, positions);
    assert_int_equal(gpu_cells_build(device, &s, &view, 1.0, NULL, &a), PLUGMC_OK);
    assert_int_equal(gpu_cells_build(device, &s, &view, 2.0, NULL, &b), PLUGMC_OK);
    assert_int_equal(gpu_cells_build(device, &s, &view, 1.0, NULL, &again), PLUGMC_OK);
    assert_ptr_not_equal(a.order, b.order);
    assert_ptr_equal(a.order, again.order);
    services->release(&context, positions);
}

/* ---- Last, since nothing works after it ---- */

static void a_kernel_that_crashes_is_named_once(void **state)
{
    (void)state;
    plugmc_device_pointer x = memory(16), y;
    float out;
    capture c = capture_begin();
    int launched = services->launch(&context, kernel("crash"), one, one, 0, (void *[]){&x});
    int first = services->synchronize(&context);
    char *said = capture_end(&c);
    assert_int_equal(launched, PLUGMC_OK);
    assert_int_equal(first, PLUGMC_ERROR_DEVICE);
    assert_says(said, "[mover test] kernel 'crash' of 'test.cu' failed: ");
    assert_says(said, "CUDA_ERROR_");
    free(said);

    context.failed = 0;
    c = capture_begin();
    int second = services->download(&context, &out, x, sizeof out);
    int third = services->allocate(&context, 16, &y);
    said = capture_end(&c);
    assert_int_equal(second, PLUGMC_ERROR_DEVICE);
    assert_int_equal(third, PLUGMC_ERROR_DEVICE);
    assert_string_equal(said, "");
    assert_int_equal(context.failed, 1);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_copied_and_filled),
        cmocka_unit_test(a_host_buffer_can_be_used_again_after_upload),
        cmocka_unit_test(a_kernel_asked_for_twice_is_the_same),
        cmocka_unit_test(a_graph_runs_its_launches_each_time),
        cmocka_unit_test(a_profile_shows_where_the_time_goes),
        cmocka_unit_test(memory_is_not_taken_while_a_graph_is_recorded),
        cmocka_unit_test(a_kernel_may_have_more_shared_memory_than_48_kib),
        cmocka_unit_test(too_much_memory_is_refused_with_numbers),
        cmocka_unit_test(wrong_calls_are_named),
        cmocka_unit_test(fused_potentials_agree_with_the_host),
        cmocka_unit_test(cells_agree_with_the_host_and_with_brute_force),
        cmocka_unit_test(an_oblique_box_is_one_cell),
        cmocka_unit_test(cells_of_two_ranges_live_side_by_side),
        cmocka_unit_test(a_kernel_that_crashes_is_named_once),
    };
    char folder[] = "/tmp/plugmc-test-gpu-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    setenv("PLUGMC_CACHE_DIR", folder, 1);
    const int without = device_open();
    if (!without) {
        context = (plugmc_context){.report = &device_messages,
                                   .gpu = device,
                                   .file = "sim.ini",
                                   .line = 7,
                                   .section = "mover test"};
        services = gpu_services(device);
    }
    const int failed = without ? without : cmocka_run_group_tests(tests, NULL, NULL) != 0;
    if (device) gpu_close(device);
    remove_folder(folder);
    return failed;
}
