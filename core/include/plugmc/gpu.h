/* The GPU as plugins see it: memory, GPU sources, launches. Part of plugmc/plugin.h. */
#ifndef PLUGMC_GPU_SERVICES_H
#define PLUGMC_GPU_SERVICES_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t plugmc_device_pointer;
typedef struct plugmc_context plugmc_context; /* opaque: whom a message comes from */
typedef struct plugmc_graph plugmc_graph;     /* opaque: a recorded sequence of launches */
typedef struct plugmc_kernel plugmc_kernel;   /* opaque: one __global__ function */

/* Which potentials stand in front of a GPU source (plugmc_gpu_source.fuse), as bits. */
enum {
    PLUGMC_FUSE_SAMPLED = 1,
    PLUGMC_FUSE_MEASURED = 2,
    PLUGMC_FUSE_VARIATIONAL =
        4 /* with the former, in double precision: derivatives by variational parameters too */
};

/* GPU source to be joined with potentials and compiled for the GPU found. Cleared, and `size` set,
 * by the core before a plugin fills it in. */
typedef struct plugmc_gpu_source {
    uint32_t size;
    const char *name; /* shown in messages, e.g. "mover.cu" */
    const char *source;
    const char *const *defines; /* "NAME=VALUE", NULL at the end */
    int32_t fuse;               /* PLUGMC_FUSE_*; 0: none, and no system is known */
    int32_t double_precision;   /* 1: real is double on the device */
    int32_t overlap;            /* 1: every kernel of the text calls plugmc_wait before it touches
                                   memory that the one launched before may write or read, so it may
                                   begin before that one ends */
    int32_t contract;           /* 1: a * b + c may be rounded once, where the result need not be
                                   that of the CPU to the last bit */
} plugmc_gpu_source;

/* Fills in `to` from `from` as far as both sides know the members. */
static inline void plugmc_set_gpu_source(plugmc_gpu_source *to, const plugmc_gpu_source *from)
{
    const uint32_t size = to->size;
    __builtin_memcpy(to, from, size < sizeof *from ? size : sizeof *from);
    to->size = size;
}

/* The GPU, or NULL in plugmc_host when the run is on the CPU. All calls are asynchronous on the
 * run's one stream unless said otherwise; all return a PLUGMC_* code and have already reported
 * what went wrong. Memory is released by the core when the run ends. */
typedef struct plugmc_gpu {
    uint32_t size;
    const char *name;
    int32_t multiprocessors, shared_per_block, architecture;                     /* 90 for sm_90 */
    int (*allocate)(plugmc_context *, size_t bytes, plugmc_device_pointer *out); /* zeroed */
    int (*release)(plugmc_context *, plugmc_device_pointer);
    int (*upload)(plugmc_context *, plugmc_device_pointer to, const void *from, size_t bytes);
    /* Waits until the data is there. */
    int (*download)(plugmc_context *, void *to, plugmc_device_pointer from, size_t bytes);
    int (*copy)(plugmc_context *, plugmc_device_pointer to, plugmc_device_pointer from,
                size_t bytes);
    int (*fill)(plugmc_context *, plugmc_device_pointer, unsigned char value, size_t bytes);
    /* The function `name` of a text, compiled (or from the cache) and loaded. */
    int (*kernel)(plugmc_context *, const plugmc_gpu_source *, const char *name, plugmc_kernel **);
    int (*launch)(plugmc_context *, plugmc_kernel *, const uint32_t grid[3],
                  const uint32_t block[3], uint32_t dynamic_shared, void **arguments);
    /* Launches between begin and end are recorded, not run. */
    int (*graph_begin)(plugmc_context *);
    int (*graph_end)(plugmc_context *, plugmc_graph **);
    int (*graph_launch)(plugmc_context *, plugmc_graph *);
    int (*synchronize)(plugmc_context *);
    /* The run's stream as a CUstream, for cuFFT and cuBLAS; the CUDA context is current on the
     * main thread. */
    void *(*stream)(plugmc_context *);
    /* Opens a library of the CUDA Toolkit by its stem ("cufft", "cublas"), the newest found, and
     * keeps it open; symbols are found with dlsym(*handle, ...). */
    int (*library)(plugmc_context *, const char *stem, void **handle);
    /* Of a graph that will not be launched again; what is left goes when the run ends. */
    int (*graph_release)(plugmc_context *, plugmc_graph *);
    /* download without waiting: `to` must not be read, nor go away, before `arrive`, nor `from` be written: kernels that
     * are launched now run beside the copy. Many bytes (32 KiB) are waited for at once. */
    int (*download_later)(plugmc_context *, void *to, plugmc_device_pointer from, size_t bytes);
    /* Waits until all that was asked for by download_later is there; not for what was launched after
     * it. */
    int (*arrive)(plugmc_context *);
} plugmc_gpu;

#endif
