/* plugmc/proposal.h: how a mover's trial moves are written once, for the CPU and for a GPU. One C file:
 *
 *     #include <plugmc/proposal.h>
 *
 *     typedef struct swap { int64_t trials; ... } swap;
 *
 *     PLUGMC_FN int propose(const swap *s, plugmc_trial *trial) { ... return 1; }
 *
 *     PLUGMC_PROPOSES(swap, propose)
 *
 *     #if PLUGMC_HOST
 *     static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
 *     {
 *         const swap *s = instance;
 *         return plugmc_make_trials(host, s, s->trials, first, n);
 *     }
 *     ... tables and descriptor ...
 *     #endif
 *
 * The file's text travels inside the shared object, and the core compiles it for the GPU in front of its
 * own loop of trial moves. So what stands outside `#if PLUGMC_HOST` is C that is also CUDA C++, without
 * headers; of the struct, propose may read all but what its pointers point to.
 */
#ifndef PLUGMC_PROPOSAL_H
#define PLUGMC_PROPOSAL_H

#if !defined(__CUDACC_RTC__)
/* `path` of PLUGMC_SOURCE where a build gives it, else as the compiler was given it. */
#ifndef PLUGMC_SOURCE
#define PLUGMC_SOURCE __FILE__
#endif

#define PLUGMC_PLUGIN(...)                                                                         \
    static const plugmc_plugin plugmc_descriptor = {PLUGMC_PLUGIN_HEAD, .source = plugmc_source,   \
                                                    .source_end = plugmc_source_end,               \
                                                    .source_name = PLUGMC_SOURCE, __VA_ARGS__};    \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_descriptor; }

#include "plugmc/mover.h"
#include "plugmc/trial.h"

#define PLUGMC_PROPOSES(type, function)                                                            \
    PLUGMC_EMBED(plugmc_source, PLUGMC_SOURCE);                                                    \
    static int plugmc_propose(const void *parameters, plugmc_trial *trial)                         \
    {                                                                                              \
        return function((const type *)parameters, trial);                                          \
    }                                                                                              \
    static inline int plugmc_make_trials(const plugmc_host *host, const type *parameters,          \
                                         int64_t trials, const plugmc_sweeps *sweeps)              \
    {                                                                                              \
        const plugmc_proposal proposal = {.size = sizeof proposal,                                 \
                                          .trials = trials,                                        \
                                          .parameters = parameters,                                \
                                          .propose = plugmc_propose,                               \
                                          .parameters_size = sizeof *parameters};                  \
        return host->trials(host->context, &proposal, sweeps->first, sweeps->n);                   \
    }
/* For a mover's `.sweep = plugmc_sweep`, which makes `trials` of them, in terms of `me`, its struct. */
#define PLUGMC_SWEEPS(type, trials)                                                                \
    static int plugmc_sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)  \
    {                                                                                              \
        const type *me = (const type *)instance;                                                   \
        return plugmc_make_trials(host, me, trials, sweeps);                                       \
    }
#else
#include "plugmc/trial.h"

#define PLUGMC_PROPOSES(type, function)                                                            \
    PLUGMC_FN int plugmc_propose(const void *parameters, plugmc_trial *trial)                      \
    {                                                                                              \
        return function((const type *)parameters, trial);                                          \
    }
#endif

#endif
