/* decide_sum.cu: decisions about a block of electrons where Psi is a sum of determinants, one electron after the other;
 * vmc.cu and spin_table.cu stand in front. A block of SUM_THREADS threads has a walker. Tables take each move that is
 * accepted, so M does, too, and blocks are no more than the electrons whose energies vmc_look has found together. */

template <class T, class V>
PLUGMC_FN void decide_sum(const vmc_draws &d, const vmc_block &b, const vmc_state &state,
                          const sum_task &t, double *positions, const double *to,
                          const double *change, const double *others, const V *values)
{
    __shared__ double now[VMC_MOST_BLOCK], bars[VMC_MOST_BLOCK];
    const int32_t w = blockIdx.x, n = b.size, thread = threadIdx.x, e0 = b.spin_first + b.first,
                  parts = sizeof(T) / sizeof(double);
    const double *grows = others + (int64_t)w * b.capacity * b.capacity;
    const sum_walker<T> s = walker_of<T>(&t, t.walker + w);
    double ln = 0, energy = 0;
    int32_t accepted = 0;
    FOR_THREADS(k, n)
    {
        now[k] = change[(int64_t)w * b.capacity + k];
        bars[k] = grows[k * b.capacity + k];
    }
    bool ended = state.failure[w].electron != 0; /* before anyone can note another */
    __syncthreads();
    for (int32_t k = 0; k < n && !ended; k++) {
        const int64_t row = (int64_t)w * b.rows + b.row + k;
        const V *there = values + row * t.pitch * parts;
        T q;
        const double square = square_of(sum_ratio(s, b.first + k, there, &q)),
                     own = with_infinite(now[k], bars[k]);
        const bool lost = is_lost(square, own);
        if (VMC_BARS && lost &&
            is_barred(to + 3 * row, plugmc_site_of_species(species_of(b, e0 + k))))
            continue;
        if (thread == 0 && lost) note_failure(state, d, w, e0 + k);
        if (!(acceptance_number(d, d.walker + w, e0 + k) < square * exp(-own)) && !lost) continue;
        ended = lost; /* it is made, and none after it, so that it is found */
        sum_accept(s, b.first + k, there, q);
        for (int32_t j = k + 1 + thread; j < n; j += SUM_THREADS) {
            now[j] += grows[j * b.capacity + k];
            bars[j] += grows[k * b.capacity + j];
        }
        if (thread < 3)
            positions[3 * ((int64_t)w * b.particles + e0 + k) + thread] = to[3 * row + thread];
        ln += log(square);
        energy += own;
        accepted++;
        __syncthreads();
    }
    if (thread > 0 || accepted == 0) return;
    state.ln_square[w] += ln;
    state.parts[w] += energy;
    state.accepted[w] += accepted;
}

#define VMC_SUM_KERNELS(number, T)                                                                 \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        vmc_sum_anew_float_##number(const __grid_constant__ sum_task t, const float *values)       \
    {                                                                                              \
        sum_anew<T>(t, values);                                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS)                                      \
        vmc_sum_anew_double_##number(const __grid_constant__ sum_task t, const double *values)     \
    {                                                                                              \
        sum_anew<T>(t, values);                                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) vmc_sum_weigh_##number(              \
        const __grid_constant__ sum_task t, const double *others, int32_t count)                   \
    {                                                                                              \
        sum_weigh<T>(t, others, count);                                                            \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) vmc_sum_decide_float_##number(       \
        const __grid_constant__ vmc_draws d, const vmc_block b, const vmc_state s,                 \
        const __grid_constant__ sum_task t, double *positions, const double *to,                   \
        const double *change, const double *others, const float *values)                           \
    {                                                                                              \
        decide_sum<T>(d, b, s, t, positions, to, change, others, values);                          \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(SUM_THREADS) vmc_sum_decide_double_##number(      \
        const __grid_constant__ vmc_draws d, const vmc_block b, const vmc_state s,                 \
        const __grid_constant__ sum_task t, double *positions, const double *to,                   \
        const double *change, const double *others, const double *values)                          \
    {                                                                                              \
        decide_sum<T>(d, b, s, t, positions, to, change, others, values);                          \
    }

VMC_SUM_KERNELS(real, double)
VMC_SUM_KERNELS(complex, vmc_complex)
