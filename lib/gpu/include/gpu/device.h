/* The open GPU, as device.c and cells.c share it. */
#ifndef PLUGMC_GPU_DEVICE_H
#define PLUGMC_GPU_DEVICE_H

#include "gpu/cuda_api.h"
#include "gpu/nvrtc.h"
#include "base/context.h"

typedef struct allocation {
    driver_pointer at;
    size_t bytes;
} allocation;

/* One compiled text; several kernels may come from it. */
typedef struct gpu_module {
    uint8_t digest[32]; /* of the fused source */
    bool in_double, is_fused;
    driver_module handle;
    struct gpu_module *next;
} gpu_module;

struct plugmc_kernel {
    char *name, *text_name;
    gpu_module *module;
    driver_function handle;
    uint32_t dynamic_shared; /* bytes it may be launched with so far */
    bool overlaps;           /* plugmc_gpu_source.overlap, where GPU and driver can */
    struct plugmc_kernel *next;
};

struct plugmc_graph {
    driver_graph_exec handle;
    const plugmc_kernel *last; /* kernel that was recorded last; NULL if none */
    struct plugmc_graph *next;
};

/* Cells for one range, kept for the next configuration. [walkers][cells + 1],
 * [walkers][particles], [walkers][particles][3]. */
typedef struct gpu_cells {
    double range;
    uint64_t built; /* by which of the gpu's sorts */
    plugmc_device_pointer start, order, positions;
    plugmc_device_pointer counts; /* [walkers][cells + 1], 0 between sorts */
    size_t starts, entries;       /* numbers of entries there is room for */
    struct gpu_cells *next;
} gpu_cells;

/* What sorting needs beside its result. */
typedef struct gpu_cells_scratch {
    plugmc_device_pointer keys[2], order, counts, told, ticket;
    size_t entries, count_entries, told_entries;
    uint32_t launches, drawn; /* of cells_places, and of its tickets */
} gpu_cells_scratch;

typedef struct gpu_cells_kernels {
    plugmc_kernel *bin, *count, *places, *move, *start, *gather, *scatter, *settle;
} gpu_cells_kernels;

/* Small downloads that nobody has waited for yet. */
enum { MOST_LATE = 64 };
typedef struct gpu_late {
    char *pinned; /* memory of the host; NULL: none yet */
    size_t bytes; /* of it that are taken */
    int count;
    struct {
        void *to;
        size_t at, bytes;
    } of[MOST_LATE];
    driver_stream stream;      /* of these copies, so that kernels need not wait for them */
    driver_event begun, event; /* before the last of them, in the run's stream; behind it */
} gpu_late;

/* What it is. */
typedef struct gpu_chip {
    driver_device handle;
    char name[256];
    int driver_version; /* 13000 for CUDA 13.0 */
    size_t memory;      /* bytes */
} gpu_chip;

/* Device memory that was given out. */
typedef struct gpu_memory {
    allocation *allocations;
    int allocation_count, allocation_capacity;
} gpu_memory;

/* What was compiled, and is launched. */
typedef struct gpu_code {
    gpu_module *modules;
    plugmc_kernel *kernels;
    plugmc_graph *graphs;
    const plugmc_kernel *last; /* launched last: the suspect when something fails */
    bool recording;
} gpu_code;

/* Small copies between host and device, through pinned memory of the host; NULL where there is none yet. */
typedef struct gpu_traffic {
    char *staged;          /* from which small uploads go on */
    size_t staged_bytes;   /* of it that the GPU may not have read yet */
    struct gpu_mail *mail; /* NULL: none yet */
    char *parcels;         /* of gpu_pinned */
    size_t parcel_bytes;
    gpu_late late;
    driver_event pace[2]; /* behind what was launched before the last two calls: pace.c */
    uint64_t paces;
    void *word; /* of gpu_word */
} gpu_traffic;

/* Other processes' GPUs: links.h. */
typedef struct gpu_neighbours {
    struct gpu_links *links;    /* NULL: none */
    void (*close_links)(gpu *); /* once there are any */
    void (*when_broken)(void);  /* of links_when_broken; NULL: nothing is to be done */
    driver_pointer *borrowed;   /* memory of theirs: peers.c */
    int borrowed_count;
} gpu_neighbours;

typedef struct gpu_sorts {
    gpu_cells *cells;
    uint64_t sorts;
    gpu_cells_scratch scratch;
    gpu_cells_kernels sorting; /* NULL until cells are asked for */
} gpu_sorts;

struct gpu {
    driver_api api;
    nvrtc *compiler;
    bool fast_math;
    gpu_chip chip;
    driver_context context, before; /* of this thread, and what it had before it came in */
    driver_stream stream;
    plugmc_gpu services;
    const plugmc_system *system;
    report *report;
    plugmc_context *caller;      /* whom a message is about; NULL: the core itself */
    bool broken;                 /* the GPU has failed, and that has been said */
    struct gpu_profile *profile; /* NULL unless it is asked for */
    gpu_memory held;
    gpu_code code;
    gpu_traffic traffic;
    gpu_neighbours neighbours;
    gpu_sorts cells;
};

/* The services, for use inside the core: PLUGMC_* codes, reported. */
int gpu_fail(gpu *, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Fills the services of a GPU. */
void gpu_serve(gpu *, int architecture, int processors, int shared);
/* What a result of the driver means. Returns words. */
const char *gpu_error_words(const driver_api *, driver_result, char words[256]);
/* The code of a call; a failure is reported, with the kernel that caused it. */
int gpu_checked(gpu *, driver_result, const char *doing);
int gpu_allocate(gpu *, size_t bytes, plugmc_device_pointer *out);
int gpu_release(gpu *, plugmc_device_pointer);
int gpu_clear(gpu *, plugmc_device_pointer, size_t bytes); /* to 0, in the stream */
/* Where `bytes` bytes of the caller are copied to, from where they can be uploaded without waiting; NULL: they are
 * too many just now. */
void *gpu_stage(gpu *, const void *from, size_t bytes);
/* Whether a download could be put off; `result` is the driver's. */
bool gpu_put_off(gpu *, void *to, plugmc_device_pointer from, size_t bytes, driver_result *result);
/* Waits for them, and hands them out. */
driver_result gpu_hand_out(gpu *);
/* This GPU has failed, which has been said: others may wait for it. */
void gpu_broken(const gpu *);
void gpu_stage_free(gpu *);
void gpu_mail_free(gpu *);
/* What the driver says of a result, into room for 512 bytes. */
void gpu_put_in_words(const gpu *, driver_result, char *why);
void gpu_peers_free(gpu *);
/* Writes the variational parameters of the run into a module. */
int gpu_fill_numbers(gpu *, const gpu_module *);
int gpu_kernel(gpu *, const plugmc_gpu_source *, const char *name, plugmc_kernel **);
int gpu_launch(gpu *, plugmc_kernel *, const uint32_t grid[3], const uint32_t block[3],
               uint32_t dynamic_shared, void **arguments);

/* An event in the stream before a launch called `name`, and behind it. */
void gpu_profile_mark(gpu *, const char *name);
void gpu_profile_mark_end(gpu *);
void gpu_profile_free(gpu *);
void gpu_pace_free(gpu *);
#endif
