/* GPU services for plugins: memory, compilation and launches. */
#ifndef PLUGMC_GPU_SERVICES_H
#define PLUGMC_GPU_SERVICES_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t plugmc_device_pointer;
typedef struct plugmc_context plugmc_context; /* opaque: the plugin that calls; messages name it */
typedef struct plugmc_graph plugmc_graph;     /* opaque: a recorded sequence of launches */
typedef struct plugmc_kernel plugmc_kernel;   /* opaque: one __global__ function */

/* Which potentials are compiled in front of a GPU source (plugmc_gpu_source.fuse), as bits. */
enum {
    PLUGMC_FUSE_SAMPLED = 1,
    PLUGMC_FUSE_MEASURED = 2,
    /* Only with PLUGMC_FUSE_SAMPLED and double_precision: also derivatives by variational parameters. */
    PLUGMC_FUSE_VARIATIONAL = 4
};

/* GPU source to be compiled, together with potentials, for the GPU of this machine. The core clears it and sets
 * `size` before a plugin fills it in. */
typedef struct plugmc_gpu_source {
    uint32_t size;
    const char *name; /* shown in messages, e.g. "mover.cu" */
    const char *source;
    const char *const *defines; /* "NAME=VALUE", ended by NULL */
    int32_t fuse;               /* PLUGMC_FUSE_*; 0: no potentials, and no macros of the system */
    int32_t double_precision;   /* 1: real is double on the device */
    /* 1: every kernel calls plugmc_wait before it accesses memory that the previously launched kernel may write or
     * read. It may then begin before that kernel ends. */
    int32_t overlap;
    /* 1: a * b + c may be contracted to one rounding; only if the result need not agree with the CPU to the last
     * bit. */
    int32_t contract;
} plugmc_gpu_source;

/* Copies `from` to `to`, as far as both sides know the members. */
static inline void plugmc_set_gpu_source(plugmc_gpu_source *to, const plugmc_gpu_source *from)
{
    const uint32_t size = to->size;
    __builtin_memcpy(to, from, size < sizeof *from ? size : sizeof *from);
    to->size = size;
}

/* The GPU; NULL in plugmc_host if the run is on the CPU. Calls are asynchronous on the run's only stream unless
 * their comment says otherwise. They return a PLUGMC_* code and have already reported the error. The core releases
 * the memory when the run ends. */
typedef struct plugmc_gpu {
    uint32_t size;
    const char *name;
    int32_t multiprocessors, shared_per_block, architecture; /* e.g. 90 for sm_90 */
    int (*allocate)(plugmc_context *, size_t bytes, plugmc_device_pointer *out); /* zeroed */
    int (*release)(plugmc_context *, plugmc_device_pointer);
    /* `from` may be changed when it returns. */
    int (*upload)(plugmc_context *, plugmc_device_pointer to, const void *from, size_t bytes);
    /* Waits until the data have arrived. */
    int (*download)(plugmc_context *, void *to, plugmc_device_pointer from, size_t bytes);
    int (*copy)(plugmc_context *, plugmc_device_pointer to, plugmc_device_pointer from,
                size_t bytes);
    int (*fill)(plugmc_context *, plugmc_device_pointer, unsigned char value, size_t bytes);
    /* Compiles a source (or takes it from the cache), loads it and returns its function `name`. */
    int (*kernel)(plugmc_context *, const plugmc_gpu_source *, const char *name, plugmc_kernel **);
    int (*launch)(plugmc_context *, plugmc_kernel *, const uint32_t grid[3],
                  const uint32_t block[3], uint32_t dynamic_shared, void **arguments);
    /* Launches between begin and end are recorded as a graph, not executed. */
    int (*graph_begin)(plugmc_context *);
    int (*graph_end)(plugmc_context *, plugmc_graph **);
    int (*graph_launch)(plugmc_context *, plugmc_graph *);
    /* Waits for everything launched so far. */
    int (*synchronize)(plugmc_context *);
    /* The run's stream as a CUstream, for cuFFT and cuBLAS. The CUDA context is current on the main thread. */
    void *(*stream)(plugmc_context *);
    /* Opens the newest installed version of a CUDA Toolkit library by its stem ("cufft", "cublas") and keeps it
     * open. Use dlsym(*handle, ...) for its symbols. */
    int (*library)(plugmc_context *, const char *stem, void **handle);
    /* Releases a graph that is not needed any more; the core releases all others when the run ends. */
    int (*graph_release)(plugmc_context *, plugmc_graph *);
    /* Download that does not wait. Until `arrive`, `to` must not be read or freed and `from` must not be written:
     * kernels launched afterwards run beside the copy. Large downloads (above 32 KiB) wait at once. */
    int (*download_later)(plugmc_context *, void *to, plugmc_device_pointer from, size_t bytes);
    /* Waits for all downloads started by download_later, but not for kernels launched after them. */
    int (*arrive)(plugmc_context *);
} plugmc_gpu;

#endif
