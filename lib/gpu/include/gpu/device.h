/* The open GPU, as shared by the files of lib/gpu. */
#ifndef PLUGMC_GPU_DEVICE_H
#define PLUGMC_GPU_DEVICE_H

#include "gpu/cuda_api.h"
#include "gpu/nvrtc.h"
#include "base/context.h"

typedef struct allocation {
    driver_pointer at;
    size_t bytes;
} allocation;

/* One compiled source, from which several kernels may come. */
typedef struct gpu_module {
    /* SHA-256 of the fused source. */
    uint8_t digest[32];
    bool in_double, is_fused;
    driver_module handle;
    struct gpu_module *next;
} gpu_module;

struct plugmc_kernel {
    char *name, *text_name;
    gpu_module *module;
    driver_function handle;
    /* Dynamic shared memory, in bytes, with which it may be launched so far. */
    uint32_t dynamic_shared;
    /* plugmc_gpu_source.overlap, if GPU and driver support it. */
    bool overlaps;
    struct plugmc_kernel *next;
};

struct plugmc_graph {
    driver_graph_exec handle;
    /* The kernel that was recorded last; NULL: none. */
    const plugmc_kernel *last;
    struct plugmc_graph *next;
};

/* Cells for one range, kept for the next configuration: start [walkers][cells + 1], order [walkers][particles],
 * positions [walkers][particles][3]. */
typedef struct gpu_cells {
    double range;
    /* Number of the sort that made them. */
    uint64_t built;
    plugmc_device_pointer start, order, positions;
    /* [walkers][cells + 1]; 0 between sorts. */
    plugmc_device_pointer counts;
    /* Capacities of `start` and `order`. */
    size_t starts, entries;
    struct gpu_cells *next;
} gpu_cells;

/* Work memory for sorting. */
typedef struct gpu_cells_scratch {
    plugmc_device_pointer keys[2], order, counts, told, ticket;
    size_t entries, count_entries, told_entries;
    /* Launches of cells_places, and tickets drawn in them. */
    uint32_t launches, drawn;
} gpu_cells_scratch;

typedef struct gpu_cells_kernels {
    plugmc_kernel *bin, *count, *places, *move, *start, *gather, *scatter, *settle;
} gpu_cells_kernels;

/* Small downloads that nobody has waited for yet. At most so many are pending. */
enum { MOST_LATE = 64 };
typedef struct gpu_late {
    /* Pinned memory of the host; NULL: none yet. */
    char *pinned;
    /* Bytes of it that are in use. */
    size_t bytes;
    int count;
    struct {
        void *to;
        size_t at, bytes;
    } of[MOST_LATE];
    /* A separate stream for these copies, so that kernels need not wait for them. */
    driver_stream stream;
    /* `begun` is in the run's stream, before the last copy. `event` comes after that copy. */
    driver_event begun, event;
} gpu_late;

/* Properties of the GPU. */
typedef struct gpu_chip {
    driver_device handle;
    char name[256];
    int driver_version; /* 13000 for CUDA 13.0 */
    size_t memory;      /* bytes */
} gpu_chip;

/* Allocated device memory. */
typedef struct gpu_memory {
    allocation *allocations;
    int allocation_count, allocation_capacity;
} gpu_memory;

/* Compiled modules, kernels and graphs. */
typedef struct gpu_code {
    gpu_module *modules;
    plugmc_kernel *kernels;
    plugmc_graph *graphs;
    /* The kernel that was launched last. If something fails, it is named in the message. */
    const plugmc_kernel *last;
    bool recording;
} gpu_code;

/* Small copies between host and device, through pinned memory of the host. Pointers are NULL until memory is needed. */
typedef struct gpu_traffic {
    /* Buffer for small uploads, and how many bytes of it the GPU may not have read yet. */
    char *staged;
    size_t staged_bytes;
    struct gpu_mail *mail;
    /* Memory of gpu_pinned. */
    char *parcels;
    size_t parcel_bytes;
    gpu_late late;
    /* Recorded after everything that was launched before the last two calls of gpu_throttle: pace.c. */
    driver_event pace[2];
    uint64_t paces;
    /* Memory of gpu_word. */
    void *word;
} gpu_traffic;

/* Other processes' GPUs: links.h. */
typedef struct gpu_neighbours {
    /* NULL: none. */
    struct gpu_links *links;
    /* Set once there are links. */
    void (*close_links)(gpu *);
    /* Set by links_when_broken; NULL: none. */
    void (*when_broken)(void);
    /* Memory of the other GPUs: peers.c. */
    driver_pointer *borrowed;
    int borrowed_count;
} gpu_neighbours;

typedef struct gpu_sorts {
    gpu_cells *cells;
    uint64_t sorts;
    gpu_cells_scratch scratch;
    /* NULL until cells are needed. */
    gpu_cells_kernels sorting;
} gpu_sorts;

struct gpu {
    driver_api api;
    nvrtc *compiler;
    bool fast_math;
    gpu_chip chip;
    /* The context of this GPU, and the one that the thread had before. */
    driver_context context, before;
    driver_stream stream;
    plugmc_gpu services;
    const plugmc_system *system;
    report *report;
    /* The plugin that messages are about; NULL: the core itself. */
    plugmc_context *caller;
    /* The GPU has failed, and the error has been reported. */
    bool broken;
    /* NULL unless profiling is requested. */
    struct gpu_profile *profile;
    gpu_memory held;
    gpu_code code;
    gpu_traffic traffic;
    gpu_neighbours neighbours;
    gpu_sorts cells;
};

/* The services, for use inside the core. Functions of type int return PLUGMC_* codes, already reported. */
int gpu_fail(gpu *, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Fills the services of a GPU. */
void gpu_serve(gpu *, int architecture, int processors, int shared);
/* The meaning of a result of the driver. Returns `words`. */
const char *gpu_error_words(const driver_api *, driver_result, char words[256]);
/* The PLUGMC_* code for a result of the driver. A failure is reported, with the kernel that caused it. */
int gpu_checked(gpu *, driver_result, const char *doing);
int gpu_allocate(gpu *, size_t bytes, plugmc_device_pointer *out);
int gpu_release(gpu *, plugmc_device_pointer);
/* Sets memory to 0, in the stream. */
int gpu_clear(gpu *, plugmc_device_pointer, size_t bytes);
/* Copies bytes of the caller to pinned memory, from where they can be uploaded without waiting. NULL: at present
 * there is no space for so many. */
void *gpu_stage(gpu *, const void *from, size_t bytes);
/* Defers a download. Returns whether that was possible; `result` is that of the driver. */
bool gpu_put_off(gpu *, void *to, plugmc_device_pointer from, size_t bytes, driver_result *result);
/* Waits for the deferred downloads, and copies them to their targets. */
driver_result gpu_hand_out(gpu *);
/* This GPU has failed, and the error has been reported. Calls the function of links_when_broken, since
 * other processes may be waiting. */
void gpu_broken(const gpu *);
void gpu_stage_free(gpu *);
void gpu_mail_free(gpu *);
/* Writes the driver's text for a result into `why`, which has 512 bytes. */
void gpu_put_in_words(const gpu *, driver_result, char *why);
void gpu_peers_free(gpu *);
/* Writes the variational parameters of the run into a module. */
int gpu_fill_numbers(gpu *, const gpu_module *);
int gpu_kernel(gpu *, const plugmc_gpu_source *, const char *name, plugmc_kernel **);
int gpu_launch(gpu *, plugmc_kernel *, const uint32_t grid[3], const uint32_t block[3],
               uint32_t dynamic_shared, void **arguments);

/* Record an event in the stream before a launch called `name`, and after it. */
void gpu_profile_mark(gpu *, const char *name);
void gpu_profile_mark_end(gpu *);
void gpu_profile_free(gpu *);
void gpu_throttle_free(gpu *);
#endif
