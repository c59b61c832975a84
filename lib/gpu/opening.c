/* A GPU opened and closed: driver, compiler, context. */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu/device.h"
#include "gpu/toolkit.h"

static const double MiB = 1024.0 * 1024.0;

static bool open_driver(driver_api *api, int *version, int *count, char why[512])
{
    char words[256];
    *version = *count = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, 512,
                 "there is no NVIDIA driver on this machine: libcuda.so.1 cannot be opened");
        return false;
    }
    const char *missing = driver_resolve(library, api);
    if (!missing) api->version(version);
    if (missing) {
        snprintf(why, 512, "the NVIDIA driver is older than CUDA 11.4 (it has no %s); update it",
                 missing);
        return false;
    }
    driver_result result = api->init(0);
    if (result == DRIVER_SUCCESS) result = api->device_count(count);
    if (result == DRIVER_ERROR_NO_DEVICE || (result == DRIVER_SUCCESS && *count == 0)) {
        snprintf(why, 512,
                 "an NVIDIA driver (CUDA %d.%d) is there, but it shows no GPU; see "
                 "nvidia-smi, and CUDA_VISIBLE_DEVICES",
                 *version / 1000, *version % 1000 / 10);
        return false;
    }
    if (result) {
        snprintf(why, 512, "the NVIDIA driver (CUDA %d.%d) does not start: %s", *version / 1000,
                 *version % 1000 / 10, gpu_error_words(api, result, words));
        return false;
    }
    return true;
}

int gpu_count(int *driver_version, char why[512])
{
    driver_api api;
    int count;
    return open_driver(&api, driver_version, &count, why) ? count : 0;
}

/* A driver loads what its own major version or an older one compiled. */
static bool open_compiler(gpu *g, char why[512])
{
    int major = g->chip.driver_version / 1000;
    g->compiler = nvrtc_open_up_to(major, why);
    if (g->compiler && g->compiler->major > major) {
        snprintf(why, 512,
                 "the driver is too old: it knows CUDA %d.%d, but NVRTC ('%.200s') is %d.%d; "
                 "update the driver or install an older NVRTC",
                 major, g->chip.driver_version % 1000 / 10, g->compiler->path, g->compiler->major,
                 g->compiler->minor);
        return false;
    }
    if (g->compiler) return true;
    char other[512];
    nvrtc *newer = nvrtc_open(other);
    if (newer) {
        snprintf(why, 512,
                 "the driver is too old: it knows CUDA %d.%d, but the only NVRTC "
                 "('%.200s') is %d.%d; update the driver or install an older NVRTC",
                 major, g->chip.driver_version % 1000 / 10, newer->path, newer->major,
                 newer->minor);
        nvrtc_close(newer);
    }
    return false;
}

static driver_result open_device(gpu *g, int index)
{
    const driver_api *api = &g->api;
    int major = 0, minor = 0, processors = 0, shared = 0;
    driver_result result = api->device_get(&g->chip.handle, index);
    if (!result) result = api->device_name(g->chip.name, sizeof g->chip.name, g->chip.handle);
    if (!result) result = api->device_attribute(&major, DRIVER_CAPABILITY_MAJOR, g->chip.handle);
    if (!result) result = api->device_attribute(&minor, DRIVER_CAPABILITY_MINOR, g->chip.handle);
    if (!result)
        result = api->device_attribute(&processors, DRIVER_MULTIPROCESSORS, g->chip.handle);
    if (!result)
        result = api->device_attribute(&shared, DRIVER_SHARED_PER_BLOCK_OPTIN, g->chip.handle);
    if (!result) result = api->device_memory(&g->chip.memory, g->chip.handle);
    if (!result) result = api->context_retain(&g->context, g->chip.handle);
    if (!result) result = api->context_now(&g->before);
    if (!result) result = api->context_set(g->context);
    if (!result) result = api->stream_create(&g->stream, DRIVER_STREAM_NON_BLOCKING);
    gpu_serve(g, 10 * major + minor, processors, shared);
    return result;
}

gpu *gpu_open(int index, bool fast_math, char why[512])
{
    char words[256];
    int count;
    gpu *g = checked(calloc(1, sizeof *g));
    g->fast_math = fast_math;
    if (!open_driver(&g->api, &g->chip.driver_version, &count, why)) {
        free(g);
        return NULL;
    }
    driver_result result = DRIVER_SUCCESS;
    if (index < 0 || index >= count)
        snprintf(why, 512, "there is no GPU %d: the driver shows %d, numbered from 0", index,
                 count);
    else if (open_compiler(g, why) && (result = open_device(g, index)) == DRIVER_SUCCESS)
        return g;
    if (result)
        snprintf(why, 512, "GPU %d (%.100s) cannot be used: %s", index, g->chip.name,
                 gpu_error_words(&g->api, result, words));
    gpu_close(g);
    return NULL;
}

/* Results are ignored here: after a kernel that crashed each of these fails. */
void gpu_close(gpu *g)
{
    if (!g) return;
    if (g->stream) g->api.stream_synchronize(g->stream);
    if (g->neighbours.close_links) g->neighbours.close_links(g);
    gpu_profile_free(g);
    gpu_throttle_free(g);
    gpu_stage_free(g);
    gpu_mail_free(g);
    gpu_peers_free(g);
    for (plugmc_graph *next, *graph = g->code.graphs; graph; graph = next) {
        next = graph->next;
        g->api.graph_exec_destroy(graph->handle);
        free(graph);
    }
    for (plugmc_kernel *next, *k = g->code.kernels; k; k = next) {
        next = k->next;
        free(k->name);
        free(k->text_name);
        free(k);
    }
    for (gpu_module *next, *m = g->code.modules; m; m = next) {
        next = m->next;
        g->api.module_unload(m->handle);
        free(m);
    }
    for (gpu_cells *next, *c = g->cells.cells; c; c = next) {
        next = c->next;
        free(c);
    }
    for (int i = 0; i < g->held.allocation_count; i++) g->api.release(g->held.allocations[i].at);
    free(g->held.allocations);
    if (g->stream) g->api.stream_destroy(g->stream);
    if (g->context) {
        g->api.context_set(g->before);
        g->api.context_release(g->chip.handle);
    }
    nvrtc_close(g->compiler);
    free(g);
}

void gpu_enter(gpu *g)
{
    if (g->api.context_now(&g->before) == 0) g->api.context_set(g->context);
}

void gpu_leave(gpu *g) { g->api.context_set(g->before); }

void gpu_describe(FILE *out, const gpu *g)
{
    fprintf(out, "%s, sm_%d, %d multiprocessors, %.1f GiB, driver for CUDA %d.%d, NVRTC %d.%d\n",
            g->chip.name, g->services.architecture, g->services.multiprocessors,
            (double)g->chip.memory / (1024 * MiB), g->chip.driver_version / 1000,
            g->chip.driver_version % 1000 / 10, g->compiler->major, g->compiler->minor);
}
