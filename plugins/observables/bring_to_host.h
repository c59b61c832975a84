/* bring_to_host: for observables that need positions in host memory in a run on a GPU. */
#ifndef PLUGMC_BRING_TO_HOST_H
#define PLUGMC_BRING_TO_HOST_H

#include <plugmc/everything.h>

/* A view of the same positions and sweep on the host, in copy [walkers][particles][3]; out->size is set. */
static inline int bring_to_host(const plugmc_host *host, const plugmc_view *view, double *copy,
                                plugmc_view *out)
{
    const size_t numbers = 3 * (size_t)host->system->walkers * (size_t)host->system->particles;
    int code =
        host->gpu->download(host->context, copy, (plugmc_device_pointer)(uintptr_t)view->positions,
                            numbers * sizeof *copy);
    if (!code) code = host->view(host->context, copy, 0, out);
    out->sweep = view->sweep; /* random numbers go by it */
    return code;
}

#endif
