/* Walkers whose Psi is a sum of determinants on a GPU: decide_sum.cu and spin_table.cu have the kernels, device_sums.h the
 * memory. Part of gpu.c. */
#ifndef VMC_GPU_SUMS_H
#define VMC_GPU_SUMS_H

#include <stdio.h>

#include "gpu_blocks.h"

/* The text behind that of vmc.cu. */
static char *sums_text(const plugmc_host *host, const char *decide)
{
    return device_sums_text(host, decide);
}

static int sums_load_kernels(vmc *v, const plugmc_host *host, const plugmc_gpu_source *text)
{
    vmc_gpu *g = v->gpu;
    const char *const number = v->wave.is_complex ? "complex" : "real", *const value =
                                                                            v->is_single ? "float"
                                                                                         : "double";
    char anew[40], weigh[40], decide[40];
    snprintf(anew, sizeof anew, "vmc_sum_anew_%s_%s", value, number);
    snprintf(weigh, sizeof weigh, "vmc_sum_weigh_%s", number);
    snprintf(decide, sizeof decide, "vmc_sum_decide_%s_%s", value, number);
    int code = host->gpu->kernel(host->context, text, anew, &g->sums_anew);
    if (!code) code = host->gpu->kernel(host->context, text, weigh, &g->sums_weigh);
    return code ? code : host->gpu->kernel(host->context, text, decide, &g->sums_decide);
}

static int sums_prepare(vmc *v, const plugmc_host *host)
{
    return device_sums_prepare(&v->gpu->sums, host, v->wave.sum, v->system->walkers, v->wave.pitch,
                               v->wave.is_complex);
}

static sum_task sums_task(const vmc *v, int spin, int32_t first)
{
    sum_task t = v->gpu->sums.task[spin];
    t.walker = first;
    return t;
}

/* W and S of a spin, from the other one as it is. */
static int sums_weigh(const vmc *v, const plugmc_host *host, int spin, int32_t first, int32_t n)
{
    sum_task t = sums_task(v, spin, first);
    const sum_task *other = &v->gpu->sums.task[1 - spin];
    double *minors = other->minors;
    int32_t count = other->determinants;
    return launch(host, v->gpu->sums_weigh, (uint32_t)n, 1, 1, SUM_THREADS, 0,
                  (void *[]){&t, &minors, &count});
}

/* Tables of a spin from the orbitals in `values`. */
static int sums_invert(const vmc *v, const plugmc_host *host, int spin, int32_t first, int32_t n)
{
    sum_task t = sums_task(v, spin, first);
    return launch(host, v->gpu->sums_anew, (uint32_t)n, 1, 1, SUM_THREADS, 0,
                  (void *[]){&t, &v->gpu->moves.values});
}

/* ln |Psi|^2 once both spins have their tables; that of walkers is kept with spin 0, 0 with spin 1. */
static int sums_settle(vmc *v, const plugmc_host *host, int32_t first, int32_t n, int compare)
{
    vmc_gpu *g = v->gpu;
    const size_t bytes = (size_t)n * sizeof(double);
    double *now = g->host_numbers, *before = now + n, *found = g->sums.host_numbers + 3 * n;
    const device_pointer up = from_walker(g->ln_square[0], first, 8),
                         down = from_walker(g->ln_square[1], first, 8);
    int code = sums_weigh(v, host, vmc_electrons(v, 0) ? 0 : 1, first, n);
    if (!code) code = device_sums_squares(&g->sums, host, first, n, now);
    if (!code) code = host->gpu->download(host->context, before, up, bytes);
    for (int32_t k = 0; k < n && !code; k++) found[k] = before[k];
    if (!code) code = host->gpu->download(host->context, before, down, bytes);
    for (int32_t k = 0; k < n && !code; k++) {
        vmc_walker *walker = &v->walkers[first + k];
        const double kept = found[k] + before[k];
        if (!isfinite(now[k])) walker->singular = vmc_electrons(v, 0) ? 1 : 2;
        if (compare) vmc_note_drift(walker, fabs(now[k] - kept) / (1 + fabs(now[k])));
    }
    if (!code) code = host->gpu->upload(host->context, up, now, bytes);
    return code ? code : host->gpu->fill(host->context, down, 0, bytes);
}

/* A block whose orbitals are known. */
static int sums_decide(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *b, int spin,
                       int32_t n, device_pointer fields)
{
    vmc_gpu *g = v->gpu;
    sum_task t = sums_task(v, spin, d->walker);
    vmc_state state = state_of(v, d->walker, spin);
    device_pointer positions = positions_of(v, d->walker);
    const int code = look_at(v, host, d, b, spin, n, fields);
    return code ? code
                : launch(host, g->sums_decide, (uint32_t)n, 1, 1, SUM_THREADS, 0,
                         (void *[]){d, b, &state, &t, &positions, &g->moves.to[spin],
                                    &g->moves.change, &g->moves.others, &g->moves.values});
}

/* Electrons first ... first + count - 1 of a spin, in blocks that vmc_look can take. */
static int sums_decide_all(const vmc *v, const plugmc_host *host, vmc_draws *d, int spin, int32_t n)
{
    const int64_t electrons = vmc_electrons(v, spin), step = v->gpu->capacity;
    int code = sums_weigh(v, host, spin, d->walker, n);
    for (int64_t first = 0; first < electrons && !code; first += step) {
        const int64_t left = electrons - first;
        vmc_block b = block_of(v, spin, first, left < step ? left : step, electrons, first);
        code = sums_decide(v, host, d, &b, spin, n, fields_found(v));
    }
    return code;
}

#endif
