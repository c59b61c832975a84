/* The checkerboard on a GPU and on the CPU: hard particles make the same chain, bit for bit, in
 * every kernel that there is for them. Skipped without a GPU. */
#include "testing.h"

#include "movers.h"
#include "run/context.h"

enum { SWEEPS = 75 }; /* two graphs of the mover, and some sweeps one by one */

static gpu *device;
static report messages;

typedef struct scenario {
    const char *name, *settings;
    int dimension, columns, rows, layers; /* of the lattice that it starts from */
    double spacing[3];                    /* odd rows lie half between in two dimensions */
    int walkers;
    double small; /* diameter of the second half of the particles; 0: they are all alike */
} scenario;

static const scenario scenarios[] = {
    {"cells of four slots in long rows", "trials=4 step=0.16", 2, 64, 64, 1, {1.13, 0.98}, 2, 0},
    {"in fixed order", "trials=4 step=0.16 shuffle_particles=no identities=no",
     2, 64, 64, 1, {1.13, 0.98}, 1, 0},
    {"short rows", "trials=4 step=0.16", 2, 16, 16, 1, {1.13, 0.98}, 3, 0},
    {"cells of eight slots", "trials=4 step=0.16 cell=1.7", 2, 32, 32, 1, {1.13, 0.98}, 2, 0},
    {"wide cells", "trials=4 step=0.3 cell=2.2", 2, 64, 64, 1, {1.13, 0.98}, 2, 0},
    {"wide cells in fixed order", "trials=1 step=0.3 cell=2.2 shuffle_particles=no identities=no",
     2, 64, 64, 1, {1.13, 0.98}, 2, 0},
    {"two cells a row", "trials=7 step=0.3 cell=4.5", 2, 8, 10, 1, {1.14, 0.99}, 2, 0},
    {"mixture", "trials=4 step=0.2", 2, 32, 32, 1, {1.13, 0.98}, 2, 0.7},
    {"spheres", "trials=4 step=0.15", 3, 10, 10, 10, {1.1, 1.1, 1.1}, 2, 0},
    {"spheres in wide cells", "trials=4 step=0.15 cell=1.8", 3, 10, 10, 10, {1.1, 1.1, 1.1}, 1, 0},
};

static void bench_of(bench *b, const scenario *s, uint64_t seed)
{
    const int64_t n = (int64_t)s->columns * s->rows * s->layers;
    const double length[3] = {s->columns * s->spacing[0], s->rows * s->spacing[1],
                              s->layers * s->spacing[2]};
    bench_begin(b, s->dimension, length, s->walkers, seed);
    bench_species(b, "large", s->small > 0 ? n / 2 : n, 1, 0);
    if (s->small > 0) bench_species(b, "small", n - n / 2, s->small, 0);
    bench_potential(b, "hard_disk", "");
}

static size_t count_of(const bench *b)
{
    return (size_t)(3 * b->system.particles * b->system.walkers);
}

static double *lattice_of(const bench *b, const scenario *s)
{
    double *positions = bench_positions(b), *p = positions;
    for (int w = 0; w < s->walkers; w++)
        for (int64_t i = 0; i < b->system.particles; i++, p += 3) {
            const int64_t row = i / s->columns % s->rows;
            p[0] = ((double)(i % s->columns) + (s->dimension == 2 ? 0.5 * (double)(row % 2) : 0)) *
                   s->spacing[0];
            p[1] = (double)row * s->spacing[1];
            p[2] = s->dimension == 3 ? (double)(i / s->columns / s->rows) * s->spacing[2] : 0;
        }
    return positions;
}

/* Where the particles are after SWEEPS sweeps: [walkers][particles][3], to be freed. */
static double *positions_after(const scenario *s, uint64_t seed, int on_gpu, plugmc_counts *counts)
{
    bench b;
    bench_of(&b, s, seed);
    double *start = lattice_of(&b, s), *end = bench_positions(&b);
    plugmc_context context = {.report = &messages, .file = "test", .section = "test"};
    test_mover mover = {.plugin = open_plugin("checkerboard")};
    mover.calls = mover.plugin->mover;
    mover.instance = bench_allocate(b.host.context, mover.plugin->instance_size);
    set_parameters(mover.plugin, mover.instance, s->settings);
    if (on_gpu) {
        context.gpu = device;
        gpu_bind(device, &b.system, &messages);
        b.host = context_host(&context, &b.system);
    }
    bench_expect(&b, mover.plugin->prepare(mover.instance, &b.host));
    mover_load(&b, &mover, start);
    mover_sweep(&b, &mover, 7, SWEEPS);
    bench_expect(&b, mover.calls->counts(mover.instance, &b.host, counts, 0));
    if (on_gpu) {
        const plugmc_gpu *services = b.host.gpu;
        const size_t bytes = count_of(&b) * sizeof(double);
        plugmc_device_pointer at;
        assert_int_equal(services->allocate(b.host.context, bytes, &at), PLUGMC_OK);
        bench_expect(&b, mover.calls->store(mover.instance, &b.host, (double *)(uintptr_t)at));
        assert_int_equal(services->download(b.host.context, end, at, bytes), PLUGMC_OK);
    } else {
        mover_store(&b, &mover, end);
    }
    mover_end(&mover);
    if (on_gpu) context_release(&context);
    bench_end(&b);
    free(start);
    return end;
}

static void chains_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const scenario *s = &scenarios[i];
        const int64_t n = (int64_t)s->columns * s->rows * s->layers * s->walkers;
        plugmc_counts cpu, gpu, others;
        double *expected = positions_after(s, 1, 0, &cpu), *got = positions_after(s, 1, 1, &gpu);
        double *other = positions_after(s, 2, 1, &others);
        int64_t differing = 0, unlike = 0;
        for (int64_t k = 0; k < n; k++) {
            differing += memcmp(got + 3 * k, expected + 3 * k, 3 * sizeof(double)) != 0;
            unlike += memcmp(other + 3 * k, expected + 3 * k, 3 * sizeof(double)) != 0;
        }
        printf("%s: %lld particles, %lld differ; %.3f of %llu trials accepted\n", s->name,
               (long long)n, (long long)differing, (double)cpu.accepted / (double)cpu.trials,
               (unsigned long long)cpu.trials);
        assert_int_equal(differing, 0);
        assert_int_equal(gpu.trials, cpu.trials);
        assert_int_equal(gpu.accepted, cpu.accepted);
        assert_true(unlike > n / 2); /* another seed is another chain */
        free(expected);
        free(got);
        free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_are_those_of_the_cpu)};
    char why[512];
    int version;
    if (gpu_count(&version, why) == 0) {
        printf("skipped: %s\n", why);
        return 77;
    }
    device = gpu_open(0, false, why);
    if (!device) {
        printf("failed: %s\n", why);
        return 1;
    }
    gpu_describe(stdout, device);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu_close(device);
    return failed != 0;
}
