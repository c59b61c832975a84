/* The CUDA back end: driver and NVRTC through dlopen, fusion of GPU sources, kernel cache.
 * Nothing here needs CUDA to be built, or to be there. */
#ifndef PLUGMC_GPU_H
#define PLUGMC_GPU_H

#include <stdbool.h>
#include <stdio.h>

#include "plugmc/everything.h"
#include "base/report.h"

/* ---- Fusion and compilation: works without a GPU ---- */

typedef struct nvrtc nvrtc; /* the library, opened; NULL handle if there is none */

/* Opens libnvrtc ($PLUGMC_NVRTC, the loader's path, the usual CUDA folders, newest first).
 * NULL with a reason in `why` (static text or formatted into it). */
nvrtc *nvrtc_open(char why[512]);
void nvrtc_version(const nvrtc *, int *major, int *minor);

/* The text that goes to the compiler: definitions that are fixed for the run (PLUGMC_DIMENSION,
 * PLUGMC_IN_SPHERE 0|1, PLUGMC_SPECIES, box lengths, species tables, PLUGMC_REAL), every
 * sampled potential with a text in a namespace of its own with its parameters as constants, the
 * sums over all of them (plugmc/fused.h says which functions a mover may call), and the
 * mover's text. malloc'ed. */
char *fuse(const plugmc_system *, const plugmc_gpu_source *);

/* A list whose numbers a fused source reads from memory (plugmc_system.numbers_change). */
typedef struct changing_table {
    char name[160]; /* of the variable in the text */
    const void *numbers;
    size_t bytes;
} changing_table;
/* The next one of a text in that precision, from 0, 0 on; 0: there are no more. */
int fuse_tables(const plugmc_system *, int in_double, int32_t *term, int32_t *parameter,
                changing_table *);
/* PLUGMC_FUSE_VARIATIONAL: how many sums of variational parameters (plugmc/variational.h) the terms before number `index` have, and the
 * functions that add to them. */
int64_t fuse_variational_sums(const plugmc_system *, int index);
void fuse_variational_put(FILE *, const plugmc_system *);
/* Of a sampled term whose text gives derivatives; NULL: it has none. */
const plugmc_variational *fuse_variational_of(const plugmc_term *);

enum arithmetic { ARITHMETIC_EXACT, ARITHMETIC_FAST, ARITHMETIC_CONTRACTED };
/* What a text asks for, unless the user wants all of them fast ([run] fast_math). */
enum arithmetic arithmetic_of(const plugmc_gpu_source *, bool fast_math);

/* A cubin for sm_<architecture>, from the cache or compiled; exact arithmetic is that of the CPU.
 * On a compile error the log is reported, the fused source kept beside it and its path named. */
int compile(nvrtc *, const char *fused, const char *name, int architecture, enum arithmetic,
            void **cubin, size_t *bytes, report *);

/* Folder of the kernel cache, made if need be (mode 0700), valid until the next call; NULL with a
 * reason. */
const char *cache_folder(char why[512]);

/* ---- The device ---- */

typedef struct gpu gpu;

/* Opens libcuda and GPU number `index`. NULL with a reason that says what a user can do: no
 * driver, no GPU, driver too old for this NVRTC, ... */
gpu *gpu_open(int index, bool fast_math, char why[512]);
void gpu_close(gpu *);
/* In a host program, which may use GPUs itself: this one is that of the thread from here on, and then what was before
 * is again, as after gpu_close. */
void gpu_enter(gpu *);
void gpu_leave(gpu *);
/* Services for plugins, bound to a context (report) and a system. */
const plugmc_gpu *gpu_services(gpu *);
void gpu_bind(gpu *, const plugmc_system *, report *);
/* One-line facts for `doctor` and provenance: name, driver, memory, architecture. */
void gpu_describe(FILE *, const gpu *);
/* "3 GPUs" etc. without opening one; the driver's version as 13000; 0 if no driver. */
int gpu_count(int *driver_version, char why[512]);

/* Waits until what was launched before the call before this one is done; nothing while a graph is
 * recorded. So the host is at most two launches ahead of the device. */
void gpu_keep_pace(gpu *);

/* Drops what download_later was asked for and nobody has waited for, since the memory it was for goes. */
void gpu_forget_downloads(gpu *);

/* Pinned memory of the host, kept for the next call; NULL: there is none, which has been said. */
char *gpu_pinned(plugmc_context *, size_t bytes);
/* Between that and the device, in the stream, without waiting. PLUGMC_* code, reported. */
int gpu_bring(plugmc_context *, plugmc_device_pointer there, void *here, size_t bytes,
              bool to_device);

/* Memory that other processes of this machine read over NVLink or PCIe: a mailbox, into which one puts what is for
 * them. It has two halves, used in turn: what was put into one is read by the time that the other has been used. */
typedef struct gpu_letter {
    char box[64];    /* how to open it */
    uint64_t number; /* of the mailbox: another one, as the last was too small */
    uint64_t at;     /* where it begins what is for the reader */
} gpu_letter;
/* Whether memory here can be opened by others; `why` has room for 512 bytes, as below. */
bool gpu_mail_is_possible(gpu *, char *why);
/* Room for `bytes` bytes in the half whose turn it is, and the letter that says so. PLUGMC_* code, reported, as below. */
int gpu_mail_begin(gpu *, size_t bytes, gpu_letter *);
/* Puts bytes there in the stream. */
int gpu_mail_put(gpu *, uint64_t at, plugmc_device_pointer from, size_t bytes);
/* Whether the mailbox of a part can be opened; it stays open. `why` has room for 512 bytes. */
bool gpu_mail_open(gpu *, int32_t part, const gpu_letter *, char *why);
/* What is at `at` in the open mailbox of a part, in the stream. */
int gpu_mail_take(gpu *, int32_t part, uint64_t at, plugmc_device_pointer to, size_t bytes);

/* Memory of this GPU into which kernels of other processes of this machine write, and theirs. */
typedef struct gpu_key {
    char how[64]; /* to open it */
} gpu_key;
/* Zeroed memory, and its key. PLUGMC_* code, reported. */
int gpu_lend(gpu *, size_t bytes, plugmc_device_pointer *, gpu_key *);
/* Whether the memory of another GPU can be opened, for kernels of this one to write into; it stays open. `why` has room
 * for 512 bytes. */
bool gpu_borrow(gpu *, const gpu_key *, plugmc_device_pointer *, char *why);
/* A word of the host that kernels read, 0; the same at each call. NULL: there is no memory, which has been said. */
volatile uint32_t *gpu_word(gpu *);

/* ---- Where its time goes ---- */

/* The launches of one kernel. */
typedef struct gpu_share {
    const char *name; /* lives as long as the gpu; "graph" for recorded launches */
    int64_t launches;
    double seconds; /* in the kernel */
    double behind;  /* seconds from its end to the next launch: libraries, copies, waiting */
} gpu_share;

/* A mover that can fill cells. */
typedef struct cell_filler {
    int (*fill)(void *instance, const plugmc_host *, const plugmc_cell_filling *);
    void *instance;
    const plugmc_host *host;
} cell_filler;

/* From here on an event stands before and behind every launch (of the first 32768), which keeps
 * launches from overlapping. PLUGMC_* code, reported, as the next. */
int gpu_profile_begin(gpu *);
/* Waits. *out is malloc'ed, in the order of the first launches; names are those of kernels. */
int gpu_profile_end(gpu *, gpu_share **out, int *count);

/* Variational parameters were set: writes them into all texts that were loaded. PLUGMC_* code, reported. */
int gpu_write_numbers(plugmc_context *);

/* Device side of plugmc_view.cells, beside boxes of other processes (cell_grid_make_beside; NULL: there are none); memory
 * is kept and reused by the gpu. */
int gpu_cells_build(gpu *, const plugmc_system *, const plugmc_view *, double range,
                    const double *elsewhere, plugmc_cells *out);
/* The same, of particles that a mover holds and sorts (PLUGMC_FILLS_CELLS), whatever positions the view has.
 * PLUGMC_UNANSWERED where it does not, or where cells of so many particles are sorted faster here. */
int gpu_cells_fill(gpu *, const plugmc_system *, const plugmc_view *, double range,
                   const double *elsewhere, const cell_filler *, plugmc_cells *out);
/* The number of the sort that the cells for this range come from, another one each time; 0: there was none. */
uint64_t gpu_cells_built(const gpu *, double range);
/* The largest range up to `most` that cells were built for before, or `range` if there is none above that. */
double gpu_cells_known(const gpu *, double range, double most);
#endif
