/* t_moves.cu: T-moves on the GPU; diffusion.cu stands in front, t_moves.c says what they are. */

/* As plugmc_nonlocal_point. */
struct dmc_place {
    int32_t walker, electron;
    double position[3], energy, factor, phase[2];
};

/* A thread a place: where those of an electron begin and end, ranges [walkers][particles][2], 0 where there are
 * none. */
extern "C" __global__ void dmc_ranges(int64_t count, int32_t particles, const dmc_place *places,
                                      int64_t *ranges)
{
    const int64_t i = (int64_t)blockIdx.x * DMC_THREADS + threadIdx.x;
    if (i >= count) return;
    const int32_t w = places[i].walker, e = places[i].electron;
    int64_t *range = ranges + 2 * ((int64_t)w * particles + e);
    if (i == 0 || places[i - 1].walker != w || places[i - 1].electron != e) range[0] = i;
    if (i == count - 1 || places[i + 1].walker != w || places[i + 1].electron != e)
        range[1] = i + 1;
}

/* The place that an electron chooses, or -1: it stays. By a warp. */
PLUGMC_FN int64_t place_chosen(const dmc_task &t, int64_t w, int32_t e, const dmc_place *places,
                               int64_t first, int64_t end)
{
    double all = 0;
    for (int64_t k = first + threadIdx.x % DMC_WARP; k < end; k += DMC_WARP)
        all += fmax(0.0, -t.tau * places[k].energy);
    all = 1 + sum_of_warp(all);
    const plugmc_random u =
        plugmc_draw(t.seed, t.sweep, (uint32_t)w, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 1);
    double left = all * plugmc_uniform_double(u.word[0], u.word[1]) - 1;
    for (int64_t k = first; k < end && left >= 0; k++) { /* seldom */
        left -= fmax(0.0, -t.tau * places[k].energy);
        if (left < 0) return k;
    }
    return -1;
}

/* A warp a walker of the list, or any if that is NULL: electrons from next[w] on choose, until one leaves: electron
 * [walkers] says which, -1: none. tried [walkers] counts those that had somewhere to go. */
extern "C" __global__ void __launch_bounds__(DMC_THREADS)
    dmc_choose(const __grid_constant__ dmc_task t, int32_t n, const int32_t *list,
               const dmc_place *places, const int64_t *ranges, int32_t *next, int32_t *electron,
               int32_t *tried)
{
    const int32_t i = (blockIdx.x * DMC_THREADS + threadIdx.x) / DMC_WARP;
    if (i >= n) return;
    const int64_t w = list ? list[i] : i;
    const bool is_first = threadIdx.x % DMC_WARP == 0;
    int32_t e = list ? next[w] : 0, tries = 0;
    int64_t chosen = -1;
    for (; e < t.particles && chosen < 0; e++) {
        const int64_t *range = ranges + 2 * (w * t.particles + e);
        if (range[0] == range[1]) continue;
        tries++;
        chosen = place_chosen(t, w, e, places, range[0], range[1]);
    }
    if (!is_first) return;
    tried[w] += tries;
    next[w] = e;
    electron[w] = chosen < 0 ? -1 : e - 1;
    for (int d = 0; d < 3 && chosen >= 0; d++) t.there[3 * w + d] = places[chosen].position[d];
}

/* Where walkers of the list go: points [n][3]. */
extern "C" __global__ void dmc_destinations(const __grid_constant__ dmc_task t, int32_t n,
                                            const int32_t *list, double *points)
{
    const int32_t i = blockIdx.x * DMC_THREADS + threadIdx.x;
    if (i < 3 * n) points[i] = t.there[3 * (int64_t)list[i / 3] + i % 3];
}

/* A team a walker of the list: its electron goes there, whatever that does to Psi. Orbitals and slopes are in the
 * order of the list. */
template <int LANES, class T>
PLUGMC_FN void put(dmc_task t, int32_t n, const int32_t *list, const int32_t *electron)
{
    const int64_t i = walker_of_team<LANES>();
    if (i >= n) return;
    const int64_t w = list[i];
    const int32_t e = electron[w];
    const double *all = t.positions + 3 * w * t.particles;
    double sums[THERE] = {}, here[FELT] = {};
    t.own = e - t.first;
    t.values += (i - w) * t.row;
    t.new_slopes += (i - w) * 3 * t.row;
    find_row<LANES>(t, w, (T *)t.own_row + w * t.electrons);
    feel<LANES>(t, all, e, t.particles, all + 3 * e, here);
    sums_of_team<LANES, FELT>(here);
    meet<LANES>();
    look_there<LANES, T>(t, w, sums);
    const T q = of(sums[THERE_RATIO], sums[THERE_RATIO + 1], T());
    update_at_once<LANES>(t, w, q, (const T *)(t.values + w * t.row));
    settle<LANES>(t, w, square_of(q), sums[FELT_ENERGY] - here[FELT_ENERGY]);
}

/* The places of a walker whose electrons of the spin have not chosen yet, as they lie: later [n][2]. */
extern "C" __global__ void dmc_later(const __grid_constant__ dmc_task t, int32_t n,
                                     const int32_t *list, const int32_t *next,
                                     const int64_t *ranges, int64_t *later)
{
    const int32_t i = blockIdx.x * DMC_THREADS + threadIdx.x;
    if (i >= n) return;
    const int64_t w = list[i];
    int64_t begin = 0, end = 0;
    for (int32_t e = next[w] > t.first ? next[w] : t.first; e < t.first + t.electrons; e++) {
        const int64_t *range = ranges + 2 * (w * t.particles + e);
        if (range[0] == range[1]) continue;
        if (begin == end) begin = range[0];
        end = range[1];
    }
    later[2 * i] = begin;
    later[2 * i + 1] = end;
}

/* Where places number which[i] are: points [n][3]. */
extern "C" __global__ void dmc_points(int64_t n, const int64_t *which, const dmc_place *places,
                                      double *points)
{
    const int64_t i = (int64_t)blockIdx.x * DMC_THREADS + threadIdx.x;
    if (i < 3 * n) points[i] = places[which[i / 3]].position[i % 3];
}

/* A warp a place: its energy as Psi is now; values [n][row] are the orbitals there. */
template <class T>
PLUGMC_FN void find_energy(const dmc_task &t, int64_t n, const int64_t *which, const double *values,
                           dmc_place *places)
{
    const int64_t i = walker_of_team<DMC_WARP>();
    if (i >= n) return;
    dmc_place *place = places + which[i];
    const int64_t w = place->walker;
    const int32_t e = place->electron, lane = threadIdx.x % DMC_WARP;
    const double *all = t.positions + 3 * w * t.particles;
    const T *row = (const T *)t.matrices + (w * t.electrons + e - t.first) * t.electrons,
            *v = (const T *)(values + i * t.row);
    double there[FELT] = {}, here[FELT] = {}, product = 0;
    feel<DMC_WARP>(t, all, e, t.particles, place->position, there);
    feel<DMC_WARP>(t, all, e, t.particles, all + 3 * e, here);
    for (int32_t o = lane; o < t.electrons; o += DMC_WARP) {
        const T q = times(v[o], row[o]);
        product += place->phase[0] * real_of(q) - place->phase[1] * imaginary_of(q);
    }
    const double change = sum_of_warp(there[FELT_ENERGY] - here[FELT_ENERGY]),
                 ratio = sum_of_warp(product) * exp(-0.5 * change);
    if (lane == 0) place->energy = place->factor * ratio;
}

#define DMC_T_KERNELS(number, T)                                                                   \
    extern "C" __global__ void __launch_bounds__(DMC_SHARED)                                       \
        dmc_put_warp_##number(const __grid_constant__ dmc_task t, int32_t n, const int32_t *list,  \
                              const int32_t *electron)                                             \
    {                                                                                              \
        put<DMC_WARP, T>(t, n, list, electron);                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(DMC_TEAM)                                         \
        dmc_put_block_##number(const __grid_constant__ dmc_task t, int32_t n, const int32_t *list, \
                               const int32_t *electron)                                            \
    {                                                                                              \
        put<DMC_TEAM, T>(t, n, list, electron);                                                    \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(DMC_SHARED)                                       \
        dmc_energies_##number(const __grid_constant__ dmc_task t, int64_t n, const int64_t *which, \
                              const double *values, dmc_place *places)                             \
    {                                                                                              \
        find_energy<T>(t, n, which, values, places);                                               \
    }
DMC_T_KERNELS(real, double)
DMC_T_KERNELS(complex, vmc_complex)
