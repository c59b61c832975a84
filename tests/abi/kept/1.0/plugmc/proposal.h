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
    static const plugmc_plugin plugmc_descriptor = {PLUGMC_PLUGIN_HEAD, .text = plugmc_text,       \
                                                    .text_end = plugmc_text_end,                   \
                                                    .text_name = PLUGMC_SOURCE, __VA_ARGS__};      \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_descriptor; }

#include "plugmc/plugin.h"

#define PLUGMC_PROPOSES(type, function)                                                            \
    PLUGMC_EMBED(plugmc_text, PLUGMC_SOURCE);                                                      \
    static int plugmc_propose(const void *parameters, plugmc_trial *trial)                         \
    {                                                                                              \
        return function((const type *)parameters, trial);                                          \
    }                                                                                              \
    static inline int plugmc_make_trials(const plugmc_host *host, const type *parameters,          \
                                         int64_t trials, uint64_t first, uint64_t n)               \
    {                                                                                              \
        const plugmc_proposal proposal = {.size = sizeof proposal,                                 \
                                          .trials = trials,                                        \
                                          .parameters = parameters,                                \
                                          .propose = plugmc_propose,                               \
                                          .parameters_size = sizeof *parameters};                  \
        return host->trials(host->context, &proposal, first, n);                                   \
    }
#else
#include "plugmc/energies.h"

#define PLUGMC_PROPOSES(type, function)                                                            \
    PLUGMC_FN int plugmc_propose(const void *parameters, plugmc_trial *trial)                      \
    {                                                                                              \
        return function((const type *)parameters, trial);                                          \
    }
#endif

/* A place drawn uniformly in a box or sphere: with D(k) = plugmc_draw(seed, sweep, walker, number,
 * PLUGMC_PURPOSE_TRIAL, k), fractional coordinates are plugmc_uniform_double of words 0 and 1 of D(0), 2 and 3
 * of D(0), 0 and 1 of D(1); in a sphere it is radius times plugmc_draw_in_ball. */
PLUGMC_FN void plugmc_draw_place(const plugmc_trial *t, double place[3])
{
    const plugmc_box *box = t->box;
    if (box->domain == PLUGMC_DOMAIN_SPHERE) {
        plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, place);
        for (int d = 0; d < 3; d++) place[d] *= box->radius;
        return;
    }
    const plugmc_random a = plugmc_draw(t->seed, t->sweep, t->walker, t->number,
                                        PLUGMC_PURPOSE_TRIAL, 0),
                        b = plugmc_draw(t->seed, t->sweep, t->walker, t->number,
                                        PLUGMC_PURPOSE_TRIAL, 1);
    const double f[3] = {plugmc_uniform_double(a.word[0], a.word[1]),
                         plugmc_uniform_double(a.word[2], a.word[3]),
                         plugmc_uniform_double(b.word[0], b.word[1])};
    place[0] = place[1] = place[2] = 0;
    for (int k = 0; k < t->dimension; k++)
        for (int d = 0; d < t->dimension; d++) place[d] += f[k] * box->vector[k][d];
}

#endif
