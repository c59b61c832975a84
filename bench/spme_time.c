/* spme_time: how long the mesh of coulomb_spme takes, as in figures 2 and 3 of M. J. Harvey, G. De
 * Fabritiis, J. Chem. Theory Comput. 5, 2371 (2009): charges anywhere in a cube of K Angstrom, 0.1
 * a cubic Angstrom, K^3 grid points.
 *
 *     spme_time [cpu] [order=4] [spreading=sorted|gather] [precision=single|double] [density=0.1]
 * [K...]
 *
 * Without K: 64 108 128 216 256. For figure 2 give many (`seq 16 8 256`), and both ways of
 * spreading; for figure 3 a fixed number of charges, by the density. Columns: microseconds of
 * reciprocal energy and forces, of forces alone and of the energy alone, the mean of calls that
 * follow one another without waiting, over several configurations; then the parts of the first,
 * each kernel and transform between two events of the stream. Events keep launches from
 * overlapping, so the parts add up to more. With `cpu`: milliseconds on one thread and on all, the
 * best of several calls.
 */
#include "testing.h"

#include "spme_system.h"

#include <omp.h>
#include <sys/utsname.h>
#include <time.h>

enum { CONFIGURATIONS = 4, MOST_EVENTS = 64, PART_CALLS = 20 };

static double now(void) /* us */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

typedef struct options {
    int host_only, order;
    const char *spreading, *precision;
    double density;
    int sizes[256], size_count;
} options;

/* ---- Services of the GPU that put an event before and after every launch ----------------- */

typedef struct part {
    char name[64];
    double sum; /* ms, of all calls */
} part;

static struct {
    plugmc_gpu services;
    const plugmc_gpu *real;
    int (*create)(void **event, unsigned flags);
    int (*record)(void *event, void *stream);
    int (*elapsed)(float *ms, void *from, void *to);
    struct {
        plugmc_kernel *kernel;
        char name[64];
    } kernels[64];
    int kernel_count;
    void *event[MOST_EVENTS]; /* before launch k: 2 k; after: 2 k + 1 */
    char launched[MOST_EVENTS / 2][64];
    int launches;
    part parts[MOST_EVENTS];
    int part_count;
} watch;

static int watched_kernel(plugmc_context *c, const plugmc_kernel_text *text, const char *name,
                          plugmc_kernel **out)
{
    int code = watch.real->kernel(c, text, name, out);
    if (code || watch.kernel_count == 64) return code;
    watch.kernels[watch.kernel_count].kernel = *out;
    snprintf(watch.kernels[watch.kernel_count++].name, 64, "%s", name);
    return code;
}

static int watched_launch(plugmc_context *c, plugmc_kernel *kernel, const uint32_t grid[3],
                          const uint32_t block[3], uint32_t shared, void **arguments)
{
    const int k = watch.launches;
    if (2 * k + 1 >= MOST_EVENTS) return PLUGMC_ERROR_STATE;
    void *stream = watch.real->stream(c);
    watch.record(watch.event[2 * k], stream);
    int code = watch.real->launch(c, kernel, grid, block, shared, arguments);
    watch.record(watch.event[2 * k + 1], stream);
    for (int i = 0; i < watch.kernel_count; i++)
        if (watch.kernels[i].kernel == kernel)
            snprintf(watch.launched[k], 64, "%s", watch.kernels[i].name);
    watch.launches++;
    return code;
}

/* CUDA's driver is open already; events are not among the services. */
static int watch_begin(const plugmc_gpu *real)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return 0;
    void *found[3] = {dlsym(driver, "cuEventCreate"), dlsym(driver, "cuEventRecord"),
                      dlsym(driver, "cuEventElapsedTime")};
    memcpy(&watch.create, &found[0], sizeof found[0]);
    memcpy(&watch.record, &found[1], sizeof found[1]);
    memcpy(&watch.elapsed, &found[2], sizeof found[2]);
    watch.real = real;
    watch.services = *real;
    watch.services.kernel = watched_kernel;
    watch.services.launch = watched_launch;
    for (int i = 0; i < MOST_EVENTS && found[0] && found[1] && found[2]; i++)
        if (watch.create(&watch.event[i], 0)) return 0;
    return found[0] && found[1] && found[2];
}

static void add_part(const char *name, double ms)
{
    int i = 0;
    while (i < watch.part_count && strcmp(watch.parts[i].name, name)) i++;
    if (i == watch.part_count) snprintf(watch.parts[watch.part_count++].name, 64, "%s", name);
    watch.parts[i].sum += ms;
}

/* Of one call that has ended. What lies between two launches of ours by more than a launch is a
 * transform: before `solve` and after it. */
static void watch_collect(void)
{
    for (int k = 0; k < watch.launches; k++) {
        float ms = 0;
        const int before = !strcmp(watch.launched[k], "solve");
        if (before || (k > 0 && !strcmp(watch.launched[k - 1], "solve"))) {
            watch.elapsed(&ms, watch.event[2 * k - 1], watch.event[2 * k]);
            add_part(before ? "fft" : "fft back", (double)ms);
        }
        watch.elapsed(&ms, watch.event[2 * k], watch.event[2 * k + 1]);
        add_part(watch.launched[k], (double)ms);
    }
    watch.launches = 0;
}

/* ---- One size ---------------------------------------------------------------------------- */

static charges cube(int k, double density, uint64_t seed)
{
    const int64_t pairs = (int64_t)floor(density * k * k * k / 2);
    charges c = new_charges((double[3]){k, k, k}, 1, pairs, 1, pairs, -1, 0, 0);
    scatter(&c, 0, seed);
    return c;
}

static void settings_of(char text[512], const options *o, int k)
{
    snprintf(
        text, 512,
        "bjerrum_length = 1\ncutoff = %g\nalpha = 0.3\ngrid = %d\norder = %d\ntolerance = 0.1\n"
        "spreading = %s\nprecision = %s\n",
        fmin(9, k / 2.0), k, o->order, o->spreading, o->precision);
}

static void prepare(spme_system *s, const options *o, int k)
{
    char text[512];
    messages m;
    settings_of(text, o, k);
    messages_begin(&m);
    const int code = spme_try(s, text);
    const char *said = messages_end(&m);
    if (code) fail_msg("K = %d: %s", k, said);
}

static void call(spme_system *s, plugmc_device_pointer positions, plugmc_device_pointer energy,
                 plugmc_device_pointer forces)
{
    plugmc_view view;
    s->host.view(s->host.context, (const double *)(uintptr_t)positions, 1, &view);
    const plugmc_total_request request = {.size = sizeof request, .view = &view,
                                          .energy = (double *)(uintptr_t)energy,
                                          .forces = (double *)(uintptr_t)forces};
    if (s->total->energy(s->instance, &request)) fail_msg("the mesh fails");
}

/* us a call; calls follow one another for some 50 ms. */
static double mean_time(spme_system *s, const plugmc_device_pointer *positions,
                        plugmc_device_pointer energy, plugmc_device_pointer forces)
{
    const plugmc_gpu *gpu = s->host.gpu;
    double taken = 0;
    int calls = 8;
    for (; taken < 5e4; calls *= 2) {
        gpu->synchronize(s->host.context);
        const double begin = now();
        for (int i = 0; i < calls; i++) call(s, positions[i % CONFIGURATIONS], energy, forces);
        gpu->synchronize(s->host.context);
        taken = now() - begin;
    }
    return taken / (calls / 2);
}

static void time_on_device(const options *o, gpu *device, int k)
{
    spme_system s;
    plugmc_device_pointer positions[CONFIGURATIONS], energy, forces;
    spme_begin(&s, cube(k, o->density, 1), device, 1);
    const plugmc_gpu *gpu = s.host.gpu;
    if (!watch_begin(gpu)) fail_msg("no events");
    s.host.gpu = &watch.services;
    prepare(&s, o, k);
    s.host.gpu = gpu;
    const size_t bytes = 3 * (size_t)s.system.particles * sizeof(double);
    for (int i = 0; i < CONFIGURATIONS; i++) {
        charges c = cube(k, o->density, (uint64_t)i + 1);
        if (gpu->allocate(s.host.context, bytes, &positions[i]) ||
            gpu->upload(s.host.context, positions[i], c.positions, bytes))
            fail_msg("no GPU memory");
        free(c.positions);
    }
    if (gpu->allocate(s.host.context, sizeof(double), &energy) ||
        gpu->allocate(s.host.context, bytes, &forces))
        fail_msg("no GPU memory");
    const double both = mean_time(&s, positions, energy, forces);
    const double moving = mean_time(&s, positions, 0, forces),
                 alone = mean_time(&s, positions, energy, 0);
    printf("%4d %9lld %9.1f %9.1f %9.1f  ", k, (long long)s.system.particles, both, moving, alone);
    s.host.gpu = &watch.services;
    watch.part_count = watch.launches = 0;
    for (int i = 0; i < PART_CALLS; i++) {
        call(&s, positions[i % CONFIGURATIONS], energy, forces);
        gpu->synchronize(s.host.context);
        watch_collect();
    }
    for (int i = 0; i < watch.part_count; i++)
        printf(" %s %.1f", watch.parts[i].name, 1e3 * watch.parts[i].sum / PART_CALLS);
    printf("\n");
    fflush(stdout);
    memset(watch.parts, 0, sizeof watch.parts);
    watch.kernel_count = 0;
    s.host.gpu = gpu;
    for (int i = 0; i < CONFIGURATIONS; i++) gpu->release(s.host.context, positions[i]);
    gpu->release(s.host.context, energy);
    gpu->release(s.host.context, forces);
    spme_end(&s);
}

/* ms, the best of several. */
static double host_time(const options *o, int k, int threads, int want_forces)
{
    spme_system s;
    charges c = cube(k, o->density, 1);
    spme_begin(&s, c, NULL, threads);
    prepare(&s, o, k);
    double *forces = new_forces(&c), energy = 0, best = INFINITY;
    for (int i = 0; i < 5; i++) {
        const double begin = now();
        mesh_of(&s, c.positions, &energy, want_forces ? forces : NULL, NULL);
        best = fmin(best, (now() - begin) / 1e3);
    }
    free(forces);
    spme_end(&s);
    return best;
}

static void time_on_host(const options *o, int k)
{
    const int threads = omp_get_max_threads();
    printf("%4d %9.0f %9.2f %9.2f %9.2f %9.2f\n", k, 2 * floor(o->density * k * k * k / 2),
           host_time(o, k, 1, 1), host_time(o, k, 1, 0), host_time(o, k, threads, 1),
           host_time(o, k, threads, 0));
    fflush(stdout);
}

/* ---- The program ------------------------------------------------------------------------- */

static void print_machine(gpu *device, const char *why)
{
    struct utsname name;
    char line[512];
    FILE *cpu = fopen("/proc/cpuinfo", "r");
    uname(&name);
    printf("# commit %s, %s %s\n", PLUGMC_COMMIT, name.sysname, name.machine);
    while (cpu && fgets(line, sizeof line, cpu))
        if (!strncmp(line, "model name", 10)) {
            printf("# CPU:%s", strchr(line, ':') + 1);
            break;
        }
    if (cpu) fclose(cpu);
    printf("# ");
    if (device)
        gpu_describe(stdout, device);
    else
        printf("no GPU: %s\n", why);
}

static int read_options(int argc, char **argv, options *o)
{
    *o = (options){0, 4, "sorted", "single", 0.1, {64, 108, 128, 216, 256}, 5};
    int given = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "cpu"))
            o->host_only = 1;
        else if (!strncmp(argv[i], "order=", 6))
            o->order = atoi(argv[i] + 6);
        else if (!strncmp(argv[i], "spreading=", 10))
            o->spreading = argv[i] + 10;
        else if (!strncmp(argv[i], "precision=", 10))
            o->precision = argv[i] + 10;
        else if (!strncmp(argv[i], "density=", 8))
            o->density = atof(argv[i] + 8);
        else if (atoi(argv[i]) >= 8 && given < 256)
            o->sizes[given++] = atoi(argv[i]);
        else
            return 0;
    }
    if (given) o->size_count = given;
    return 1;
}

int main(int argc, char **argv)
{
    options o;
    char why[512] = "not asked for";
    if (!read_options(argc, argv, &o)) {
        fprintf(
            stderr,
            "usage: spme_time [cpu] [order=4] [spreading=sorted|gather] [precision=single|double] "
            "[density=0.1] [K...]\n");
        return 2;
    }
    gpu *device = o.host_only ? NULL : gpu_open(0, false, why);
    print_machine(device, why);
    printf("# order %d, %g charges a grid point, %s\n", o.order, o.density,
           device ? "us of energy and forces, forces, energy; then the parts"
                  : "ms of energy and forces, and energy: on one thread, and on all");
    if (device) printf("# %s precision, spreading %s\n", o.precision, o.spreading);
    for (int i = 0; i < o.size_count; i++)
        if (device)
            time_on_device(&o, device, o.sizes[i]);
        else
            time_on_host(&o, o.sizes[i]);
    if (device) gpu_close(device);
    return 0;
}
