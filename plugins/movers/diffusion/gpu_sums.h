/* Walkers whose Psi is a sum of determinants on a GPU: sums.cu and spin_table.cu have the kernels. Part of gpu.c. */
#ifndef PLUGMC_DIFFUSION_GPU_SUMS_H
#define PLUGMC_DIFFUSION_GPU_SUMS_H

#include <stdio.h>

#include "gpu.h"

static int sums_prepare(diffusion *d, const plugmc_host *host, const plugmc_gpu_source *text)
{
    diffusion_gpu *g = d->gpu;
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } kernels[] = {{"anew", &g->sums.anew},
                   {"begin", &g->sums.begin},
                   {"row", &g->sums.row},
                   {"settle", &g->sums.settle},
                   {"copy", &g->sums.copy}};
    int code = device_sums_prepare(&g->sums.device, host, d->wave.sum, d->system->walkers,
                                   d->wave.pitch, d->wave.is_complex);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0] && !code; k++) {
        char name[48];
        snprintf(name, sizeof name, "dmc_sum_%s_%s", kernels[k].name,
                 d->wave.is_complex ? "complex" : "real");
        code = host->gpu->kernel(host->context, text, name, kernels[k].kernel);
    }
    return code;
}

/* Walkers are in x, of which a grid has as many as anybody wants. */
static int launch_sums(const diffusion *d, const plugmc_host *host, plugmc_kernel *kernel,
                       void **arguments)
{
    return launch(host, kernel, (uint32_t)d->system->walkers, 1, 1, SUM_THREADS, 0, arguments);
}

/* W, S and G of a spin, from the other one as it is. */
static int sums_begin(const diffusion *d, const plugmc_host *host, int spin)
{
    sum_task t = d->gpu->sums.device.task[spin];
    double *minors = d->gpu->sums.device.task[1 - spin].minors;
    int32_t count = d->gpu->sums.device.task[1 - spin].determinants;
    return launch_sums(d, host, d->gpu->sums.begin, (void *[]){&t, &minors, &count});
}

static int sums_row(const diffusion *d, const plugmc_host *host, dmc_task *task)
{
    sum_task t = d->gpu->sums.device.task[task->spin];
    return launch_sums(d, host, d->gpu->sums.row, (void *[]){task, &t});
}

static int sums_work_in(const diffusion *d, const plugmc_host *host, dmc_task *task)
{
    sum_task t = d->gpu->sums.device.task[task->spin];
    return launch_sums(d, host, d->gpu->sums.settle, (void *[]){task, &t});
}

/* Tables of walkers first ... first + n - 1 from the orbitals in group_values. */
static int sums_invert(const diffusion *d, const plugmc_host *host, int spin, int32_t first,
                       int32_t n)
{
    sum_task t = d->gpu->sums.device.task[spin];
    t.walker = first;
    return launch(host, d->gpu->sums.anew, (uint32_t)n, 1, 1, SUM_THREADS, 0,
                  (void *[]){&t, (void *)&d->gpu->group_values});
}

/* ln |Psi|^2 once both spins have their tables, kept with the first that has electrons. */
static int sums_settle(diffusion *d, const plugmc_host *host, int compare)
{
    diffusion_gpu *g = d->gpu;
    const int with = electrons_of(d, 0) ? 0 : 1;
    int code = sums_begin(d, host, with);
    if (!code)
        code = device_sums_squares(&g->sums.device, host, 0, d->system->walkers, g->host_found);
    for (int32_t w = 0; w < d->system->walkers && !code; w++) {
        double *ln = g->host_numbers[w].ln_square;
        const double now = g->host_found[w], before = ln[0] + ln[1];
        if (!isfinite(now)) d->walkers[w].singular = 1 + with;
        if (compare) note_drift(&d->walkers[w], fabs(now - before) / (1 + fabs(before)));
        ln[with] = now;
        ln[1 - with] = 0;
    }
    return code;
}

static int sums_copies(const diffusion *d, const plugmc_host *host)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < SPINS && !code; spin++) {
        sum_task t = d->gpu->sums.device.task[spin];
        if (t.n > 0)
            code = launch_sums(d, host, d->gpu->sums.copy, (void *[]){&t, (void *)&d->gpu->from});
    }
    return code;
}

#endif
