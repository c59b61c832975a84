/* See gpu_rigid.h. */
#include "gpu_rigid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed. */
static void *scratch(const plugmc_host *host, size_t numbers, size_t each, int *code)
{
    void *memory = calloc(numbers, each);
    if (!memory)
        *code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the molecules");
    return memory;
}

/* A copy of these bytes on the device; *out becomes its address. */
static int put(const plugmc_host *host, const void *what, size_t bytes, uintptr_t *out)
{
    plugmc_device_pointer at = 0;
    int code = host->gpu->allocate(host->context, bytes, &at);
    if (!code && what) code = host->gpu->upload(host->context, at, what, bytes);
    *out = (uintptr_t)at;
    return code;
}

/* Kinds as they are on the host, but for the address of their sites. */
static int put_kinds(const hmc *h, const plugmc_host *host, hmc_task *t)
{
    const size_t kinds = (size_t)h->system->molecules->kinds;
    int code = PLUGMC_OK;
    uintptr_t sites = 0, at = 0;
    plugmc_molecule *all = scratch(host, kinds, sizeof *all, &code);
    hmc_kind *copy = code ? NULL : scratch(host, kinds, sizeof *copy, &code);
    for (size_t k = 0; k < kinds && !code; k++) {
        all[k] = *h->rigid->kind[k].sites;
        all[k].name = NULL;
    }
    if (!code) code = put(host, all, kinds * sizeof *all, &sites);
    for (size_t k = 0; k < kinds && !code; k++) {
        copy[k] = h->rigid->kind[k];
        copy[k].sites = (const plugmc_molecule *)(sites + k * sizeof *all);
    }
    if (!code) code = put(host, copy, kinds * sizeof *copy, &at);
    t->kind = (const hmc_kind *)at;
    free(all), free(copy);
    return code;
}

static int put_members(const hmc *h, const plugmc_host *host, hmc_task *t)
{
    const hmc_rigid *r = h->rigid;
    const size_t n = t->particles;
    int code = PLUGMC_OK;
    uintptr_t at = 0;
    hmc_member *members = scratch(host, n, sizeof *members, &code);
    for (size_t i = 0; i < n && !code; i++) {
        const hmc_kind *kind = r->with[i];
        const int32_t molecule = h->system->molecule[i];
        members[i] = kind ? (hmc_member){r->role[i], (int32_t)(kind - r->kind), molecule,
                                         molecule - (int32_t)kind->sites->number}
                          : (hmc_member){HMC_FREE, -1, -1, -1};
    }
    if (!code) code = put(host, members, n * sizeof *members, &at);
    t->member = (const hmc_member *)at;
    free(members);
    return code;
}

/* Square of the longest distance within a molecule, and somewhat more for the rounding of positions. */
static double within_square(const hmc *h)
{
    double longest = 0, edge = 0;
    for (int32_t k = 0; k < h->system->molecules->kinds; k++) {
        const plugmc_molecule *sites = h->rigid->kind[k].sites;
        for (int32_t a = 0; a < sites->sites; a++)
            for (int32_t b = 0; b < a; b++) {
                double square = 0;
                for (int d = 0; d < 3; d++)
                    square += pow(sites->place[a][d] - sites->place[b][d], 2);
                longest = fmax(longest, sqrt(square));
            }
    }
    for (int d = 0; d < 3; d++) edge = fmax(edge, h->system->box.length[d]);
    return pow(1.001 * longest + 1e-5 * edge, 2);
}

int hmc_gpu_prepare_rigid(const hmc *h, const plugmc_host *host, hmc_task *t)
{
    const size_t all = (size_t)t->particles * t->walkers;
    plugmc_orientation **const orientations[] = {&t->turned, &t->turned_before, &t->turned_checked};
    uintptr_t at = 0;
    int code = put_kinds(h, host, t);
    if (!code) code = put_members(h, host, t);
    for (int k = 0; k < (h->check_reversal ? 3 : 2) && !code; k++) {
        code = put(host, NULL, all * sizeof **orientations[k], &at);
        *orientations[k] = (plugmc_orientation *)at;
    }
    if (!code) code = put(host, NULL, t->walkers * sizeof *t->out_of_shape, &at);
    t->out_of_shape = (uint32_t *)at;
    t->within_square = within_square(h);
    return code;
}

int hmc_gpu_upload_turned(const hmc *h, const plugmc_host *host, const hmc_task *t)
{
    return host->gpu->upload(host->context, hmc_device(t->turned), h->rigid->turned,
                             (size_t)t->particles * t->walkers * sizeof *t->turned);
}

int hmc_gpu_download_turned(hmc *h, const plugmc_host *host, const hmc_task *t)
{
    return host->gpu->download(host->context, h->rigid->turned, hmc_device(t->turned),
                               (size_t)t->particles * t->walkers * sizeof *t->turned);
}
