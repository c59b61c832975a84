/* Weights of macrostates and the books of trials on a GPU. */
#include <stdlib.h>

#include "energy/on_device.h"
#include "energy/walk_task.h"

_Static_assert((int)WALK_BOOKS == (int)BIAS_BOOKS && (int)WALK_VISITS == (int)BIAS_VISITS &&
                   (int)WALK_UP == (int)PLUGMC_UP && (int)WALK_DOWN == (int)PLUGMC_DOWN,
               "one layout of the books");

static size_t entries_of(const hamiltonian *h) { return (size_t)h->bias.of->bins * BIAS_BOOKS; }

static int make_memory(hamiltonian *h, const plugmc_host *host)
{
    bias *b = &h->bias;
    const size_t walkers = (size_t)h->system->walkers, bins = (size_t)b->of->bins,
                 books = walkers * entries_of(h) * sizeof(double),
                 window = walkers * 2 * sizeof(int32_t),
                 of_count = (size_t)h->system->species_count * sizeof(double);
    if (b->on_device) return PLUGMC_OK;
    int code = host->gpu->allocate(host->context, books, &b->on_device);
    if (!code) code = host->gpu->fill(host->context, b->on_device, 0, books);
    if (!code) code = host->gpu->allocate(host->context, entries_of(h) * sizeof(double), &b->sums);
    if (!code) code = host->gpu->allocate(host->context, bins * sizeof(double), &b->weight);
    if (!code) code = host->gpu->allocate(host->context, of_count, &b->of_count);
    if (!code) code = host->gpu->upload(host->context, b->of_count, b->of->of_count, of_count);
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
                       .books = bias_concerns(h, mover->changes),
                       .of_volume = m->of_volume,
                       .low = m->low,
                       .width = m->width,
                       .of_count = at_device(h->bias.of_count),
                       .window = at_device(h->bias.window),
                       .weight = at_device(h->bias.weight),
                       .book = at_device(h->bias.on_device)};
    return code;
}

int on_device_gather(hamiltonian *h, const plugmc_host *host)
{
    plugmc_macrostates *m = h->bias.of;
    uint32_t walkers = (uint32_t)h->system->walkers;
    const size_t entries = entries_of(h);
    walk_bias task = {.bins = m->bins, .book = at_device(h->bias.on_device)};
    if (!h->bias.gather) return PLUGMC_OK;
    double *sums = malloc(entries * sizeof *sums);
    if (!sums) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for macrostates");
    int code = on_device_launch(host, h->bias.gather, (entries + WALK_THREADS - 1) / WALK_THREADS,
                                WALK_THREADS, (void *[]){&task, &walkers, &h->bias.sums});
    if (!code)
        code = host->gpu->download(host->context, sums, h->bias.sums, entries * sizeof *sums);
    for (int32_t b = 0; b < m->bins && !code; b++) {
        const double *row = &sums[(size_t)b * BIAS_BOOKS];
        for (int k = 0; k < BIAS_COLLECTED; k++) m->collected[b][k] += row[k];
        m->visits[b] += row[BIAS_VISITS];
    }
    free(sums);
    h->bias.gather = NULL;
    return code;
}
