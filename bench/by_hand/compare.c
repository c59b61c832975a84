/* by_hand_compare: sweeps with fused kernels against sweeps with kernels written by hand.
 *
 *     by_hand_compare PLUGINS CUBINS
 *
 * plugmc joins the text of a mover with those of the potentials of a run (core/src/gpu/fuse.c) and
 * compiles them with NVRTC. That costs nothing, it promises: such a kernel takes at most 3 % longer
 * than one written by hand for that one potential and compiled by nvcc (hard_disk.cu and
 * coulomb.cu, made into CUBINS by run.sh). Here two instances of the same mover, from the folder
 * PLUGINS, start from the same positions with the same seed. One gets its kernels from the core.
 * The other asks a table of services that differs in one entry: the kernels of the mover's sweep
 * come from the cubin. Launches, graphs, arguments, memory and the mover's own code are the same
 * for both.
 *
 * They sweep in turn, each first every other time, so that clocks and temperatures are the same. A
 * time is the median over ROUNDS of so many sweeps, from the first launch until the GPU is done;
 * the ratio is the median of the ratios of rounds. In the end both must have come to the same
 * chain: the same positions, bit for bit, for hard disks; for ions, where two compilers might round
 * a sum differently, as many accepted moves.
 *
 * Ends with 0; with 1 if a chain differs, a fused kernel is more than 3 % slower, or something
 * fails; with 77 without a GPU.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* What the tests' benches for movers, movers.h, need of a test. */
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define assert_true(x) ((x) ? (void)0 : fail_msg("%s is not true", #x))
#define assert_int_equal(a, b) assert_true((a) == (b))
#define TEST_PLUGINS getenv("PLUGMC_PLUGIN_PATH")
#include "movers.h"
#include "forces.h"

#include "gpu/device.h"
#include "initial/initial.h"

enum { ROUNDS = 11, MOST_SPECIES = 2, MOST_POTENTIALS = 2, NO_GPU = 77 };

static const double slower_allowed = 1.03, packing_fraction = 0.698;

typedef struct comparison {
    const char *name;
    const char *mover, *settings;
    const char *text, *cubin; /* the mover's text that is written by hand as well, its file */
    int dimension;
    double radius; /* of a sphere, 0: square box at packing_fraction */
    struct {
        const char *name;
        int64_t count;
        double diameter, charge;
    } species[MOST_SPECIES];
    struct {
        const char *name, *settings;
    } potential[MOST_POTENTIALS];
    double range;            /* of the potentials, length */
    uint64_t warmup, sweeps; /* sweeps: of one timing */
    int same_positions;      /* bit for bit */
} comparison;

/* Numbers of sweeps are multiples of those of the movers' graphs, 32 and 16. */
static const comparison comparisons[] = {
    {.name = "hard disks, checkerboard",
     .mover = "checkerboard",
     .settings = "trials=4 step=0.16 identities=no",
     .text = "checkerboard.cu",
     .cubin = "hard_disk_577600.cubin",
     .dimension = 2,
     .species = {{"disk", 577600, 1, 0}},
     .potential = {{"hard_disk", ""}},
     .range = 1,
     .warmup = 512,
     .sweeps = 4096,
     .same_positions = 1},
    {.name = "hard disks, checkerboard",
     .mover = "checkerboard",
     .settings = "trials=4 step=0.16 identities=no",
     .text = "checkerboard.cu",
     .cubin = "hard_disk_2310400.cubin",
     .dimension = 2,
     .species = {{"disk", 2310400, 1, 0}},
     .potential = {{"hard_disk", ""}},
     .range = 1,
     .warmup = 512,
     .sweeps = 2048,
     .same_positions = 1},
    {.name = "3:-1 electrolyte, brush",
     .mover = "brush",
     .settings = "step=632 precision=single",
     .text = "brush.cu",
     .cubin = "coulomb.cubin",
     .dimension = 3,
     .radius = 1897.655,
     .species = {{"cation", 32768, 7.5, 3}, {"anion", 98304, 7.5, -1}},
     .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=7.117"}},
     .range = INFINITY,
     .warmup = 16,
     .sweeps = 32},
};

/* A mover with all that is around it. The context is what services get to see: it comes first. */
typedef struct contender {
    plugmc_context context;
    bench b;
    test_mover mover;
    plugmc_gpu services;
    const char *text, *cubin; /* NULL: kernels are fused */
    gpu_module *module;       /* of the cubin, once it is loaded */
    double seconds[ROUNDS];   /* of comparison.sweeps */
} contender;

/* ---- Kernels from a cubin ---- */

static void *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s cannot be read: run.sh makes it", path);
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    rewind(file);
    char *data = checked(calloc(1, (size_t)bytes + 1));
    if (bytes < 1 || fread(data, 1, (size_t)bytes, file) != (size_t)bytes)
        fail_msg("%s cannot be read", path);
    fclose(file);
    return data;
}

/* Modules and kernels go into the lists of the open GPU, which releases them when it is closed. */
static gpu_module *load_cubin(gpu *g, const char *path)
{
    gpu_module *module = checked(calloc(1, sizeof *module));
    void *image = read_file(path);
    const driver_result result = g->api.module_load(&module->handle, image);
    free(image);
    if (result) fail_msg("the driver does not load %s (CUDA error %d)", path, result);
    module->next = g->code.modules;
    return g->code.modules = module;
}

/* As the core's service makes a kernel, but from the cubin. */
static int kernel_by_hand(plugmc_context *context, const plugmc_gpu_source *text, const char *name,
                          plugmc_kernel **out)
{
    contender *c = (contender *)context;
    gpu *g = context->gpu;
    if (strcmp(text->name, c->text)) return gpu_services(g)->kernel(context, text, name, out);
    if (!c->module) c->module = load_cubin(g, c->cubin);
    plugmc_kernel *k = checked(calloc(1, sizeof *k));
    if (g->api.module_function(&k->handle, c->module->handle, name))
        fail_msg("there is no kernel %s in %s", name, c->cubin);
    k->name = checked(strdup(name));
    k->text_name = checked(strdup(c->cubin));
    k->module = c->module;
    k->overlaps = text->overlap && g->services.architecture >= 90 && g->api.launch_extended;
    k->next = g->code.kernels;
    *out = g->code.kernels = k;
    return PLUGMC_OK;
}

/* ---- A contender ---- */

static void begin_system(bench *b, const comparison *k)
{
    double area = 0;
    for (int s = 0; s < MOST_SPECIES; s++)
        area += M_PI / 4 * pow(k->species[s].diameter, 2) * (double)k->species[s].count;
    const double edge = k->radius > 0 ? 2 * k->radius : sqrt(area / packing_fraction);
    bench_begin(b, k->dimension, (double[3]){edge, edge, edge}, 1, 1);
    if (k->radius > 0) {
        b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
        b->system.box.radius = k->radius;
        b->system.box.volume = 4 * M_PI / 3 * k->radius * k->radius * k->radius;
    }
    for (int s = 0; s < MOST_SPECIES && k->species[s].name; s++)
        bench_species(b, k->species[s].name, k->species[s].count, k->species[s].diameter,
                      k->species[s].charge);
    for (int t = 0; t < MOST_POTENTIALS && k->potential[t].name; t++)
        bench_expect(b, bench_configured(b, k->potential[t].name, k->potential[t].settings));
    b->system.range = k->range;
}

/* Sites of a lattice, shuffled so that species are mixed. */
static double *initial_positions(const plugmc_system *system)
{
    const int64_t n = system->particles, species = system->species_count;
    double *sites = checked(calloc((size_t)(3 * n), sizeof *sites)), nearest = 0;
    if (lattice_sites(&system->box, LATTICE_AUTO, n, sites, &nearest) ||
        nearest < plugmc_species_at(system, 0)->diameter)
        fail_msg("there is no lattice of %lld sites", (long long)n);
    for (int64_t i = n - 1; i > 0 && species > 1; i--) { /* Fisher-Yates */
        const plugmc_random r =
            plugmc_draw(system->seed, 0, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        const int64_t j = plugmc_below(r.word[0], (uint32_t)i + 1);
        double site[3];
        memcpy(site, &sites[3 * i], sizeof site);
        memcpy(&sites[3 * i], &sites[3 * j], sizeof site);
        memcpy(&sites[3 * j], site, sizeof site);
    }
    return sites;
}

/* cubin: NULL for fused kernels. */
static void start(contender *c, const comparison *k, gpu *g, report *messages, const char *cubin)
{
    bench *b = &c->b;
    memset(c, 0, sizeof *c);
    begin_system(b, k);
    c->mover.plugin = open_plugin(k->mover);
    c->mover.calls = c->mover.plugin->mover;
    c->mover.instance = bench_allocate(b->host.context, c->mover.plugin->instance_size);
    set_all(b, c->mover.plugin, c->mover.instance, k->settings);

    c->context =
        (plugmc_context){.report = messages, .gpu = g, .file = k->name, .section = k->mover};
    gpu_bind(g, &b->system, messages);
    b->host = context_host(&c->context, &b->system);
    if (cubin) {
        c->text = k->text;
        c->cubin = cubin;
        c->services = *b->host.gpu;
        c->services.kernel = kernel_by_hand;
        b->host.gpu = &c->services;
    }
    bench_expect(b, bench_prepare(b));
    bench_expect(b, c->mover.plugin->prepare(c->mover.instance, &b->host));
    if (cubin && !c->module) fail_msg("%s has asked for no kernel of %s", k->mover, k->text);
    double *positions = initial_positions(&b->system);
    mover_load(b, &c->mover, positions);
    free(positions);
}

static void finish(contender *c)
{
    mover_end(&c->mover);
    context_release(&c->context);
    bench_end(&c->b);
}

static double now(void) /* s */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of sweeps first ... first + n - 1. */
static double timed_sweeps(contender *c, uint64_t first, uint64_t n)
{
    bench *b = &c->b;
    bench_expect(b, b->host.gpu->synchronize(b->host.context));
    const double begin = now();
    mover_sweep(b, &c->mover, first, n);
    bench_expect(b, b->host.gpu->synchronize(b->host.context));
    return now() - begin;
}

static plugmc_counts counts_of(contender *c)
{
    plugmc_counts counts;
    bench_expect(&c->b, c->mover.calls->counts(c->mover.instance, &c->b.host, &counts, 0));
    return counts;
}

/* [particles][3], to be freed. */
static double *positions_of(contender *c)
{
    double *positions = checked(malloc(3 * (size_t)c->b.system.particles * sizeof *positions));
    mover_store(&c->b, &c->mover, positions);
    return positions;
}

/* ---- Comparing ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct summary {
    double median, spread; /* spread: quarter to three quarters, over the median */
} summary;

static summary summary_of(const double values[ROUNDS])
{
    double sorted[ROUNDS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, ROUNDS, sizeof *sorted, ascending);
    const double median = sorted[ROUNDS / 2];
    return (summary){median, (sorted[3 * ROUNDS / 4] - sorted[ROUNDS / 4]) / median};
}

static void race(contender both[2], const comparison *k)
{
    uint64_t first = k->warmup;
    for (int c = 0; c < 2; c++) timed_sweeps(&both[c], 0, k->warmup);
    for (int round = 0; round < ROUNDS; round++, first += k->sweeps)
        for (int turn = 0; turn < 2; turn++) {
            contender *c = &both[(round + turn) % 2];
            c->seconds[round] = timed_sweeps(c, first, k->sweeps);
        }
}

/* 1 if both have made the same chain, as far as is asked. */
static int same_chain(contender both[2], const comparison *k)
{
    const int64_t n = 3 * both[0].b.system.particles;
    const plugmc_counts a = counts_of(&both[0]), b = counts_of(&both[1]);
    double *r = positions_of(&both[0]), *q = positions_of(&both[1]);
    int64_t different = 0;
    for (int64_t i = 0; i < n; i++) different += memcmp(&r[i], &q[i], sizeof *r) != 0;
    free(r);
    free(q);
    printf("    accepted of %llu: fused %llu, by hand %llu; coordinates that differ: %lld of "
           "%lld\n",
           (unsigned long long)a.trials, (unsigned long long)a.accepted,
           (unsigned long long)b.accepted, (long long)different, (long long)n);
    return a.trials == b.trials && a.accepted == b.accepted && a.accepted > 0 &&
           !(k->same_positions && different);
}

/* 1 if the fused kernel is fast enough and right. */
static int report_race(contender both[2], const comparison *k)
{
    const double sweeps = (double)k->sweeps;
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) ratios[i] = both[0].seconds[i] / both[1].seconds[i];
    const summary fused = summary_of(both[0].seconds), by_hand = summary_of(both[1].seconds);
    const summary ratio = summary_of(ratios);
    const int fast = ratio.median <= slower_allowed;
    printf("%s, N = %lld\n", k->name, (long long)both[0].b.system.particles);
    printf("    fused   %10.6f ms a sweep, spread %.1f %%\n", 1e3 * fused.median / sweeps,
           100 * fused.spread);
    printf("    by hand %10.6f ms a sweep, spread %.1f %%\n", 1e3 * by_hand.median / sweeps,
           100 * by_hand.spread);
    printf("    fused / by hand %.4f, spread %.1f %%: %s\n", ratio.median, 100 * ratio.spread,
           fast ? "within 3 %" : "MORE THAN 3 % SLOWER");
    const int same = same_chain(both, k);
    printf("    %s\n", same ? "the same chain" : "THE CHAINS DIFFER");
    fflush(stdout);
    return fast && same;
}

static int compare(const comparison *k, const char *cubins)
{
    contender *both = checked(calloc(2, sizeof *both));
    report messages = {0};
    char why[512], cubin[4096];
    gpu *g = gpu_open(0, false, why);
    if (!g) fail_msg("%s", why);
    snprintf(cubin, sizeof cubin, "%s/%s", cubins, k->cubin);
    start(&both[0], k, g, &messages, NULL);
    start(&both[1], k, g, &messages, cubin);
    race(both, k);
    const int good = report_race(both, k) && !messages.errors;
    for (int c = 0; c < 2; c++) finish(&both[c]);
    gpu_close(g);
    free(both);
    return good;
}

static int print_machine(void)
{
    struct utsname name;
    char why[512];
    uname(&name);
    printf("# commit %s, %s %s %s\n", PLUGMC_COMMIT, name.sysname, name.release, name.machine);
    gpu *g = gpu_open(0, false, why);
    if (!g) {
        printf("# no GPU: %s\n", why);
        return 0;
    }
    printf("# ");
    gpu_describe(stdout, g);
    gpu_close(g);
    printf("# medians of %d timings, fused and by hand in turn\n", ROUNDS);
    return 1;
}

int main(int argc, char **argv)
{
    int good = 1;
    if (argc != 3) {
        fprintf(stderr, "usage: by_hand_compare PLUGINS CUBINS\n");
        return 2;
    }
    setenv("PLUGMC_PLUGIN_PATH", argv[1], 1);
    if (!print_machine()) return NO_GPU;
    for (size_t k = 0; k < sizeof comparisons / sizeof comparisons[0]; k++)
        good &= compare(&comparisons[k], argv[2]);
    return good ? 0 : 1;
}
