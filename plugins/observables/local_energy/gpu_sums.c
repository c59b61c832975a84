/* Expansions in determinants for local energies on a GPU: the tables of a group of walkers from their positions, and rows
 * over all orbitals that take the place of inverse matrices. sums.cu and spin_table.cu have the kernels. */
#include "gpu.h"

#include <stdio.h>

int64_t gpu_sums_length(const local_energy *le, int spin)
{
    const expansion_spin *set = &le->wave.sum->spin[spin];
    return set->orbitals ? set->column[set->orbitals - 1] + 1 : 0;
}

double gpu_sums_bytes(const local_energy *le)
{
    double numbers = 0, integers = 0;
    for (int spin = 0; spin < 2; spin++) {
        const expansion_spin *set = &le->wave.sum->spin[spin];
        const double n = set->electrons, m = set->orbitals - set->electrons, d = set->determinants;
        numbers += n * n + 2 * n * m + n * n + 2 * d + SUM_WORK(n, m) +
                   n * (double)gpu_sums_length(le, spin);
        integers += 2 * (n + m) + d * (2 + 2 * set->degree);
    }
    return 8 * (le->wave.is_complex ? 2 : 1) * numbers + 4 * integers;
}

int gpu_sums_prepare(local_energy *le, const plugmc_host *host, const plugmc_gpu_source *text)
{
    local_energy_gpu *g = le->gpu;
    const size_t number = le->wave.is_complex ? 16 : 8;
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } kernels[] = {{"anew", &g->sums.anew},
                   {"weigh", &g->sums.weigh},
                   {"rows", &g->sums.rows},
                   {"squares", &g->sums.squares}};
    int code = device_sums_prepare(&g->sums.device, host, le->wave.sum, g->group, le->wave.pitch,
                                   le->wave.is_complex);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0] && !code; k++) {
        char name[48];
        snprintf(name, sizeof name, "le_sum_%s_%s", kernels[k].name,
                 le->wave.is_complex ? "complex" : "real");
        code = host->gpu->kernel(host->context, text, name, kernels[k].kernel);
    }
    for (int spin = 0; spin < 2 && !code; spin++) {
        const size_t n = (size_t)le->wave.sum->spin[spin].electrons,
                     length = (size_t)gpu_sums_length(le, spin);
        if (n)
            code = host->gpu->allocate(host->context, (size_t)g->group * n * length * number,
                                       &g->sums.rows_of[spin]);
    }
    return code;
}

/* W and S of a spin, from the other one. */
static int weigh(local_energy *le, const plugmc_host *host, int spin, int32_t walkers)
{
    local_energy_gpu *g = le->gpu;
    sum_task t = g->sums.device.task[spin];
    double *minors = g->sums.device.task[1 - spin].minors;
    int32_t count = g->sums.device.task[1 - spin].determinants;
    return launch(host, g->sums.weigh, (uint32_t)walkers, 1, 1, SUM_THREADS, 0,
                  (void *[]){&t, &minors, &count});
}

int gpu_sums_find(local_energy *le, const plugmc_host *host, walkers_task *task)
{
    local_energy_gpu *g = le->gpu;
    int32_t walkers = task->walkers;
    int code = device_sums_upload(&g->sums.device, host);
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        sum_task t = g->sums.device.task[spin];
        if (t.n == 0) continue;
        code = gpu_spin_orbitals(le, host, task, spin, 0);
        if (!code)
            code = launch(host, g->sums.anew, (uint32_t)walkers, 1, 1, SUM_THREADS, 0,
                          (void *[]){&t, &g->arrays.values});
    }
    for (int spin = 0; spin < 2 && !code; spin++) {
        sum_task t = g->sums.device.task[spin];
        int32_t length = (int32_t)gpu_sums_length(le, spin);
        if (t.n == 0) continue;
        code = weigh(le, host, spin, walkers);
        if (!code)
            code = launch(host, g->sums.rows, (uint32_t)walkers, 1, 1, SUM_THREADS, 0,
                          (void *[]){&t, &length, &g->sums.rows_of[spin]});
    }
    const int with = g->sums.device.task[0].n > 0 ? 0 : 1;
    sum_task t = g->sums.device.task[with];
    double *other = g->sums.device.task[1 - with].ln_reference;
    device_pointer none = 0, *without = g->sums.device.task[1 - with].n > 0
                                            ? &g->arrays.ln_square[1 - with]
                                            : &none;
    return code ? code
                : launch(host, g->sums.squares, blocks_for(walkers, SUM_THREADS), 1, 1, SUM_THREADS,
                         0, (void *[]){&t, &other, &walkers, &g->arrays.ln_square[with], without});
}
