/* diffusion.cu: moves of diffusion Monte Carlo on the GPU; draws.h, matrices.cu and task.h stand in front.
 *
 * One electron of all walkers at a time: propose, orbitals and their gradients at all places (by the potential),
 * decide. A walker has a warp, or a block of threads where matrices are large; its threads add up in a fixed order,
 * come to the same decision, and do what follows from it. walk.c does the same on the CPU.
 *
 * M, the transposed inverse, is touched at once where it is small. Where it is large, electrons go in blocks, and
 * accepted moves are gathered (slater.h has the formulas). With M as it was when a block began, C the electrons
 * accepted since, v_i their orbitals, G[i][j] = v_i . M[e_j] and S = (G[C][C])^-1, the row of electron e is by now
 *
 *     M[e] - sum_i y_i M[e_i],   y = S b,   b_i = G[i][e].
 *
 * If it is accepted with the ratio q, its orbitals v are multiplied with the rows of M of the block, which gives the
 * c_i = v . M[e_i] of those accepted before it and G for those to come; and S grows by a row and a column (by
 * bordering): with z = c S,
 *
 *     S' = ((S + y z / q, -y / q), (-z / q, 1 / q)).
 *
 * So a step reads the rows of one block only, the same ones again and again, which stay in the caches. At the end of
 * a block M -= X^T M[C], X = S (V_C M^T - E), by cuBLAS, for all walkers in one call.
 *
 * The floor of such a step, 64 walkers of 1,536 electrons with complex orbitals and blocks of 32: 0.1 MB of slopes, 48
 * rows of 12 KB from the caches and a 32nd of 28 MB a walker, 60 MB of memory in all or 0.02 ms at 3.3 TB/s; touching
 * M each time would be 1.2 GB. */

/* ---- A walker's threads ---- */

/* A team is all of a block of threads, or one of several in it, which lie side by side in a warp. */
template <int LANES> PLUGMC_FN int64_t walker_of_team()
{
    return LANES == DMC_TEAM ? (int64_t)blockIdx.x
                             : ((int64_t)blockIdx.x * DMC_SHARED + threadIdx.x) / LANES;
}

template <int LANES> PLUGMC_FN int32_t lane_of_team() { return threadIdx.x % LANES; }

/* Of a team within a warp: its threads there. */
template <int LANES> PLUGMC_FN uint32_t mask_of_team()
{
    return LANES >= DMC_WARP
               ? 0xffffffffu
               : ((1u << LANES % DMC_WARP) - 1) << (threadIdx.x % DMC_WARP / LANES * LANES);
}

template <int LANES> PLUGMC_FN void meet()
{
    if (LANES <= DMC_WARP)
        __syncwarp(mask_of_team<LANES>());
    else
        __syncthreads();
}

PLUGMC_FN double sum_of_warp(double mine)
{
    for (int distance = DMC_WARP / 2; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    return mine;
}

/* 2^BITS numbers of each thread added up over its warp, in the order of sum_of_warp: half of them are given away for
 * those of a partner, then half of what is left. Returns sum number (lane >> (5 - BITS)). */
template <int BITS> PLUGMC_FN double one_sum_of_warp(double *mine)
{
    const int32_t lane = threadIdx.x % DMC_WARP;
    int distance = DMC_WARP / 2;
#pragma unroll
    for (int half = (1 << BITS) / 2; half > 0; half /= 2, distance /= 2) {
        const bool upper = lane & distance;
#pragma unroll
        for (int k = 0; k < half; k++) {
            const double given = upper ? mine[k] : mine[k + half];
            mine[k] =
                (upper ? mine[k + half] : mine[k]) + __shfl_xor_sync(0xffffffffu, given, distance);
        }
    }
#pragma unroll
    for (; distance > 0; distance /= 2) mine[0] += __shfl_xor_sync(0xffffffffu, mine[0], distance);
    return mine[0];
}

/* Each of COUNT numbers, of up to 16, added up over the team, in an order that is always the same; all threads know
 * the sums. */
template <int LANES, int COUNT> PLUGMC_FN void sums_of_team(double *mine)
{
    enum { BITS = COUNT > 8 ? 4 : COUNT > 4 ? 3 : 2, SHIFT = 5 - BITS };
    if (LANES < DMC_WARP) {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            for (int distance = LANES / 2; distance > 0; distance /= 2)
                mine[k] += __shfl_xor_sync(mask_of_team<LANES>(), mine[k], distance);
        return;
    }
    __shared__ double of_warps[COUNT][LANES > DMC_WARP ? LANES / DMC_WARP : 1], sums[COUNT];
    const int32_t lane = threadIdx.x % DMC_WARP, number = lane >> SHIFT;
    double all[1 << BITS];
#pragma unroll
    for (int k = 0; k < 1 << BITS; k++) all[k] = k < COUNT ? mine[k] : 0;
    const double sum = one_sum_of_warp<BITS>(all);
    if (LANES == DMC_WARP) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) mine[k] = __shfl_sync(0xffffffffu, sum, k << SHIFT);
        return;
    }
    if (lane == number << SHIFT && number < COUNT) of_warps[number][threadIdx.x / DMC_WARP] = sum;
    __syncthreads();
    if (threadIdx.x < COUNT) {
        double of_all = 0;
        for (int w = 0; w < LANES / DMC_WARP; w++) of_all += of_warps[threadIdx.x][w];
        sums[threadIdx.x] = of_all;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < COUNT; k++) mine[k] = sums[k];
}

/* ---- Numbers ---- */

PLUGMC_FN double plus(double a, double b) { return a + b; }
PLUGMC_FN vmc_complex plus(vmc_complex a, vmc_complex b) { return {a.re + b.re, a.im + b.im}; }

/* A number of an array in global memory, in one load. */
PLUGMC_FN double number_at(const double *x) { return *x; }
PLUGMC_FN vmc_complex number_at(const vmc_complex *x)
{
    const double2 both = *(const double2 *)x;
    return {both.x, both.y};
}

/* out[j] = v . m[j], j < rows, of rows of n numbers: a warp of the team has up to four rows at once, so that many loads
 * are on their way. */
template <int LANES, class T>
PLUGMC_FN void products_with_rows(int32_t rows, int32_t n, const T *m, const T *v, T *out)
{
    enum {
        WARPS = LANES > DMC_WARP ? LANES / DMC_WARP : 1,
        EACH = DMC_MOST_BLOCK / WARPS < 4 ? DMC_MOST_BLOCK / WARPS : 4
    };
    const int32_t lane = threadIdx.x % DMC_WARP;
    for (int32_t first = lane_of_team<LANES>() / DMC_WARP; first < rows; first += WARPS * EACH) {
        T sum[EACH];
        int64_t row[EACH];
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int32_t j = first + r * WARPS;
            sum[r] = of(0, 0, T());
            row[r] = (int64_t)(j < rows ? j : first) * n;
        }
#pragma unroll 4
        for (int32_t o = lane; o < n; o += DMC_WARP) {
            const T here = number_at(v + o);
#pragma unroll
            for (int r = 0; r < EACH; r++)
                sum[r] = plus(sum[r], times(number_at(m + row[r] + o), here));
        }
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int32_t j = first + r * WARPS;
            const double re = sum_of_warp(real_of(sum[r])), im = sum_of_warp(imaginary_of(sum[r]));
            if (lane == 0 && j < rows) out[j] = of(re, im, T());
        }
    }
}

/* Of a number of each of DMC_SUMMING threads side by side. */
template <class T> PLUGMC_FN T sum_of_some(T mine)
{
    double re = real_of(mine), im = imaginary_of(mine);
    for (int distance = DMC_SUMMING / 2; distance > 0; distance /= 2) {
        re += __shfl_xor_sync(0xffffffffu, re, distance);
        im += __shfl_xor_sync(0xffffffffu, im, distance);
    }
    return of(re, im, T());
}

/* ---- Pairs and fields ---- */

PLUGMC_FN plugmc_separation_at between(const double *a, const double *b)
{
    return plugmc_separate_at(
        (real)a[0], (real)a[1], (real)a[2],
        plugmc_separated((real)(a[0] - b[0]), (real)(a[1] - b[1]), (real)(a[2] - b[2])));
}

PLUGMC_FN plugmc_site site_of(const dmc_task &t, int32_t e)
{
    return plugmc_site_of_species(PLUGMC_SPECIES > 1 && e >= t.down ? 1 : 0);
}

PLUGMC_FN plugmc_position position_of(const double *r)
{
    plugmc_position at;
    at.x = (real)r[0];
    at.y = (real)r[1];
    at.z = (real)r[2];
    return at;
}

/* What an electron at r feels: its energy, 3 numbers of the gradient, whether it may not be there (not 0). */
enum { FELT_ENERGY, FELT_GRADIENT, FELT_BARRED = 4, FELT };

/* A thread's share of it, with all electrons before `end` but e. */
template <int LANES>
PLUGMC_FN void feel(const dmc_task &t, const double *all, int32_t e, int32_t end, const double *r,
                    double *out)
{
    const plugmc_site a = site_of(t, e);
    const int32_t lane = lane_of_team<LANES>();
    for (int32_t j = lane; j < end && PLUGMC_ENERGY_TERMS > 0; j += LANES) {
        if (j == e) continue;
        const auto s = between(r, all + 3 * j);
        real energy, first, second;
        plugmc_pair_derivatives(s, a, site_of(t, j), &energy, &first, &second);
        out[FELT_ENERGY] += energy;
        out[FELT_GRADIENT] += first * s.x;
        out[FELT_GRADIENT + 1] += first * s.y;
        out[FELT_GRADIENT + 2] += first * s.z;
        if (PLUGMC_POSITION_DEPENDENT > 0) {
            real gradient[3], laplacian;
            plugmc_pair_derivatives_at(s, a, site_of(t, j), gradient, &laplacian);
            for (int d = 0; d < 3; d++) out[FELT_GRADIENT + d] += gradient[d];
        }
    }
    if (lane > 0) return;
    int outside =
        PLUGMC_IN_SPHERE && r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > plugmc_radius * plugmc_radius;
    if (PLUGMC_FIELDS > 0) {
        real gradient[3], laplacian;
        plugmc_fields_derivatives(position_of(r), a, gradient, &laplacian);
        out[FELT_ENERGY] += plugmc_fields(position_of(r), a, &outside);
        for (int d = 0; d < 3; d++) out[FELT_GRADIENT + d] += gradient[d];
    }
    out[FELT_BARRED] += outside;
}

/* ---- Drift ---- */

/* As limited_drift of walk.c. */
PLUGMC_FN void limited_drift(const dmc_task &t, const double *v, double *out)
{
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double factor = 2 * t.tau / (1 + sqrt(1 + 2 * t.drift_limit * t.tau * square));
    for (int k = 0; k < 3; k++) out[k] = factor * v[k];
}

/* ---- Proposals ---- */

/* The row of M of the electron at hand, all moves of the block considered, into own_row. */
template <int LANES, class T> PLUGMC_FN void find_row(const dmc_task &t, int64_t w, T *row)
{
    __shared__ T y[DMC_MOST_BLOCK];
    __shared__ int32_t moved[DMC_MOST_BLOCK];
    const int32_t lane = lane_of_team<LANES>(), n = t.electrons, most = t.capacity;
    const int32_t *chosen = t.chosen + w * (most + 1);
    const int32_t k = LANES > DMC_WARP ? chosen[most] : 0; /* a warp gathers nothing */
    const T *m = (const T *)t.matrices + w * n * n, *own = m + (int64_t)t.own * n;
    const T *b = (const T *)t.known + w * most * most + (t.own - t.block);
    const T *small = (const T *)t.small + w * most * most;
    if (t.sums) return; /* it is there already */
    if (k > 0) {
        const int32_t i = lane / DMC_SUMMING, part = lane % DMC_SUMMING;
        T mine = of(0, 0, T());
        for (int32_t j = part; j < k && i < k; j += DMC_SUMMING)
            mine = plus(mine, times(number_at(small + i * most + j), number_at(b + j * most)));
        const T sum = sum_of_some(mine);
        if (part == 0 && i < k) {
            y[i] = sum;
            moved[i] = chosen[i];
            ((T *)t.mixed)[w * most + i] = sum;
        }
        meet<LANES>();
    }
    for (int32_t o = lane; o < n; o += LANES) {
        T sum = number_at(own + o);
#pragma unroll 8
        for (int32_t i = 0; i < k; i++)
            sum = less(sum, times(y[i], number_at(m + (int64_t)moved[i] * n + o)));
        row[o] = sum;
    }
}

/* Where electron `own` would go: there, move. */
template <int LANES, class T> PLUGMC_FN void propose(const dmc_task &t)
{
    const int64_t w = walker_of_team<LANES>();
    if (w >= t.walkers || t.tally[w].lost) return;
    const int32_t lane = lane_of_team<LANES>(), n = t.electrons, e = t.first + t.own;
    const double *all = t.positions + 3 * w * t.particles, *r = all + 3 * e;
    T *row = (T *)t.own_row + w * t.length;
    double sums[FELT + 3] = {};
    find_row<LANES>(t, w, row);
    feel<LANES>(t, all, e, t.particles, r, sums);
    for (int32_t o = lane; o < t.length; o += LANES)
        for (int d = 0; d < 3; d++) {
            const T *slopes = (const T *)(t.slopes + ((w * n + t.own) * 3 + d) * t.row);
            sums[FELT + d] +=
                real_of(times(number_at(slopes + o), number_at(row + o))); /* this thread's own */
        }
    sums_of_team<LANES, FELT + 3>(sums);
    if (lane > 0) return;
    dmc_move *move = t.move + w;
    double v[3], here[3], random[3], to[3];
    for (int d = 0; d < 3; d++) v[d] = sums[FELT + d] - 0.5 * sums[FELT_GRADIENT + d];
    limited_drift(t, v, here);
    const plugmc_random u =
        plugmc_draw(t.seed, t.sweep, (uint32_t)w, (uint32_t)e, PLUGMC_PURPOSE_TRIAL, 0);
    vmc_gaussian(&u, random);
    for (int d = 0; d < 3; d++) {
        move->here[d] = here[d];
        move->random[d] = random[d] * sqrt(t.tau);
        to[d] = r[d] + here[d] + random[d] * sqrt(t.tau);
    }
    move->parts = sums[FELT_ENERGY];
    /* in a rectangular box the same as plugmc_wrap up to rounding */
    if (t.periodic) plugmc_wrap_oblique(t.vector, t.inverse, to);
    for (int d = 0; d < 3; d++) t.there[3 * w + d] = to[d];
}

/* ---- Decisions ---- */

/* M for the electron at hand where the orbitals are v, at once: a thread a row. */
template <int LANES, class T>
PLUGMC_FN void update_at_once(const dmc_task &t, int64_t w, T q, const T *v)
{
    const int32_t n = t.electrons;
    const T over = one_over(q), *old = (const T *)t.own_row + w * n;
    T *m = (T *)t.matrices + w * n * n;
    for (int32_t j = lane_of_team<LANES>(); j < n; j += LANES) {
        T product = of(j == t.own ? -1 : 0, 0, T());
        for (int32_t o = 0; o < n; o++) product = plus(product, times(v[o], m[(int64_t)j * n + o]));
        product = times(product, over);
        for (int32_t o = 0; o < n; o++)
            m[(int64_t)j * n + o] = less(m[(int64_t)j * n + o], times(product, old[o]));
    }
}

/* The same, gathered. */
template <int LANES, class T>
PLUGMC_FN void gather_move(const dmc_task &t, int64_t w, T q, const T *v)
{
    __shared__ T p[DMC_MOST_BLOCK], z[DMC_MOST_BLOCK];
    const int32_t lane = lane_of_team<LANES>(), n = t.electrons, most = t.capacity;
    const int32_t left = n - t.block, rows = left < most ? left : most;
    int32_t *chosen = t.chosen + w * (most + 1);
    const int32_t k = chosen[most];
    const T over = one_over(q);
    const T *m = (const T *)t.matrices + w * n * n, *own = m + (int64_t)t.own * n;
    const T *y = (const T *)t.mixed + w * most;
    T *taken = (T *)t.taken + (w * most + k) * n, *old = (T *)t.old + (w * most + k) * n;
    T *small = (T *)t.small + w * most * most, *known = (T *)t.known + (w * most + k) * most;
    for (int32_t o = lane; o < n; o += LANES) {
        taken[o] = number_at(v + o);
        old[o] = number_at(own + o);
    }
    products_with_rows<LANES>(rows, n, m + (int64_t)t.block * n, v, p);
    meet<LANES>();
    for (int32_t j = lane; j < rows; j += LANES) known[j] = p[j];
    T mine = of(0, 0, T());
    const int32_t column = lane / DMC_SUMMING, part = lane % DMC_SUMMING;
    for (int32_t i = part; i < k && column < k; i += DMC_SUMMING)
        mine = plus(mine, times(p[chosen[i] - t.block], number_at(small + i * most + column)));
    const T sum = sum_of_some(mine);
    if (part == 0 && column < k) z[column] = times(sum, over);
    meet<LANES>();
    for (int32_t at = lane; at < (k + 1) * (k + 1); at += LANES) {
        const int32_t i = at / (k + 1), j = at % (k + 1);
        T *out = small + i * most + j;
        if (i < k && j < k)
            *out = plus(*out, times(y[i], z[j]));
        else if (i < k)
            *out = less(of(0, 0, T()), times(y[i], over));
        else
            *out = j < k ? less(of(0, 0, T()), z[j]) : over;
    }
    if (lane > 0) return;
    chosen[k] = t.own;
    chosen[most] = k + 1;
}

/* Whether the move is taken, from the sums over a walker's threads; walk.c has the formulas. */
enum { THERE_RATIO = FELT, THERE_SLOPES = THERE_RATIO + 2, THERE = THERE_SLOPES + 6 };

template <class T>
PLUGMC_FN bool is_taken(const dmc_task &t, int64_t w, int32_t e, T q, const double *sums,
                        bool *lost)
{
    const dmc_move *move = t.move + w;
    const T over = one_over(q);
    double v[3], back[3], forth = 0, backward = 0;
    if (sums[FELT_BARRED] > 0) return false;
    if (!t.crosses && sizeof(T) == sizeof(double) && real_of(q) <= 0) return false;
    if (square_of(q) == 0) return false;
    for (int d = 0; d < 3; d++)
        v[d] = real_of(times(of(sums[THERE_SLOPES + 2 * d], sums[THERE_SLOPES + 2 * d + 1], T()),
                             over)) -
               0.5 * sums[FELT_GRADIENT + d];
    limited_drift(t, v, back);
    for (int d = 0; d < 3; d++) {
        const double step = move->here[d] + move->random[d];
        forth += move->random[d] * move->random[d];
        backward += (step + back[d]) * (step + back[d]);
    }
    const double change = sums[FELT_ENERGY] - move->parts,
                 p = square_of(q) * exp(-change + (forth - backward) / (2 * t.tau));
    const plugmc_random u =
        plugmc_draw(t.seed, t.sweep, (uint32_t)w, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 0);
    *lost = !(p == p);
    return !*lost && plugmc_uniform_double(u.word[0], u.word[1]) < p;
}

/* What a move changes beside the matrices. */
template <int LANES>
PLUGMC_FN void settle(const dmc_task &t, int64_t w, double square, double change)
{
    const int32_t lane = lane_of_team<LANES>();
    double *slopes = t.slopes + (w * t.electrons + t.own) * 3 * t.row;
    for (int64_t i = lane; i < 3 * t.row; i += LANES) slopes[i] = t.new_slopes[w * 3 * t.row + i];
    if (lane > 0) return;
    for (int d = 0; d < 3; d++)
        t.positions[3 * (w * t.particles + t.first + t.own) + d] = t.there[3 * w + d];
    t.numbers[w].parts += change;
    t.numbers[w].ln_square[t.spin] += log(square);
}

template <int LANES, class T>
PLUGMC_FN void work_in(const dmc_task &t, int64_t w, T q, const T *v, double change)
{
    if (t.sums) {
        /* the tables take it afterwards */
    } else if (LANES > DMC_WARP && t.capacity > 1)
        gather_move<LANES>(t, w, q, v);
    else
        update_at_once<LANES>(t, w, q, v);
    settle<LANES>(t, w, square_of(q), change);
}

/* Sums over the team of what the electron feels at `there`, of the ratio, and of the slopes. */
template <int LANES, class T> PLUGMC_FN void look_there(const dmc_task &t, int64_t w, double *sums)
{
    const int32_t n = t.length, e = t.first + t.own;
    const T *row = (const T *)t.own_row + w * n, *v = (const T *)(t.values + w * t.row);
    feel<LANES>(t, t.positions + 3 * w * t.particles, e, t.particles, t.there + 3 * w, sums);
    for (int32_t o = lane_of_team<LANES>(); o < n; o += LANES) {
        const T here = number_at(row + o), there = times(number_at(v + o), here);
        sums[THERE_RATIO] += real_of(there);
        sums[THERE_RATIO + 1] += imaginary_of(there);
        for (int d = 0; d < 3; d++) {
            const T slope =
                times(number_at((const T *)(t.new_slopes + (3 * w + d) * t.row) + o), here);
            sums[THERE_SLOPES + 2 * d] += real_of(slope);
            sums[THERE_SLOPES + 2 * d + 1] += imaginary_of(slope);
        }
    }
    sums_of_team<LANES, THERE>(sums);
}

template <int LANES, class T> PLUGMC_FN void decide(const dmc_task &t)
{
    const int64_t w = walker_of_team<LANES>();
    if (w >= t.walkers || t.tally[w].lost) return;
    const int32_t lane = lane_of_team<LANES>(), e = t.first + t.own;
    const dmc_move move = t.move[w];
    const double length = move.random[0] * move.random[0] + move.random[1] * move.random[1] +
                          move.random[2] * move.random[2];
    double sums[THERE] = {};
    bool lost = false;
    look_there<LANES, T>(t, w, sums);
    const T q = of(sums[THERE_RATIO], sums[THERE_RATIO + 1], T());
    const bool taken = is_taken(t, w, e, q, sums, &lost);
    if (lane == 0) {
        t.tally[w].proposed += length;
        if (taken) t.tally[w].accepted += length;
        if (taken) t.tally[w].moves++;
        if (lost) t.tally[w].lost = e + 1;
        t.move[w].taken = taken;
    }
    if (taken)
        work_in<LANES>(t, w, q, (const T *)(t.values + w * t.row), sums[FELT_ENERGY] - move.parts);
}

#define DMC_MOVES(team, lanes, block, number, T)                                                   \
    extern "C" __global__ void __launch_bounds__(block)                                            \
        dmc_propose_##team##_##number(const __grid_constant__ dmc_task t)                          \
    {                                                                                              \
        propose<lanes, T>(t);                                                                      \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(block)                                            \
        dmc_decide_##team##_##number(const __grid_constant__ dmc_task t)                           \
    {                                                                                              \
        decide<lanes, T>(t);                                                                       \
    }

#define DMC_KERNELS(number, T)                                                                     \
    DMC_MOVES(few, DMC_FEW, DMC_SHARED, number, T)                                                 \
    DMC_MOVES(warp, DMC_WARP, DMC_SHARED, number, T)                                               \
    DMC_MOVES(block, DMC_TEAM, DMC_TEAM, number, T)                                                \
    extern "C" __global__ void __launch_bounds__(DMC_THREADS)                                      \
        dmc_close_##number(const __grid_constant__ dmc_task t, T *products)                        \
    {                                                                                              \
        close_block(t, products);                                                                  \
    }

/* ---- The end of a block ---- */

/* A block of threads a walker: V_C M^T, products [walkers][capacity][electrons], becomes that less E, and the next
 * block of electrons is empty. Rows of `taken` beyond those accepted are finite, and S is 0 there. */
template <class T> PLUGMC_FN void close_block(const dmc_task &t, T *products)
{
    const int64_t w = blockIdx.x;
    const int32_t most = t.capacity;
    int32_t *chosen = t.chosen + w * (most + 1);
    const int32_t k = chosen[most];
    T *small = (T *)t.small + w * most * most;
    for (int32_t at = threadIdx.x; at < most * most; at += DMC_THREADS)
        if (at / most >= k || at % most >= k) small[at] = of(0, 0, T());
    for (int32_t i = threadIdx.x; i < k; i += DMC_THREADS) {
        T *p = products + (w * most + i) * t.electrons + chosen[i];
        *p = less(*p, of(1, 0, T()));
    }
    __syncthreads();
    if (threadIdx.x == 0) chosen[most] = 0;
}

DMC_KERNELS(real, double)
DMC_KERNELS(complex, vmc_complex)

/* ---- Walkers ---- */

/* Rows of `numbers` doubles, [walkers]: walker w = first + y becomes from[w]. Those that are copied are not copied
 * to. */
extern "C" __global__ void dmc_copy(int64_t numbers, int32_t first, const int32_t *from,
                                    double *rows)
{
    const int64_t w = first + blockIdx.y, source = from[w];
    if (source == w) return;
    for (int64_t i = (int64_t)blockIdx.x * DMC_THREADS + threadIdx.x; i < numbers;
         i += (int64_t)gridDim.x * DMC_THREADS)
        rows[w * numbers + i] = rows[source * numbers + i];
}

/* Positions of a spin's electrons side by side, of n walkers from `walker` on: points [n][electrons][3]. */
extern "C" __global__ void dmc_gather(const __grid_constant__ dmc_task t, int32_t walker, int32_t n,
                                      double *points)
{
    const int64_t i = (int64_t)blockIdx.x * DMC_THREADS + threadIdx.x,
                  row = 3 * (int64_t)t.electrons;
    if (i >= n * row) return;
    points[i] = t.positions[3 * ((walker + i / row) * t.particles + t.first) + i % row];
}

/* A block of threads a walker: energy of its pairs and fields, out [walkers]; infinite where an electron may not
 * be. */
extern "C" __global__ void __launch_bounds__(DMC_THREADS)
    dmc_parts(const __grid_constant__ dmc_task t, double *out)
{
    const int64_t w = blockIdx.x;
    const double *all = t.positions + 3 * w * t.particles;
    double sums[FELT] = {};
    for (int32_t e = 0; e < t.particles; e++) feel<DMC_THREADS>(t, all, e, e, all + 3 * e, sums);
    sums_of_team<DMC_THREADS, FELT>(sums);
    if (threadIdx.x == 0) out[w] = sums[FELT_BARRED] > 0 ? infinity() : sums[FELT_ENERGY];
}
