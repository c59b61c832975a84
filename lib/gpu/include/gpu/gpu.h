/* The CUDA back end: driver and NVRTC through dlopen, fusion of GPU sources, kernel cache. It can be built and started
 * without CUDA. */
#ifndef PLUGMC_GPU_H
#define PLUGMC_GPU_H

#include <stdbool.h>
#include <stdio.h>

#include "plugmc/everything.h"
#include "base/report.h"

/* ---- Fusion and compilation; no GPU is needed ---- */

/* The opened library. The handle is NULL if there is none. */
typedef struct nvrtc nvrtc;

/* The architectures that stand for all GPUs which are in use: sm_75, ... */
enum { GPU_ARCHITECTURES = 5 };
extern const int gpu_architectures[GPU_ARCHITECTURES];

/* Opens libnvrtc from $PLUGMC_NVRTC, the loader's path, or the usual CUDA folders, newest first. NULL with a reason in
 * `why`. */
nvrtc *nvrtc_open(char why[512]);
void nvrtc_version(const nvrtc *, int *major, int *minor);

/* The fused source for the compiler, malloc'ed. It consists of
 * - definitions that are fixed for the run: PLUGMC_DIMENSION, PLUGMC_IN_SPHERE 0|1, PLUGMC_SPECIES, box lengths,
 *   species tables, PLUGMC_REAL;
 * - the GPU source of every sampled potential that has one, in a namespace of its own, with its parameters as
 *   constants;
 * - the sums over all of them (plugmc/fused.h lists the functions that a mover may call);
 * - the GPU source of the mover. */
char *fuse(const plugmc_system *, const plugmc_gpu_source *);

/* A list parameter whose values a fused source reads from memory (plugmc_system.numbers_change). */
typedef struct changing_table {
    /* Name of the variable in the source. */
    char name[160];
    const void *numbers;
    size_t bytes;
} changing_table;
/* Iterates over these lists for a source in that precision, starting at 0, 0. Returns 0 after the last one. */
int fuse_tables(const plugmc_system *, int in_double, int32_t *term, int32_t *parameter,
                changing_table *);
/* PLUGMC_FUSE_VARIATIONAL: how many sums of variational parameters (plugmc/variational.h) the terms before number
 * `index` have; and writing the functions that add to these sums. */
int64_t fuse_variational_sums(const plugmc_system *, int index);
void fuse_variational_put(FILE *, const plugmc_system *);
/* For a sampled term whose GPU source computes derivatives. NULL: it does not. */
const plugmc_variational *fuse_variational_of(const plugmc_term *);

enum arithmetic { ARITHMETIC_EXACT, ARITHMETIC_FAST, ARITHMETIC_CONTRACTED };
/* The arithmetic that a source requests, unless the user wants fast arithmetic everywhere ([run] fast_math). */
enum arithmetic arithmetic_of(const plugmc_gpu_source *, bool fast_math);

/* A cubin for sm_<architecture>, from the cache or compiled. Exact arithmetic agrees with that of the CPU. On a
 * compile error the compiler's log is reported. The fused source is kept, and its path is printed. */
int compile(nvrtc *, const char *fused, const char *name, int architecture, enum arithmetic,
            void **cubin, size_t *bytes, report *);

/* Folder of the kernel cache, created if necessary (mode 0700). The string is valid until the next call. NULL with a
 * reason. */
const char *cache_folder(char why[512]);

/* ---- The device ---- */

typedef struct gpu gpu;

/* Opens libcuda and GPU number `index`. NULL with a reason from which users see what they can do: no driver, no GPU,
 * driver too old for this NVRTC, ... */
gpu *gpu_open(int index, bool fast_math, char why[512]);
void gpu_close(gpu *);
/* For host programs, which may use GPUs themselves. gpu_enter makes this GPU the current one of the thread.
 * gpu_leave, like gpu_close, restores the previous one. */
void gpu_enter(gpu *);
void gpu_leave(gpu *);
/* Services for plugins. gpu_bind sets their system and their report. */
const plugmc_gpu *gpu_services(gpu *);
void gpu_bind(gpu *, const plugmc_system *, report *);
/* Begins to compile a source for this GPU in a thread of its own. When its first kernel is asked for, it is there or waited for.
 * What fails here is compiled again then, and said. gpu_bind comes first. */
void gpu_compile_ahead(gpu *, const plugmc_gpu_source *);
/* Prints one line for `doctor` and provenance: name, driver, memory, architecture. */
void gpu_describe(FILE *, const gpu *);
/* Number of GPUs, without opening one. The version of the driver is returned as 13000 for CUDA 13.0. 0 without a
 * driver. */
int gpu_count(int *driver_version, char why[512]);

/* Waits until everything that was launched before the previous call has finished. So the host is at most two
 * launches ahead of the device. Does nothing while a graph is recorded. */
void gpu_throttle(gpu *);

/* Drops the pending downloads of download_later, since their target memory will be freed. */
void gpu_forget_downloads(gpu *);

/* Pinned memory of the host, reused by the next call. NULL: there is none; the error has been reported. */
char *gpu_pinned(plugmc_context *, size_t bytes);
/* Copies between that memory and the device, in the stream, without waiting. Returns a PLUGMC_* code, already
 * reported. */
int gpu_bring(plugmc_context *, plugmc_device_pointer there, void *here, size_t bytes,
              bool to_device);

/* A mailbox: device memory that other processes of this machine read over NVLink or PCIe. It has two halves, used in
 * turn. When the second half has been used, the contents of the first have been read. */
typedef struct gpu_letter {
    /* Handle with which the mailbox is opened. */
    char box[64];
    /* Number of the mailbox. It changes when a larger mailbox replaces it. */
    uint64_t number;
    /* Offset of the data for the reader. */
    uint64_t at;
} gpu_letter;
/* Whether other processes can open memory of this GPU. `why` has 512 bytes, as below. */
bool gpu_mail_is_possible(gpu *, char *why);
/* Reserves `bytes` bytes in the half that is next, and fills in the letter. Returns a PLUGMC_* code, already
 * reported, as the functions below do. */
int gpu_mail_begin(gpu *, size_t bytes, gpu_letter *);
/* Copies bytes to offset `at`, in the stream. */
int gpu_mail_put(gpu *, uint64_t at, plugmc_device_pointer from, size_t bytes);
/* Opens the mailbox of a part, which stays open. False, with the reason, if that fails. */
bool gpu_mail_open(gpu *, int32_t part, const gpu_letter *, char *why);
/* Copies bytes from offset `at` of the open mailbox of a part, in the stream. */
int gpu_mail_take(gpu *, int32_t part, uint64_t at, plugmc_device_pointer to, size_t bytes);

/* Memory of one GPU into which kernels of other processes of this machine write. */
typedef struct gpu_key {
    /* Handle with which it is opened. */
    char how[64];
} gpu_key;
/* Allocates zeroed memory, and makes its key. Returns a PLUGMC_* code, already reported. */
int gpu_lend(gpu *, size_t bytes, plugmc_device_pointer *, gpu_key *);
/* Opens the memory of another GPU, so that kernels of this one can write into it. It stays open. False, with the
 * reason, if that fails; `why` has 512 bytes. */
bool gpu_borrow(gpu *, const gpu_key *, plugmc_device_pointer *, char *why);
/* A word in host memory that kernels can read, at first 0. Every call returns the same one. NULL: no memory; the
 * error has been reported. */
volatile uint32_t *gpu_word(gpu *);

/* ---- Where its time goes ---- */

/* The launches of one kernel. */
typedef struct gpu_share {
    /* Valid as long as the gpu. "graph" for recorded launches. */
    const char *name;
    int64_t launches;
    /* Time in the kernel. */
    double seconds;
    /* Time, in seconds, from its end to the next launch: libraries, copies, waiting. */
    double behind;
} gpu_share;

/* A mover that can fill cells. */
typedef struct cell_filler {
    int (*fill)(void *instance, const plugmc_host *, const plugmc_cell_filling *);
    void *instance;
    const plugmc_host *host;
} cell_filler;

/* From now on an event is recorded before and after each of the first 32768 launches. So launches cannot overlap.
 * Returns a PLUGMC_* code, already reported, as the next function does. */
int gpu_profile_begin(gpu *);
/* Waits for the GPU. *out is malloc'ed, in the order of first launches; names are those of kernels. */
int gpu_profile_end(gpu *, gpu_share **out, int *count);

/* After variational parameters were set: writes them into all loaded modules. Returns a PLUGMC_* code, already
 * reported. */
int gpu_write_numbers(plugmc_context *);

/* plugmc_view.cells on the device. `elsewhere`: shortest edges of boxes in other processes (cell_grid_make_beside);
 * NULL: there are none. The gpu keeps and reuses the memory. */
int gpu_cells_build(gpu *, const plugmc_system *, const plugmc_view *, double range,
                    const double *elsewhere, plugmc_cells *out);
/* The same for particles that a mover holds and sorts (PLUGMC_FILLS_CELLS), whatever positions the view has.
 * PLUGMC_UNANSWERED if the mover does not do this, or if this library sorts so many particles faster. */
int gpu_cells_fill(gpu *, const plugmc_system *, const plugmc_view *, double range,
                   const double *elsewhere, const cell_filler *, plugmc_cells *out);
/* The number of the sort that made the cells for this range. Each sort has a different number. 0: there was none. */
uint64_t gpu_cells_built(const gpu *, double range);
/* The largest range, up to `most`, for which cells were built before; `range` if none is larger than that. */
double gpu_cells_known(const gpu *, double range, double most);
#endif
