/* bspline_orbitals.cu: orbitals at many points on the GPU.
 *
 * Compiled for TABLE (float or double: coefficients), COMPLEX (0 or 1), BLOCKS_RESIDENT (on a
 * multiprocessor) and real (float or double: results). A load is 16 bytes of a row: PACK components
 * of neighbouring orbitals. A thread has one pack of one point; `width` threads side by side read
 * one row, so that all their loads are coalesced. Weights are worked out by each thread: a few of
 * its operations, and no waiting.
 *
 * Memory is read once for each point and neighbour, 64 rows a point: the work is to read them. With
 * many walkers, points come sorted by bricks of 4 x 4 x 4 cells of the grid, so that the rows of
 * the points in one block overlap and come from the caches.
 *
 * The plain layout has the orbital as the slowest index, and each thread multiplies one of the 64
 * coefficients, which are then added: versions (1) and (2) of Y. Uejima, T. Terashima, R. Maezono,
 * J. Comput. Chem. 32, 2264 (2011) and its sequel on solids; the other is their version (3).
 */
enum { SPLINE_BLOCK = 256, SPLINE_FEW = 128, SPLINE_BRICK = 4 };

/* Orbitals of one spin and points to evaluate them at. Device pointers. */
typedef struct spline_task {
    double inverse[3][3]; /* of the primitive cell, as in plugmc_box */
    double metric[6];     /* Laplacian from second derivatives along the grid: xx yy zz xy xz yz */
    double slope[3][3];   /* gradient e from derivatives d along the grid: sum_d slope[e][d] */
    int32_t grid[3];
    int32_t bricks[3];
    uint32_t packs; /* in a row */
    int32_t orbitals;
    const void *table;       /* [grid 0][1][2][packs], or plain: [orbitals][grid 0][1][2] */
    const double *phase;     /* [orbitals][3]: k, turns a primitive vector */
    const double *wave;      /* [orbitals][4]: k, 1/length, and its square */
    const double *positions; /* [points][3] */
    uint32_t points;
    const uint32_t *order; /* [points], or NULL */
    uint32_t chunks;       /* threads of a row, in units of 2^width */
    int32_t width;         /* log2 of the threads side by side on a row */
    int64_t pitch;         /* of the results, orbitals */
    void *values, *gradients, *laplacians;
} spline_task;

#ifdef __CUDACC_RTC__
enum { PACK = 16 / sizeof(TABLE), PARTS = COMPLEX ? 2 : 1, PACK_ORBITALS = PACK / PARTS };

struct pack {
    TABLE of[PACK];
};

PLUGMC_FN pack load(const float4 *at)
{
    const float4 v = __ldg(at);
    pack p;
    p.of[0] = v.x;
    p.of[1] = v.y;
    p.of[PACK - 2] = v.z;
    p.of[PACK - 1] = v.w;
    return p;
}

PLUGMC_FN pack load(const double2 *at)
{
    const double2 v = __ldg(at);
    pack p;
    p.of[0] = v.x;
    p.of[1] = v.y;
    return p;
}

template <typename T> struct load_of;
template <> struct load_of<float> {
    typedef float4 type;
};
template <> struct load_of<double> {
    typedef double2 type;
};
typedef load_of<TABLE>::type load_type;

/* Where a point is in the cell: coordinates along the primitive vectors as they are, the cell of
 * the grid that it is in, and the place in that, [0, 1). */
struct place {
    double s[3];
    int32_t cell[3];
    TABLE t[3];
};

PLUGMC_FN place place_of(const spline_task &task, uint32_t point)
{
    place p;
    const double *r = task.positions + 3 * (uint64_t)point;
    const double x = r[0], y = r[1], z = r[2];
#pragma unroll
    for (int d = 0; d < 3; d++) {
        p.s[d] = x * task.inverse[0][d] + y * task.inverse[1][d] + z * task.inverse[2][d];
        double at = (p.s[d] - floor(p.s[d])) * task.grid[d];
        int32_t cell = (int32_t)at;
        p.t[d] = (TABLE)(at - cell);
        p.cell[d] = cell >= 0 && cell < task.grid[d] ? cell : 0; /* rounded up to the edge */
    }
    return p;
}

/* Rows of the four neighbours along a direction, in packs or coefficients. */
PLUGMC_FN void neighbours(int32_t cell, int32_t n, uint32_t stride, uint32_t out[4])
{
    int32_t at = cell == 0 ? n - 1 : cell - 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[i] = (uint32_t)at * stride;
        at = at + 1 < n ? at + 1 : 0;
    }
}

/* theta of the four neighbours, at distances 1 + t, t, 1 - t and 2 - t. */
PLUGMC_FN void weights(TABLE t, TABLE w[4])
{
    TABLE v = 1 - t;
    w[0] = (TABLE)0.25 * v * v * v;
    w[1] = 1 - (TABLE)0.75 * t * t * (2 - t);
    w[2] = 1 - (TABLE)0.75 * v * v * (2 - v);
    w[3] = (TABLE)0.25 * t * t * t;
}

PLUGMC_FN void first_derivatives(TABLE t, TABLE w[4])
{
    TABLE v = 1 - t;
    w[0] = (TABLE)-0.75 * v * v;
    w[1] = t * ((TABLE)2.25 * t - 3);
    w[2] = -v * ((TABLE)2.25 * v - 3);
    w[3] = (TABLE)0.75 * t * t;
}

PLUGMC_FN void second_derivatives(TABLE t, TABLE w[4])
{
    TABLE v = 1 - t;
    w[0] = (TABLE)1.5 * v;
    w[1] = (TABLE)4.5 * t - 3;
    w[2] = (TABLE)4.5 * v - 3;
    w[3] = (TABLE)1.5 * t;
}

PLUGMC_FN void turned(double turns, float *c, float *s)
{
    sincospif(2 * (float)(turns - rint(turns)), s, c);
}

PLUGMC_FN void turned(double turns, double *c, double *s)
{
    sincospi(2 * (turns - rint(turns)), s, c);
}

/* exp(i k.r) of an orbital; 1 if it is real. */
PLUGMC_FN void phase_of(const spline_task &task, int32_t orbital, const double s[3], real *c,
                        real *t)
{
#if COMPLEX
    const double *k = task.phase + 3 * (orbital < task.orbitals ? orbital : 0);
    turned(k[0] * s[0] + k[1] * s[1] + k[2] * s[2], c, t);
#else
    (void)task, (void)orbital, (void)s;
    *c = 1;
    *t = 0;
#endif
}

/* psi = exp(i k.r) u of one orbital. */
PLUGMC_FN void write_value(const spline_task &task, uint32_t point, int32_t orbital, real c, real t,
                           const TABLE *u)
{
    const int64_t at = (int64_t)point * task.pitch + orbital;
    real *out = (real *)task.values;
#if COMPLEX
    out[2 * at] = c * (real)u[0] - t * (real)u[1];
    out[2 * at + 1] = c * (real)u[1] + t * (real)u[0];
#else
    (void)c, (void)t;
    out[at] = (real)u[0];
#endif
}

/* psi and its derivatives from those of u: sums[0] = u, 1...3 along the grid, 4 the Laplacian. */
PLUGMC_FN void write_all(const spline_task &task, uint32_t point, int32_t orbital, real c, real t,
                         const TABLE sums[5][PARTS])
{
    const int64_t at = (int64_t)point * task.pitch + orbital;
    real *values = (real *)task.values, *gradients = (real *)task.gradients,
         *laplacians = (real *)task.laplacians, slope[3][PARTS];
#pragma unroll
    for (int e = 0; e < 3; e++)
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            slope[e][part] = (real)task.slope[e][0] * (real)sums[1][part] +
                             (real)task.slope[e][1] * (real)sums[2][part] +
                             (real)task.slope[e][2] * (real)sums[3][part];
#if COMPLEX
    const double *wave = task.wave + 4 * orbital;
    real along[2] = {0, 0};
    const real re = (real)sums[0][0], im = (real)sums[0][1];
    if (values) {
        values[2 * at] = c * re - t * im;
        values[2 * at + 1] = c * im + t * re;
    }
#pragma unroll
    for (int e = 0; e < 3; e++) {
        const real q = (real)wave[e];
        along[0] += q * slope[e][0];
        along[1] += q * slope[e][1];
        const real gr = slope[e][0] - q * im, gi = slope[e][1] + q * re;
        const int64_t to = (int64_t)(3 * (uint64_t)point + e) * task.pitch + orbital;
        if (gradients) {
            gradients[2 * to] = c * gr - t * gi;
            gradients[2 * to + 1] = c * gi + t * gr;
        }
    }
    const real square = (real)wave[3];
    const real lr = (real)sums[4][0] - 2 * along[1] - square * re;
    const real li = (real)sums[4][1] + 2 * along[0] - square * im;
    if (laplacians) {
        laplacians[2 * at] = c * lr - t * li;
        laplacians[2 * at + 1] = c * li + t * lr;
    }
#else
    (void)c, (void)t;
    if (values) values[at] = (real)sums[0][0];
#pragma unroll
    for (int e = 0; e < 3; e++)
        if (gradients)
            gradients[(int64_t)(3 * (uint64_t)point + e) * task.pitch + orbital] = slope[e][0];
    if (laplacians) laplacians[at] = (real)sums[4][0];
#endif
}

/* Which pack of which point a thread has, of `threads` that share a block of them: blocks go
 * through the chunks of a row first. False past the end. */
PLUGMC_FN bool find_work(const spline_task &task, uint32_t thread, uint32_t threads,
                         uint32_t *point, uint32_t *column)
{
    const uint32_t lane = thread & ((1u << task.width) - 1);
    const uint32_t group = blockIdx.x / task.chunks, chunk = blockIdx.x - group * task.chunks;
    const uint32_t p = group * (threads >> task.width) + (thread >> task.width);
    *column = (chunk << task.width) + lane;
    if (p >= task.points || *column >= task.packs ||
        (int32_t)(*column * PACK_ORBITALS) >= task.orbitals)
        return false;
    *point = task.order ? task.order[p] : p;
    return true;
}

/* ---- Values -------------------------------------------------------------------------------------
 */

/* Rows and weights of a point. */
struct stencil {
    uint32_t x[4], y[4], z[4];
    TABLE wx[4], wy[4], wz[4];
};

PLUGMC_FN stencil stencil_of(const spline_task &task, const place &p)
{
    stencil s;
    const uint32_t row = task.packs, line = row * task.grid[2];
    neighbours(p.cell[0], task.grid[0], line * task.grid[1], s.x);
    neighbours(p.cell[1], task.grid[1], line, s.y);
    neighbours(p.cell[2], task.grid[2], row, s.z);
    weights(p.t[0], s.wx);
    weights(p.t[1], s.wy);
    weights(p.t[2], s.wz);
    return s;
}

/* Adds the 16 rows of one neighbour along x. */
PLUGMC_FN void add_values(const load_type *table, const stencil &s, uint32_t x, TABLE wx,
                          TABLE sum[PACK])
{
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const load_type *from = table + (x + s.y[j]);
        const TABLE w = wx * s.wy[j];
        pack a[4];
#pragma unroll
        for (int k = 0; k < 4; k++) a[k] = load(from + s.z[k]);
#pragma unroll
        for (int c = 0; c < PACK; c++)
            sum[c] += w * (s.wz[0] * a[0].of[c] + s.wz[1] * a[1].of[c] + s.wz[2] * a[2].of[c] +
                           s.wz[3] * a[3].of[c]);
    }
}

PLUGMC_FN void write_values(const spline_task &task, uint32_t point, uint32_t column,
                            const real phase[PACK_ORBITALS][2], const TABLE sum[PACK])
{
#pragma unroll
    for (int o = 0; o < PACK_ORBITALS; o++) {
        const int32_t orbital = (int32_t)column * PACK_ORBITALS + o;
        if (orbital < task.orbitals)
            write_value(task, point, orbital, phase[o][0], phase[o][1], sum + PARTS * o);
    }
}

/* Before the loads, so that coordinates are not kept in registers. */
PLUGMC_FN void phases_of(const spline_task &task, uint32_t column, const double s[3],
                         real phase[PACK_ORBITALS][2])
{
#pragma unroll
    for (int o = 0; o < PACK_ORBITALS; o++)
        phase_of(task, (int32_t)column * PACK_ORBITALS + o, s, &phase[o][0], &phase[o][1]);
}

/* Many points: as many threads as hide the time of a load. */
extern "C" __global__ void __launch_bounds__(SPLINE_BLOCK, BLOCKS_RESIDENT)
    values(const __grid_constant__ spline_task task)
{
    uint32_t point, column;
    real phase[PACK_ORBITALS][2];
    TABLE sum[PACK];
    plugmc_wait();
    if (!find_work(task, threadIdx.x, SPLINE_BLOCK, &point, &column)) return;
    const place p = place_of(task, point);
    phases_of(task, column, p.s, phase);
    const stencil s = stencil_of(task, p);
    const load_type *table = (const load_type *)task.table + column;
#pragma unroll
    for (int c = 0; c < PACK; c++) sum[c] = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) add_values(table, s, s.x[i], s.wx[i], sum);
    write_values(task, point, column, phase, sum);
}

PLUGMC_FN TABLE one_of(const TABLE w[4], uint32_t i)
{
    return i == 0 ? w[0] : i == 1 ? w[1] : i == 2 ? w[2] : w[3];
}
PLUGMC_FN uint32_t one_of(const uint32_t w[4], uint32_t i)
{
    return i == 0 ? w[0] : i == 1 ? w[1] : i == 2 ? w[2] : w[3];
}

/* Sums of `n` numbers of the four warps of a block, in the first warp. */
template <int n> PLUGMC_FN void add_warps(TABLE *sums)
{
    __shared__ TABLE of_others[3][n][32];
    const uint32_t warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll
    for (int c = 0; c < n; c++)
        if (warp > 0) of_others[warp - 1][c][lane] = sums[c];
    __syncthreads();
#pragma unroll
    for (int c = 0; c < n; c++)
        if (warp == 0)
            sums[c] += (of_others[0][c][lane] + of_others[1][c][lane]) + of_others[2][c][lane];
}

/* Few points: each of four warps has one of the neighbours along x, so that more threads wait for
 * loads at the same time. */
extern "C" __global__ void __launch_bounds__(SPLINE_FEW)
    values_of_few(const __grid_constant__ spline_task task)
{
    const uint32_t i = threadIdx.x >> 5;
    uint32_t point = 0, column = 0;
    real phase[PACK_ORBITALS][2];
    TABLE sum[PACK];
    plugmc_wait();
    const bool busy = find_work(task, threadIdx.x & 31, 32, &point, &column);
#pragma unroll
    for (int c = 0; c < PACK; c++) sum[c] = 0;
    if (busy) {
        const place p = place_of(task, point);
        const stencil s = stencil_of(task, p);
        add_values((const load_type *)task.table + column, s, one_of(s.x, i), one_of(s.wx, i), sum);
        phases_of(task, column, p.s, phase);
    }
    add_warps<PACK>(sum);
    if (busy && i == 0) write_values(task, point, column, phase, sum);
}

/* ---- Values, gradients and Laplacians
 * ------------------------------------------------------------ */

/* Rows, weights and their derivatives. */
struct full_stencil {
    uint32_t x[4], y[4], z[4];
    TABLE wx[3][4], wy[3][4], wz[3][4], metric[6];
};

PLUGMC_FN full_stencil full_stencil_of(const spline_task &task, const place &p)
{
    full_stencil s;
    const uint32_t row = task.packs, line = row * task.grid[2];
    neighbours(p.cell[0], task.grid[0], line * task.grid[1], s.x);
    neighbours(p.cell[1], task.grid[1], line, s.y);
    neighbours(p.cell[2], task.grid[2], row, s.z);
    weights(p.t[0], s.wx[0]);
    weights(p.t[1], s.wy[0]);
    weights(p.t[2], s.wz[0]);
    first_derivatives(p.t[0], s.wx[1]);
    first_derivatives(p.t[1], s.wy[1]);
    first_derivatives(p.t[2], s.wz[1]);
    second_derivatives(p.t[0], s.wx[2]);
    second_derivatives(p.t[1], s.wy[2]);
    second_derivatives(p.t[2], s.wz[2]);
#pragma unroll
    for (int m = 0; m < 6; m++) s.metric[m] = (TABLE)task.metric[m];
    return s;
}

/* The 16 rows of one neighbour along x; wx: weight and derivatives. sums [5][PACK]. */
PLUGMC_FN void add_everything(const load_type *table, const full_stencil &s, uint32_t x, TABLE wx,
                              TABLE dx, TABLE ddx, TABLE sums[5][PACK])
{
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const load_type *from = table + (x + s.y[j]);
        const TABLE xy = wx * s.wy[0][j], fx = dx * s.wy[0][j], fy = wx * s.wy[1][j];
        const TABLE l0 = s.metric[0] * ddx * s.wy[0][j] + s.metric[1] * wx * s.wy[2][j] +
                         s.metric[3] * dx * s.wy[1][j];
        const TABLE l1 = s.metric[4] * fx + s.metric[5] * fy, l2 = s.metric[2] * xy;
        pack a[4];
#pragma unroll
        for (int k = 0; k < 4; k++) a[k] = load(from + s.z[k]);
#pragma unroll
        for (int c = 0; c < PACK; c++) {
            TABLE along[3];
#pragma unroll
            for (int m = 0; m < 3; m++)
                along[m] = s.wz[m][0] * a[0].of[c] + s.wz[m][1] * a[1].of[c] +
                           s.wz[m][2] * a[2].of[c] + s.wz[m][3] * a[3].of[c];
            sums[0][c] += xy * along[0];
            sums[1][c] += fx * along[0];
            sums[2][c] += fy * along[0];
            sums[3][c] += xy * along[1];
            sums[4][c] += l0 * along[0] + l1 * along[1] + l2 * along[2];
        }
    }
}

PLUGMC_FN void write_everything(const spline_task &task, uint32_t point, uint32_t column,
                                const double s[3], const TABLE sums[5][PACK])
{
#pragma unroll
    for (int o = 0; o < PACK_ORBITALS; o++) {
        const int32_t orbital = (int32_t)column * PACK_ORBITALS + o;
        if (orbital >= task.orbitals) break;
        TABLE of_orbital[5][PARTS];
        real c, t;
#pragma unroll
        for (int q = 0; q < 5; q++)
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                of_orbital[q][part] = sums[q][PARTS * o + part];
        phase_of(task, orbital, s, &c, &t);
        write_all(task, point, orbital, c, t, of_orbital);
    }
}

extern "C" __global__ void __launch_bounds__(SPLINE_BLOCK, 2)
    everything(const __grid_constant__ spline_task task)
{
    uint32_t point, column;
    TABLE sums[5][PACK];
    plugmc_wait();
    if (!find_work(task, threadIdx.x, SPLINE_BLOCK, &point, &column)) return;
    const place p = place_of(task, point);
    const full_stencil s = full_stencil_of(task, p);
    const load_type *table = (const load_type *)task.table + column;
#pragma unroll
    for (int c = 0; c < 5 * PACK; c++) sums[c / PACK][c % PACK] = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        add_everything(table, s, s.x[i], s.wx[0][i], s.wx[1][i], s.wx[2][i], sums);
    write_everything(task, point, column, p.s, sums);
}

extern "C" __global__ void __launch_bounds__(SPLINE_FEW)
    everything_of_few(const __grid_constant__ spline_task task)
{
    const uint32_t i = threadIdx.x >> 5;
    uint32_t point = 0, column = 0;
    TABLE sums[5][PACK];
    place p;
    plugmc_wait();
    const bool busy = find_work(task, threadIdx.x & 31, 32, &point, &column);
#pragma unroll
    for (int c = 0; c < 5 * PACK; c++) sums[c / PACK][c % PACK] = 0;
    if (busy) {
        p = place_of(task, point);
        const full_stencil s = full_stencil_of(task, p);
        add_everything((const load_type *)task.table + column, s, one_of(s.x, i),
                       one_of(s.wx[0], i), one_of(s.wx[1], i), one_of(s.wx[2], i), sums);
    }
    add_warps<5 * PACK>(&sums[0][0]);
    if (busy && i == 0) write_everything(task, point, column, p.s, sums);
}

/* ---- Plain layout: a block of 64 threads for one orbital and one point --------------------------
 */

/* Sum over 64 threads, in thread 0. */
PLUGMC_FN TABLE block_sum(TABLE v, TABLE *half)
{
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(0xffffffffu, v, by);
    if (threadIdx.x == 32) *half = v;
    __syncthreads();
    return v + *half;
}

PLUGMC_FN void plain(const spline_task &task, bool derivatives)
{
    __shared__ TABLE half[5 * PARTS];
    const uint32_t point = blockIdx.x / task.orbitals, orbital = blockIdx.x % task.orbitals;
    const uint32_t i = threadIdx.x >> 4, j = threadIdx.x >> 2 & 3, k = threadIdx.x & 3;
    const uint32_t index[3] = {i, j, k},
                   stride[3] = {(uint32_t)(task.grid[1] * task.grid[2]), (uint32_t)task.grid[2], 1};
    const place p = place_of(task, point);
    uint64_t at = (uint64_t)orbital * task.grid[0] * stride[0];
    TABLE w[3][3], sums[5][PARTS];
#pragma unroll
    for (int d = 0; d < 3; d++) {
        uint32_t to[4];
        TABLE all[4];
        neighbours(p.cell[d], task.grid[d], stride[d], to);
        at += index[d] == 0 ? to[0] : index[d] == 1 ? to[1] : index[d] == 2 ? to[2] : to[3];
#pragma unroll
        for (int m = 0; m < 3; m++) {
            if (m == 0) weights(p.t[d], all);
            if (m == 1) first_derivatives(p.t[d], all);
            if (m == 2) second_derivatives(p.t[d], all);
            w[m][d] = index[d] == 0   ? all[0]
                      : index[d] == 1 ? all[1]
                      : index[d] == 2 ? all[2]
                                      : all[3];
        }
    }
    const TABLE factor[5] = {w[0][0] * w[0][1] * w[0][2], w[1][0] * w[0][1] * w[0][2],
                             w[0][0] * w[1][1] * w[0][2], w[0][0] * w[0][1] * w[1][2],
                             (TABLE)task.metric[0] * w[2][0] * w[0][1] * w[0][2] +
                                 (TABLE)task.metric[1] * w[0][0] * w[2][1] * w[0][2] +
                                 (TABLE)task.metric[2] * w[0][0] * w[0][1] * w[2][2] +
                                 (TABLE)task.metric[3] * w[1][0] * w[1][1] * w[0][2] +
                                 (TABLE)task.metric[4] * w[1][0] * w[0][1] * w[1][2] +
                                 (TABLE)task.metric[5] * w[0][0] * w[1][1] * w[1][2]};
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        const TABLE v = ((const TABLE *)task.table)[PARTS * at + part];
#pragma unroll
        for (int q = 0; q < 5; q++)
            if (q == 0 || derivatives)
                sums[q][part] = block_sum(factor[q] * v, half + PARTS * q + part);
    }
    if (threadIdx.x > 0) return;
    real c, t;
    phase_of(task, (int32_t)orbital, p.s, &c, &t);
    if (derivatives)
        write_all(task, point, (int32_t)orbital, c, t, sums);
    else
        write_value(task, point, (int32_t)orbital, c, t, sums[0]);
}

extern "C" __global__ void __launch_bounds__(64)
    plain_values(const __grid_constant__ spline_task task)
{
    plugmc_wait();
    plain(task, false);
}

extern "C" __global__ void __launch_bounds__(64)
    plain_everything(const __grid_constant__ spline_task task)
{
    plugmc_wait();
    plain(task, true);
}

/* ---- Parts of orbitals ------------------------------------------------------------------------- */

/* In place of orbital single[2 i] its real part (single[2 i + 1] = 1) or its imaginary one, times the root of 2, in complex
 * numbers [rows][pitch]: a thread has one of `singles` orbitals of a row. */
extern "C" __global__ void parts(real *numbers, uint64_t rows, int64_t pitch, const int32_t *single,
                                 uint32_t singles)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    plugmc_wait();
    if (i >= rows * singles) return;
    const uint32_t k = (uint32_t)(i % singles);
    real *psi = numbers + 2 * ((int64_t)(i / singles) * pitch + single[2 * k]);
    psi[0] = (real)(1.41421356237309505 * (double)psi[single[2 * k + 1] == 2]);
    psi[1] = 0;
}

/* ---- Points sorted by bricks
 * --------------------------------------------------------------------- */

/* A kernel and no fill, which would end the overlap of launches. */
extern "C" __global__ void clear(uint32_t *counts, uint32_t bricks)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    plugmc_wait();
    if (i < bricks) counts[i] = 0;
}

/* counts [bricks]: points in each, cleared before; brick and rank [points]. */
extern "C" __global__ void bin(const __grid_constant__ spline_task task, uint32_t *counts,
                               uint32_t *brick, uint32_t *rank)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= task.points) return;
    const place p = place_of(task, i);
    const uint32_t b =
        ((uint32_t)(p.cell[0] / SPLINE_BRICK) * task.bricks[1] + p.cell[1] / SPLINE_BRICK) *
            task.bricks[2] +
        p.cell[2] / SPLINE_BRICK;
    brick[i] = b;
    rank[i] = atomicAdd(counts + b, 1u);
}

/* One block of 1024: counts become the numbers of points in the bricks before. */
extern "C" __global__ void __launch_bounds__(1024) offsets(uint32_t *counts, uint32_t bricks)
{
    __shared__ uint32_t warp_sum[32];
    __shared__ uint32_t before;
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    plugmc_wait();
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    for (uint32_t first = 0; first < bricks; first += 1024) {
        const uint32_t i = first + threadIdx.x, own = i < bricks ? counts[i] : 0;
        uint32_t sum = own; /* of this and those before, in the warp */
        for (int by = 1; by < 32; by *= 2) {
            uint32_t other = __shfl_up_sync(0xffffffffu, sum, by);
            if (lane >= (uint32_t)by) sum += other;
        }
        if (lane == 31) warp_sum[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            uint32_t all = warp_sum[lane];
            for (int by = 1; by < 32; by *= 2) {
                uint32_t other = __shfl_up_sync(0xffffffffu, all, by);
                if (lane >= (uint32_t)by) all += other;
            }
            warp_sum[lane] = all;
        }
        __syncthreads();
        const uint32_t base = before + (warp > 0 ? warp_sum[warp - 1] : 0);
        if (i < bricks) counts[i] = base + sum - own;
        __syncthreads();
        if (threadIdx.x == 0) before += warp_sum[31];
        __syncthreads();
    }
}

extern "C" __global__ void places(const uint32_t *starts, const uint32_t *brick,
                                  const uint32_t *rank, uint32_t points, uint32_t *order)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < points) order[starts[brick[i]] + rank[i]] = i;
}
#endif
