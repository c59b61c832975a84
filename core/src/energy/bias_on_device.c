/* Weights of macrostates and the transitions of trials on a GPU. */
#include <stdlib.h>

#include "energy/on_device.h"
#include "energy/walk_task.h"
#include "energy/bias.h"

PLUGMC_EMBED(text_of_bias, PLUGMC_INCLUDE_PATH "/../../src/energy/bias.cu");

enum { GATHER_THREADS = 256 }; /* as in bias.cu */

_Static_assert((int)WALK_TRANSITIONS == (int)BIAS_TRANSITIONS &&
                   (int)WALK_VISITS == (int)BIAS_VISITS && (int)WALK_UP == (int)PLUGMC_UP &&
                   (int)WALK_DOWN == (int)PLUGMC_DOWN,
               "one layout of the transition counts");

static size_t entries_of(const hamiltonian *h)
{
    return (size_t)h->bias.of->bins * BIAS_TRANSITIONS;
}

static int make_memory(hamiltonian *h, const plugmc_host *host)
{
    bias *b = &h->bias;
    const size_t walkers = (size_t)h->system->walkers, bins = (size_t)b->of->bins,
                 transitions = walkers * entries_of(h) * sizeof(double),
                 window = walkers * 2 * sizeof(int32_t),
                 of_count = (size_t)h->system->species_count * sizeof(double);
    if (b->on_device) return PLUGMC_OK;
    int code = host->gpu->allocate(host->context, transitions, &b->on_device);
    if (!code) code = host->gpu->fill(host->context, b->on_device, 0, transitions);
    if (!code) code = host->gpu->allocate(host->context, entries_of(h) * sizeof(double), &b->sums);
    if (!code) code = host->gpu->allocate(host->context, bins * sizeof(double), &b->weight);
    if (!code) code = host->gpu->allocate(host->context, of_count, &b->of_count);
    if (!code) code = host->gpu->upload(host->context, b->of_count, b->of->of_count, of_count);
    const plugmc_gpu_source text = {
        .size = sizeof text, .name = "bias.cu", .source = text_of_bias, .double_precision = 1};
    if (!code) code = host->gpu->kernel(host->context, &text, "bias_gather", &b->gather);
    if (code || !b->of->window) return code;
    code = host->gpu->allocate(host->context, window, &b->window);
    return code ? code : host->gpu->upload(host->context, b->window, b->of->window, window);
}

int on_device_bias(hamiltonian *h, const plugmc_host *host, const plugmc_mover *mover,
                   walk_bias *out)
{
    const plugmc_macrostates *m = h->bias.of;
    *out = (walk_bias){0};
    if (!m) return PLUGMC_OK;
    int code = make_memory(h, host);
    if (!code)
        code = host->gpu->upload(host->context, h->bias.weight, m->weight,
                                 (size_t)m->bins * sizeof *m->weight);
    *out = (walk_bias){.bins = m->bins,
                       .counted = bias_concerns(h, mover->changes),
                       .of_volume = m->of_volume,
                       .low = m->low,
                       .width = m->width,
                       .of_count = at_device(h->bias.of_count),
                       .window = at_device(h->bias.window),
                       .weight = at_device(h->bias.weight),
                       .transitions = at_device(h->bias.on_device)};
    return code;
}

int on_device_gather(hamiltonian *h, const plugmc_host *host, double *sums)
{
    uint32_t walkers = (uint32_t)h->system->walkers;
    uint64_t entries = entries_of(h);
    double *found = malloc(entries * sizeof *found);
    if (!found) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for macrostates");
    int code = on_device_launch(host, h->bias.gather,
                                (entries + GATHER_THREADS - 1) / GATHER_THREADS, GATHER_THREADS,
                                (void *[]){&h->bias.on_device, &entries, &walkers, &h->bias.sums});
    if (!code)
        code = host->gpu->download(host->context, found, h->bias.sums, entries * sizeof *found);
    for (uint64_t k = 0; k < entries && !code; k++) sums[k] += found[k];
    free(found);
    h->bias.written_on_device = false;
    return code;
}

static size_t bytes_of(const hamiltonian *h)
{
    return (size_t)h->system->walkers * entries_of(h) * sizeof(double);
}

int on_device_read_transitions(hamiltonian *h, const plugmc_host *host, double *transitions)
{
    return host->gpu->download(host->context, transitions, h->bias.on_device, bytes_of(h));
}

int on_device_write_transitions(hamiltonian *h, const plugmc_host *host, const double *transitions)
{
    if (!host->gpu)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the run was stopped on a GPU between two measurements, so it can "
                          "be resumed only on a GPU");
    const int code = make_memory(h, host);
    return code ? code
                : host->gpu->upload(host->context, h->bias.on_device, transitions, bytes_of(h));
}
