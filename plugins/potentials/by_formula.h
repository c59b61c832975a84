/* by_formula: what potentials share whose orbitals are given by a formula in a .cu file, the same text
 * on the CPU and on the GPU (by_formula.cu says what it has). Included after it.
 *
 * Every species has the first orbitals of one list, as many as it has particles and `beyond` of them. A complex orbital is
 * two entries of the list, its real and its imaginary part. The instance begins with a `formulas`; the
 * potential fills in its orbitals, then calls formulas_prepare.
 */
#ifndef PLUGMC_BY_FORMULA_H
#define PLUGMC_BY_FORMULA_H

#include <string.h>

#include <plugmc/everything.h>

#include "../join_texts.h"

#include PLUGMC_FORMULA_FILE

PLUGMC_EMBED(own_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(formula_text, PLUGMC_FORMULA_FILE);

typedef struct formulas {
    const plugmc_host *host;
    orbital *orbitals; /* [count], host->allocate */
    int64_t count;     /* entries of the list: at least those of the largest species */
    int32_t complex_valued;
    int64_t beyond; /* orbitals of each species beyond those that its particles occupy */
    plugmc_device_pointer device_orbitals;
    plugmc_kernel *kernels[2]; /* results in float, double */
} formulas;

/* ---- Evaluation ---------------------------------------------------------------------------- */

static int64_t formulas_count(const void *instance, int32_t species)
{
    const formulas *f = instance;
    const plugmc_system *system = f->host->system;
    return species >= 0 && species < system->species_count
               ? plugmc_species_at(system, species)->count + f->beyond
               : 0;
}

static int32_t formulas_complex(const void *instance)
{
    return ((const formulas *)instance)->complex_valued;
}

static void put(void *out, int32_t real_size, int64_t i, double value)
{
    if (!out) return;
    if (real_size == sizeof(float))
        ((float *)out)[i] = (float)value;
    else
        ((double *)out)[i] = value;
}

/* `count` entries and `pitch` real numbers a row. */
static void evaluate_on_host(const formulas *f, const plugmc_orbital_request *q, int64_t count,
                             int64_t pitch)
{
    const plugmc_system *system = f->host->system;
#pragma omp parallel for num_threads(system->threads) if (q->points > 64)
    for (int64_t i = 0; i < q->points; i++)
        for (int64_t l = 0; l < count; l++) {
            double v[5];
            orbital_values(f->orbitals + l, system->box.inverse, q->positions + 3 * i, v);
            put(q->values, q->real_size, i * pitch + l, v[0]);
            for (int e = 0; e < 3; e++)
                put(q->gradients, q->real_size, (3 * i + e) * pitch + l, v[1 + e]);
            put(q->laplacians, q->real_size, i * pitch + l, v[4]);
        }
}

static int evaluate_on_device(const formulas *f, const plugmc_orbital_request *q, int64_t count,
                              int64_t pitch)
{
    enum { THREADS = 128 };
    const plugmc_host *host = f->host;
    orbital_task task = {.orbitals = (const orbital *)(uintptr_t)f->device_orbitals,
                         .positions = q->positions,
                         .points = q->points,
                         .count = count,
                         .pitch = pitch,
                         .values = q->values,
                         .gradients = q->gradients,
                         .laplacians = q->laplacians};
    memcpy(task.inverse, host->system->box.inverse, sizeof task.inverse);
    const uint32_t grid[3] = {(uint32_t)((q->points * count + THREADS - 1) / THREADS), 1, 1};
    const uint32_t block[3] = {THREADS, 1, 1};
    return host->gpu->launch(host->context, f->kernels[q->real_size == sizeof(double)], grid, block,
                             0, (void *[]){&task});
}

static int formulas_evaluate(void *instance, const plugmc_orbital_request *q)
{
    const formulas *f = instance;
    const int64_t orbitals = formulas_count(instance, q->species);
    if (orbitals == 0 || q->pitch < orbitals || (q->on_device && !f->host->gpu))
        return f->host->fail(f->host->context, PLUGMC_ERROR_STATE,
                             "orbitals of species %d are asked for with a pitch of %lld",
                             q->species, (long long)q->pitch);
    if (q->points <= 0) return PLUGMC_OK;
    const int64_t parts = f->complex_valued ? 2 : 1;
    if (q->on_device) return evaluate_on_device(f, q, parts * orbitals, parts * q->pitch);
    evaluate_on_host(f, q, parts * orbitals, parts * q->pitch);
    return PLUGMC_OK;
}

/* ---- Preparation --------------------------------------------------------------------------- */

/* For plugmc_plugin.gpu_source: results in float, and in double. */
static int formulas_gpu_source(void *instance, const plugmc_host *host, int index,
                               plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 1) return 0;
    out->name = strrchr("/" PLUGMC_KERNEL_FILE, '/') + 1;
    out->source = join_texts(host, (const char *const[]){own_text, formula_text, NULL});
    out->double_precision = index == 1;
    out->contract = 1;
    return out->source != NULL;
}

/* Takes the orbitals to the GPU, if there is one. */
static int formulas_prepare(formulas *f, const plugmc_host *host)
{
    const size_t bytes = (size_t)f->count * sizeof *f->orbitals;
    if (!host->gpu) return PLUGMC_OK;
    int code = host->gpu->allocate(host->context, bytes, &f->device_orbitals);
    if (!code) code = host->gpu->upload(host->context, f->device_orbitals, f->orbitals, bytes);
    for (int i = 0; i < 2 && !code; i++) {
        plugmc_gpu_source text = {.size = sizeof text};
        if (!formulas_gpu_source(f, host, i, &text)) return PLUGMC_ERROR_MEMORY;
        code = host->gpu->kernel(host->context, &text, "orbitals", &f->kernels[i]);
    }
    return code;
}

#endif
