/* checkerboard on a GPU against the same mover on the CPU: the same places, bit for bit, and the same
 * counts after any number of sweeps, one by one and in recorded batches, and places again after a
 * resume. The CPU is compared with a naive reading of the algorithm in unit/test_checkerboard.c.
 * Skipped without a GPU. */
#include "own_state.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "on_gpu.h"
#include "engine/services.h"

/* What is simulated: hard disks or spheres, or softer ones, from a lattice that fills the box. */
typedef struct scenario {
    int dimension, cells[3]; /* which the mover must find */
    double length[3];
    double spacing;     /* of the lattice */
    double diameter[2]; /* [1]: of every second one, or 0 */
    double step;
    int walkers;
    const char *options;       /* further parameters of the mover */
    double strength, cutoff;   /* of a soft potential, instead of the hard one */
    int core;                  /* or as well */
    const char *lennard_jones; /* settings of this potential, instead of all others */
    double range;              /* of it */
    double extent;             /* of the lattice, in units of the box edges; 0: all of it */
} scenario;

/* Disks in staggered rows, spheres in a cubic lattice, another corner of it for each walker:
 * [walkers][particles][3], to be freed. */
static double *lattice(const scenario *s, int64_t *particles)
{
    const double between = s->dimension == 2 ? sqrt(0.75) * s->spacing : s->spacing;
    const double extent = s->extent > 0 ? s->extent : 1;
    const int64_t columns = (int64_t)(extent * s->length[0] / s->spacing);
    const int64_t rows = (int64_t)(extent * s->length[1] / between / 2) * 2;
    const int64_t layers = s->dimension == 3 ? (int64_t)(extent * s->length[2] / s->spacing) : 1;
    double *positions = calloc((size_t)(3 * columns * rows * layers * s->walkers), sizeof(double));
    double *p = positions;
    *particles = columns * rows * layers;
    for (int w = 0; w < s->walkers; w++)
        for (int64_t i = 0; i < *particles; i++, p += 3) {
            const int64_t row = i / columns % rows;
            const double stagger = s->dimension == 2 ? 0.5 * (double)(row % 2) : 0;
            const double at[3] = {((double)(i % columns) + stagger) / (double)columns,
                                  (double)row / (double)rows,
                                  (double)(i / columns / rows) / (double)layers};
            for (int a = 0; a < s->dimension; a++)
                p[a] = fmod(at[a] * extent + 0.0618034 + 0.381966 * w, 1) * s->length[a];
        }
    return positions;
}

static void begin(bench *b, const scenario *s, int64_t particles)
{
    char settings[128];
    const int64_t small = s->diameter[1] > 0 ? particles / 2 : 0;
    bench_begin(b, s->dimension, s->length, s->walkers, 20130901);
    for (int a = 0; a < 3; a++) b->system.box.vector[a][a] = b->system.box.length[a];
    b->system.threads = 2;
    bench_species(b, "large", particles - small, s->diameter[0], 1);
    if (small) bench_species(b, "small", small, s->diameter[1], 1);
    snprintf(settings, sizeof settings, "strength=%.17g cutoff=%.17g", s->strength, s->cutoff);
    if (s->lennard_jones) {
        bench_expect(b, bench_configured(b, "lennard_jones", s->lennard_jones));
        b->system.range = s->range;
        return;
    }
    if (s->strength != 0) bench_potential(b, TEST_SOFT_DISK, settings);
    if (s->strength == 0 || s->core) bench_potential(b, "hard_disk", "");
}

static void set_up(bench *b, test_mover *mover, const scenario *s)
{
    char settings[256];
    *mover = (test_mover){.plugin = open_plugin("checkerboard")};
    mover->calls = mover->plugin->mover;
    mover->instance = bench_allocate(b->host.context, mover->plugin->instance_size);
    snprintf(settings, sizeof settings, "step=%.17g %s", s->step, s->options);
    set_parameters(mover->plugin, mover->instance, settings);
}

static void assert_same(const scenario *s, const double *got, const double *expected,
                        int64_t particles, int64_t sweeps)
{
    for (int64_t i = 0; i < 3 * particles * s->walkers; i++)
        if (memcmp(&got[i], &expected[i], sizeof(double)))
            fail_msg("%d x %d x %d cells, %s, after %lld sweeps: walker %lld, particle %lld, axis "
                     "%lld: %.17g on the GPU, %.17g on the CPU",
                     s->cells[0], s->cells[1], s->cells[2], s->options, (long long)sweeps,
                     (long long)(i / 3 / particles), (long long)(i / 3 % particles),
                     (long long)(i % 3), got[i], expected[i]);
}

static void decides_like_the_cpu(const scenario *s, int sweeps)
{
    static const int stretch[] = {1, 1, 3, 40, 70}; /* a graph has 32 sweeps */
    int64_t particles;
    double *x = lattice(s, &particles),
           *y = calloc((size_t)(3 * particles * s->walkers), sizeof *y);
    bench cpu, on_gpu;
    test_mover reference, mover, resumed;
    begin(&cpu, s, particles);
    begin(&on_gpu, s, particles);
    set_up(&cpu, &reference, s);
    set_up(&on_gpu, &mover, s);
    set_up(&on_gpu, &resumed, s);
    bench_expect(&cpu, reference.plugin->prepare(reference.instance, &cpu.host));

    plugmc_context context = {
        .report = &device_messages, .gpu = device, .file = "test", .section = "test"};
    const size_t bytes = (size_t)(3 * particles * s->walkers) * sizeof(double);
    plugmc_device_pointer positions;
    gpu_bind(device, &on_gpu.system, &device_messages);
    on_gpu.host = context_host(&context, &on_gpu.system);
    own_state(&context, &on_gpu.host);
    for (int t = 0; t < on_gpu.system.term_count; t++) on_gpu.terms[t].host = &on_gpu.host;
    const plugmc_host *host = &on_gpu.host;
    bench_expect(&on_gpu, mover.plugin->prepare(mover.instance, host));
    bench_expect(&on_gpu, host->gpu->allocate(host->context, bytes, &positions));

    mover_load(&cpu, &reference, x);
    mover_load(&on_gpu, &mover, x);
    uint64_t sweep = ((uint64_t)3 << 32) - 20; /* a counter of more than 32 bits */
    int done = 0;
    for (int i = 0; done < sweeps; i++) {
        const int n = stretch[i % 5];
        mover_sweep(&cpu, &reference, sweep, (uint64_t)n);
        mover_sweep(&on_gpu, &mover, sweep, (uint64_t)n);
        sweep += (uint64_t)n;
        done += n;
        mover_store(&cpu, &reference, x);
        bench_expect(&on_gpu, mover_give(&mover, host, (double *)(uintptr_t)positions));
        bench_expect(&on_gpu, host->gpu->download(host->context, y, positions, bytes));
        assert_same(s, y, x, particles, done);
    }

    plugmc_counts one, other;
    bench_expect(&cpu, mover_counts(&reference, &cpu.host, &one, 1));
    bench_expect(&on_gpu, mover_counts(&mover, host, &other, 1));
    test_archive archive;
    mover_save(&cpu, &reference, &archive);
    const int32_t *shape = archive.blob[0].data;
    printf(
        "%lld particles, %d walkers, %d x %d x %d cells of %d slots, %s: %d sweeps, %.3f accepted\n",
        (long long)particles, s->walkers, shape[0], shape[1], shape[2], shape[3], s->options, done,
        (double)one.accepted / (double)one.trials);
    for (int a = 0; a < s->dimension; a++) assert_int_equal(shape[a], s->cells[a]);
    assert_int_equal(one.trials, other.trials);
    assert_int_equal(one.accepted, other.accepted);
    assert_true(one.accepted > one.trials / 50);
    bench_expect(&on_gpu, mover_counts(&mover, host, &other, 0));
    assert_int_equal(other.trials, 0);

    /* Another goes on from the checkpoint of the CPU, with slots and room as they are guessed. */
    bench_expect(&on_gpu, resumed.plugin->prepare(resumed.instance, host));
    mover_restore(&on_gpu, &resumed, &archive);
    mover_sweep(&cpu, &reference, sweep, 33);
    mover_sweep(&on_gpu, &resumed, sweep, 33);
    mover_store(&cpu, &reference, x);
    bench_expect(&on_gpu, mover_give(&resumed, host, (double *)(uintptr_t)positions));
    bench_expect(&on_gpu, host->gpu->download(host->context, y, positions, bytes));
    assert_same(s, y, x, particles, done + 33);

    archive_end(&archive);
    bench_expect(&on_gpu, host->gpu->release(host->context, positions));
    context_release(&context);
    mover_end(&reference);
    mover_end(&mover);
    mover_end(&resumed);
    bench_end(&cpu);
    bench_end(&on_gpu);
    free(x);
    free(y);
}

#define EDGE 1.4135 /* of a cell for disks of diameter 1: four fit */

/* The kernel that sweeps patches of disks, one a multiprocessor: patches that end with the box and that do
 * not, one walker and several, other numbers of trials. Two rows of cells and cells at rest have
 * sub-sweeps. */
static void small_systems_of_disks(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {2, {50, 48}, {50 * EDGE, 48 * EDGE}, 1.13, {1}, 0.16, 1, "identities=no"},
        {2, {64, 50}, {64 * EDGE, 50 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=yes"},
        {2, {66, 2}, {66 * EDGE, 2 * EDGE}, 1.2, {1}, 0.3, 2, "identities=no"},
        {2, {190, 190}, {190 * EDGE, 190 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
        {2, {190, 20}, {190 * EDGE, 20 * EDGE}, 1.12, {1}, 0.1, 3, "identities=yes trials=7"},
        {2,
         {100, 30},
         {100 * EDGE, 30 * EDGE},
         1.3,
         {1},
         0.4,
         1,
         "identities=no trials=1 shuffle_particles=no shuffle_sets=no"},
        {2, {100, 30}, {100 * EDGE, 30 * EDGE}, 1.3, {1}, 0.4, 1, "identities=yes shift_cells=no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 230);
}

/* Larger patches, one a multiprocessor and several. */
static void middle_systems_of_disks(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {2, {240, 240}, {240 * EDGE, 240 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=yes trials=8"},
        {2, {190, 190}, {190 * EDGE, 190 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no trials=8"},
        {2, {96, 98}, {96 * EDGE, 98 * EDGE}, 1.12, {1}, 0.16, 8, "identities=no"},
        {2, {384, 382}, {384 * EDGE, 382 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
        {2, {302, 180}, {302 * EDGE, 180 * EDGE}, 1.1399, {1}, 0.16, 3, "identities=yes trials=3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

/* The kernel of sub-sweeps, a piece of a row a block: of 32, 64, 96 and 128 cells. */
static void large_systems_of_disks(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {2, {128, 2050}, {128 * EDGE, 2050 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
        {2, {572, 460}, {572 * EDGE, 460 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
        {2, {572, 572}, {572 * EDGE, 572 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
        {2, {256, 514}, {256 * EDGE, 514 * EDGE}, 1.1399, {1}, 0.16, 2, "identities=yes"},
        {2, {1142, 1142}, {1142 * EDGE, 1142 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

/* The kernel for everything else. */
static void other_systems(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {2, {8, 8}, {8 * EDGE, 8 * EDGE}, 1.1, {1}, 0.16, 2, "identities=yes"},
        {2, {2, 4}, {2.6, 5.1}, 1.2, {1}, 0.4, 1, "identities=no"},
        {2, {60, 62}, {60.5, 62.5}, 1.1, {1, 0.7}, 0.2, 1, "identities=yes"},
        {3, {10, 12, 10}, {10.9, 13.1, 11}, 1.13, {1}, 0.2, 2, "identities=yes"},
        {3, {10, 12, 10}, {10.9, 13.1, 11}, 1.13, {1, 0.8}, 0.2, 1, "identities=yes"},
        {2, {20, 22}, {30.5, 33.5}, 1.2, {1}, 0.4, 2, "identities=yes", 3, 1.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 230);
}

/* Cells of more than four slots, and of two to a row. */
static void wide_cells(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {2, {20, 18}, {20 * 1.72, 18 * 1.72}, 1.13, {1}, 0.16, 2, "identities=yes cell=1.7"},
        {2, {16, 14}, {16 * 2.25, 14 * 2.25}, 1.13, {1}, 0.3, 2, "identities=yes cell=2.2"},
        {2,
         {16, 14},
         {16 * 2.25, 14 * 2.25},
         1.13,
         {1},
         0.3,
         2,
         "identities=no trials=1 cell=2.2 shuffle_particles=no"},
        {2, {2, 2}, {9.1, 9.1}, 1.14, {1}, 0.3, 2, "identities=no trials=7 cell=4.5"},
        {3, {6, 6, 6}, {11, 11, 11}, 1.1, {1}, 0.15, 1, "identities=yes cell=1.8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

#define LIQUID .lennard_jones = "epsilon=1 cutoff=2.5", .range = 2.5
#define MIXTURE                                                                                    \
    .lennard_jones = "epsilon=1,0.8,1.2 sigma=1,0.95,0.9 cutoff=2.5 truncation=force_shift",       \
    .range = 2.5

/* A warp takes a cell, since more than 64 particles are expected near one. */
static void many_neighbours(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {3, {4, 6, 6}, {13.1, 16.2, 15.6}, 1.077, {1}, 0.16, 2, "identities=yes", LIQUID},
        {3,
         {10, 10, 10},
         {26.4, 26.4, 26.4},
         1.077,
         {1},
         0.2,
         1,
         "identities=no trials=40",
         LIQUID},
        {3, {2, 2, 2}, {5.4, 5.5, 5.6}, 1.077, {1}, 0.2, 3, "identities=yes trials=9", LIQUID},
        {3, {4, 4, 4}, {13.1, 14.2, 12.9}, 1.1, {1}, 0.2, 1, "identities=yes cell=3.1", LIQUID},
        {3, {4, 6, 6}, {13.1, 16.2, 15.6}, 1.077, {1, 0.9}, 0.16, 1, "identities=yes", MIXTURE},
        {2,
         {10, 8},
         {41, 34},
         1.1,
         {1},
         0.2,
         2,
         "identities=yes",
         .lennard_jones = "epsilon=1 cutoff=4",
         .range = 4},
        {2, {10, 8}, {41, 34}, 1.1, {1, 0.9}, 0.2, 1, "identities=yes", 0.3, 4},
        {2, {10, 8}, {41, 34}, 1.1, {1, 0.9}, 0.2, 2, "identities=yes trials=6", 0.3, 4, .core = 1},
        /* 40 particles in a cell: more than a warp */
        {2, {6, 4}, {40, 27}, 1.1, {1}, 0.2, 2, "identities=no cell=6.5", 0.3, 4},
        {2,
         {6, 4},
         {40, 27},
         1.1,
         {1},
         0.2,
         1,
         "identities=no cell=6.5 shuffle_particles=no",
         0.3,
         4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

static void many_hard_neighbours(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {3, {4, 4, 4}, {13, 13, 12.5}, 1.13, {1}, 0.2, 2, "identities=yes cell=3"},
        {3, {4, 4, 4}, {13, 13, 12.5}, 1.13, {1, 0.8}, 0.2, 1, "identities=yes cell=3"},
        {2, {4, 4}, {22, 21.5}, 1.13, {1}, 0.3, 2, "identities=no cell=5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

/* Energies so large that some decisions in 10^5 depend on the order in which they are added. */
static void cold_particles(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {2, {60, 58}, {90.5, 88.5}, 1.2, {1}, 1e-2, 1, "identities=yes trials=16", 3e5, 1.5},
        {3,
         {6, 6, 6},
         {15.6, 15.9, 15.3},
         1.05,
         {1},
         1e-2,
         1,
         "identities=yes trials=60",
         3e5,
         2.5},
        {2, {10, 8}, {41, 34}, 1.1, {1, 0.9}, 1e-2, 2, "identities=yes trials=60", 3e5, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

/* A droplet in an empty box: more slots and more room are needed than the density says, and sweeps are
 * done again. In the first case a warp takes a cell; in the second a thread does, and so many particles
 * are near that few columns fit. */
static void droplets(void **state)
{
    (void)state;
    static const scenario cases[] = {
        {3, {6, 6, 6}, {17, 17, 17}, 1.077, {1}, 0.16, 1, "identities=yes", LIQUID, .extent = 0.63},
        {3, {8, 8, 8}, {22, 22, 22}, 1.077, {1}, 0.16, 1, "identities=yes", LIQUID, .extent = 0.44},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) decides_like_the_cpu(&cases[i], 115);
}

/* ---- Positions that others have changed ------------------------------------------------------- */

/* A state with positions on both sides. */
typedef struct two_sides {
    double *host;
    plugmc_device_pointer device;
    plugmc_box *boxes;
    int asked[2]; /* how often for which side */
} two_sides;

static int array_of(const plugmc_state *state, int what, int side, int access, void **out,
                    size_t *row)
{
    two_sides *t = state->core;
    (void)access, (void)row;
    if (what == PLUGMC_STATE_BOX) {
        *out = t->boxes;
        return PLUGMC_OK;
    }
    assert_int_equal(what, PLUGMC_STATE_POSITION);
    t->asked[side]++;
    *out = side == PLUGMC_ON_HOST ? (void *)t->host : (void *)(uintptr_t)t->device;
    return PLUGMC_OK;
}

static void take_again(bench *b, const test_mover *mover, two_sides *t)
{
    const plugmc_state state = {.size = sizeof state,
                                .walkers = b->system.walkers,
                                .capacity = b->system.particles,
                                .array = array_of,
                                .core = t};
    const uint32_t boxes = b->system.changes & PLUGMC_CHANGED_BOX;
    bench_expect(b, mover->calls->driver->load(mover->instance, &b->host, &state,
                                               PLUGMC_CHANGED_POSITION | boxes));
}

/* How cells hold particles, as it is archived: shape, origins, slots. */
static void assert_same_cells(bench *cpu, test_mover *reference, bench *on_gpu, test_mover *mover)
{
    test_archive one, other;
    mover_save(cpu, reference, &one);
    mover_save(on_gpu, mover, &other);
    assert_int_equal(one.blobs, other.blobs);
    for (int i = 0; i < one.blobs; i++) {
        assert_int_equal(one.blob[i].bytes, other.blob[i].bytes);
        if (memcmp(one.blob[i].data, other.blob[i].data, one.blob[i].bytes))
            fail_msg("%s differs", one.blob[i].name);
    }
    archive_end(&one);
    archive_end(&other);
}

/* What another mover may make of positions: particles of the first species change places, the box of each
 * walker changes, or all crowd into a part of it. */
static void disturb(const scenario *s, bench *b, plugmc_box *boxes, double crowd, double *x)
{
    const int64_t n = b->system.particles, first = b->system.first[1];
    for (int w = 0; w < s->walkers; w++) {
        double *r = x + 3 * n * w, moved[3];
        memcpy(moved, r, sizeof moved);
        memmove(r, r + 3, (size_t)(3 * (first - 1)) * sizeof *r);
        memcpy(r + 3 * (first - 1), moved, sizeof moved);
        for (int a = 0; a < s->dimension && b->system.changes; a++) {
            const double factor = 1 + 1e-3 * (1 + a + 2 * w);
            boxes[w].length[a] *= factor;
            boxes[w].volume *= factor;
            for (int64_t i = 0; i < n; i++) r[3 * i + a] *= factor;
        }
        for (int64_t i = 0; i < 3 * n; i++) r[i] *= crowd;
    }
}

/* Takes positions on the device: the cells are those of the CPU to the bit, and sweeps go on alike.
 * crowd < 1: more particles in a cell than slots. The host is not asked then, or is asked if it is
 * to add slots. */
static void takes_like_the_cpu(const scenario *s, uint32_t changes, double crowd)
{
    int64_t particles;
    double *x = lattice(s, &particles),
           *y = calloc((size_t)(3 * particles * s->walkers), sizeof *y);
    const size_t bytes = (size_t)(3 * particles * s->walkers) * sizeof(double);
    bench cpu, on_gpu;
    test_mover reference, mover;
    plugmc_box boxes[4];
    begin(&cpu, s, particles);
    begin(&on_gpu, s, particles);
    cpu.system.changes = on_gpu.system.changes = changes;
    set_up(&cpu, &reference, s);
    set_up(&on_gpu, &mover, s);
    bench_expect(&cpu, reference.plugin->prepare(reference.instance, &cpu.host));
    plugmc_context context = {
        .report = &device_messages, .gpu = device, .file = "test", .section = "test"};
    gpu_bind(device, &on_gpu.system, &device_messages);
    on_gpu.host = context_host(&context, &on_gpu.system);
    own_state(&context, &on_gpu.host);
    for (int t = 0; t < on_gpu.system.term_count; t++) on_gpu.terms[t].host = &on_gpu.host;
    const plugmc_host *host = &on_gpu.host;
    two_sides t = {.host = x, .boxes = boxes}, u = t;
    for (int w = 0; w < s->walkers; w++) boxes[w] = cpu.system.box;
    bench_expect(&on_gpu, mover.plugin->prepare(mover.instance, host));
    bench_expect(&on_gpu, host->gpu->allocate(host->context, bytes, &u.device));

    mover_load(&cpu, &reference, x);
    mover_load(&on_gpu, &mover, x);
    for (int round = 0; round < 3; round++) {
        const uint64_t first = 100 * (uint64_t)round;
        mover_sweep(&cpu, &reference, first, 37);
        mover_sweep(&on_gpu, &mover, first, 37);
        mover_store(&cpu, &reference, x);
        disturb(s, &cpu, boxes, round == 1 ? crowd : 1, x);
        bench_expect(&on_gpu, host->gpu->upload(host->context, u.device, x, bytes));
        memset(u.asked, 0, sizeof u.asked);
        take_again(&cpu, &reference, &t);
        take_again(&on_gpu, &mover, &u);
        assert_int_equal(u.asked[PLUGMC_ON_DEVICE], 1);
        assert_int_equal(u.asked[PLUGMC_ON_HOST], round == 1 && crowd < 1);
        assert_same_cells(&cpu, &reference, &on_gpu, &mover);
    }
    mover_sweep(&cpu, &reference, 1000, 33);
    mover_sweep(&on_gpu, &mover, 1000, 33);
    mover_store(&cpu, &reference, x);
    bench_expect(&on_gpu, mover_give(&mover, host, (double *)(uintptr_t)u.device));
    bench_expect(&on_gpu, host->gpu->download(host->context, y, u.device, bytes));
    assert_same(s, y, x, particles, 144);
    printf("%lld particles, %d walkers, %s: taken on the device\n", (long long)particles,
           s->walkers, s->options);

    bench_expect(&on_gpu, host->gpu->release(host->context, u.device));
    context_release(&context);
    mover_end(&reference);
    mover_end(&mover);
    bench_end(&cpu);
    bench_end(&on_gpu);
    free(x);
    free(y);
}

static void positions_are_taken_on_the_device(void **state)
{
    (void)state;
    const uint32_t boxes = PLUGMC_CHANGED_BOX;
    static const scenario disks[] = {
        {2, {50, 48}, {50 * EDGE, 48 * EDGE}, 1.13, {1}, 0.16, 1, "identities=no"},
        {2, {190, 20}, {190 * EDGE, 20 * EDGE}, 1.12, {1}, 0.1, 3, "identities=yes"},
        {2, {572, 460}, {572 * EDGE, 460 * EDGE}, 1.1399, {1}, 0.16, 1, "identities=no"},
        {2, {60, 62}, {60.5, 62.5}, 1.1, {1, 0.7}, 0.2, 1, "identities=yes"},
        {3, {10, 12, 10}, {10.9, 13.1, 11}, 1.13, {1, 0.8}, 0.2, 2, "identities=yes"}};
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++)
        for (int changing = 0; changing < 2; changing++)
            takes_like_the_cpu(&disks[i], changing ? boxes : 0, 1);
    static const scenario soft[] = {
        {2, {20, 22}, {30.5, 33.5}, 1.2, {1}, 0.4, 2, "identities=yes", 3, 1.5},
        {3, {4, 6, 6}, {13.1, 16.2, 15.6}, 1.077, {1}, 0.16, 2, "identities=yes", LIQUID},
        {3, {4, 6, 6}, {13.1, 16.2, 15.6}, 1.077, {1, 0.9}, 0.16, 1, "identities=yes", MIXTURE},
        {2, {10, 8}, {41, 34}, 1.1, {1, 0.9}, 0.2, 2, "identities=yes", 0.3, 4}};
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++)
        for (int changing = 0; changing < 2; changing++)
            takes_like_the_cpu(&soft[i], changing ? boxes : 0, 1);
    takes_like_the_cpu(&soft[0], 0, 0.3);
    takes_like_the_cpu(&soft[3], boxes, 0.6);
}

static int by_size(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

static double milliseconds(const plugmc_host *host)
{
    struct timespec t;
    assert_int_equal(host->gpu->synchronize(host->context), PLUGMC_OK);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* What another mover costs at least: 9.2e6 disks are given and taken again. Places go to cells and back
 * without a change. */
static void taking_and_giving(void **state)
{
    (void)state;
    enum { TIMES = 11 };
    const scenario s = {2, {2104, 2432},    {2104 * EDGE, 2432 * EDGE}, 1.13, {1}, 0.16,
                        1, "identities=yes"};
    int64_t particles;
    double *x = lattice(&s, &particles), giving[TIMES], taking[TIMES];
    const size_t bytes = (size_t)(3 * particles) * sizeof(double);
    double *before = malloc(bytes), *after = malloc(bytes);
    static bench b;
    test_mover mover;
    plugmc_context context = {
        .report = &device_messages, .gpu = device, .file = "test", .section = "test"};
    begin(&b, &s, particles);
    set_up(&b, &mover, &s);
    gpu_bind(device, &b.system, &device_messages);
    b.host = context_host(&context, &b.system);
    own_state(&context, &b.host);
    const plugmc_host *host = &b.host;
    plugmc_box box = b.system.box;
    two_sides sides = {.host = x, .boxes = &box};
    bench_expect(&b, mover.plugin->prepare(mover.instance, host));
    bench_expect(&b, host->gpu->allocate(host->context, bytes, &sides.device));
    mover_load(&b, &mover, x);
    mover_sweep(&b, &mover, 0, 7);
    for (int i = 0; i < TIMES; i++) {
        const double begin = milliseconds(host);
        bench_expect(&b, mover_give(&mover, host, (double *)(uintptr_t)sides.device));
        const double between = milliseconds(host);
        if (i == 0)
            bench_expect(&b, host->gpu->download(host->context, before, sides.device, bytes));
        const double again = milliseconds(host);
        take_again(&b, &mover, &sides);
        taking[i] = milliseconds(host) - again;
        giving[i] = between - begin;
    }
    bench_expect(&b, mover_give(&mover, host, (double *)(uintptr_t)sides.device));
    bench_expect(&b, host->gpu->download(host->context, after, sides.device, bytes));
    assert_memory_equal(before, after, bytes);
    qsort(giving, TIMES, sizeof(double), by_size);
    qsort(taking, TIMES, sizeof(double), by_size);
    printf("%lld disks: given in %.3f ms, taken in %.3f ms (medians of %d)\n", (long long)particles,
           giving[TIMES / 2], taking[TIMES / 2], TIMES);
    bench_expect(&b, host->gpu->release(host->context, sides.device));
    context_release(&context);
    mover_end(&mover);
    bench_end(&b);
    free(x), free(before), free(after);
}

GPU_TEST_MAIN(cmocka_unit_test(small_systems_of_disks), cmocka_unit_test(middle_systems_of_disks),
              cmocka_unit_test(large_systems_of_disks), cmocka_unit_test(other_systems),
              cmocka_unit_test(wide_cells), cmocka_unit_test(many_neighbours),
              cmocka_unit_test(many_hard_neighbours), cmocka_unit_test(cold_particles),
              cmocka_unit_test(droplets), cmocka_unit_test(positions_are_taken_on_the_device),
              cmocka_unit_test(taking_and_giving))
