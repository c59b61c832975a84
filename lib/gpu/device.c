/* The GPU: opening it, and the services of plugmc_gpu on one context and one stream.
 *
 * What fails is said once, in words that name what was asked for. After a failure of the device
 * itself (a kernel that crashed) every later call would fail too: those return their code and say
 * nothing. */
#include "gpu/device.h"
#include "gpu/toolkit.h"
#include "gpu/gpu_source.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

static const double MiB = 1024.0 * 1024.0;

/* ---- Messages ---- */

/* What has no code of its own is a failure of the device. */
static enum exit_code exit_code_of_device(int code)
{
    return code == PLUGMC_ERROR_STATE || code == PLUGMC_ERROR_INPUT || code == PLUGMC_ERROR_MEMORY
               ? context_exit_code_of(code)
               : EXIT_DEVICE;
}

int gpu_fail(gpu *g, int code, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (g->caller) {
        const plugmc_context *c = g->caller;
        report_error(g->report, exit_code_of_device(code), c->file, c->line, "[%s] %s", c->section,
                     sentence);
        context_failed(g->caller);
    } else {
        report_error(g->report, exit_code_of_device(code), NULL, 0, "%s", sentence);
    }
    return code;
}

void gpu_broken(const gpu *g)
{
    if (g->neighbours.when_broken) g->neighbours.when_broken();
}

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)" */
const char *gpu_error_words(const driver_api *api, driver_result result, char words[256])
{
    const char *text = NULL, *name = NULL;
    api->error_text(result, &text);
    api->error_name(result, &name);
    snprintf(words, 256, "%s (%s, %d)", text ? text : "unknown error", name ? name : "?", result);
    return words;
}

/* A kernel crashed: said by whichever call comes next, and by all that follow. */
static bool is_crash(driver_result result)
{
    return result >= DRIVER_ERROR_ILLEGAL_ADDRESS && result <= DRIVER_ERROR_LAUNCH_FAILED &&
           result != DRIVER_ERROR_LAUNCH_RESOURCES;
}

/* The code of a call; a failure is reported, with the kernel that caused it. */
int gpu_checked(gpu *g, driver_result result, const char *doing)
{
    char words[256];
    if (result == DRIVER_SUCCESS) return PLUGMC_OK;
    gpu_error_words(&g->api, result, words);
    g->broken = is_crash(result);
    if (g->broken && g->code.last)
        gpu_fail(g, PLUGMC_ERROR_DEVICE, "kernel '%s' of '%s' failed: %s", g->code.last->name,
                 g->code.last->text_name, words);
    else
        gpu_fail(g, PLUGMC_ERROR_DEVICE, "%s failed: %s", doing, words);
    if (g->broken) gpu_broken(g);
    return PLUGMC_ERROR_DEVICE;
}

/* Every service begins here. Not 0: the device has failed before. */
static int begin(gpu *g)
{
    if (!g->broken) return PLUGMC_OK;
    if (g->caller) context_failed(g->caller); /* it has been said */
    return PLUGMC_ERROR_DEVICE;
}

/* The same, for what cannot be part of a graph. */
static int begin_outside_graph(gpu *g, const char *doing)
{
    int code = begin(g);
    if (!code && g->code.recording)
        code = gpu_fail(g, PLUGMC_ERROR_STATE, "%s between graph_begin and graph_end", doing);
    return code;
}

/* ---- Memory ---- */

static int remember(gpu *g, driver_pointer at, size_t bytes)
{
    if (g->held.allocation_count == g->held.allocation_capacity) {
        int capacity = 2 * g->held.allocation_capacity + 32;
        allocation *more = realloc(g->held.allocations, (size_t)capacity * sizeof *more);
        if (!more) return -1;
        g->held.allocations = more;
        g->held.allocation_capacity = capacity;
    }
    g->held.allocations[g->held.allocation_count++] = (allocation){at, bytes};
    return 0;
}

static int fail_memory(gpu *g, size_t bytes)
{
    size_t unused = 0, total = 0, ours = 0;
    g->api.memory_info(&unused, &total);
    for (int i = 0; i < g->held.allocation_count; i++) ours += g->held.allocations[i].bytes;
    return gpu_fail(
        g, PLUGMC_ERROR_MEMORY,
        "out of GPU memory: %.1f MiB were requested, %.1f of %.1f MiB are free, and this run "
        "already uses %.1f MiB",
        (double)bytes / MiB, (double)unused / MiB, (double)total / MiB, (double)ours / MiB);
}

int gpu_allocate(gpu *g, size_t bytes, plugmc_device_pointer *out)
{
    *out = 0;
    int code = begin_outside_graph(g, "memory is asked for");
    if (code || bytes == 0) return code;
    driver_pointer at = 0;
    driver_result result = g->api.allocate(&at, bytes);
    if (result == DRIVER_ERROR_OUT_OF_MEMORY) return fail_memory(g, bytes);
    code = gpu_checked(g, result, "allocating GPU memory");
    if (code) return code;
    if (remember(g, at, bytes)) {
        g->api.release(at);
        return gpu_fail(g, PLUGMC_ERROR_MEMORY, "out of host memory");
    }
    *out = at;
    return gpu_clear(g, at, bytes);
}

int gpu_clear(gpu *g, plugmc_device_pointer at, size_t bytes)
{
    return gpu_checked(g, g->api.fill(at, 0, bytes, g->stream), "clearing GPU memory");
}

int gpu_release(gpu *g, plugmc_device_pointer pointer)
{
    int code = begin_outside_graph(g, "memory is released");
    if (code || !pointer) return code;
    for (int i = 0; i < g->held.allocation_count; i++) {
        if (g->held.allocations[i].at != pointer) continue;
        g->held.allocations[i] = g->held.allocations[--g->held.allocation_count];
        return gpu_checked(g, g->api.release(pointer), "releasing GPU memory");
    }
    return gpu_fail(g, PLUGMC_ERROR_STATE, "GPU memory is released that was not allocated");
}

/* ---- Kernels ---- */

static gpu_module *find_module(gpu *g, const uint8_t digest[32])
{
    gpu_module *m = g->code.modules;
    while (m && memcmp(m->digest, digest, 32)) m = m->next;
    return m;
}

static int fail_load(gpu *g, driver_result result, const char *name)
{
    char words[256];
    return gpu_fail(
        g, PLUGMC_ERROR_DEVICE,
        "the driver (CUDA %d.%d) cannot load GPU source '%s' compiled by NVRTC %d.%d: %s",
        g->chip.driver_version / 1000, g->chip.driver_version % 1000 / 10, name, g->compiler->major,
        g->compiler->minor, gpu_error_words(&g->api, result, words));
}

static int load_module(gpu *g, const char *fused, const plugmc_gpu_source *text,
                       const uint8_t digest[32], gpu_module **out)
{
    void *image = NULL;
    size_t bytes;
    const char *name = text->name;
    if (compile(g->compiler, fused, name, g->services.architecture,
                arithmetic_of(text, g->fast_math), &image, &bytes, g->report)) {
        if (g->caller) context_failed(g->caller);
        return PLUGMC_ERROR_DEVICE;
    }
    gpu_module *m = calloc(1, sizeof *m);
    driver_result result = m ? g->api.module_load(&m->handle, image) : DRIVER_ERROR_OUT_OF_MEMORY;
    free(image);
    if (result) {
        free(m);
        return fail_load(g, result, name);
    }
    memcpy(m->digest, digest, 32);
    m->in_double = text->double_precision != 0;
    m->is_fused = (text->fuse & PLUGMC_FUSE_SAMPLED) != 0;
    m->next = g->code.modules;
    *out = g->code.modules = m;
    return PLUGMC_OK;
}

void gpu_compile_ahead(gpu *g, const plugmc_gpu_source *text)
{
    char *fused = fuse(g->system, text);
    if (fused)
        compile_ahead(g->compiler, fused, text->name, g->services.architecture,
                      arithmetic_of(text, g->fast_math));
}

static int load_kernel(gpu *g, gpu_module *m, const char *text_name, const char *name,
                       plugmc_kernel **out)
{
    driver_function handle;
    driver_result result = g->api.module_function(&handle, m->handle, name);
    if (result == DRIVER_ERROR_NOT_FOUND)
        return gpu_fail(
            g, PLUGMC_ERROR_DEVICE,
            "GPU source '%s' has no kernel '%s'; is it declared extern \"C\" __global__?",
            text_name, name);
    if (result) return gpu_checked(g, result, "looking up a kernel");
    plugmc_kernel *k = calloc(1, sizeof *k);
    if (k) {
        k->name = strdup(name);
        k->text_name = strdup(text_name);
    }
    if (!k || !k->name || !k->text_name)
        return gpu_fail(g, PLUGMC_ERROR_MEMORY, "out of host memory");
    k->module = m;
    k->handle = handle;
    k->next = g->code.kernels;
    *out = g->code.kernels = k;
    return PLUGMC_OK;
}

/* Of ABI 1.0. */
enum { KERNEL_TEXT_SIZE = offsetof(plugmc_gpu_source, overlap) + sizeof(int32_t) };

int gpu_kernel(gpu *g, const plugmc_gpu_source *text, const char *name, plugmc_kernel **out)
{
    *out = NULL;
    int code = begin_outside_graph(g, "a kernel is asked for");
    if (code) return code;
    if (text->size < KERNEL_TEXT_SIZE)
        return gpu_fail(g, PLUGMC_ERROR_STATE,
                        "the struct of the GPU source of '%s' has %u bytes, expected at "
                        "least %u",
                        name, text->size, (unsigned)KERNEL_TEXT_SIZE);
    char why[512];
    if (!check_gpu_source(text, (sentence){why, sizeof why}))
        return gpu_fail(g, PLUGMC_ERROR_STATE, "%s", why);
    char *fused = fuse(g->system, text);
    if (!fused) return gpu_fail(g, PLUGMC_ERROR_MEMORY, "out of host memory");
    uint8_t digest[32];
    sha256_of(fused, strlen(fused), digest);
    gpu_module *m = find_module(g, digest);
    if (!m) code = load_module(g, fused, text, digest, &m);
    free(fused);
    if (!code) code = gpu_fill_numbers(g, m); /* of another system, if it was there before */
    if (code) return code;
    for (plugmc_kernel *k = g->code.kernels; k; k = k->next)
        if (k->module == m && strcmp(k->name, name) == 0) {
            *out = k;
            return PLUGMC_OK;
        }
    code = load_kernel(g, m, text->name, name, out);
    if (!code)
        (*out)->overlaps =
            text->overlap && g->services.architecture >= 90 && g->api.launch_extended;
    return code;
}

/* With overlap the launch may begin while the kernel before it ends; its text waits for that with
 * plugmc_wait. Hides most of the time between small kernels. */
static driver_result launch(gpu *g, const plugmc_kernel *k, const uint32_t grid[3],
                            const uint32_t block[3], uint32_t dynamic_shared, void **arguments)
{
    if (!k->overlaps)
        return g->api.launch(k->handle, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                             dynamic_shared, g->stream, arguments, NULL);
    driver_launch_attribute attribute = {.id = DRIVER_LAUNCH_PROGRAMMATIC, .value.flag = 1};
    driver_launch_config config = {grid[0],  grid[1],        grid[2],   block[0],   block[1],
                                   block[2], dynamic_shared, g->stream, &attribute, 1};
    return g->api.launch_extended(&config, k->handle, arguments, NULL);
}

/* Beyond 48 KiB, its own static memory included, a kernel must be told. */
static int allow_shared(gpu *g, plugmc_kernel *k, uint32_t bytes)
{
    char words[256];
    int fixed = 0;
    if (bytes <= k->dynamic_shared) return PLUGMC_OK;
    g->api.function_get(&fixed, DRIVER_FUNCTION_SHARED, k->handle);
    if (bytes + (uint32_t)fixed <= 48 * 1024) return PLUGMC_OK;
    driver_result result =
        g->api.function_set(k->handle, DRIVER_FUNCTION_DYNAMIC_SHARED, (int)bytes);
    if (result) {
        return gpu_fail(
            g, PLUGMC_ERROR_DEVICE,
            "kernel '%s' of '%s' cannot have %u bytes of dynamic shared memory beside %d "
            "of its own (this GPU has %d a block): %s",
            k->name, k->text_name, bytes, fixed, g->services.shared_per_block,
            gpu_error_words(&g->api, result, words));
    }
    k->dynamic_shared = bytes;
    return PLUGMC_OK;
}

enum { MOST_BLOCKS = 65535 }; /* along y and z, where most kernels have their walkers */

int gpu_launch(gpu *g, plugmc_kernel *k, const uint32_t grid[3], const uint32_t block[3],
               uint32_t dynamic_shared, void **arguments)
{
    char words[256];
    int code = begin(g);
    if (!code && (grid[1] > MOST_BLOCKS || grid[2] > MOST_BLOCKS))
        code = gpu_fail(g, PLUGMC_ERROR_INPUT,
                        "kernel '%s' of '%s' would need %u x %u x %u blocks, but CUDA allows "
                        "at most %d along the last two: use fewer walkers",
                        k->name, k->text_name, grid[0], grid[1], grid[2], MOST_BLOCKS);
    if (!code) code = allow_shared(g, k, dynamic_shared);
    if (code) return code;
    if (g->profile) gpu_profile_mark(g, k->name);
    driver_result result = launch(g, k, grid, block, dynamic_shared, arguments);
    if (g->profile) gpu_profile_mark_end(g);
    if (is_crash(result)) return gpu_checked(g, result, "a kernel");
    if (result) {
        g->broken = true; /* what it should have done is missing from all that follows */
        gpu_fail(g, PLUGMC_ERROR_DEVICE,
                 "kernel '%s' of '%s' cannot be launched (grid %u x %u x %u, block %u x %u x %u, "
                 "%u bytes of dynamic shared memory): %s",
                 k->name, k->text_name, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                 dynamic_shared, gpu_error_words(&g->api, result, words));
        gpu_broken(g);
        return PLUGMC_ERROR_DEVICE;
    }
    g->code.last = k;
    return PLUGMC_OK;
}

/* ---- Services ---- */

static gpu *enter(plugmc_context *context)
{
    context->gpu->caller = context;
    return context->gpu;
}

static int service_allocate(plugmc_context *c, size_t bytes, plugmc_device_pointer *out)
{
    return gpu_allocate(enter(c), bytes, out);
}

static int service_release(plugmc_context *c, plugmc_device_pointer pointer)
{
    return gpu_release(enter(c), pointer);
}

static int service_synchronize(plugmc_context *c)
{
    gpu *g = enter(c);
    int code = begin_outside_graph(g, "the plugin waits for the GPU");
    if (!code) code = gpu_checked(g, g->api.stream_synchronize(g->stream), "waiting for the GPU");
    if (!code) g->traffic.staged_bytes = 0;
    return code;
}

/* The caller may use its memory again, and whether the driver has read all of it when the asynchronous copy
 * returns depends on the machine: so it waits, or uploads from elsewhere. */
static int service_upload(plugmc_context *c, plugmc_device_pointer to, const void *from,
                          size_t bytes)
{
    gpu *g = enter(c);
    int code = begin_outside_graph(g, "data is uploaded");
    if (code || bytes == 0) return code;
    const void *staged = gpu_stage(g, from, bytes);
    code = gpu_checked(g, g->api.upload(to, staged ? staged : from, bytes, g->stream),
                       "a copy to the GPU");
    return code || staged ? code : service_synchronize(c);
}

static int service_download(plugmc_context *c, void *to, plugmc_device_pointer from, size_t bytes)
{
    gpu *g = enter(c);
    int code = begin_outside_graph(g, "data is downloaded");
    if (code || bytes == 0) return code;
    code = gpu_checked(g, g->api.download(to, from, bytes, g->stream), "a copy from the GPU");
    return code ? code : service_synchronize(c);
}

static int service_download_later(plugmc_context *c, void *to, plugmc_device_pointer from,
                                  size_t bytes)
{
    gpu *g = enter(c);
    driver_result result;
    int code = begin_outside_graph(g, "data is downloaded");
    if (code || bytes == 0) return code;
    return gpu_put_off(g, to, from, bytes, &result) ? gpu_checked(g, result, "a copy from the GPU")
                                                    : service_download(c, to, from, bytes);
}

static int service_arrive(plugmc_context *c)
{
    gpu *g = enter(c);
    const int code = begin_outside_graph(g, "the plugin waits for the GPU");
    return code ? code : gpu_checked(g, gpu_hand_out(g), "waiting for the GPU");
}

static int service_copy(plugmc_context *c, plugmc_device_pointer to, plugmc_device_pointer from,
                        size_t bytes)
{
    gpu *g = enter(c);
    int code = begin(g);
    if (code || bytes == 0) return code;
    return gpu_checked(g, g->api.copy(to, from, bytes, g->stream), "a copy on the GPU");
}

static int service_fill(plugmc_context *c, plugmc_device_pointer at, unsigned char value,
                        size_t bytes)
{
    gpu *g = enter(c);
    int code = begin(g);
    if (code || bytes == 0) return code;
    return gpu_checked(g, g->api.fill(at, value, bytes, g->stream), "filling GPU memory");
}

static int service_kernel(plugmc_context *c, const plugmc_gpu_source *text, const char *name,
                          plugmc_kernel **out)
{
    return gpu_kernel(enter(c), text, name, out);
}

static int service_launch(plugmc_context *c, plugmc_kernel *kernel, const uint32_t grid[3],
                          const uint32_t block[3], uint32_t dynamic_shared, void **arguments)
{
    return gpu_launch(enter(c), kernel, grid, block, dynamic_shared, arguments);
}

static int service_graph_begin(plugmc_context *c)
{
    gpu *g = enter(c);
    int code = begin_outside_graph(g, "a graph is begun");
    if (!code)
        code = gpu_checked(g, g->api.capture_begin(g->stream, DRIVER_CAPTURE_THREAD_LOCAL),
                           "beginning a graph");
    g->code.recording = !code;
    return code;
}

static int service_graph_end(plugmc_context *c, plugmc_graph **out)
{
    gpu *g = enter(c);
    driver_graph recorded = NULL;
    *out = NULL;
    if (!g->code.recording) return gpu_fail(g, PLUGMC_ERROR_STATE, "graph_end without graph_begin");
    g->code.recording = false;
    /* even after a failure: the stream has to leave its recording */
    driver_result result = g->api.capture_end(g->stream, &recorded);
    int code = begin(g);
    if (!code) code = gpu_checked(g, result, "recording a graph");
    if (code) return code;
    plugmc_graph *graph = calloc(1, sizeof *graph);
    if (!graph) {
        g->api.graph_destroy(recorded);
        return gpu_fail(g, PLUGMC_ERROR_MEMORY, "out of host memory");
    }
    code = gpu_checked(g, g->api.graph_instantiate(&graph->handle, recorded, 0), "making a graph");
    g->api.graph_destroy(recorded);
    if (code) {
        free(graph);
        return code;
    }
    graph->last = g->code.last;
    graph->next = g->code.graphs;
    *out = g->code.graphs = graph;
    return PLUGMC_OK;
}

/* One that is still running is freed by the driver when it is done. */
static int service_graph_release(plugmc_context *c, plugmc_graph *graph)
{
    gpu *g = enter(c);
    plugmc_graph **link = &g->code.graphs;
    while (*link && *link != graph) link = &(*link)->next;
    int code = begin_outside_graph(g, "a graph is released");
    if (!code && !*link) code = gpu_fail(g, PLUGMC_ERROR_STATE, "there is no such graph");
    if (code) return code;
    *link = graph->next;
    code = gpu_checked(g, g->api.graph_exec_destroy(graph->handle), "releasing a graph");
    free(graph);
    return code;
}

static int service_graph_launch(plugmc_context *c, plugmc_graph *graph)
{
    gpu *g = enter(c);
    int code = begin_outside_graph(g, "a graph is launched");
    if (code) return code;
    if (g->profile) gpu_profile_mark(g, "graph");
    code = gpu_checked(g, g->api.graph_launch(graph->handle, g->stream), "launching a graph");
    if (g->profile) gpu_profile_mark_end(g);
    if (!code) g->code.last = graph->last;
    return code;
}

static void *service_stream(plugmc_context *c) { return enter(c)->stream; }

static int service_library(plugmc_context *c, const char *stem, void **handle)
{
    gpu *g = enter(c);
    char why[512];
    *handle = toolkit_library(g->compiler->path, stem, why);
    return *handle ? PLUGMC_OK : gpu_fail(g, PLUGMC_ERROR_DEVICE, "%s", why);
}

void gpu_serve(gpu *g, int architecture, int processors, int shared)
{
    g->services = (plugmc_gpu){.size = sizeof(plugmc_gpu),
                               .name = g->chip.name,
                               .multiprocessors = processors,
                               .shared_per_block = shared,
                               .architecture = architecture,
                               .allocate = service_allocate,
                               .release = service_release,
                               .upload = service_upload,
                               .download = service_download,
                               .download_later = service_download_later,
                               .arrive = service_arrive,
                               .copy = service_copy,
                               .fill = service_fill,
                               .kernel = service_kernel,
                               .launch = service_launch,
                               .graph_begin = service_graph_begin,
                               .graph_end = service_graph_end,
                               .graph_launch = service_graph_launch,
                               .graph_release = service_graph_release,
                               .synchronize = service_synchronize,
                               .stream = service_stream,
                               .library = service_library};
}

const plugmc_gpu *gpu_services(gpu *g) { return &g->services; }

void gpu_bind(gpu *g, const plugmc_system *system, report *r)
{
    g->system = system;
    g->report = r;
    g->caller = NULL;
}
