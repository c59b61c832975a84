/* decide.cu: the decisions about a block of electrons, one after the other; vmc.cu stands in front and says what a block
 * is. */
/* What the moves taken, of n electrons, do to the numbers of a walker; by one thread, in their order. */
PLUGMC_FN void add_up(const vmc_state &s, int32_t w, int32_t n, const int32_t *taken,
                      const double *ln_square, const double *own)
{
    double ln = 0, parts = 0;
    int32_t accepted = 0;
    for (int32_t k = 0; k < n; k++)
        if (taken[k]) {
            ln += ln_square[k];
            parts += own[k];
            accepted++;
        }
    s.ln_square[w] += ln;
    s.parts[w] += parts;
    s.accepted[w] += accepted;
}

/* The electrons of a block that are taken join those that are gathered. */
PLUGMC_FN void note_taken(const vmc_gathered &g, const vmc_block &b, const int32_t *taken)
{
    const int32_t w = blockIdx.x;
    int32_t count = g.count[w];
    g.before[w] = count;
    for (int32_t k = 0; k < b.size; k++)
        if (taken[k]) g.chosen[(int64_t)w * g.rows + count++] = b.column + k;
    g.count[w] = count;
    atomicMax(g.largest, count);
}

/* What the threads share while they decide about n electrons. G has grows [n][n] beside it: vmc_look's `others`. */
template <class T> struct vmc_deciding {
    T *row, *column, *diagonal;    /* [most] */
    double *grows;                 /* [n][stride] */
    int32_t stride;                /* odd, for the banks of shared memory */
    double *now, *number, *square; /* [n]: change, acceptance number, |q|^2 of those taken */
    double *own, *weight;          /* [n]: the change with what is infinite, exp(-own) */
    int32_t *taken;                /* [n] */
};

template <class T> PLUGMC_FN vmc_deciding<T> deciding_in(double *shared, int32_t most, int32_t n)
{
    vmc_deciding<T> s;
    s.row = (T *)shared;
    s.column = s.row + most;
    s.diagonal = s.column + most;
    s.grows = (double *)(s.diagonal + most);
    s.stride = n | 1;
    s.now = s.grows + n * s.stride;
    s.number = s.now + n;
    s.square = s.number + n;
    s.own = s.square + n;
    s.weight = s.own + n;
    s.taken = (int32_t *)(s.weight + n);
    return s;
}

/* The change of electron k and exp(-change) as they are now, for the decision about it. */
template <class T> PLUGMC_FN void weigh(const vmc_deciding<T> &s, int32_t k)
{
    s.own[k] = with_infinite(s.now[k], s.grows[k * s.stride + k]);
    s.weight[k] = exp(-s.own[k]);
}

/* What it changes for those after electron e that it is taken, by thread k of the keepers. */
template <class T>
PLUGMC_FN void keep_account(const vmc_deciding<T> &s, int32_t n, int32_t e, int32_t k,
                            double square)
{
    if (k == e) s.square[k] = square;
    if (k == e) s.taken[k] = 1;
    if (k <= e || k >= n) return;
    s.now[k] += s.grows[k * s.stride + e];
    s.grows[k * s.stride + k] += s.grows[e * s.stride + k];
    weigh(s, k);
}

/* Electron e = VMC_ROWS a + ... is taken: its row over q and its column, for all threads to see. */
template <class T, int A, int B>
PLUGMC_FN void show_row_and_column(const vmc_deciding<T> &s, int32_t e, int a, T q, double square,
                                   const T g[A][B])
{
    constexpr int strips = VMC_COLUMNS / VMC_ROWS;
    const int32_t t = threadIdx.x, warp = t / VMC_COLUMNS, lane = t % VMC_COLUMNS;
    const T over = one_over(q, square);
    const bool my_row = warp == e % VMC_ROWS, my_column = lane == e % VMC_COLUMNS;
#pragma unroll
    for (int c = 0; c < B; c++)
        if (my_row) s.row[lane + VMC_COLUMNS * c] = times(g[a][c], over);
#pragma unroll
    for (int i = 0; i < A; i++)
        if (my_column) s.column[warp + VMC_ROWS * i] = g[i][a / strips];
    if (my_row && my_column) s.row[e] = over;
}

/* The step of the elimination that follows, and the new diagonal. */
template <class T, int A, int B>
PLUGMC_FN void eliminate(const vmc_deciding<T> &s, int32_t e, int a, T g[A][B])
{
    constexpr int strips = VMC_COLUMNS / VMC_ROWS;
    const int32_t t = threadIdx.x, warp = t / VMC_COLUMNS, lane = t % VMC_COLUMNS;
    const T zero = of(0, 0, T());
    const bool my_row = warp == e % VMC_ROWS, my_column = lane == e % VMC_COLUMNS;
    T own_row[B];
#pragma unroll
    for (int c = 0; c < B; c++) own_row[c] = s.row[lane + VMC_COLUMNS * c];
#pragma unroll
    for (int i = 0; i < A; i++) {
        const T own_column = s.column[warp + VMC_ROWS * i];
#pragma unroll
        for (int c = 0; c < B; c++)
            g[i][c] =
                less_product(my_column && c == a / strips ? zero : g[i][c], own_column, own_row[c]);
    }
#pragma unroll
    for (int c = 0; c < B; c++)
        if (my_row) g[a][c] = own_row[c];
#pragma unroll
    for (int i = 0; i < A; i++)
        if (lane == warp + VMC_ROWS * (i % strips))
            s.diagonal[warp + VMC_ROWS * i] = g[i][i / strips];
}

/* A thread's elements of G, and what all share before the first decision. G is the block's columns of its rows of P, at
 * `p`. Keepers (own >= 0: the electron of the block that is theirs) have no elements. */
template <class T, int A, int B>
PLUGMC_FN void take_up(const vmc_deciding<T> &s, const vmc_draws &d, const vmc_block &b, const T *p,
                       const double *change, const double *others, T g[A][B])
{
    const int32_t w = blockIdx.x, n = b.size, t = threadIdx.x, capacity = b.capacity,
                  warp = t / VMC_COLUMNS, lane = t % VMC_COLUMNS, own = t - VMC_THREADS;
#pragma unroll
    for (int a = 0; a < A; a++)
#pragma unroll
        for (int c = 0; c < B; c++) {
            const int i = warp + VMC_ROWS * a, j = lane + VMC_COLUMNS * c;
            const bool there = i < n && j < n && own < 0;
            g[a][c] = there ? p[(int64_t)i * b.columns + b.column + j] : of(0, 0, T());
            if (there)
                s.grows[i * s.stride + j] = others[((int64_t)w * capacity + i) * capacity + j];
            if (i == j && own < 0) s.diagonal[i] = g[a][c];
        }
    if (own >= 0 && own < n) {
        s.now[own] = change[(int64_t)w * capacity + own];
        s.number[own] = acceptance_number(d, d.walker + w, b.spin_first + b.first + own);
        s.taken[own] = 0;
    }
    __syncthreads();
    if (own >= 0 && own < n) weigh(s, own);
}

/* What the decisions leave: `small`, P less 1 at [i][e_i], the positions and the numbers of the walker. */
template <class T, int A, int B>
PLUGMC_FN void hand_over(const vmc_deciding<T> &s, const vmc_block &b, const vmc_state &state,
                         double *positions, const double *to, T *p, T *small,
                         const vmc_gathered &gathered, const T g[A][B])
{
    const int32_t w = blockIdx.x, n = b.size, t = threadIdx.x, capacity = b.capacity,
                  warp = t / VMC_COLUMNS, lane = t % VMC_COLUMNS, e0 = b.spin_first + b.first;
    __syncthreads();
#pragma unroll
    for (int a = 0; a < A; a++)
#pragma unroll
        for (int c = 0; c < B; c++) {
            const int i = warp + VMC_ROWS * a, j = lane + VMC_COLUMNS * c;
            if (i < n && j < n && t < VMC_THREADS)
                small[((int64_t)w * capacity + i) * capacity + j] =
                    s.taken[i] && s.taken[j] ? g[a][c] : of(0, 0, T());
        }
    for (int32_t k = t; k < n; k += VMC_DECIDERS) {
        T *one = p + (int64_t)k * b.columns + b.column + k;
        *one = less(*one, of(1, 0, T()));
        if (s.taken[k]) s.square[k] = log(s.square[k]);
        for (int i = 0; i < 3 && s.taken[k]; i++)
            positions[3 * ((int64_t)w * b.particles + e0 + k) + i] =
                to[3 * ((int64_t)w * b.rows + b.row + k) + i];
    }
    __syncthreads();
    if (t == 0) add_up(state, w, n, s.taken, s.square, s.own);
    if (t == 32 && gathered.chosen) note_taken(gathered, b, s.taken);
}

/* One block of threads a walker. products [walkers][gathered.rows][columns]: P, less 1 at [i][e_i] when it ends. small
 * [walkers][capacity][capacity]: the inverse of G[C][C], 0 elsewhere. A thread has A x B elements of G in registers,
 * those of rows `warp` + VMC_ROWS a and columns `lane` + VMC_COLUMNS c; the others see its diagonal, and the row and
 * the column of the electron that is taken. The keepers, VMC_MOST_BLOCK threads behind these, have the energies, an
 * electron each, so that exponentials are found beside the elimination. Electrons go by in an order that makes a and c
 * of their own row and column known to the compiler. */
template <class T, int A, int B>
PLUGMC_FN void decide_some(const vmc_draws &d, const vmc_block &b, const vmc_state &state,
                           double *positions, const double *to, const double *change,
                           const double *others, T *products, T *small,
                           const vmc_gathered &gathered)
{
    constexpr int most = A * VMC_ROWS;
    static_assert(most == B * VMC_COLUMNS, "a square");
    extern __shared__ double shared[];
    const int32_t w = blockIdx.x, n = b.size, t = threadIdx.x, e0 = b.spin_first + b.first,
                  own = t - VMC_THREADS;
    const bool keeper = own >= 0;
    const vmc_deciding<T> s = deciding_in<T>(shared, most, n);
    T *p = products + (int64_t)w * gathered.rows * b.columns, g[A][B];
    take_up<T, A, B>(s, d, b, p, change, others, g);
    /* a move that is lost is made, and none after it, so that it is found; looked up before anyone can note another */
    int32_t end = state.failure[w].electron ? 0 : n;
    __syncthreads();
#pragma unroll
    for (int a = 0; a < A; a++)
#pragma unroll 1
        for (int32_t e = VMC_ROWS * a; e < VMC_ROWS * (a + 1) && e < end; e++) {
            /* every thread comes to the same decision */
            const T q = s.diagonal[e];
            const double q2 = square_of(q);
            const bool lost = is_lost(q2, s.own[e]);
            if (VMC_BARS && lost &&
                is_barred(to + 3 * ((int64_t)w * b.rows + b.row + e),
                          plugmc_site_of_species(species_of(b, e0 + e)))) {
                /* 0 times what is no number would reach the others' rows of X */
                for (int32_t j = t; j < b.columns; j += VMC_DECIDERS)
                    p[(int64_t)e * b.columns + j] = of(0, 0, T());
                continue;
            }
            if (t == 0 && lost) note_failure(state, d, w, e0 + e);
            if (!(s.number[e] < q2 * s.weight[e]) && !lost) continue;
            if (lost) end = e + 1;
            if (!keeper) show_row_and_column<T, A, B>(s, e, a, q, q2, g);
            __syncthreads();
            if (keeper)
                keep_account(s, n, e, own, q2);
            else
                eliminate<T, A, B>(s, e, a, g);
            __syncthreads();
        }
    hand_over<T, A, B>(s, b, state, positions, to, p, small, gathered, g);
}

template <class T>
PLUGMC_FN void decide(const vmc_draws &d, const vmc_block &b, const vmc_state &s, double *positions,
                      const double *to, const double *change, const double *others, T *products,
                      T *small, const vmc_gathered &gathered)
{
    if (b.size <= VMC_COLUMNS)
        decide_some<T, VMC_COLUMNS / VMC_ROWS, 1>(d, b, s, positions, to, change, others, products,
                                                  small, gathered);
    else
        decide_some<T, VMC_MOST_BLOCK / VMC_ROWS, VMC_MOST_BLOCK / VMC_COLUMNS>(
            d, b, s, positions, to, change, others, products, small, gathered);
}

extern "C" __global__ void __launch_bounds__(VMC_DECIDERS)
    vmc_decide_real(const __grid_constant__ vmc_draws d, const vmc_block b, const vmc_state s,
                    double *positions, const double *to, const double *change, const double *others,
                    double *products, double *small, const vmc_gathered gathered)
{
    decide(d, b, s, positions, to, change, others, products, small, gathered);
}

extern "C" __global__ void __launch_bounds__(VMC_DECIDERS)
    vmc_decide_complex(const __grid_constant__ vmc_draws d, const vmc_block b, const vmc_state s,
                       double *positions, const double *to, const double *change,
                       const double *others, vmc_complex *products, vmc_complex *small,
                       const vmc_gathered gathered)
{
    decide(d, b, s, positions, to, change, others, products, small, gathered);
}
