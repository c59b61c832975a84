/* cuBLAS, and what goes into it and comes out of it; matrices.h says what for. */
#include "matrices.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../join_texts.h"
#include "draws.h"

PLUGMC_EMBED(sum_of_block_text, SUM_OF_BLOCK_FILE);
PLUGMC_EMBED(vmc_draws_text, VMC_DRAWS_FILE);
PLUGMC_EMBED(vmc_matrices_text, VMC_MATRICES_FILE);
PLUGMC_EMBED(vmc_numbers_text, VMC_NUMBERS_FILE);
PLUGMC_EMBED(vmc_factors_text, VMC_FACTORS_FILE);

static int blas_fault(const plugmc_host *host, const char *what, int status)
{
    return host->fail(host->context, PLUGMC_ERROR_DEVICE, "cuBLAS failed to %s (status %d)", what,
                      status);
}

/* ---- Factors and inverses -------------------------------------------------------------------- */

/* Where the matrices of n x n numbers of each walker begin. */
static int list_matrices(matrices *m, const plugmc_host *host, int64_t n)
{
    const size_t bytes = (size_t)m->walkers * sizeof *m->list;
    if (m->listed == n) return PLUGMC_OK;
    for (int32_t w = 0; w < m->walkers; w++)
        m->list[w] = m->factors + (uint64_t)(w * n * n * m->number);
    int code = host->gpu->upload(host->context, m->factor_list, m->list, bytes);
    for (int32_t w = 0; w < m->walkers; w++)
        m->list[w] = m->inverses + (uint64_t)(w * n * n * m->number);
    if (!code) code = host->gpu->upload(host->context, m->inverse_list, m->list, bytes);
    m->listed = code ? 0 : n;
    return code;
}

/* Whether the factors of a matrix are found by panels. */
static int has_panels(int64_t n) { return n > VMC_PANEL && n <= VMC_MOST_FACTORED; }

/* Of `factors` by panels (factor_panels.cu). */
static int factorise_by_panels(matrices *m, const plugmc_host *host, int32_t n, int32_t walkers)
{
    const int64_t square = (int64_t)n * n;
    int code = host->gpu->fill(host->context, m->info, 0, (size_t)walkers * sizeof(int));
    for (int32_t first = 0; first < n && !code; first += VMC_PANEL) {
        int32_t width = n - first < VMC_PANEL ? n - first : VMC_PANEL;
        const int32_t next = first + width, rest = n - next;
        const device_pointer below = m->factors +
                                     (device_pointer)((first * (int64_t)n + next) * m->number),
                             right = m->factors +
                                     (device_pointer)((next * (int64_t)n + first) * m->number),
                             both = m->factors +
                                    (device_pointer)((next * (int64_t)n + next) * m->number);
        code = launch(host, m->panel, (uint32_t)walkers, 1, 1, VMC_PANEL_THREADS, 0,
                      (void *[]){&n, &first, &width, &m->factors, &m->pivots, &m->info, &m->moved});
        if (!code && n > width)
            code = launch(host, m->beside, blocks_for(n - width, VMC_ROWS * VMC_BESIDE),
                          (uint32_t)walkers, 1, VMC_THREADS, 0,
                          (void *[]){&n, &first, &width, &m->factors, &m->moved});
        if (!code && rest > 0)
            code = matrices_multiply(m, host, KEEP_AS_IS, KEEP_AS_IS, rest, rest, width, -1, below,
                                     n, square, right, n, square, 1, both, n, square, walkers);
    }
    return code;
}

/* Of `factors`. */
static int factorise(matrices *m, const plugmc_host *host, int32_t n, int32_t walkers)
{
    if (has_panels(n)) return factorise_by_panels(m, host, n, walkers);
    const int status = m->factor(m->blas, n, AT(m->factor_list, double *const), n,
                                 AT(m->pivots, int), AT(m->info, int), walkers);
    return status ? blas_fault(host, "factorise matrices", status) : PLUGMC_OK;
}

int matrices_factorise(matrices *m, const plugmc_host *host, int32_t n, int64_t pitch,
                       device_pointer values, int32_t walkers, device_pointer ln_square)
{
    const uint32_t tiles = blocks_for(n, VMC_TILE);
    int code = list_matrices(m, host, n);
    if (!code)
        code = host->gpu->launch(host->context, m->transpose,
                                 (uint32_t[3]){tiles, tiles, (uint32_t)walkers},
                                 (uint32_t[3]){VMC_TILE, VMC_TILE_ROWS, 1}, 0,
                                 (void *[]){&n, &pitch, &values, &m->factors});
    if (!code) code = factorise(m, host, n, walkers);
    if (code) return code;
    return launch(host, m->determinant, (uint32_t)walkers, 1, 1, VMC_THREADS, 0,
                  (void *[]){&n, &m->factors, &m->info, &ln_square});
}

/* inverses = (L or U)^-1 inverses. */
static int solve(matrices *m, const plugmc_host *host, int32_t n, int32_t walkers, int upper)
{
    enum { LEFT = 0, LOWER = 0, UPPER = 1, NOT_UNIT = 0, UNIT = 1 }; /* of cuBLAS */
    const double one[2] = {1, 0};
    const int status = m->solve(
        m->blas, LEFT, upper ? UPPER : LOWER, KEEP_AS_IS, upper ? NOT_UNIT : UNIT, n, n, one,
        AT(m->factor_list, const double *const), n, AT(m->inverse_list, double *const), n, walkers);
    return status ? blas_fault(host, "invert matrices", status) : PLUGMC_OK;
}

/* P A = L U, so that the inverse is U^-1 L^-1 P. cuBLAS's own routine for inverses takes four times as long for
 * hundreds of electrons. */
int matrices_invert(matrices *m, const plugmc_host *host, int32_t n, int32_t walkers)
{
    const size_t bytes = (size_t)walkers * (size_t)(n * m->number) * (size_t)n;
    int32_t parts = (int32_t)(m->number / (int64_t)sizeof(double));
    int code = host->gpu->fill(host->context, m->inverses, 0, bytes);
    if (!code)
        code = launch(host, m->permutation, (uint32_t)walkers, 1, 1, VMC_THREADS,
                      (uint32_t)((size_t)n * sizeof(int32_t)),
                      (void *[]){&n, &parts, &m->pivots, &m->inverses});
    if (!code) code = solve(m, host, n, walkers, 0);
    return code ? code : solve(m, host, n, walkers, 1);
}

int matrices_renew(matrices *m, const plugmc_host *host, int32_t n, int32_t walkers,
                   device_pointer kept, double *drift)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t changes = (size_t)walkers * 2 * sizeof *drift;
    int64_t numbers = n * (int64_t)n * m->number / (int64_t)sizeof(double);
    int code = matrices_invert(m, host, n, walkers);
    if (!code) code = gpu->fill(host->context, m->changes, 0, changes);
    if (!code)
        code = launch(host, m->compare, blocks_for(numbers, 16 * VMC_THREADS), (uint32_t)walkers, 1,
                      VMC_THREADS, 0, (void *[]){&numbers, &kept, &m->inverses, &m->changes});
    if (!code) code = gpu->download(host->context, drift, m->changes, changes);
    return code ? code
                : gpu->copy(host->context, kept, m->inverses,
                            (size_t)walkers * (size_t)numbers * sizeof(double));
}

int matrices_polish(matrices *m, const plugmc_host *host, int32_t n, int64_t pitch,
                    device_pointer values, device_pointer lent, int32_t walkers,
                    device_pointer ln_square, device_pointer residual, int32_t again)
{
    const int64_t square = (int64_t)n * n;
    int code = matrices_multiply(m, host, TRANSPOSED, KEEP_AS_IS, n, n, n, 1, values, pitch,
                                 n * pitch, lent, n, square, 0, m->factors, n, square, walkers);
    if (!code)
        code = launch(host, m->trace, (uint32_t)walkers, 1, 1, VMC_THREADS, 0,
                      (void *[]){&n, &m->factors, &ln_square, &residual, &again});
    if (!code)
        code = launch(host, m->residual, blocks_for(n, VMC_ROWS), (uint32_t)walkers, 1, VMC_THREADS,
                      0, (void *[]){&n, &m->factors, &residual});
    return code ? code
                : matrices_multiply(m, host, KEEP_AS_IS, KEEP_AS_IS, n, n, n, 1, lent, n, square,
                                    m->factors, n, square, 0, m->inverses, n, square, walkers);
}

static int multiply(const matrices *m, const plugmc_host *host, gemm_batched *gemm, int how_a,
                    int how_b, int64_t rows, int64_t columns, int64_t inner, double scale,
                    device_pointer a, int64_t lda, int64_t stride_a, device_pointer b, int64_t ldb,
                    int64_t stride_b, double keep, device_pointer c, int64_t ldc, int64_t stride_c,
                    int32_t walkers)
{
    const double scales[2] = {scale, 0}, keeps[2] = {keep, 0}; /* complex ones, if they are */
    const int status = gemm(m->blas, how_a, how_b, (int)rows, (int)columns, (int)inner, scales,
                            AT(a, const double), (int)lda, stride_a, AT(b, const double), (int)ldb,
                            stride_b, keeps, AT(c, double), (int)ldc, stride_c, walkers);
    return status ? blas_fault(host, "multiply matrices", status) : PLUGMC_OK;
}

int matrices_multiply(const matrices *m, const plugmc_host *host, int how_a, int how_b,
                      int64_t rows, int64_t columns, int64_t inner, double scale, device_pointer a,
                      int64_t lda, int64_t stride_a, device_pointer b, int64_t ldb,
                      int64_t stride_b, double keep, device_pointer c, int64_t ldc,
                      int64_t stride_c, int32_t walkers)
{
    return multiply(m, host, m->gemm, how_a, how_b, rows, columns, inner, scale, a, lda, stride_a,
                    b, ldb, stride_b, keep, c, ldc, stride_c, walkers);
}

int matrices_multiply_real(const matrices *m, const plugmc_host *host, int how_a, int how_b,
                           int64_t rows, int64_t columns, int64_t inner, double scale,
                           device_pointer a, int64_t lda, int64_t stride_a, device_pointer b,
                           int64_t ldb, int64_t stride_b, double keep, device_pointer c,
                           int64_t ldc, int64_t stride_c, int32_t walkers)
{
    return multiply(m, host, m->gemm_real, how_a, how_b, rows, columns, inner, scale, a, lda,
                    stride_a, b, ldb, stride_b, keep, c, ldc, stride_c, walkers);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

char *matrices_text(const plugmc_host *host, const char *own, const char *more)
{
    return join_texts(host,
                      (const char *const[]){sum_of_block_text, vmc_draws_text, vmc_numbers_text,
                                            vmc_matrices_text, own, more, NULL});
}

int matrices_factors_text(const plugmc_host *host, plugmc_gpu_source *out)
{
    out->name = "factor_panels.cu";
    out->source = join_texts(
        host, (const char *const[]){vmc_draws_text, vmc_numbers_text, vmc_factors_text, NULL});
    out->double_precision = 1;
    out->contract = 1;
    return out->source != NULL;
}

static int open_blas(matrices *m, const plugmc_host *host, int is_complex)
{
    void *library;
    int code = host->gpu->library(host->context, "cublas", &library);
    if (code) return code;
    const struct {
        void *place;
        const char *name;
    } functions[] = {
        {&m->create, "cublasCreate_v2"},
        {&m->destroy, "cublasDestroy_v2"},
        {&m->set_stream, "cublasSetStream_v2"},
        {&m->gemm, is_complex ? "cublasZgemmStridedBatched" : "cublasDgemmStridedBatched"},
        {&m->gemm_real, "cublasDgemmStridedBatched"},
        {&m->factor, is_complex ? "cublasZgetrfBatched" : "cublasDgetrfBatched"},
        {&m->solve, is_complex ? "cublasZtrsmBatched" : "cublasDtrsmBatched"},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return host->fail(host->context, PLUGMC_ERROR_DEVICE, "cuBLAS has no function %s",
                              functions[i].name);
        memcpy(functions[i].place, &found, sizeof found);
    }
    int status = m->create(&m->blas);
    if (!status) status = m->set_stream(m->blas, host->gpu->stream(host->context));
    return status ? blas_fault(host, "start", status) : PLUGMC_OK;
}

static int load_kernels(matrices *m, const plugmc_host *host, const plugmc_gpu_source *text,
                        int is_complex, size_t real_size)
{
    const char *const number = is_complex ? "complex" : "real";
    char transpose[48], determinant[32], residual[32], trace[32];
    snprintf(transpose, sizeof transpose, "vmc_transpose_%s_%s",
             real_size == sizeof(float) ? "float" : "double", number);
    snprintf(determinant, sizeof determinant, "vmc_determinant_%s", number);
    snprintf(residual, sizeof residual, "vmc_residual_%s", number);
    snprintf(trace, sizeof trace, "vmc_trace_%s", number);
    int code = host->gpu->kernel(host->context, text, transpose, &m->transpose);
    if (!code) code = host->gpu->kernel(host->context, text, "vmc_permutation", &m->permutation);
    if (!code) code = host->gpu->kernel(host->context, text, "vmc_compare", &m->compare);
    if (!code) code = host->gpu->kernel(host->context, text, residual, &m->residual);
    if (!code) code = host->gpu->kernel(host->context, text, trace, &m->trace);
    return code ? code : host->gpu->kernel(host->context, text, determinant, &m->determinant);
}

static int load_panels(matrices *m, const plugmc_host *host, int is_complex)
{
    plugmc_gpu_source text = {.size = sizeof text};
    int code = matrices_factors_text(host, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    if (!code)
        code = host->gpu->kernel(host->context, &text,
                                 is_complex ? "vmc_panel_complex" : "vmc_panel_real", &m->panel);
    if (code) return code;
    return host->gpu->kernel(host->context, &text,
                             is_complex ? "vmc_beside_complex" : "vmc_beside_real", &m->beside);
}

double matrices_bytes(int64_t most, int is_complex)
{
    const double n = (double)most;
    return 2 * n * n * (is_complex ? 16 : 8) + 4 * n + 40 + 8 * VMC_MOVED;
}

int matrices_prepare(matrices *m, const plugmc_host *host, const plugmc_gpu_source *text,
                     int32_t walkers, int64_t most, int is_complex, size_t real_size)
{
    *m = (matrices){.walkers = walkers, .number = is_complex ? 16 : 8};
    const size_t group = (size_t)walkers, n = (size_t)most;
    const struct {
        device_pointer *place;
        size_t bytes;
    } arrays[] = {
        {&m->factors, group * n * n * (size_t)m->number},
        {&m->inverses, group * n * n * (size_t)m->number},
        {&m->factor_list, group * 8},
        {&m->inverse_list, group * 8},
        {&m->pivots, group * n * sizeof(int)},
        {&m->info, group * sizeof(int)},
        {&m->moved, group * (1 + 2 * VMC_MOVED) * sizeof(int32_t)},
        {&m->changes, group * 2 * sizeof(double)},
    };
    int code = load_kernels(m, host, text, is_complex, real_size);
    if (!code && most > VMC_PANEL) code = load_panels(m, host, is_complex);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !code; i++)
        code = host->gpu->allocate(host->context, arrays[i].bytes, arrays[i].place);
    m->list = host->allocate(host->context, group * sizeof *m->list);
    if (!code && !m->list)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", group);
    return code ? code : open_blas(m, host, is_complex);
}

void matrices_release(matrices *m)
{
    if (m->blas) m->destroy(m->blas);
    m->blas = NULL;
}
