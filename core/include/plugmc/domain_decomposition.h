/* One system over several processes, each with its own GPU or its own processors.
 *
 * A run of more processes than walkers is spread: `parts` processes have the same walker. Each holds its state
 * as if it were alone, so potentials, observables and checkpoints need not know. A mover with
 * PLUGMC_DECOMPOSES_DOMAIN (PLUGMC_DOMAIN_DECOMPOSITION) sweeps a part of the particles in each process, and brings what others have
 * swept from there: around its own part when it needs it, all of it before it gives, archives or reports an energy
 * that is not a number. These callbacks, and sweep, take and counts, are made by all processes alike; counts are added over them.
 *
 * An observable that says how far it reaches measures, in each process, the particles of its part alone
 * (PLUGMC_MEASURES_SHARES, PLUGMC_GIVES_SHARES). */
#ifndef PLUGMC_SPREAD_H
#define PLUGMC_SPREAD_H

#include "plugmc/gpu.h"
#include "plugmc/plugin.h"

/* Bytes for another part, and bytes from there; 0: none. */
typedef struct plugmc_message {
    uint32_t size; /* sizeof(plugmc_message), the stride of an array of them */
    int32_t part;
    const void *send; /* host memory, or a plugmc_device_pointer */
    void *receive;
    size_t send_bytes, receive_bytes;
} plugmc_message;

/* The calls are made by all parts of all systems of the run in the same order, from the main thread. Each carries
 * the caller's own code: PLUGMC_OK, or why it cannot go on, or PLUGMC_STOPPED if host->stopping has said so,
 * which may be heard at other times in other processes. All of them get the same answer: PLUGMC_OK; PLUGMC_STOPPED,
 * to be returned by sweep; or an error, to be returned by every callback, after which no call waits again. */
typedef struct plugmc_decomposition {
    uint32_t size;
    int32_t part, parts;
    /* All parcels of device memory are of the run's stream, in which what has been received follows; those of host
     * memory are there when it returns. Those between two parts are matched in their order. */
    int (*deliver)(plugmc_context *, int code, int32_t on_device, const plugmc_message *,
                   int32_t n);
    /* Each of n numbers becomes the largest of those of all. */
    int (*largest)(plugmc_context *, int code, int64_t *values, int32_t n);
    /* In prepare, on GPUs: `bytes` zeroed bytes in the memory of each, for kernels that run in all parts at the same time
     * and write into each other's. of_parts [parts]: where each is seen from here. *lost: a 32-bit word of the host, for
     * these kernels to read: 0, and 1 once a process is gone. Whatever waits for another part looks at it, and waits no
     * longer then; the host will wait in vain for what is agreed upon next, and end. So before such a kernel is
     * launched, and after it, all agree (`largest`). PLUGMC_ERROR_DEVICE, reported, where a GPU cannot write into the
     * memory of another: several machines, GPUs without a way to each other, two processes on one GPU. */
    int (*memory)(plugmc_context *, int code, size_t bytes, plugmc_device_pointer *of_parts,
                  plugmc_device_pointer *lost);
} plugmc_decomposition;

/* Other processes that have the same walkers, from prepare on; NULL: there are none. */
#define PLUGMC_DOMAIN_DECOMPOSITION "plugmc.domain_decomposition/1"
static inline const plugmc_decomposition *plugmc_decomposition_of(const plugmc_host *host)
{
    return (const plugmc_decomposition *)host->extension(host->context,
                                                         PLUGMC_DOMAIN_DECOMPOSITION);
}

#endif
