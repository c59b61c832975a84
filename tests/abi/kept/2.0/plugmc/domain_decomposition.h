/* Domain decomposition: one system over several processes, each with its own GPU or processors.
 *
 * If a run has more processes than walkers, `parts` processes simulate the same walker. Each of them holds the
 * whole state, so potentials, observables and checkpoints need not know. A mover with PLUGMC_DECOMPOSES_DOMAIN
 * sweeps only a part of the particles in each process (PLUGMC_DOMAIN_DECOMPOSITION). It fetches what other
 * processes have swept: around its own part whenever it needs that, and all of it before it stores, archives or
 * reports an energy that is not a number. These callbacks, and sweep, load and counts, are called in all processes
 * alike; counts are added over the processes.
 *
 * An observable that returns a finite reach measures only the particles of its part in each process
 * (PLUGMC_MEASURES_SHARES, PLUGMC_GIVES_SHARES). */
#ifndef PLUGMC_SPREAD_H
#define PLUGMC_SPREAD_H

#include "plugmc/gpu.h"
#include "plugmc/plugin.h"

/* Bytes to send to another part, and bytes to receive from it; 0: none. */
typedef struct plugmc_message {
    uint32_t size;    /* sizeof(plugmc_message): stride of the array */
    int32_t part;     /* the other one */
    const void *send; /* host memory, or a plugmc_device_pointer */
    void *receive;
    size_t send_bytes, receive_bytes;
} plugmc_message;

/* All parts of all systems of the run make these calls in the same order, from the main thread. Each passes its own
 * code: PLUGMC_OK, or the error for which it cannot continue, or PLUGMC_STOPPED if host->stopping returned 1, which
 * may happen at different times in different processes. All get the same answer: PLUGMC_OK; or PLUGMC_STOPPED, to
 * be returned by sweep; or an error, to be returned by every callback, after which no call waits again. */
typedef struct plugmc_decomposition {
    uint32_t size;
    int32_t part, parts;
    /* Sends and receives n messages. Device memory: on the run's stream, so later launches see what was received.
     * Host memory: complete on return. Messages between the same two parts are matched in order. */
    int (*deliver)(plugmc_context *, int code, int32_t on_device, const plugmc_message *,
                   int32_t n);
    /* Each of the n values becomes the maximum over all parts. */
    int (*largest)(plugmc_context *, int code, int64_t *values, int32_t n);
    /* In prepare, on GPUs: allocates `bytes` zeroed bytes in the memory of each part, for kernels that run in all
     * parts at the same time and write into each other's memory. of_parts [parts]: their addresses on this GPU.
     * *lost: a 32-bit word in host memory that these kernels read: 0, or 1 once a process is gone. A kernel that
     * waits for another part has to poll it and then stop waiting; the next collective call of the host then fails
     * and ends the run. So all parts have to agree (`largest`) before such a kernel is launched, and after it.
     * Returns PLUGMC_ERROR_DEVICE, reported, if a GPU cannot write into the memory of another one: several
     * machines, GPUs without a connection, two processes on one GPU. */
    int (*memory)(plugmc_context *, int code, size_t bytes, plugmc_device_pointer *of_parts,
                  plugmc_device_pointer *lost);
} plugmc_decomposition;

/* The processes that simulate the same walker, from prepare on; NULL: no decomposition. */
#define PLUGMC_DOMAIN_DECOMPOSITION "plugmc.domain_decomposition/1"
static inline const plugmc_decomposition *plugmc_decomposition_of(const plugmc_host *host)
{
    return (const plugmc_decomposition *)host->extension(host->context,
                                                         PLUGMC_DOMAIN_DECOMPOSITION);
}

#endif
