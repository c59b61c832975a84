/* orbitals_time: how long bspline_orbitals takes to evaluate N x L orbitals, as in tables II, VII,
 * VIII and XII of Y. Uejima, R. Maezono and coworkers on GPU-accelerated quantum Monte Carlo with
 * quasi-simultaneous updating:
 *
 *     (0)  CPU, one thread
 *     (1)  GPU, particle by particle: one launch an electron, orbital slowest in memory
 *     (2)  GPU, all electrons in one launch, orbital slowest: loads are not coalesced
 *     (3)  GPU, all electrons in one launch, orbital fastest: coalesced
 *
 * The table of coefficients is made up: random numbers on a grid of 60^3, complex, in single
 * precision, written as a bwfn.data.b1 file into $TMPDIR and read by the plugin. Launches are
 * recorded in a graph, and their number is chosen so that a measurement takes some 50 ms; the
 * median of 11.
 *
 *     orbitals_time [cpu] [tune] [GRID]
 *
 * cpu: no GPU; tune: (3) for other numbers of resident blocks, with and without sorting.
 */
#include "testing.h"

#include "orbitals.h"

#include <complex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 11, WALKERS = 32 };

typedef struct size {
    const char *name;
    int electrons, orbitals, k[3];
    double paper[4]; /* ms: versions (0) to (3); 0: not given */
} size;

static const size sizes[] = {
    {"Si 3x3x3", 216, 56, {2, 2, 2}, {2.77, 6.76, 0.43, 0.17}},
    {"TiO2 3x3x3", 648, 168, {2, 2, 2}, {20.21, 0, 0, 0.82}},
    {"TiO2 4x4x4", 1536, 384, {4, 4, 4}, {100.00, 68.03, 17.83, 3.26}},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec; /* ms */
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void record(FILE *f, const void *data, size_t n)
{
    const int32_t mark = (int32_t)n;
    if (fwrite(&mark, 4, 1, f) != 1 || fwrite(data, 1, n, f) != n || fwrite(&mark, 4, 1, f) != 1) {
        perror("orbitals_time");
        exit(1);
    }
}

static char *append(char *at, const void *data, size_t n)
{
    memcpy(at, data, n);
    return at + n;
}

static const double edge = 8; /* bohr */

static void write_file(const char *path, const size *s, int grid)
{
    const int32_t nk = s->k[0] * s->k[1] * s->k[2], bands = s->orbitals / nk;
    const int32_t integers[] = {2 * bands, 1, 0, nk, grid, grid, grid, bands, 0, 1, 0, 0},
                  last[] = {2, bands};
    const double cutoff = 1, energies[6] = {0}, lattice[9] = {edge, 0, 0, 0, edge, 0, 0, 0, edge};
    const int32_t zero = 0, single = 1;
    char header[588], *at = header;
    memset(header, ' ', 400);
    memcpy(header + 320, "none", 4);
    at = append(header + 400, &cutoff, 8);
    at = append(at, &zero, 4);
    at = append(at, energies, 48);
    at = append(at, integers, sizeof integers);
    at = append(at, lattice, sizeof lattice);
    at = append(at, last, sizeof last);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    record(f, header, (size_t)(at - header));

    const size_t bytes = (size_t)(88 * nk + 28 + 12 * nk * bands + 8);
    char *table = calloc(1, bytes), *k = table, *square = table + 24 * nk,
         *product = square + 8 * nk;
    for (int i = 0; i < nk; i++) {
        const int n[3] = {i / (s->k[1] * s->k[2]), i / s->k[2] % s->k[1], i % s->k[2]};
        double v[3], sum = 0, p[6];
        for (int d = 0; d < 3; d++) {
            v[d] = 2 * M_PI / edge * n[d] / s->k[d];
            sum += v[d] * v[d];
            p[d] = v[d] * v[d];
        }
        p[3] = v[0] * v[1];
        p[4] = v[0] * v[2];
        p[5] = v[1] * v[2];
        k = append(k, v, 24);
        square = append(square, &sum, 8);
        product = append(product, p, 48);
    }
    const int32_t number = 2 * bands < 118 ? 2 * bands : 118;
    const double position[3] = {0};
    at = append(product, &number, 4);
    at = append(at, position, 24);
    for (int i = 0; i < 2 * nk; i++) at = append(at, &bands, 4);
    for (int i = 0; i < nk * bands; i++) {
        const double eigenvalue = 1e-3 * i;
        at = append(at, &eigenvalue, 8);
    }
    record(f, table, bytes);
    record(f, &single, 4);
    memset(table = realloc(table, (size_t)(32 * nk * bands)), 0, (size_t)(32 * nk * bands));
    record(f, table, (size_t)(32 * nk * bands));
    const size_t values = 2 * (size_t)grid * (size_t)grid * (size_t)grid;
    float *orbital = malloc(values * sizeof *orbital), *shifted = malloc(values * sizeof *shifted);
    uint32_t random = 12345;
    for (size_t v = 0; v < values; v++) {
        random = random * 1664525u + 1013904223u;
        orbital[v] = (float)(int32_t)random * 0x1p-31f;
    }
    for (int i = 0; i < nk * bands;
         i++) { /* moved by whole planes, which leaves the norm as it is */
        const size_t from = (size_t)(i % grid) * (values / (size_t)grid);
        memcpy(shifted, orbital + from, (values - from) * sizeof *orbital);
        memcpy(shifted + values - from, orbital, from * sizeof *orbital);
        record(f, shifted, values * sizeof *orbital);
    }
    free(shifted);
    free(orbital);
    free(table);
    fclose(f);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static orbital_bench *open_run(const char *path, const size *s, const char *more, int threads,
                               gpu *device)
{
    char settings[1024];
    double a[3][3] = {{0}};
    for (int d = 0; d < 3; d++) a[d][d] = edge * s->k[d];
    orbital_bench *b = bench_new((const double(*)[3])a, s->orbitals, s->orbitals, 1, device);
    b->system.threads = threads;
    snprintf(settings, sizeof settings, "file = %s\n%s", path, more);
    if (bench_try(b, "bspline_orbitals", settings)) {
        fprintf(stderr, "%s\n", b->message);
        exit(1);
    }
    return b;
}

/* The median time in ms of one evaluation at `points` points, in `requests` requests, on the CPU.
 */
static double time_on_host(orbital_bench *b, const size *s, int64_t points, int real_size,
                           int derivatives)
{
    double *r = bench_points(&b->system.box, points, 7), times[REPEATS];
    const size_t values = (size_t)points * (size_t)s->orbitals * 2 * (size_t)real_size;
    void *out = malloc(values), *gradients = malloc(3 * values), *laplacians = malloc(values);
    plugmc_orbital_request q = {.size = sizeof q, .real_size = real_size, .points = points,
                                .positions = r, .pitch = s->orbitals, .values = out,
                                .gradients = derivatives ? gradients : NULL,
                                .laplacians = derivatives ? laplacians : NULL};
    for (int i = -1; i < REPEATS; i++) {
        double begin = now();
        b->orbitals->evaluate(b->instance, &q);
        if (i >= 0) times[i] = now() - begin;
    }
    qsort(times, REPEATS, sizeof *times, by_size);
    free(r);
    free(out);
    free(gradients);
    free(laplacians);
    return times[REPEATS / 2];
}

/* A part of a GPU run that failed: its sentence has been printed. */
static void must(int code)
{
    if (code) exit(1);
}

/* The same on the GPU; `each` points a request. */
static double time_on_device(orbital_bench *b, const size *s, int64_t points, int64_t each,
                             int derivatives)
{
    const plugmc_gpu *gpu = b->host.gpu;
    plugmc_context *c = b->host.context;
    const size_t values = (size_t)points * (size_t)s->orbitals * 8;
    double *r = bench_points(&b->system.box, points, 7), times[REPEATS], one = 0;
    plugmc_device_pointer at, out, gradients = 0, laplacians = 0;
    must(gpu->allocate(c, 24 * (size_t)points, &at));
    must(gpu->allocate(c, values, &out));
    if (derivatives) must(gpu->allocate(c, 3 * values, &gradients));
    if (derivatives) must(gpu->allocate(c, values, &laplacians));
    must(gpu->upload(c, at, r, 24 * (size_t)points));
    int in_graph = 1;
    plugmc_graph *graph = NULL;
    for (int round = 0; round < 2;
         round++) { /* the first finds out how long one evaluation takes */
        must(gpu->graph_begin(c));
        for (int i = 0; i < in_graph; i++)
            for (int64_t p = 0; p < points; p += each) {
                const size_t to = (size_t)p * (size_t)s->orbitals * 8;
                plugmc_orbital_request q = {
                    .size = sizeof q,
                    .on_device = 1,
                    .real_size = 4,
                    .points = points - p < each ? points - p : each,
                    .positions = (const double *)(uintptr_t)(at + 24 * (size_t)p),
                    .pitch = s->orbitals,
                    .values = (void *)(uintptr_t)(out + to),
                    .gradients = derivatives ? (void *)(uintptr_t)(gradients + 3 * to) : NULL,
                    .laplacians = derivatives ? (void *)(uintptr_t)(laplacians + to) : NULL};
                must(b->orbitals->evaluate(b->instance, &q));
            }
        must(gpu->graph_end(c, &graph));
        for (int i = -2; i < REPEATS; i++) {
            double begin = now();
            must(gpu->graph_launch(c, graph));
            must(gpu->synchronize(c));
            if (i >= 0) times[i] = (now() - begin) / in_graph;
        }
        qsort(times, REPEATS, sizeof *times, by_size);
        one = times[REPEATS / 2];
        in_graph = one > 50 ? 1 : one < 0.02 ? 2000 : (int)(50 / one) + 1;
        if (in_graph * (points / each) > 20000) in_graph = (int)(20000 / (points / each)) + 1;
    }
    must(gpu->release(c, at));
    must(gpu->release(c, out));
    if (derivatives) must(gpu->release(c, gradients));
    if (derivatives) must(gpu->release(c, laplacians));
    free(r);
    return one;
}

/* Largest difference of the values in single precision on the GPU from those in double on the CPU,
 * over their root mean square: what becomes of table X. */
static double difference(orbital_bench *on_device, orbital_bench *on_host, const size *s)
{
    enum { POINTS = 64 };
    double *r = bench_points(&on_host->system.box, POINTS, 9), worst = 0, square = 0;
    evaluated x = bench_evaluate(on_device, 0, r, POINTS, 4, 0, 1);
    evaluated y = bench_evaluate(on_host, 0, r, POINTS, 8, 0, 0);
    for (int64_t i = 0; i < POINTS * s->orbitals; i++) {
        worst = fmax(worst, cabs(x.values[i] - y.values[i]));
        square += creal(y.values[i] * conj(y.values[i])) / (POINTS * s->orbitals);
    }
    evaluated_free(&x);
    evaluated_free(&y);
    free(r);
    return worst / sqrt(square);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Eq. (6) of the paper: 64 terms of two multiplications and two additions. */
static double gigaflops(const size *s, double ms)
{
    return 64.0 * 4 * s->electrons * s->orbitals / ms * 1e-6;
}

/* Bytes of coefficients that are asked for. */
static double gigabytes(const size *s, double points, double ms)
{
    return 64.0 * 8 * points * s->orbitals / ms * 1e-6;
}

static void print_ms(const char *what, double ms, double paper, double reference)
{
    printf("  %-44s %9.4f", what, ms);
    if (reference > 0) printf("  x %-8.4g", reference / ms);
    if (paper > 0) printf("  (paper %g)", paper);
    printf("\n");
}

static double time_host(const char *path, const size *s)
{
    orbital_bench *b = open_run(path, s, "precision = double", 1, NULL);
    const double reference = time_on_host(b, s, s->electrons, 8, 0);
    print_ms("(0) CPU, one thread, double", reference, s->paper[0], 0);
    bench_free(b);
    b = open_run(path, s, "precision = float", 1, NULL);
    const double single = time_on_host(b, s, s->electrons, 4, 0);
    print_ms("    CPU, one thread, float", single, 0, reference);
    print_ms("    CPU, float, with gradients, Laplacians", time_on_host(b, s, s->electrons, 4, 1),
             0, 0);
    printf("  %-44s %9.1f\n", "    float: GB/s of coefficients",
           gigabytes(s, s->electrons, single));
    bench_free(b);
    return reference;
}

static void time_device(const char *path, const size *s, double reference, gpu *device)
{
    orbital_bench *b = open_run(path, s, "layout = plain\nprecision = float", 8, device);
    print_ms("(1) GPU, particle by particle, plain", time_on_device(b, s, s->electrons, 1, 0),
             s->paper[1], reference);
    const double plain = time_on_device(b, s, s->electrons, s->electrons, 0);
    print_ms("(2) GPU, all at once, plain", plain, s->paper[2], reference);
    bench_free(b);
    b = open_run(path, s, "precision = float", 8, device);
    orbital_bench *on_host = open_run(path, s, "precision = double", 8, NULL);
    print_ms("    GPU, particle by particle, coalesced", time_on_device(b, s, s->electrons, 1, 0),
             0, reference);
    const double coalesced = time_on_device(b, s, s->electrons, s->electrons, 0);
    print_ms("(3) GPU, all at once, coalesced", coalesced, s->paper[3], reference);
    print_ms("    with gradients and Laplacians",
             time_on_device(b, s, s->electrons, s->electrons, 1), 0, 0);
    const int64_t many = (int64_t)WALKERS * s->electrons;
    const double walkers = time_on_device(b, s, many, many, 0) / WALKERS;
    print_ms("    32 walkers in one launch, a walker", walkers, 0, reference);
    print_ms("    with gradients and Laplacians, a walker",
             time_on_device(b, s, many, many, 1) / WALKERS, 0, 0);
    printf("  GFlop/s of eq. (6): (2) %.1f, (3) %.1f, 32 walkers %.1f (paper: 9.05, 73.98 at N = "
           "1536)\n",
           gigaflops(s, plain), gigaflops(s, coalesced), gigaflops(s, walkers));
    printf("  TB/s of coefficients: (2) %.3f, (3) %.3f, 32 walkers %.3f\n",
           gigabytes(s, s->electrons, plain) / 1e3, gigabytes(s, s->electrons, coalesced) / 1e3,
           gigabytes(s, s->electrons, walkers) / 1e3);
    printf("  values in float on the GPU differ by at most %.2g from those in double on the CPU\n",
           difference(b, on_host, s));
    bench_free(b);
    bench_free(on_host);
}

static void tune_device(const char *path, const size *s, gpu *device)
{
    static const char *const sorts[] = {"no", "yes"};
    const int64_t many = (int64_t)WALKERS * s->electrons;
    printf("  resident blocks, sorted: ms for one walker, and a walker of 32\n");
    for (int resident = 2; resident <= 6; resident++)
        for (int sort = 0; sort < 2; sort++) {
            char more[128];
            snprintf(more, sizeof more, "precision = float\nresident = %d\nsort = %s", resident,
                     sorts[sort]);
            orbital_bench *b = open_run(path, s, more, 8, device);
            const double one = time_on_device(b, s, s->electrons, s->electrons, 0);
            printf("  %d %-3s %9.4f %9.4f\n", resident, sorts[sort], one,
                   time_on_device(b, s, many, many, 0) / WALKERS);
            bench_free(b);
        }
}

static void print_machine(gpu *device, const char *why)
{
    struct utsname name;
    char line[512];
    FILE *cpu = fopen("/proc/cpuinfo", "r");
    uname(&name);
    printf("commit %s, %s %s\n", PLUGMC_COMMIT, name.sysname, name.machine);
    while (cpu && fgets(line, sizeof line, cpu))
        if (!strncmp(line, "model name", 10)) {
            printf("CPU:%s", strchr(line, ':') + 1);
            break;
        }
    if (cpu) fclose(cpu);
    if (device)
        gpu_describe(stdout, device);
    else
        printf("no GPU: %s\n", why);
}

int main(int argc, char **argv)
{
    int host_only = 0, tune = 0, grid = 60;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "cpu"))
            host_only = 1;
        else if (!strcmp(argv[i], "tune"))
            tune = 1;
        else
            grid = atoi(argv[i]);
    }
    if (grid < 4 || grid > 200) {
        fprintf(stderr, "usage: orbitals_time [cpu] [tune] [GRID]\n");
        return 2;
    }
    char why[512] = "not asked for", path[512];
    gpu *device = host_only ? NULL : gpu_open(0, false, why);
    report messages = {0};
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/orbitals_time.%d.b1", folder ? folder : "/tmp", (int)getpid());
    if (device) gpu_bind(device, NULL, &messages);
    print_machine(device, why);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size *s = &sizes[i];
        printf("\n%s: N = %d, L = %d, grid %d^3, ms a step, and how many times faster than (0)\n",
               s->name, s->electrons, s->orbitals, grid);
        write_file(path, s, grid);
        const double reference = time_host(path, s);
        if (device) time_device(path, s, reference, device);
        if (device && tune) tune_device(path, s, device);
        unlink(path);
        fflush(stdout);
    }
    if (device) gpu_close(device);
    return 0;
}
