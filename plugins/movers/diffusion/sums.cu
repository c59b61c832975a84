/* sums.cu: moves of diffusion where Psi is a sum of determinants; diffusion.cu and spin_table.cu stand in front. A block of
 * SUM_THREADS threads has a walker. The row of the electron at hand is found before it is proposed, and what is accepted
 * is worked into the tables afterwards, with G for the next electron. */

/* W, S and G of a spin, whose electrons come next; others [walkers][count] are the minors of the other spin. */
template <class T>
PLUGMC_FN void dmc_sum_begin(const sum_task &t, const double *others, int32_t count)
{
    sum_weigh<T>(t, others, count);
    find_slopes(walker_of<T>(&t, t.walker + blockIdx.x));
}

/* The row of electron `own`, to own_row [walkers][length]. */
template <class T> PLUGMC_FN void dmc_sum_row(const dmc_task &d, const sum_task &t)
{
    const int32_t w = blockIdx.x;
    T *row = (T *)d.own_row + (int64_t)w * d.length;
    if (d.tally[w].lost) return;
    FOR_THREADS(i, d.length) row[i] = of(0, 0, T()); /* the other spin may have other orbitals */
    __syncthreads();
    find_row_of(walker_of<T>(&t, w), d.own, row);
}

/* What was decided. */
template <class T> PLUGMC_FN void dmc_sum_settle(const dmc_task &d, const sum_task &t)
{
    const int32_t w = blockIdx.x;
    const double *values = d.values + (int64_t)w * d.row;
    const sum_walker<T> s = walker_of<T>(&t, w);
    T q;
    if (!d.move[w].taken || d.tally[w].lost) return;
    sum_ratio(s, d.own, values, &q);
    sum_accept(s, d.own, values, q);
    find_slopes(s);
}

#define DMC_SUM_KERNELS(number, T)                                                                 \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        dmc_sum_anew_##number(const __grid_constant__ sum_task t, const double *values)            \
    {                                                                                              \
        sum_anew<T>(t, values);                                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) dmc_sum_begin_##number(              \
        const __grid_constant__ sum_task t, const double *others, int32_t count)                   \
    {                                                                                              \
        dmc_sum_begin<T>(t, others, count);                                                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) dmc_sum_row_##number(                \
        const __grid_constant__ dmc_task d, const __grid_constant__ sum_task t)                    \
    {                                                                                              \
        dmc_sum_row<T>(d, t);                                                                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) dmc_sum_settle_##number(             \
        const __grid_constant__ dmc_task d, const __grid_constant__ sum_task t)                    \
    {                                                                                              \
        dmc_sum_settle<T>(d, t);                                                                   \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        dmc_sum_copy_##number(const __grid_constant__ sum_task t, const int32_t *from)             \
    {                                                                                              \
        const int32_t w = t.walker + blockIdx.x;                                                   \
        if (from[w] != w) copy_walker(walker_of<T>(&t, from[w]), walker_of<T>(&t, w));             \
    }

DMC_SUM_KERNELS(real, double)
DMC_SUM_KERNELS(complex, vmc_complex)
