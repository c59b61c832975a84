/* Matrices of orbitals of many walkers on a GPU: their factors, determinants and inverses, in
 * double precision, by cuBLAS for all walkers in one call; matrices.cu has the kernels.
 *
 * cuBLAS counts columns first: what is [i][j] here is its matrix (j, i), so the transposed inverse
 * M (slater.h) is the inverse of its A. */
#ifndef PLUGMC_VMC_MATRICES_H
#define PLUGMC_VMC_MATRICES_H

#include <plugmc/everything.h>

typedef plugmc_device_pointer device_pointer;

enum { KEEP_AS_IS, TRANSPOSED }; /* CUBLAS_OP_N, CUBLAS_OP_T */
enum { MOST_WALKERS = 65535 };   /* dealt with together: of a grid in z */

typedef int gemm_batched(void *, int, int, int, int, int, const double *, const double *, int,
                         long long, const double *, int, long long, const double *, double *, int,
                         long long, int);
typedef int factor_batched(void *, int, double *const *, int, int *, int *, int);
typedef int solve_batched(void *, int, int, int, int, int, int, const double *,
                          const double *const *, int, double *const *, int, int);

/* Memory for walkers that are dealt with together, and for matrices up to a size. */
typedef struct matrices {
    void *blas;
    int (*create)(void **);
    int (*destroy)(void *);
    int (*set_stream)(void *, void *);
    gemm_batched *gemm, *gemm_real;
    factor_batched *factor;
    solve_batched *solve; /* with a triangular matrix */

    plugmc_kernel *transpose, *determinant, *permutation, *trace, *residual, *compare, *panel,
        *beside;
    int64_t number; /* bytes of a number */
    int32_t walkers;
    int64_t listed;                           /* size that the lists are for */
    device_pointer factors, inverses;         /* [walkers][n][n] */
    device_pointer factor_list, inverse_list; /* [walkers] where these begin */
    device_pointer pivots, info;              /* [walkers][n], [walkers] */
    device_pointer moved;                     /* [walkers][1 + 2 VMC_MOVED]: factor_panels.cu */
    device_pointer changes;                   /* [walkers][2] */
    uint64_t *list;                           /* [walkers] */
} matrices;

#define AT(pointer, type) ((type *)(uintptr_t)(pointer))

/* The text of sum_of_block.cu, draws.h, complex_numbers.cu, matrices.cu, then `own` and `more` (or NULL), in memory of
 * the host; NULL without memory. */
char *matrices_text(const plugmc_host *, const char *own, const char *more);
/* The text of its own that matrices_prepare asks for besides. */
int matrices_factors_text(const plugmc_host *, plugmc_gpu_source *out);

/* `text` contains that of matrices.cu; orbitals are reals of real_size bytes, or complex. */
int matrices_prepare(matrices *, const plugmc_host *, const plugmc_gpu_source *text,
                     int32_t walkers, int64_t most, int is_complex, size_t real_size);
void matrices_release(matrices *);

/* Device bytes that a walker takes. */
double matrices_bytes(int64_t most, int is_complex);

/* values [walkers][n][pitch] of orbitals to their factors, and to ln |det|^2 [walkers], minus
 * infinity where it is 0. Then from these factors the transposed inverses, in `inverses`. */
int matrices_factorise(matrices *, const plugmc_host *, int32_t n, int64_t pitch,
                       device_pointer values, int32_t walkers, device_pointer ln_square);
int matrices_invert(matrices *, const plugmc_host *, int32_t n, int32_t walkers);
/* The same, into `kept` [walkers][n][n]. drift [walkers][2], on the host: how far what was there was from them, the
 * largest difference and the largest element. */
int matrices_renew(matrices *, const plugmc_host *, int32_t n, int32_t walkers, device_pointer kept,
                   double *drift);

/* Instead of these two, from inverses [walkers][n][n] that are nearly right: M (2 - A M), a step of G. Schulz, Z.
 * angew. Math. Mech. 13, 57 (1933), which squares 1 - A M; into `inverses`. The trace of 1 - A M, times 2, is taken
 * from ln_square [walkers], which is then that of A if it was -ln |det M|^2; its largest element is in residual
 * [walkers], or what was there if `again` and that is larger. */
int matrices_polish(matrices *, const plugmc_host *, int32_t n, int64_t pitch,
                    device_pointer values, device_pointer lent, int32_t walkers,
                    device_pointer ln_square, device_pointer residual, int32_t again);

/* For each walker, in the words of cuBLAS: c (m x columns) = scale a b + keep c. */
int matrices_multiply(const matrices *, const plugmc_host *, int how_a, int how_b, int64_t m,
                      int64_t columns, int64_t inner, double scale, device_pointer a, int64_t lda,
                      int64_t stride_a, device_pointer b, int64_t ldb, int64_t stride_b,
                      double keep, device_pointer c, int64_t ldc, int64_t stride_c,
                      int32_t walkers);
/* Of real ones, whatever the numbers of `matrices` are. */
int matrices_multiply_real(const matrices *, const plugmc_host *, int how_a, int how_b, int64_t m,
                           int64_t columns, int64_t inner, double scale, device_pointer a,
                           int64_t lda, int64_t stride_a, device_pointer b, int64_t ldb,
                           int64_t stride_b, double keep, device_pointer c, int64_t ldc,
                           int64_t stride_c, int32_t walkers);

/* Blocks of `threads` for an amount of work. */
static inline uint32_t blocks_for(int64_t work, int32_t threads)
{
    return (uint32_t)((work + threads - 1) / threads);
}

static inline int launch(const plugmc_host *host, plugmc_kernel *kernel, uint32_t x, uint32_t y,
                         uint32_t z, uint32_t threads, uint32_t shared, void **arguments)
{
    return host->gpu->launch(host->context, kernel, (uint32_t[3]){x, y, z},
                             (uint32_t[3]){threads, 1, 1}, shared, arguments);
}
#endif
