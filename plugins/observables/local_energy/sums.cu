/* sums.cu: rows of expansions in determinants for local energies; spin_table.cu stands in front. A block of SUM_THREADS
 * threads has a walker. */

/* Rows of all electrons of a spin, out [walkers][n][length]. */
template <class T> PLUGMC_FN void le_rows(const sum_task &t, int32_t length, double *out)
{
    const int32_t w = blockIdx.x;
    find_rows(walker_of<T>(&t, t.walker + w), (T *)out + (int64_t)w * t.n * length, length);
}

/* ln |Psi|^2 of the determinants of walkers, with that of the references [walkers] to up and down, of which the first that
 * is there has S as well. `own` has S, n walkers, a thread each. */
template <class T>
PLUGMC_FN void le_squares(const sum_task &own, const double *other, int32_t n, double *with,
                          double *without)
{
    const int32_t w = blockIdx.x * SUM_THREADS + threadIdx.x;
    if (w >= n) return;
    const double square = square_of(((const T *)own.sum)[w]),
                 ln = own.ln_reference[w] + log(square);
    with[w] = ln > -infinity() && ln < infinity() ? ln : -infinity();
    if (without)
        without[w] = other[w] > -infinity() && other[w] < infinity() ? other[w] : -infinity();
}

#define LE_SUM_KERNELS(number, T)                                                                  \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        le_sum_anew_##number(const __grid_constant__ sum_task t, const double *values)             \
    {                                                                                              \
        sum_anew<T>(t, values);                                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) le_sum_weigh_##number(               \
        const __grid_constant__ sum_task t, const double *others, int32_t count)                   \
    {                                                                                              \
        sum_weigh<T>(t, others, count);                                                            \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        le_sum_rows_##number(const __grid_constant__ sum_task t, int32_t length, double *out)      \
    {                                                                                              \
        le_rows<T>(t, length, out);                                                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        le_sum_squares_##number(const __grid_constant__ sum_task own, const double *other,         \
                                int32_t n, double *with, double *without)                          \
    {                                                                                              \
        le_squares<T>(own, other, n, with, without);                                               \
    }

LE_SUM_KERNELS(real, double)
LE_SUM_KERNELS(complex, vmc_complex)
