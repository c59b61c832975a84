/* gpu.c: orbitals on the GPU: tables go there once, the kernels are those of kernel.cu. */
#include <stdlib.h>
#include <string.h>

#include "../../join_texts.h"
#include "gaussian_orbitals.h"

PLUGMC_EMBED(gaussian_task_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(gaussian_shell_text, GAUSSIAN_SHELL_FILE);
PLUGMC_EMBED(gaussian_product_text, GAUSSIAN_PRODUCT_FILE);
PLUGMC_EMBED(gaussian_kernel_text, GAUSSIAN_KERNELS_FILE);

int gaussian_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 1) return 0;
    plugmc_set_gpu_source(
        out,
        &(plugmc_gpu_source){
            .name = "gaussian_orbitals.cu",
            .source = join_texts(
                host, (const char *const[]){gaussian_task_text, gaussian_shell_text,
                                            gaussian_product_text, gaussian_kernel_text, NULL}),
            .double_precision = index == 1,
            .contract = 1});
    return out->source != NULL;
}

int gaussian_on_device(const gaussian_orbitals *g, const plugmc_orbital_request *q)
{
    enum { MOST_POINTS = 1 << 20 };
    const plugmc_host *host = g->host;
    const int type = q->real_size == sizeof(double), derivatives = q->gradients || q->laplacians;
    const size_t row = (size_t)(q->pitch * g->tables.parts) * (size_t)q->real_size;
    plugmc_kernel *kernel = (derivatives ? g->gpu.everything : g->gpu.values)[type];
    int code = PLUGMC_OK;
    for (int64_t first = 0; first < q->points && !code; first += MOST_POINTS) {
        const int64_t points = q->points - first < MOST_POINTS ? q->points - first : MOST_POINTS;
        const size_t skipped = (size_t)first * row;
        gaussian_task task = {.tables = g->gpu.tables[type],
                              .spin = g->gpu.spin[type][q->species],
                              .positions = q->positions + 3 * first,
                              .points = points,
                              .pitch = q->pitch * g->tables.parts,
                              .values = q->values ? (char *)q->values + skipped : NULL,
                              .gradients = q->gradients ? (char *)q->gradients + 3 * skipped : NULL,
                              .laplacians = q->laplacians ? (char *)q->laplacians + skipped : NULL};
        const int64_t own = !derivatives ? GAUSSIAN_POINTS
                            : type       ? GAUSSIAN_POINTS_ALL_DOUBLE
                                         : GAUSSIAN_POINTS_ALL;
        const uint32_t grid[3] = {
            (uint32_t)((points + own - 1) / own),
            (uint32_t)((task.spin.columns + GAUSSIAN_WIDE - 1) / GAUSSIAN_WIDE), 1};
        const uint32_t block[3] = {GAUSSIAN_THREADS, 1, 1};
        code = host->gpu->launch(host->context, kernel, grid, block, 0, (void *[]){&task});
    }
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int upload(const plugmc_host *host, const void *from, size_t bytes, const void **to)
{
    plugmc_device_pointer there = 0;
    *to = NULL;
    if (!bytes) return PLUGMC_OK;
    int code = host->gpu->allocate(host->context, bytes, &there);
    if (!code) code = host->gpu->upload(host->context, there, from, bytes);
    *to = (const void *)(uintptr_t)there;
    return code;
}

/* What the sums over primitives of a shell read, in double or in float. */
static int upload_radial(gaussian_orbitals *g, int type)
{
    const plugmc_host *host = g->host;
    const size_t n = (size_t)g->source.primitives, size = type ? sizeof(double) : sizeof(float);
    void *all = malloc((4 * n + 1) * size);
    if (!all) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for primitives");
    for (size_t i = 0; i < n; i++) {
        const double a = g->tables.primitive[i][0],
                     entry[4] = {-a / M_LN2, g->tables.primitive[i][1], -2 * a, 4 * a * a};
        for (size_t k = 0; k < 4; k++)
            if (type)
                ((double *)all)[4 * i + k] = entry[k];
            else
                ((float *)all)[4 * i + k] = (float)entry[k];
    }
    const int code = upload(host, all, 4 * n * size, &g->gpu.tables[type].radial);
    free(all);
    return code;
}

static int upload_tables(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    const gaussian_tables *t = &g->tables;
    gaussian_tables *to = &g->gpu.tables[0];
    int32_t images = 1;
    for (int32_t i = 0; i < t->shells; i++)
        images = t->shell[i].images > images ? t->shell[i].images : images;
    const struct {
        const void *from;
        size_t bytes;
        const void **to;
    } lists[] = {
        {t->position, (size_t)t->nuclei * sizeof *t->position, (const void **)&to->position},
        {t->primitive, (size_t)g->source.primitives * sizeof *t->primitive,
         (const void **)&to->primitive},
        {t->image, (size_t)images * sizeof *t->image, (const void **)&to->image},
        {t->shell, (size_t)t->shells * sizeof *t->shell, (const void **)&to->shell},
        {t->chunk, (size_t)t->chunks * sizeof *t->chunk, (const void **)&to->chunk},
        {t->correction, (size_t)t->corrected * sizeof *t->correction,
         (const void **)&to->correction}};
    int code = PLUGMC_OK;
    *to = *t;
    for (int i = 0; i < PLUGMC_COUNT(lists) && !code; i++)
        code = upload(host, lists[i].from, lists[i].bytes, lists[i].to);
    g->gpu.tables[1] = *to;
    for (int type = 0; type < 2 && !code; type++) code = upload_radial(g, type);
    return code;
}

/* Coefficients in double and, for results in float, rounded. */
static int upload_spin(gaussian_orbitals *g, int s)
{
    const plugmc_host *host = g->host;
    const gaussian_spin *spin = &g->spin[s];
    const size_t n = gaussian_coefficients(g, s);
    gaussian_spin *to = &g->gpu.spin[1][s];
    float *rounded = malloc((n + 1) * sizeof *rounded);
    if (!rounded)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for coefficients");
    for (size_t i = 0; i < n; i++) rounded[i] = (float)spin->coefficient[i];
    *to = *spin;
    int code = upload(host, spin->coefficient, n * sizeof(double), (const void **)&to->coefficient);
    to->rounded = to->coefficient;
    if (!code && g->tables.corrected)
        code = upload(host, spin->cusp,
                      (size_t)(g->tables.corrected * spin->columns) * sizeof *spin->cusp,
                      (const void **)&to->cusp);
    g->gpu.spin[0][s] = *to;
    if (!code) code = upload(host, rounded, n * sizeof *rounded, &g->gpu.spin[0][s].rounded);
    free(rounded);
    return code;
}

int gaussian_prepare_gpu(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    int code = upload_tables(g);
    for (int s = 0; s < 2 && !code; s++)
        if (g->spin[s].columns) code = upload_spin(g, s);
    for (int i = 0; i < 2 && !code; i++) {
        plugmc_gpu_source text = {.size = sizeof text};
        if (!gaussian_gpu_source(g, host, i, &text)) return PLUGMC_ERROR_MEMORY;
        code = host->gpu->kernel(host->context, &text, "gaussian_values", &g->gpu.values[i]);
        if (!code)
            code = host->gpu->kernel(host->context, &text, "gaussian_everything",
                                     &g->gpu.everything[i]);
    }
    return code;
}
