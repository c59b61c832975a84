/* coulomb_spme.cu: the mesh on a GPU. spme_task.h stands before it when it is compiled, spreading.cu
 * and gathering.cu after it.
 *
 * Charges go into bins, one for each tile of 16 x 8 x 8 cells, in any order. A bin has room for
 * somewhat more than the mean; what is beyond that goes into pages, which a tile claims when it
 * needs them. A block then owns a tile of the grid in shared memory and adds up what falls on it,
 * from its own charges and those of the next tiles, in integers: the sum is the same in any order.
 * Their unit is chosen for each tile so that it cannot overflow. So the result is the same bit for
 * bit from run to run. After the transform (cuFFT) the waves are multiplied by G, and their energy
 * added up in double in a fixed order; after the one back a block takes the potential of a tile
 * into shared memory, from where its charges gather their forces.
 *
 * SPME_ORDER, SPME_X, SPME_Y, SPME_Z (points of the grid), SPME_GATHERED, SPME_BOXES and real are
 * fixed when this is compiled. Notation: spme.h. With SPME_GATHERED each grid point looks for its
 * charges instead (gathering.cu). With SPME_BOXES a walker has its own box, and tables for it are
 * filled first.
 */
enum {
    TILES_X = (SPME_X + SPME_TILE_X - 1) / SPME_TILE_X,
    TILES_Y = (SPME_Y + SPME_TILE_Y - 1) / SPME_TILE_Y,
    TILES_Z = (SPME_Z + SPME_TILE_Z - 1) / SPME_TILE_Z,
    HALF_X = SPME_X / 2 + 1,
    REACH = SPME_ORDER - 1, /* points beyond its own cell that a charge reaches */
    UNROLLED =
        SPME_ORDER < 6 ? SPME_ORDER : 1, /* planes that are written out: registers, compile time */
    SINGLE = sizeof(real) == 4,
    FEW = TILES_X * TILES_Y * TILES_Z < SPME_FEW_TILES,
    SPREAD_THREADS = SPME_SPREAD_THREADS * (!FEW     ? 1
                                            : SINGLE ? SPME_MORE_SPREAD
                                                     : SPME_MORE_SPREAD_DOUBLE),
    FORCE_THREADS = SPME_FORCE_THREADS * (FEW ? SPME_MORE_FORCE : 1)
};
#define POINTS ((uint64_t)SPME_X * SPME_Y * SPME_Z)
#define WAVES ((uint64_t)HALF_X * SPME_Y * SPME_Z)

/* ---- Arithmetic in either precision ------------------------------------------------------ */

template <int bytes> struct precision;
template <> struct precision<4> {
    typedef int integer;
    typedef unsigned int fixed;
    enum { FRACTION = 28 };
    /* a b rounded to an integer, if that is below `each`: the last bits of 3 * 2^22 + a b. The
     * processor converts numbers at a fraction of the rate at which it adds them. */
    static __device__ __forceinline__ int product(float a, float b)
    {
        return __float_as_int(fmaf(a, b, 12582912.0f)) - 0x4b400000;
    }
    static __device__ __forceinline__ void add(int *to, int x) { atomicAdd(to, x); }
    static __device__ __forceinline__ double each() { return 4194304.0; }
    static __device__ __forceinline__ double most() { return 2147483647.0; }
};
template <> struct precision<8> {
    typedef long long integer;
    typedef unsigned long long fixed;
    enum { FRACTION = 52 };
    static __device__ __forceinline__ long long product(double a, double b)
    {
        return __double2ll_rn(a * b);
    }
    static __device__ __forceinline__ void add(long long *to, long long x)
    {
        atomicAdd((unsigned long long *)to, (unsigned long long)x);
    }
    static __device__ __forceinline__ double each() { return 9.2e18; }
    static __device__ __forceinline__ double most() { return 9.2e18; }
};
typedef precision<sizeof(real)> exact;
typedef exact::integer integer; /* sums of charges */
typedef exact::fixed fixed;     /* coordinates within a tile */

PLUGMC_FN float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
PLUGMC_FN double multiply_add(double a, double b, double c) { return fma(a, b, c); }
PLUGMC_FN float inverse(float x) { return __fdividef(1.0f, x); }
PLUGMC_FN double inverse(double x) { return 1 / x; }

/* A charge in its tile: coordinates are multiples of 2^-FRACTION cells. */
struct __align__(4 * sizeof(real)) spme_record
{
    fixed x, y, z;
    real charge;
};

PLUGMC_FN int cell_of(fixed x) { return (int)(x >> exact::FRACTION); }

PLUGMC_FN real fraction_of(fixed x)
{
    const fixed one = (fixed)1 << exact::FRACTION;
    return (real)(x & (one - 1)) * ((real)1 / (real)one);
}

/* w[j] = M_n(f + j). */
PLUGMC_FN void splines(real f, real w[SPME_ORDER])
{
    w[0] = f;
    w[1] = 1 - f;
#pragma unroll
    for (int k = 2; k < SPME_ORDER; k++) {
        const real scale = (real)1 / (real)k;
        w[k] = scale * (1 - f) * w[k - 1];
#pragma unroll
        for (int j = k - 1; j > 0; j--)
            w[j] = scale * multiply_add(f + (real)j, w[j], ((real)(k + 1 - j) - f) * w[j - 1]);
        w[0] = scale * f * w[0];
    }
}

/* The same, and slope[j] = M_n'(f + j). */
PLUGMC_FN void splines_and_slopes(real f, real w[SPME_ORDER], real slope[SPME_ORDER])
{
    w[0] = f;
    w[1] = 1 - f;
#pragma unroll
    for (int k = 2; k < SPME_ORDER; k++) {
        const real scale = (real)1 / (real)k;
        if (k == SPME_ORDER - 1) {
            slope[0] = w[0];
#pragma unroll
            for (int j = 1; j < k; j++) slope[j] = w[j] - w[j - 1];
            slope[k] = -w[k - 1];
        }
        w[k] = scale * (1 - f) * w[k - 1];
#pragma unroll
        for (int j = k - 1; j > 0; j--)
            w[j] = scale * multiply_add(f + (real)j, w[j], ((real)(k + 1 - j) - f) * w[j - 1]);
        w[0] = scale * f * w[0];
    }
}

/* Sums of `columns` numbers over the block in a fixed order; thread 0 has them. `held` is shared
 * memory, [warps][SPME_PARTIAL]. */
PLUGMC_FN void block_sum(double v[SPME_PARTIAL], int columns, double *held)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
#pragma unroll
    for (int q = 0; q < SPME_PARTIAL; q++) {
        if (q >= columns) continue;
#pragma unroll
        for (int step = 16; step > 0; step >>= 1) v[q] += __shfl_down_sync(0xffffffffu, v[q], step);
        if (lane == 0) held[warp * SPME_PARTIAL + q] = v[q];
    }
    __syncthreads();
    if (threadIdx.x == 0)
#pragma unroll
        for (int q = 0; q < SPME_PARTIAL; q++) {
            if (q >= columns) continue;
            v[q] = held[q];
            for (int w = 1; w < warps; w++) v[q] += held[w * SPME_PARTIAL + q];
        }
    __syncthreads();
}

/* ---- Boxes ------------------------------------------------------------------------------- */

/* A walker's own table; its factors are read as pairs, so its length is even. */
enum { TABLE = SPME_X + SPME_Y + SPME_Z, OWN_TABLE = 3 * TABLE + TABLE % 2 };

#if SPME_BOXES
PLUGMC_FN double length_of(const spme_task &t, uint32_t w, int d) { return t.box[w].length[d]; }

PLUGMC_FN double inverse_length_of(const spme_task &t, uint32_t w, int d)
{
    return t.box[w].inverse[d][d];
}

PLUGMC_FN const real *table_of(const spme_task &t, uint32_t w)
{
    return t.own_table + (uint64_t)w * OWN_TABLE;
}

/* By how much the box is denser than that of the start. */
PLUGMC_FN double denser(const spme_task &t, uint32_t w) { return t.volume / t.box[w].volume; }

/* x: points along the edges; y: walkers. As spme_stretch_table. */
extern "C" __global__ void fill_tables(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t k = blockIdx.x * SPME_TABLE_THREADS + threadIdx.x, w = blockIdx.y;
    if (k >= TABLE) return;
    const int d = k < SPME_X ? 0 : k < SPME_X + SPME_Y ? 1 : 2;
    const double ratio = t.length[d] / t.box[w].length[d], x = ratio * ratio;
    const double strain = (double)t.table[2 * TABLE + k];
    real *to = t.own_table + (uint64_t)w * OWN_TABLE;
    to[2 * k] = (real)((double)t.table[2 * k] * exp(strain * (1 - x) / 2));
    to[2 * k + 1] = (real)((double)t.table[2 * k + 1] * x);
    to[2 * TABLE + k] = (real)(strain * x);
}
#else
PLUGMC_FN double length_of(const spme_task &t, uint32_t, int d) { return t.length[d]; }
PLUGMC_FN double inverse_length_of(const spme_task &t, uint32_t, int d)
{
    return t.inverse_length[d];
}
PLUGMC_FN const real *table_of(const spme_task &t, uint32_t) { return t.table; }
PLUGMC_FN double denser(const spme_task &, uint32_t) { return 1; }
#endif

/* 4 pi l_B / V, and the constant parts of energy and virial. */
PLUGMC_FN double factor_of(const spme_task &t, uint32_t w) { return t.factor * denser(t, w); }

PLUGMC_FN double constant_virial_of(const spme_task &t, uint32_t w)
{
    return SPME_COUNTS ? t.own_constant[2 * w + 1] : t.constant_virial * denser(t, w);
}

PLUGMC_FN double constant_of(const spme_task &t, uint32_t w)
{
    return SPME_COUNTS ? t.own_constant[2 * w]
                       : t.constant + (constant_virial_of(t, w) - t.constant_virial);
}

/* Of particle i of walker w; 0 where there is nobody. */
PLUGMC_FN double charge_of(const spme_task &t, uint32_t w, uint32_t i)
{
    if (SPME_COUNTS && isnan(t.positions[3 * ((uint64_t)w * t.particles + i)])) return 0;
    return t.charge[i];
}

/* ---- Bins -------------------------------------------------------------------------------- */

/* Cell and fraction of a coordinate along an edge with `points` points; false for NaN, infinity. */
PLUGMC_FN int locate(double x, double inverse_length, int points, int *cell, double *fraction)
{
    double u = x * inverse_length;
    u = (u - floor(u)) * points;
    const int finite = u >= 0 && u <= points;
    const int c = finite ? (int)u : 0;
    *cell = c < points ? c : points - 1; /* a tiny negative coordinate rounds up to the edge */
    *fraction = u - *cell;
    return finite;
}

/* Of particle i of walker w. */
PLUGMC_FN int locate_all(const spme_task &t, uint32_t w, uint32_t i, int cell[3],
                         double fraction[3])
{
    const double *r = t.positions + 3 * ((uint64_t)w * t.particles + i);
    if (SPME_COUNTS && isnan(r[0])) {
        for (int d = 0; d < 3; d++) cell[d] = 0, fraction[d] = 0;
        return 1;
    }
    int finite = locate(r[0], inverse_length_of(t, w, 0), SPME_X, &cell[0], &fraction[0]);
    finite &= locate(r[1], inverse_length_of(t, w, 1), SPME_Y, &cell[1], &fraction[1]);
    return finite & locate(r[2], inverse_length_of(t, w, 2), SPME_Z, &cell[2], &fraction[2]);
}

PLUGMC_FN real not_a_number(void) { return (real)__int_as_float(0x7fc00000); }

#if !SPME_GATHERED
PLUGMC_FN uint32_t tile_number(const int cell[3])
{
    return ((cell[2] / SPME_TILE_Z) * TILES_Y + cell[1] / SPME_TILE_Y) * TILES_X +
           cell[0] / SPME_TILE_X;
}

/* Page number 1, 2, ... of a tile among those that can be claimed: the first one free, or its own,
 * from where its name hashes to. Once all are claimed, they are found the same way. */
template <int claims>
PLUGMC_FN uint32_t page_of(const spme_task &t, uint32_t w, uint32_t tile, uint32_t number)
{
    const spme_u64 name = (spme_u64)(tile + 1) << 32 | number;
    spme_u64 *owner = t.owner + (uint64_t)w * t.pages;
    uint32_t at = (tile * 2654435761u + number * 2246822519u) % t.pages;
    for (uint32_t tried = 0; tried < t.pages; tried++) {
        const spme_u64 found = claims ? atomicCAS(owner + at, (spme_u64)0, name) : owner[at];
        if (found == name || (claims && found == 0)) break;
        at = at + 1 < t.pages ? at + 1 : 0;
    }
    return at;
}

/* Record number n of a tile, among all records. */
template <int claims>
PLUGMC_FN uint64_t place_of(const spme_task &t, uint32_t w, uint32_t tile, uint32_t n)
{
    uint64_t page = tile;
    if (n >= t.page) {
        page = (uint64_t)t.tiles + page_of<claims>(t, w, tile, n / t.page);
        n %= t.page;
    }
    return ((uint64_t)w * (t.tiles + t.pages) + page) * t.page + n;
}

/* x: particles; y: walkers. A charge whose position is none is none either. */
extern "C" __global__ void __launch_bounds__(SPME_BIN_THREADS)
    bin(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_BIN_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    int cell[3];
    double fraction[3];
    const int finite = locate_all(t, w, i, cell, fraction);
    const uint32_t tile = tile_number(cell);
    const uint32_t n = atomicAdd(t.count + (uint64_t)w * t.tiles + tile, 1u);
    const int within[3] = {cell[0] % SPME_TILE_X, cell[1] % SPME_TILE_Y, cell[2] % SPME_TILE_Z};
    const double one = (double)((fixed)1 << exact::FRACTION);
    fixed x[3];
    for (int d = 0; d < 3; d++) {
        double f = fraction[d] * one;
        f = f < one - 1 ? f : one - 1;
        x[d] = ((fixed)within[d] << exact::FRACTION) + (fixed)(f > 0 ? f : 0);
    }
    spme_record record;
    record.x = x[0];
    record.y = x[1];
    record.z = x[2];
    record.charge = finite ? (real)charge_of(t, w, i) : not_a_number();
    const uint64_t place = place_of<1>(t, w, tile, n);
    ((spme_record *)t.records)[place] = record;
    if (t.forces) t.index[place] = i;
}
#endif

/* ---- Waves ------------------------------------------------------------------------------- */

struct __align__(2 * sizeof(real)) spme_wave { real re, im; };

struct __align__(2 * sizeof(real)) spme_factors { real weight, square; };

/* The last block of a walker adds the sums of all to what was asked for. */
PLUGMC_FN void add_sums(const spme_task &t, uint32_t w, int columns, double *held)
{
    const double *waves = t.partial + (uint64_t)w * t.solve_blocks * SPME_PARTIAL,
                 *excluded = t.excluded + (uint64_t)w * t.exclude_blocks * SPME_PARTIAL;
    double sum[SPME_PARTIAL] = {0, 0, 0, 0};
    for (uint32_t k = threadIdx.x; k < t.solve_blocks; k += SPME_SOLVE_THREADS) {
        const double energy = __ldcg(waves + (uint64_t)k * SPME_PARTIAL) / 2;
        sum[0] += energy;
#pragma unroll
        for (int q = 1; q < SPME_PARTIAL; q++)
            if (q < columns) sum[q] += energy - __ldcg(waves + (uint64_t)k * SPME_PARTIAL + q) / 2;
    }
    for (uint32_t k = threadIdx.x; k < t.exclude_blocks; k += SPME_SOLVE_THREADS)
#pragma unroll
        for (int q = 0; q < SPME_PARTIAL; q++)
            if (q < columns) sum[q] += __ldcg(excluded + (uint64_t)k * SPME_PARTIAL + q);
    block_sum(sum, columns, held);
    if (threadIdx.x != 0) return;
    if (t.energy) t.energy[w] += sum[0] + constant_of(t, w);
    for (int d = 0; d < 3 && t.virial; d++)
        t.virial[3 * w + d] += sum[1 + d] + constant_virial_of(t, w);
}

#if !SPME_GATHERED
/* For the next evaluation; with forces gather_forces does it. */
PLUGMC_FN void empty_bins(const spme_task &t, uint32_t w, uint32_t thread, uint32_t threads)
{
    for (uint32_t k = thread; k < t.tiles; k += threads) t.count[(uint64_t)w * t.tiles + k] = 0;
    for (uint32_t k = thread; k < t.pages; k += threads) t.owner[(uint64_t)w * t.pages + k] = 0;
}
#endif

/* x: solve_blocks; y: walkers. Multiplies by G if forces are wanted. A thread keeps to one x and
 * goes through the rows in steps of as many as all threads take at once. */
extern "C" __global__ void __launch_bounds__(SPME_SOLVE_THREADS)
    solve(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ double held[SPME_SOLVE_THREADS / 32 * SPME_PARTIAL];
    __shared__ int is_last;
    enum { ROWS = SPME_Y * SPME_Z, AT_ONCE = 4 };
    const uint32_t thread = blockIdx.x * SPME_SOLVE_THREADS + threadIdx.x, w = blockIdx.y,
                   step = t.solve_blocks * SPME_SOLVE_THREADS / HALF_X, x = thread % HALF_X,
                   first = thread / HALF_X;
    spme_wave *waves = (spme_wave *)t.waves + WAVES * w + x;
    const spme_factors *factors = (const spme_factors *)table_of(t, w);
    const real *strain = table_of(t, w) + 2 * TABLE;
    const spme_factors of_x = factors[x];
    const real twice = x == 0 || 2 * x == SPME_X ? 1 : 2,
               scale = (real)factor_of(t, w) * of_x.weight;
    double sum[SPME_PARTIAL] = {0, 0, 0, 0};
#if !SPME_GATHERED
    if (!t.forces) empty_bins(t, w, thread, t.solve_blocks * SPME_SOLVE_THREADS);
#endif
    for (uint32_t row = first; row < ROWS && first < step; row += AT_ONCE * step) {
        spme_wave q[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (row + k * step < ROWS) q[k] = waves[(uint64_t)(row + k * step) * HALF_X];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const uint32_t at = row + k * step;
            if (at >= ROWS) continue;
            const uint32_t y = SPME_X + at % SPME_Y, z = SPME_X + SPME_Y + at / SPME_Y;
            const spme_factors of_y = factors[y], of_z = factors[z];
            const real k2 = of_x.square + of_y.square + of_z.square;
            const real over = k2 > 0 ? inverse(k2) : (real)0;
            const real g = scale * of_y.weight * of_z.weight * over;
            const real energy = twice * g * (q[k].re * q[k].re + q[k].im * q[k].im);
            sum[0] += (double)energy;
            if (t.virial) {
                sum[1] += (double)(energy * (2 * over * of_x.square + strain[x]));
                sum[2] += (double)(energy * (2 * over * of_y.square + strain[y]));
                sum[3] += (double)(energy * (2 * over * of_z.square + strain[z]));
            }
            if (!t.forces) continue;
            q[k].re *= g;
            q[k].im *= g;
            waves[(uint64_t)at * HALF_X] = q[k];
        }
    }
    if (!t.energy && !t.virial) return;
    const int columns = t.virial ? SPME_PARTIAL : 1;
    block_sum(sum, columns, held);
    if (threadIdx.x == 0) {
        double *partial = t.partial + ((uint64_t)w * t.solve_blocks + blockIdx.x) * SPME_PARTIAL;
#pragma unroll
        for (int q = 0; q < SPME_PARTIAL; q++)
            if (q < columns) partial[q] = sum[q];
        __threadfence();
        is_last = atomicAdd(t.ticket + w, 1u) == t.solve_blocks - 1;
    }
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) t.ticket[w] = 0;
    __threadfence();
    add_sums(t, w, columns, held);
}

/* ---- Forces ------------------------------------------------------------------------------ */

/* To particle i of walker w. */
PLUGMC_FN void add_force(const spme_task &t, uint32_t w, uint32_t i, double charge, real x, real y,
                         real z)
{
    double *force = (t.balance ? t.unbalanced : t.forces) + 3 * ((uint64_t)w * t.particles + i);
    const double f[3] = {-charge * (SPME_X * inverse_length_of(t, w, 0)) * (double)x,
                         -charge * (SPME_Y * inverse_length_of(t, w, 1)) * (double)y,
                         -charge * (SPME_Z * inverse_length_of(t, w, 2)) * (double)z};
    for (int d = 0; d < 3; d++) force[d] = t.balance ? f[d] : force[d] + f[d];
}

#if !SPME_GATHERED
enum {
    VECTOR = SINGLE && SPME_X % 4 == 0 ? 4
             : SPME_X % 2 == 0         ? 2
                                       : 1, /* points read at once */
    LEAD = (REACH + VECTOR - 1) / VECTOR * VECTOR,
    EDGE_X = SPME_TILE_X + LEAD,
    EDGE_Y = SPME_TILE_Y + REACH,
    EDGE_Z = SPME_TILE_Z + REACH
};

struct __align__(VECTOR * sizeof(real)) spme_points { real value[VECTOR]; };

/* The potential of a tile and of the points before it, [EDGE_Z][EDGE_Y][EDGE_X]. */
PLUGMC_FN void read_potential(const real *grid, spme_points *out)
{
    enum { PIECES = EDGE_X / VECTOR };
    const int tile_x = blockIdx.x % TILES_X, tile_y = blockIdx.x / TILES_X % TILES_Y,
              tile_z = blockIdx.x / (TILES_X * TILES_Y);
    for (int i = threadIdx.x; i < EDGE_Z * EDGE_Y * PIECES; i += FORCE_THREADS) {
        int x = tile_x * SPME_TILE_X + i % PIECES * VECTOR - LEAD,
            y = tile_y * SPME_TILE_Y + i / PIECES % EDGE_Y - REACH,
            z = tile_z * SPME_TILE_Z + i / (PIECES * EDGE_Y) - REACH;
        if (x >= SPME_X || y >= SPME_Y || z >= SPME_Z) continue; /* past a tile that is cut */
        x += x < 0 ? SPME_X : 0;
        y += y < 0 ? SPME_Y : 0;
        z += z < 0 ? SPME_Z : 0;
        out[i] = *(const spme_points *)(grid + ((uint64_t)z * SPME_Y + y) * SPME_X + x);
    }
}

/* x: tiles; y: walkers. Potentials are taken relative to one in the middle, whose weights add up to
 * nothing: that keeps digits. Leaves the bin empty. */
extern "C" __global__ void __launch_bounds__(FORCE_THREADS, SINGLE && !FEW ? 8 : 1)
    gather_forces(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ spme_points pieces[EDGE_Z * EDGE_Y * EDGE_X / VECTOR];
    const real *potential = pieces[0].value;
    const uint32_t tile = blockIdx.x, w = blockIdx.y;
    uint32_t *count = t.count + (uint64_t)w * t.tiles + tile;
    const uint32_t number = *count;
    if (number == 0) return;
    read_potential(t.grid + w * POINTS, pieces);
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < number; k += FORCE_THREADS) {
        const uint64_t place = place_of<0>(t, w, tile, k);
        const spme_record c = ((const spme_record *)t.records)[place];
        real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER], sx[SPME_ORDER], sy[SPME_ORDER],
            sz[SPME_ORDER];
        splines_and_slopes(fraction_of(c.x), wx, sx);
        splines_and_slopes(fraction_of(c.y), wy, sy);
        splines_and_slopes(fraction_of(c.z), wz, sz);
        /* point number j along an edge is j before this one */
        const real *corner = potential +
                             ((cell_of(c.z) + REACH) * EDGE_Y + cell_of(c.y) + REACH) * EDGE_X +
                             cell_of(c.x) + LEAD;
        const real middle = corner[-(SPME_ORDER / 2) * ((EDGE_Y + 1) * EDGE_X + 1)];
        real fx = 0, fy = 0, fz = 0;
#pragma unroll UNROLLED
        for (int z = 0; z < SPME_ORDER; z++)
#pragma unroll
            for (int y = 0; y < SPME_ORDER; y++) {
                const real *row = corner - (z * EDGE_Y + y) * EDGE_X;
                real value = 0, slope = 0;
#pragma unroll
                for (int x = 0; x < SPME_ORDER; x++) {
                    const real p = row[-x] - middle;
                    value = multiply_add(wx[x], p, value);
                    slope = multiply_add(sx[x], p, slope);
                }
                fx = multiply_add(wz[z] * wy[y], slope, fx);
                fy = multiply_add(wz[z] * sy[y], value, fy);
                fz = multiply_add(sz[z] * wy[y], value, fz);
            }
        add_force(t, w, t.index[place], (double)c.charge, fx, fy, fz);
    }
    __syncthreads();
    if (threadIdx.x == 0) *count = 0;
    for (uint32_t k = 1 + threadIdx.x; k <= (number - 1) / t.page; k += FORCE_THREADS)
        t.owner[(uint64_t)w * t.pages + page_of<0>(t, w, tile, k)] = 0;
}
#endif

/* x: SPME_BALANCE_BLOCKS; y: walkers. Each block sums its stretch of particles; those that subtract
 * add the sums up in order. */
extern "C" __global__ void sum_forces(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ double held[SPME_SORT_THREADS / 32 * SPME_PARTIAL];
    const double *forces = t.unbalanced + 3 * (uint64_t)blockIdx.y * t.particles;
    double sum[SPME_PARTIAL] = {0, 0, 0, 0};
    for (uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x; i < t.particles;
         i += SPME_BALANCE_BLOCKS * SPME_SORT_THREADS)
        for (int d = 0; d < 3; d++) sum[d] += forces[3 * (uint64_t)i + d];
    block_sum(sum, 3, held);
    if (threadIdx.x == 0)
        for (int d = 0; d < 3; d++)
            t.mean[3 * (blockIdx.y * SPME_BALANCE_BLOCKS + blockIdx.x) + d] = sum[d] / t.particles;
}

/* x: particles; y: walkers. */
extern "C" __global__ void balance_forces(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x;
    if (i >= t.particles) return;
    const double *blocks = t.mean + 3 * blockIdx.y * SPME_BALANCE_BLOCKS;
    double mean[3] = {0, 0, 0};
#pragma unroll 4
    for (int b = 0; b < SPME_BALANCE_BLOCKS; b++)
        for (int d = 0; d < 3; d++) mean[d] += blocks[3 * b + d];
    const uint64_t at = 3 * ((uint64_t)blockIdx.y * t.particles + i);
    for (int d = 0; d < 3; d++) t.forces[at + d] += t.unbalanced[at + d] - mean[d];
}

/* ---- Exclusions -------------------------------------------------------------------------- */

/* x: particles; y: walkers. As on the CPU (spme_host.c). */
extern "C" __global__ void exclude(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ double held[SPME_EXCLUDE_THREADS / 32 * SPME_PARTIAL];
    const uint32_t i = blockIdx.x * SPME_EXCLUDE_THREADS + threadIdx.x, w = blockIdx.y;
    const double *positions = t.positions + 3 * (uint64_t)w * t.particles;
    double share[SPME_PARTIAL] = {0, 0, 0, 0}, force[3] = {0, 0, 0};
    for (uint32_t k = i < t.particles ? t.first[i] : 0; i < t.particles && k < t.first[i + 1];
         k++) {
        const uint32_t j = t.partner[k];
        double s[3], r2 = 0;
        for (int d = 0; d < 3; d++) {
            s[d] = positions[3 * (uint64_t)i + d] - positions[3 * (uint64_t)j + d];
            s[d] -= length_of(t, w, d) * rint(s[d] / length_of(t, w, d));
            r2 += s[d] * s[d];
        }
        const double r = sqrt(r2), x = t.alpha * r,
                     qq = t.bjerrum_length * t.charge[i] * t.charge[j];
        const int inside = r < t.cutoff;
        const double u = -qq * (inside ? 1.0 : erf(x)) / r;
        const double push =
            (u + (inside ? 0.0 : qq * 1.1283791670955126 * t.alpha * exp(-x * x))) / r2;
        share[0] += u / 2;
        for (int d = 0; d < 3; d++) {
            share[1 + d] += push * s[d] * s[d] / 2;
            force[d] += push * s[d];
        }
    }
    for (int d = 0; d < 3 && t.forces && i < t.particles; d++)
        t.forces[3 * ((uint64_t)w * t.particles + i) + d] += force[d];
    if (!t.energy && !t.virial) return;
    block_sum(share, SPME_PARTIAL, held);
    if (threadIdx.x == 0)
        for (int q = 0; q < SPME_PARTIAL; q++)
            t.excluded[((uint64_t)w * t.exclude_blocks + blockIdx.x) * SPME_PARTIAL + q] = share[q];
}
