/* rounds DEVICE ROUNDS: an engine opened, run and closed, again and again: what the process has is the same after
 * two rounds and after all of them. */
#include <dlfcn.h>

#include "hosting.h"

enum { SKIPPED = 77 };

/* What a host program has on a GPU by itself. */
typedef struct own_gpu {
    void *library;
    int (*memory)(size_t *, size_t *), (*now)(void **);
    void *context;
} own_gpu;

static int open_gpu(own_gpu *g)
{
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*set)(void *), device;
    g->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!g->library) return -1;
    *(void **)&init = dlsym(g->library, "cuInit");
    *(void **)&get = dlsym(g->library, "cuDeviceGet");
    *(void **)&retain = dlsym(g->library, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(g->library, "cuCtxSetCurrent");
    *(void **)&g->memory = dlsym(g->library, "cuMemGetInfo_v2");
    *(void **)&g->now = dlsym(g->library, "cuCtxGetCurrent");
    return init(0) || get(&device, 0) || retain(&g->context, device) || set(g->context);
}

static size_t free_memory(const own_gpu *g)
{
    size_t left = 0, all = 0;
    if (g->library && g->memory(&left, &all)) return 0;
    return left;
}

static int fail(plugmc_engine *e, int code, const char *doing)
{
    printf("%s: code %d, %s\n", doing, code, plugmc_engine_error(e));
    plugmc_engine_close(e);
    return 1;
}

static int one_round(const char *device, const char *mover)
{
    int64_t numbers;
    double sums[2];
    int32_t count;
    plugmc_engine *e = plugmc_engine_new();
    int code = plugmc_engine_open_text(
        e, "text", liquid_text(device, mover, "[observable energy]\nperiod = 10\n"));
    if (code) return fail(e, code, "opening");
    code = plugmc_engine_sweep(e, 70);
    if (!code) code = plugmc_engine_energies(e, NULL, sums);
    if (!code) code = plugmc_engine_quantities(e, &count);
    double *positions = positions_of(e, &numbers);
    if (!positions) return fail(e, 1, "reading positions");
    if (!code) code = plugmc_engine_replace(e, "positions", positions, numbers);
    free(positions);
    if (!code) code = plugmc_engine_sweep(e, 5);
    if (!code) code = plugmc_engine_checkpoint(e);
    if (code) return fail(e, code, "running");
    plugmc_engine_close(e);
    /* and one that cannot be opened */
    e = plugmc_engine_new();
    code = plugmc_engine_open_text(e, "text", liquid_text(device, "serial", "steps = 1\n"));
    plugmc_engine_close(e);
    return code != PLUGMC_ENGINE_INPUT;
}

int main(int argc, char **argv)
{
    static const char *const on_cpu[] = {"serial", "checkerboard", "brush"}, *const on_gpu[] = {
                                                                                 "brush",
                                                                                 "checkerboard",
                                                                                 "brush"};
    const int gpu = argc > 1 && !strcmp(argv[1], "gpu"), rounds = argc > 2 ? atoi(argv[2]) : 100;
    own_gpu own = {0};
    char folder[] = "/tmp/plugmc-rounds-XXXXXX", command[64];
    int files[2], tasks[2], failed = 0;
    size_t bytes[2], left[2];
    void *now = NULL;
    if (gpu && open_gpu(&own)) {
        printf("skipped: there is no GPU\n");
        return SKIPPED;
    }
    if (!mkdtemp(folder) || chdir(folder)) return 1;
    for (int k = 0; k < rounds && !failed; k++) {
        failed = one_round(gpu ? "gpu" : "cpu", (gpu ? on_gpu : on_cpu)[k % 3]);
        remove("run.h5"), remove("run.h5.1");
        if (k != 2 && k != rounds - 1) continue; /* each mover has had one */
        files[k > 2] = descriptors(), tasks[k > 2] = threads(), bytes[k > 2] = memory();
        left[k > 2] = free_memory(&own);
    }
    if (gpu && (own.now(&now) || now != own.context))
        failed = printf("the host's context is gone\n");
    printf(
        "descriptors %d, then %d; threads %d, then %d; bytes %zu, then %zu; free on the GPU %zu, then %zu\n",
        files[0], files[1], tasks[0], tasks[1], bytes[0], bytes[1], left[0], left[1]);
    /* a few bytes of the heap come and go with what the driver keeps there; other programs may have left the GPU */
    failed |=
        files[0] != files[1] || tasks[0] != tasks[1] || left[1] < left[0] || bytes[1] > bytes[0];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) || failed;
}
