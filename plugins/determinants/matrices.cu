/* matrices.cu: matrices of orbitals of many walkers; sum_of_block.cu, draws.h and complex_numbers.cu stand in front. */
/* Element i of orbitals in float or double. */
template <class V> PLUGMC_FN void load(const V *values, int64_t i, double *out)
{
    *out = (double)values[i];
}
template <class V> PLUGMC_FN void load(const V *values, int64_t i, vmc_complex *out)
{
    out->re = (double)values[2 * i];
    out->im = (double)values[2 * i + 1];
}

PLUGMC_FN double infinity() { return __longlong_as_double(0x7ff0000000000000); }

/* out [walkers][orbitals][electrons]: the matrix of orbitals as LAPACK counts. Tiles of VMC_TILE x
 * VMC_TILE: x orbitals, y electrons, z walkers; VMC_TILE x VMC_TILE_ROWS threads. */
template <class V, class T>
PLUGMC_FN void transpose(int32_t n, int64_t pitch, const V *values, T *out)
{
    __shared__ T tile[VMC_TILE][VMC_TILE + 1];
    const int32_t o0 = blockIdx.x * VMC_TILE, e0 = blockIdx.y * VMC_TILE, x = threadIdx.x;
    const int64_t w = blockIdx.z;
    for (int32_t y = threadIdx.y; y < VMC_TILE; y += VMC_TILE_ROWS)
        if (e0 + y < n && o0 + x < n) load(values, (w * n + e0 + y) * pitch + o0 + x, &tile[y][x]);
    __syncthreads();
    for (int32_t y = threadIdx.y; y < VMC_TILE; y += VMC_TILE_ROWS)
        if (o0 + y < n && e0 + x < n) out[(w * n + o0 + y) * n + e0 + x] = tile[x][y];
}

#define VMC_TRANSPOSE(name, V, T)                                                                  \
    extern "C" __global__ void name(int32_t n, int64_t pitch, const V *values, T *out)             \
    {                                                                                              \
        transpose(n, pitch, values, out);                                                          \
    }
VMC_TRANSPOSE(vmc_transpose_float_real, float, double)
VMC_TRANSPOSE(vmc_transpose_float_complex, float, vmc_complex)
VMC_TRANSPOSE(vmc_transpose_double_real, double, double)
VMC_TRANSPOSE(vmc_transpose_double_complex, double, vmc_complex)

/* ln |det|^2 from the factors L and U of each walker: out [walkers]; minus infinity if it is 0. */
template <class T>
PLUGMC_FN void determinant(int32_t n, const T *factors, const int *info, double *out)
{
    const T *u = factors + (int64_t)blockIdx.x * n * n;
    double mine = 0;
    for (int32_t i = threadIdx.x; i < n; i += VMC_THREADS)
        mine += log(square_of(u[(int64_t)i * n + i]));
    const double sum = sum_of_block<VMC_THREADS>(mine);
    if (threadIdx.x == 0) out[blockIdx.x] = info[blockIdx.x] ? -infinity() : sum;
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_determinant_real(int32_t n, const double *factors, const int *info, double *out)
{
    determinant(n, factors, info, out);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_determinant_complex(int32_t n, const vmc_complex *factors, const int *info, double *out)
{
    determinant(n, factors, info, out);
}

/* The permutation P of each walker's factors, P A = L U, as a matrix, into zeros: [walkers][n][n], of `parts` doubles a
 * number. pivots [walkers][n]: row i has changed places with row pivots[i] - 1, one after the other. A block a walker,
 * with n numbers of shared memory. */
extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_permutation(int32_t n, int32_t parts, const int *pivots, double *out)
{
    extern __shared__ int32_t row_at[];
    const int64_t w = blockIdx.x;
    for (int32_t i = threadIdx.x; i < n; i += VMC_THREADS) row_at[i] = i;
    __syncthreads();
    for (int32_t i = 0; i < n && threadIdx.x == 0; i++) {
        const int32_t other = pivots[w * n + i] - 1, row = row_at[i];
        if (other < 0 || other >= n) continue; /* orbitals that are no numbers have no pivots */
        row_at[i] = row_at[other];
        row_at[other] = row;
    }
    __syncthreads();
    for (int32_t i = threadIdx.x; i < n; i += VMC_THREADS)
        out[((w * n + row_at[i]) * n + i) * parts] = 1; /* columns come first */
}

/* The trace of 1 - A M of each walker, from A M [walkers][n][n], to ln_square; a block a walker. ln_square, residual
 * and again: matrices.h. */
template <class T>
PLUGMC_FN void trace_of(int32_t n, const T *product, double *ln_square, double *residual,
                        int32_t again)
{
    const T *p = product + (int64_t)blockIdx.x * n * n;
    double mine = 0;
    for (int32_t i = threadIdx.x; i < n; i += VMC_THREADS)
        mine += 1 - real_of(p[(int64_t)i * n + i]);
    const double sum = sum_of_block<VMC_THREADS>(mine);
    if (threadIdx.x > 0) return;
    ln_square[blockIdx.x] -= 2 * sum;
    if (!again) residual[blockIdx.x] = 0;
}

/* The largest of what the lanes of a warp have, none of them negative, joins *out, as bits of double, which order like
 * the numbers; those of what is no number are larger. */
PLUGMC_FN void largest_of_warp(double mine, unsigned long long *out)
{
    unsigned long long bits = (unsigned long long)__double_as_longlong(mine);
    for (int half = 16; half > 0; half /= 2) {
        const unsigned long long other = __shfl_xor_sync(~0u, bits, half);
        if (other > bits) bits = other;
    }
    if (threadIdx.x % 32 == 0) atomicMax(out, bits);
}

/* Largest difference of two matrices of `numbers` doubles, and largest element of the second: out [walkers][2], as
 * bits of double. x blocks of a matrix, y walkers. */
extern "C" __global__ void vmc_compare(int64_t numbers, const double *kept, const double *fresh,
                                       unsigned long long *out)
{
    double difference = 0, largest = 0;
    const int64_t base = (int64_t)blockIdx.y * numbers;
    for (int64_t i = (int64_t)blockIdx.x * VMC_THREADS + threadIdx.x; i < numbers;
         i += (int64_t)gridDim.x * VMC_THREADS) {
        const double d = fabs(kept[base + i] - fresh[base + i]);
        difference = d <= difference ? difference : d == d ? d : infinity();
        largest = fmax(largest, fabs(fresh[base + i]));
    }
    largest_of_warp(difference, out + 2 * blockIdx.y);
    largest_of_warp(largest, out + 2 * blockIdx.y + 1);
}

/* A M becomes 2 - A M, a warp a row: x blocks of rows, y walkers. The largest element of 1 - A M goes to residual. */
template <class T> PLUGMC_FN void residual_of(int32_t n, T *product, unsigned long long *residual)
{
    const int32_t row = blockIdx.x * VMC_ROWS + threadIdx.x / VMC_COLUMNS,
                  lane = threadIdx.x % VMC_COLUMNS;
    T *p = product + ((int64_t)blockIdx.y * n + row) * n;
    double largest = 0;
    if (row >= n) return;
    for (int32_t i = lane; i < n; i += VMC_COLUMNS) {
        const bool diagonal = i == row;
        const T e = less(of(diagonal ? 1 : 0, 0, p[i]), p[i]);
        const double size = square_of(e);
        if (!(size <= largest)) largest = size;
        p[i] = diagonal ? of(1 + real_of(e), imaginary_of(e), e) : e;
    }
    largest_of_warp(fabs(sqrt(largest)), residual + blockIdx.y);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_trace_real(int32_t n, const double *product, double *ln_square, double *residual,
                   int32_t again)
{
    trace_of(n, product, ln_square, residual, again);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_trace_complex(int32_t n, const vmc_complex *product, double *ln_square, double *residual,
                      int32_t again)
{
    trace_of(n, product, ln_square, residual, again);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_residual_real(int32_t n, double *product, unsigned long long *residual)
{
    residual_of(n, product, residual);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_residual_complex(int32_t n, vmc_complex *product, unsigned long long *residual)
{
    residual_of(n, product, residual);
}
