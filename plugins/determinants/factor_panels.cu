/* factor_panels.cu: the factors P A = L U of the matrices of many walkers, as LAPACK's getrf leaves them; draws.h and
 * complex_numbers.cu stand in front.
 *
 * Columns count first, [columns][rows]. Panels of VMC_PANEL columns go from left to right:
 *
 *     panel    its own columns with pivots, a block of threads a walker: a thread has rows, and of them VMC_STRIP columns in
 *              registers, which take what the columns before them do to them, then become pivots one by one
 *     beside   the other columns: rows change places, and U = L^-1 A of those to the right, a warp a few columns
 *     rest     A -= L U of what is below and to the right, by cuBLAS
 *
 * cuBLAS's own routine for many matrices took ten times as long for hundreds of electrons. */
enum { VMC_STRIP = 8, VMC_PANEL_WARPS = VMC_PANEL_THREADS / 32, VMC_NOWHERE = 0x7fffffff };

/* What pivots are compared by, as LAPACK does. */
PLUGMC_FN double size_of(double x) { return fabs(x); }
PLUGMC_FN double size_of(vmc_complex x) { return fabs(x.re) + fabs(x.im); }

PLUGMC_FN double from_lane(double x, int lane) { return __shfl_sync(~0u, x, lane); }
PLUGMC_FN vmc_complex from_lane(vmc_complex x, int lane)
{
    return {__shfl_sync(~0u, x.re, lane), __shfl_sync(~0u, x.im, lane)};
}

/* The larger of two candidates, the nearer one if they are equal. */
PLUGMC_FN void prefer(double size, int32_t at, double *best, int32_t *where)
{
    if (size > *best || (size == *best && at < *where)) *best = size, *where = at;
}

/* Where the row with the largest size is, in the whole block of threads; VMC_NOWHERE if no size is a number. */
PLUGMC_FN int32_t largest_of_panel(double best, int32_t where, double *sizes, int32_t *places)
{
    for (int half = 16; half > 0; half /= 2)
        prefer(__shfl_xor_sync(~0u, best, half), __shfl_xor_sync(~0u, where, half), &best, &where);
    if (threadIdx.x % 32 == 0) sizes[threadIdx.x / 32] = best, places[threadIdx.x / 32] = where;
    __syncthreads();
    best = -1, where = VMC_NOWHERE;
    for (int k = 0; k < VMC_PANEL_WARPS; k++) prefer(sizes[k], places[k], &best, &where);
    return where;
}

/* The rows of a thread. */
struct vmc_rows {
    int32_t own[VMC_PANEL_ROWS]; /* which they are, from the panel's first */
    int32_t at[VMC_PANEL_ROWS];  /* where they are to go */
    /* the column that has it as pivot, or VMC_PANEL; -1: there is no such row */
    int32_t rank[VMC_PANEL_ROWS];
};

/* What columns before `end` of the panel do to a strip. */
template <class T>
PLUGMC_FN void take_earlier(const vmc_rows &r, const T *a, int32_t n, int32_t end,
                            T x[VMC_PANEL_ROWS][VMC_STRIP], T shown[2][VMC_STRIP])
{
    for (int32_t p = 0; p < end; p++) {
        T *row = shown[p % 2];
#pragma unroll
        for (int i = 0; i < VMC_PANEL_ROWS; i++)
#pragma unroll
            for (int k = 0; k < VMC_STRIP; k++)
                if (r.rank[i] == p) row[k] = x[i][k];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < VMC_PANEL_ROWS; i++) {
            if (r.rank[i] <= p) continue;
            const T l = a[(int64_t)p * n + r.own[i]];
#pragma unroll
            for (int k = 0; k < VMC_STRIP; k++) x[i][k] = less_product(x[i][k], l, row[k]);
        }
    }
}

/* Column k of the strip, number p of the panel, has its pivot. Returns it. */
template <class T, int k>
PLUGMC_FN void find_pivot(vmc_rows &r, int32_t p, T x[VMC_PANEL_ROWS][VMC_STRIP], T *row,
                          double *sizes, int32_t *places, int *pivot, int *info, int32_t first)
{
    double best = -1;
    int32_t where = VMC_NOWHERE;
#pragma unroll
    for (int i = 0; i < VMC_PANEL_ROWS; i++)
        if (r.rank[i] == VMC_PANEL) prefer(size_of(x[i][k]), r.at[i], &best, &where);
    where = largest_of_panel(best, where, sizes, places);
    if (where == VMC_NOWHERE) where = p; /* none is a number */
#pragma unroll
    for (int i = 0; i < VMC_PANEL_ROWS; i++) {
        const int32_t at = r.at[i];
        if (r.rank[i] == VMC_PANEL && at == where) {
            r.rank[i] = p;
            r.at[i] = p;
            *pivot = first + where + 1;
            if (size_of(x[i][k]) == 0 && *info == 0) *info = first + p + 1;
#pragma unroll
            for (int m = 0; m < VMC_STRIP; m++) row[m] = x[i][m];
        } else if (at == p)
            r.at[i] = where;
    }
    __syncthreads();
    const bool there = size_of(row[k]) != 0;
    const T over = one_over(row[k]);
#pragma unroll
    for (int i = 0; i < VMC_PANEL_ROWS; i++) {
        if (r.rank[i] != VMC_PANEL) continue;
        if (there) x[i][k] = times(x[i][k], over);
#pragma unroll
        for (int m = k + 1; m < VMC_STRIP; m++) x[i][m] = less_product(x[i][m], x[i][k], row[m]);
    }
}

/* Rows to where they are to go; which ones do, to moved: how many, then from where and to where, in the matrix. */
template <class T>
PLUGMC_FN void move_rows(const vmc_rows &r, T *a, int32_t n, int32_t first, int32_t width,
                         int32_t *count, int32_t *moved)
{
    if (threadIdx.x == 0) *count = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < VMC_PANEL_ROWS; i++)
        if (r.at[i] != r.own[i]) {
            const int32_t k = atomicAdd(count, 1);
            moved[1 + 2 * k] = first + r.own[i];
            moved[2 + 2 * k] = first + r.at[i];
        }
    for (int32_t c = 0; c < width; c += VMC_STRIP) {
        T x[VMC_PANEL_ROWS][VMC_STRIP];
#pragma unroll
        for (int i = 0; i < VMC_PANEL_ROWS; i++)
#pragma unroll
            for (int k = 0; k < VMC_STRIP; k++)
                if (r.at[i] != r.own[i] && c + k < width)
                    x[i][k] = a[(int64_t)(c + k) * n + r.own[i]];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < VMC_PANEL_ROWS; i++)
#pragma unroll
            for (int k = 0; k < VMC_STRIP; k++)
                if (r.at[i] != r.own[i] && c + k < width)
                    a[(int64_t)(c + k) * n + r.at[i]] = x[i][k];
    }
    if (threadIdx.x == 0) moved[0] = *count;
}

/* One block of threads a walker. factors [walkers][n][n], pivots [walkers][n], info [walkers] (column, counted from 1, of
 * the first pivot that is 0), moved [walkers][1 + 2 VMC_MOVED]. */
template <class T>
PLUGMC_FN void panel(int32_t n, int32_t first, int32_t width, T *factors, int *pivots, int *info,
                     int32_t *moved)
{
    __shared__ T shown[2][VMC_STRIP], row[VMC_STRIP];
    __shared__ double sizes[VMC_PANEL_WARPS];
    __shared__ int32_t places[VMC_PANEL_WARPS], count;
    const int64_t w = blockIdx.x;
    T *a = factors + w * n * n + (int64_t)first * n + first;
    int *pivot = pivots + w * n + first;
    vmc_rows r;
#pragma unroll
    for (int i = 0; i < VMC_PANEL_ROWS; i++) {
        r.own[i] = r.at[i] = threadIdx.x + VMC_PANEL_THREADS * i;
        r.rank[i] = r.own[i] < n - first ? VMC_PANEL : -1;
    }
    for (int32_t c = 0; c < width; c += VMC_STRIP) {
        T x[VMC_PANEL_ROWS][VMC_STRIP];
#pragma unroll
        for (int i = 0; i < VMC_PANEL_ROWS; i++)
#pragma unroll
            for (int k = 0; k < VMC_STRIP; k++)
                x[i][k] = r.rank[i] >= 0 && c + k < width ? a[(int64_t)(c + k) * n + r.own[i]]
                                                          : of(0, 0, T());
        take_earlier(r, a, n, c, x, shown);
#define VMC_PIVOT(k)                                                                               \
    if (c + k < width)                                                                             \
    find_pivot<T, k>(r, c + k, x, row, sizes, places, pivot + c + k, info + w, first)
        VMC_PIVOT(0);
        VMC_PIVOT(1);
        VMC_PIVOT(2);
        VMC_PIVOT(3);
        VMC_PIVOT(4);
        VMC_PIVOT(5);
        VMC_PIVOT(6);
        VMC_PIVOT(7);
#pragma unroll
        for (int i = 0; i < VMC_PANEL_ROWS; i++)
#pragma unroll
            for (int k = 0; k < VMC_STRIP; k++)
                if (r.rank[i] >= 0 && c + k < width) a[(int64_t)(c + k) * n + r.own[i]] = x[i][k];
    }
    move_rows(r, a, n, first, width, &count, moved + w * (1 + 2 * VMC_MOVED));
}

extern "C" __global__ void __launch_bounds__(VMC_PANEL_THREADS)
    vmc_panel_real(int32_t n, int32_t first, int32_t width, double *factors, int *pivots, int *info,
                   int32_t *moved)
{
    panel(n, first, width, factors, pivots, info, moved);
}

extern "C" __global__ void __launch_bounds__(VMC_PANEL_THREADS)
    vmc_panel_complex(int32_t n, int32_t first, int32_t width, vmc_complex *factors, int *pivots,
                      int *info, int32_t *moved)
{
    panel(n, first, width, factors, pivots, info, moved);
}

/* Rows of a column change places, by a warp. */
template <class T> PLUGMC_FN void move_in_column(T *column, const int32_t *moved, int32_t lane)
{
    T held[VMC_MOVED / 32];
    const int32_t count = moved[0];
#pragma unroll
    for (int i = 0; i < VMC_MOVED / 32; i++)
        if (lane + 32 * i < count) held[i] = column[moved[1 + 2 * (lane + 32 * i)]];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < VMC_MOVED / 32; i++)
        if (lane + 32 * i < count) column[moved[2 + 2 * (lane + 32 * i)]] = held[i];
    __syncwarp();
}

/* x = L^-1 x, L [columns][rows] of 1 on its diagonal; lane l of a warp has elements l and l + 32 of each. */
template <class T>
PLUGMC_FN void solve_panel(const T *l, int32_t n, int32_t lane, T x[VMC_BESIDE][2])
{
    const T zero = of(0, 0, T());
#pragma unroll 4
    for (int32_t p = 0; p < VMC_PANEL; p++) {
        const T upper = lane > p ? l[(int64_t)p * n + lane] : zero,
                lower = lane + 32 > p ? l[(int64_t)p * n + lane + 32] : zero;
#pragma unroll
        for (int c = 0; c < VMC_BESIDE; c++) {
            const T known = from_lane(p < 32 ? x[c][0] : x[c][1], p % 32);
            x[c][0] = less_product(x[c][0], upper, known);
            x[c][1] = less_product(x[c][1], lower, known);
        }
    }
}

/* The columns beside a panel; a warp VMC_BESIDE of them: x blocks of columns, y walkers. */
template <class T>
PLUGMC_FN void beside(int32_t n, int32_t first, int32_t width, T *factors, const int32_t *moved)
{
    const int32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32,
                  begin = (blockIdx.x * VMC_ROWS + warp) * VMC_BESIDE, end = first + width;
    T *a = factors + (int64_t)blockIdx.y * n * n, x[VMC_BESIDE][2];
    moved += (int64_t)blockIdx.y * (1 + 2 * VMC_MOVED);
#pragma unroll
    for (int c = 0; c < VMC_BESIDE; c++) {
        const int32_t other = begin + c, column = other < first ? other : other + width;
        x[c][0] = x[c][1] = of(0, 0, T());
        if (column < n) move_in_column(a + (int64_t)column * n, moved, lane);
        if (column < end || column >= n) continue;
        /* right of it there are columns only where the panel has all of its own */
        x[c][0] = a[(int64_t)column * n + first + lane];
        x[c][1] = a[(int64_t)column * n + first + lane + 32];
    }
    if (end >= n || begin + VMC_BESIDE <= first) return;
    solve_panel(a + (int64_t)first * n + first, n, lane, x);
#pragma unroll
    for (int c = 0; c < VMC_BESIDE; c++) {
        const int32_t other = begin + c, column = other < first ? other : other + width;
        if (column < end || column >= n) continue;
        a[(int64_t)column * n + first + lane] = x[c][0];
        a[(int64_t)column * n + first + lane + 32] = x[c][1];
    }
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_beside_real(int32_t n, int32_t first, int32_t width, double *factors, const int32_t *moved)
{
    beside(n, first, width, factors, moved);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_beside_complex(int32_t n, int32_t first, int32_t width, vmc_complex *factors,
                       const int32_t *moved)
{
    beside(n, first, width, factors, moved);
}
