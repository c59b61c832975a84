/* plugmc/proposal.h: include it to write a mover's trial moves once, for the CPU and for a GPU. One C file:
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
 *     PLUGMC_SWEEPS(swap, me->trials)
 *     ... tables and descriptor, with .sweep = plugmc_sweep ...
 *     #endif
 *
 * The source of the file is embedded in the shared object. For a GPU the core compiles it together with its own
 * loop of trial moves. So everything outside `#if PLUGMC_HOST` has to be valid C and CUDA C++, without headers.
 * `propose` may read all members of the struct, but must not follow its pointers.
 *
 * On a GPU the threads of a warp propose 32 trials at once, each in the state before the first of them; those after an accepted
 * one are proposed again. A mover that reads no position or orientation but those of the particle that it moves, as most do, says
 * `#define PLUGMC_READS_ITS_PARTICLE_ALONE 1`: then only those of the particle that has moved are, and all after a change
 * of counts. Movers that include plugmc/near.h propose one at a time, with all threads of a warp. */
#ifndef PLUGMC_PROPOSAL_H
#define PLUGMC_PROPOSAL_H

#if !defined(__CUDACC_RTC__)
/* The path that the build gave as PLUGMC_SOURCE, else the path that the compiler was given. */
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
/* Defines plugmc_sweep, for `.sweep = plugmc_sweep`. `trials` per walker and sweep may be computed from `me`, the
 * mover's struct; 0: as many as there are particles. */
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
