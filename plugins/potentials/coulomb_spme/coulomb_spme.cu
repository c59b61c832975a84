/* coulomb_spme.cu: the mesh on a GPU. Also included by spme_device.c for the struct that both know.
 *
 * Charges are sorted by tiles of 8^3 cells; their order within a tile does not matter. A block then
 * owns a tile of the grid in shared memory and adds up what falls on it, from its own charges and
 * those of the next tiles, in integers: the sum is the same in any order. Their unit is chosen for
 * each tile so that it cannot overflow. So no number is written twice, no memory is cleared, and
 * the result is the same bit for bit from run to run. After the transform (cuFFT) the waves are
 * multiplied by G, and their energy added up in double in a fixed order; after the one back a block
 * takes the potential of a tile into shared memory, from where its charges gather their forces.
 *
 * SPME_ORDER, SPME_X, SPME_Y, SPME_Z (points of the grid), SPME_GATHERED and real are fixed when
 * this is compiled. Notation: spme.h. With SPME_GATHERED each grid point looks for its charges
 * instead (last section).
 */
enum {
    SPME_TILE = 8,            /* cells along an edge of a tile */
    SPME_SORT_THREADS = 256,
    SPME_SPREAD_THREADS = 128,
    SPME_FORCE_THREADS = 64,
    SPME_SOLVE_THREADS = 256,
    SPME_SOLVE_ITEMS = 8,     /* waves a thread */
    SPME_EXCLUDE_THREADS = 128,
    SPME_BALANCE_BLOCKS = 64,
    SPME_PARTIAL = 4          /* sums of energy and three strains */
};

#ifdef __CUDACC_RTC__
typedef real spme_real;
typedef unsigned long long spme_u64;
#else
typedef void spme_real; /* float or double: only the device looks at them */
typedef uint64_t spme_u64;
#endif

/* All that kernels need. Device pointers; the shapes are [walkers]... */
typedef struct spme_task {
    double inverse_length[3];
    double length[3];
    double factor;                    /* 4 pi l_B / V */
    double constant, constant_virial; /* see spme.h */
    double bjerrum_length, alpha, cutoff;
    double largest;                   /* of one charge at one point, in absolute value */
    double unit;                      /* of the fixed point of spreading = gather */
    uint32_t particles, tiles, solve_blocks, exclude_blocks;
    int32_t balance;
    const double *positions;          /* [particles][3] */
    double *energy, *forces, *virial; /* as in plugmc_total_request */
    const double *charge;             /* [particles], of all walkers */
    const uint32_t *first, *partner;  /* exclusions, as in spme.h */
    const spme_real *table;           /* [3][x + y + z]: weight, square, strain */
    uint32_t *count, *rank;           /* [tiles], [particles] */
    uint32_t *span;                   /* [tiles][2]: first record, number of records */
    uint32_t *cursor, *not_finite, *ticket; /* one number each */
    void *records;                    /* [particles] spme_record */
    uint32_t *index;                  /* [particles] the particle of a record */
    spme_real *grid;                  /* [z][y][x]: charges, then potential */
    spme_real *waves;                 /* [z][y][x / 2 + 1] complex */
    double *partial;                  /* [solve_blocks][SPME_PARTIAL] */
    double *excluded;                 /* [exclude_blocks][SPME_PARTIAL] */
    double *unbalanced;               /* [particles][3] */
    double *mean;                     /* [SPME_BALANCE_BLOCKS][3] */
    uint32_t *occupant;               /* [z][y][x] of spreading = gather: particle + 1, or 0 */
    uint32_t *overflow;               /* [1 + particles]: how many, and which */
    spme_u64 *fixed;                  /* [z][y][x] charges in units of `unit` */
} spme_task;

#ifdef __CUDACC_RTC__
enum {
    TILES_X = (SPME_X + SPME_TILE - 1) / SPME_TILE,
    TILES_Y = (SPME_Y + SPME_TILE - 1) / SPME_TILE,
    TILES_Z = (SPME_Z + SPME_TILE - 1) / SPME_TILE,
    HALF_X = SPME_X / 2 + 1,
    REACH = SPME_ORDER - 1, /* points beyond its own cell that a charge reaches */
    UNROLLED =
        SPME_ORDER < 6 ? SPME_ORDER : 1, /* planes that are written out: registers, compile time */
    SINGLE = sizeof(real) == 4
};
#define POINTS ((uint64_t)SPME_X * SPME_Y * SPME_Z)
#define WAVES ((uint64_t)HALF_X * SPME_Y * SPME_Z)

/* ---- Arithmetic in either precision ------------------------------------------------------ */

template <int bytes> struct precision;
template <> struct precision<4> {
    typedef int integer;
    typedef unsigned int fixed;
    enum { FRACTION = 28 };
    static __device__ __forceinline__ int rounded(float x) { return __float2int_rn(x); }
    static __device__ __forceinline__ void add(int *to, int x) { atomicAdd(to, x); }
    static __device__ __forceinline__ float most() { return 2147483647.0f; }
};
template <> struct precision<8> {
    typedef long long integer;
    typedef unsigned long long fixed;
    enum { FRACTION = 52 };
    static __device__ __forceinline__ long long rounded(double x) { return __double2ll_rn(x); }
    static __device__ __forceinline__ void add(long long *to, long long x)
    {
        atomicAdd((unsigned long long *)to, (unsigned long long)x);
    }
    static __device__ __forceinline__ double most() { return 9.2e18; }
};
typedef precision<sizeof(real)> exact;
typedef exact::integer integer; /* sums of charges */
typedef exact::fixed fixed;     /* coordinates within a tile */

PLUGMC_FN float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
PLUGMC_FN double multiply_add(double a, double b, double c) { return fma(a, b, c); }

/* A charge in its tile: coordinates are multiples of 2^-FRACTION cells. */
struct __align__(4 * sizeof(real)) spme_record {
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

/* Sum over the block in a fixed order; thread 0 has it. `held` is shared memory, [warps][4]. */
PLUGMC_FN void block_sum(double v[SPME_PARTIAL], double *held)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
#pragma unroll
    for (int q = 0; q < SPME_PARTIAL; q++) {
        for (int step = 16; step > 0; step >>= 1) v[q] += __shfl_down_sync(0xffffffffu, v[q], step);
        if (lane == 0) held[warp * SPME_PARTIAL + q] = v[q];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int q = 0; q < SPME_PARTIAL; q++) {
            v[q] = held[q];
            for (int w = 1; w < warps; w++) v[q] += held[w * SPME_PARTIAL + q];
        }
    __syncthreads();
}

/* ---- Sorting ----------------------------------------------------------------------------- */

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

PLUGMC_FN int locate_all(const spme_task &t, uint64_t i, int cell[3], double fraction[3])
{
    const double *r = t.positions + 3 * i;
    int finite = locate(r[0], t.inverse_length[0], SPME_X, &cell[0], &fraction[0]);
    finite &= locate(r[1], t.inverse_length[1], SPME_Y, &cell[1], &fraction[1]);
    return finite & locate(r[2], t.inverse_length[2], SPME_Z, &cell[2], &fraction[2]);
}

PLUGMC_FN uint32_t tile_number(const int cell[3])
{
    return ((cell[2] / SPME_TILE) * TILES_Y + cell[1] / SPME_TILE) * TILES_X + cell[0] / SPME_TILE;
}

#if !SPME_GATHERED
/* x: particles; y: walkers. `count` is 0 before. */
extern "C" __global__ void count(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    if (i == 0) {
        t.cursor[w] = 0;
        t.not_finite[w] = 0;
    }
    if (i >= t.particles) return;
    int cell[3];
    double fraction[3];
    const uint64_t at = (uint64_t)w * t.particles + i;
    locate_all(t, at, cell, fraction);
    t.rank[at] = atomicAdd(t.count + (uint64_t)w * t.tiles + tile_number(cell), 1u);
}

/* x: tiles; y: walkers. Gives every tile its place among the records; which one does not matter. */
extern "C" __global__ void allocate(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ uint32_t of_warp[SPME_SORT_THREADS / 32 + 1];
    const uint32_t tile = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    const uint64_t at = (uint64_t)w * t.tiles + tile;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t own = tile < t.tiles ? t.count[at] : 0;
    uint32_t until = own; /* sum up to this tile */
    for (int step = 1; step < 32; step <<= 1) {
        uint32_t before = __shfl_up_sync(0xffffffffu, until, step);
        if (lane >= step) until += before;
    }
    if (lane == 31) of_warp[warp] = until;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (int k = 0; k < SPME_SORT_THREADS / 32; k++) {
            uint32_t n = of_warp[k];
            of_warp[k] = sum;
            sum += n;
        }
        of_warp[SPME_SORT_THREADS / 32] = atomicAdd(t.cursor + w, sum);
    }
    __syncthreads();
    if (tile >= t.tiles) return;
    t.span[2 * at] = of_warp[SPME_SORT_THREADS / 32] + of_warp[warp] + until - own;
    t.span[2 * at + 1] = own;
    t.count[at] = 0;
}

/* x: particles; y: walkers. */
extern "C" __global__ void place(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    int cell[3];
    double fraction[3];
    const uint64_t at = (uint64_t)w * t.particles + i;
    if (!locate_all(t, at, cell, fraction)) t.not_finite[w] = 1;
    const uint64_t tile = (uint64_t)w * t.tiles + tile_number(cell);
    const uint64_t slot = (uint64_t)w * t.particles + t.span[2 * tile] + t.rank[at];
    const double one = (double)((fixed)1 << exact::FRACTION);
    fixed x[3];
    for (int d = 0; d < 3; d++) {
        double f = fraction[d] * one;
        f = f < one - 1 ? f : one - 1;
        x[d] = ((fixed)(cell[d] % SPME_TILE) << exact::FRACTION) + (fixed)(f > 0 ? f : 0);
    }
    spme_record record;
    record.x = x[0];
    record.y = x[1];
    record.z = x[2];
    record.charge = (real)t.charge[i];
    ((spme_record *)t.records)[slot] = record;
    t.index[slot] = i;
}

/* ---- Spreading --------------------------------------------------------------------------- */

/* Points of tile number `tile` along an edge: the last one may be cut. */
PLUGMC_FN int tile_width(int tile, int points)
{
    const int rest = points - tile * SPME_TILE;
    return rest < SPME_TILE ? rest : SPME_TILE;
}

/* Tiles along an edge whose charges reach a tile: itself and those after it, at most three, each
 * with the distance from the first cell of the tile to its own. Returns how many. */
PLUGMC_FN int reaching(int tile, int tiles, int points, int other[3], int offset[3])
{
    const int end = tile_width(tile, points) + REACH;
    int n = 0;
    for (int at = 0; at < end && n < 3; n++) {
        other[n] = tile;
        offset[n] = at;
        at += tile_width(tile, points);
        tile = tile + 1 < tiles ? tile + 1 : 0;
    }
    return n;
}

/* The charges of another tile that may reach the block's. */
struct spme_source {
    uint32_t begin, end; /* among all candidates of the block */
    uint32_t record;     /* of the first */
    int x, y, z;         /* offset, cells */
};

enum { MOST_SOURCES = 27, MOST_KEPT = 1024 };

/* Adds a charge at relative cell (x, y, z) to the tile: point x - j has the weight M_n(f + j). */
PLUGMC_FN void deposit(integer *cells, const spme_record &c, int x, int y, int z, int width_x,
                       int width_y, int width_z, real scale)
{
    real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER];
    splines(fraction_of(c.x), wx);
    splines(fraction_of(c.y), wy);
    splines(fraction_of(c.z), wz);
    const real charge = c.charge * scale;
#pragma unroll UNROLLED
    for (int k = 0; k < SPME_ORDER; k++) {
        if ((unsigned)(z - k) >= (unsigned)width_z) continue;
        const real at_z = charge * wz[k];
#pragma unroll
        for (int j = 0; j < SPME_ORDER; j++) {
            if ((unsigned)(y - j) >= (unsigned)width_y) continue;
            const real at_y = at_z * wy[j];
            integer *row = cells + ((z - k) * SPME_TILE + y - j) * SPME_TILE + x;
#pragma unroll
            for (int i = 0; i < SPME_ORDER; i++)
                if ((unsigned)(x - i) < (unsigned)width_x)
                    exact::add(row - i, exact::rounded(at_y * wx[i]));
        }
    }
}

/* x: tiles; y: walkers. */
extern "C" __global__ void __launch_bounds__(SPME_SPREAD_THREADS)
    spread(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ integer cells[SPME_TILE * SPME_TILE * SPME_TILE];
    __shared__ spme_source sources[MOST_SOURCES];
    __shared__ uint32_t kept[MOST_KEPT];      /* records that reach the tile */
    __shared__ uint16_t relative[MOST_KEPT];  /* their cells, 4 bits each */
    __shared__ uint32_t source_count, kept_count;
    const int tile_x = blockIdx.x % TILES_X, tile_y = blockIdx.x / TILES_X % TILES_Y,
              tile_z = blockIdx.x / (TILES_X * TILES_Y);
    const int width_x = tile_width(tile_x, SPME_X), width_y = tile_width(tile_y, SPME_Y),
              width_z = tile_width(tile_z, SPME_Z);
    const uint32_t *span = t.span + 2 * (uint64_t)blockIdx.y * t.tiles;
    const spme_record *records =
        (const spme_record *)t.records + (uint64_t)blockIdx.y * t.particles;

    for (int i = threadIdx.x; i < SPME_TILE * SPME_TILE * SPME_TILE; i += SPME_SPREAD_THREADS)
        cells[i] = 0;
    if (threadIdx.x < 32) { /* the first warp finds out who is near */
        int x[3], y[3], z[3], from_x[3], from_y[3], from_z[3];
        const int nx = reaching(tile_x, TILES_X, SPME_X, x, from_x);
        const int ny = reaching(tile_y, TILES_Y, SPME_Y, y, from_y);
        const int nz = reaching(tile_z, TILES_Z, SPME_Z, z, from_z);
        const int s = threadIdx.x;
        uint32_t number = 0, until;
        spme_source source;
        if (s < nx * ny * nz) {
            const int a = s % nx, b = s / nx % ny, c = s / (nx * ny);
            const uint64_t tile = ((uint64_t)z[c] * TILES_Y + y[b]) * TILES_X + x[a];
            source.record = span[2 * tile];
            number = span[2 * tile + 1];
            source.x = from_x[a];
            source.y = from_y[b];
            source.z = from_z[c];
        }
        until = number;
        for (int step = 1; step < 32; step <<= 1) {
            uint32_t before = __shfl_up_sync(0xffffffffu, until, step);
            if (s >= step) until += before;
        }
        source.begin = until - number;
        source.end = until;
        if (s < nx * ny * nz) sources[s] = source;
        if (s == 0) {
            source_count = nx * ny * nz;
            kept_count = 0;
        }
    }
    __syncthreads();

    /* Two rounds: who reaches the tile, which also bounds the sums; and what they add. */
    const uint32_t candidates = sources[source_count - 1].end;
    uint32_t s = 0;
    for (uint32_t k = threadIdx.x; k < candidates; k += SPME_SPREAD_THREADS) {
        while (k >= sources[s].end) s++;
        const uint32_t record = sources[s].record + k - sources[s].begin;
        const int x = sources[s].x + cell_of(records[record].x),
                  y = sources[s].y + cell_of(records[record].y),
                  z = sources[s].z + cell_of(records[record].z);
        if (x >= width_x + REACH || y >= width_y + REACH || z >= width_z + REACH) continue;
        const uint32_t slot = atomicAdd(&kept_count, 1u);
        if (slot >= MOST_KEPT) continue;
        kept[slot] = record;
        relative[slot] = (uint16_t)(x | y << 4 | z << 8);
    }
    __syncthreads();
    const uint32_t number = kept_count;
    const double bound = t.largest * number; /* less the rounding of every charge */
    const real scale =
        number ? (real)(((double)exact::most() - 2.0 * number) * (1 - 1e-6) / bound) : 1;
    const int listed = number <= MOST_KEPT; /* else all are looked at again */
    s = 0;
    for (uint32_t k = threadIdx.x; k < (listed ? number : candidates); k += SPME_SPREAD_THREADS) {
        uint32_t record;
        int x, y, z;
        if (listed) {
            record = kept[k];
            x = relative[k] & 15;
            y = relative[k] >> 4 & 15;
            z = relative[k] >> 8;
        } else {
            while (k >= sources[s].end) s++;
            record = sources[s].record + k - sources[s].begin;
            x = sources[s].x + cell_of(records[record].x);
            y = sources[s].y + cell_of(records[record].y);
            z = sources[s].z + cell_of(records[record].z);
        }
        deposit(cells, records[record], x, y, z, width_x, width_y, width_z, scale);
    }
    __syncthreads();

    const real unit = (real)1 / scale;
    real *grid = t.grid + blockIdx.y * POINTS +
                 ((uint64_t)tile_z * SPME_TILE * SPME_Y + tile_y * SPME_TILE) * SPME_X +
                 tile_x * SPME_TILE;
    for (int i = threadIdx.x; i < SPME_TILE * SPME_TILE * SPME_TILE; i += SPME_SPREAD_THREADS) {
        const int x = i % SPME_TILE, y = i / SPME_TILE % SPME_TILE, z = i / (SPME_TILE * SPME_TILE);
        if (x < width_x && y < width_y && z < width_z)
            grid[((uint64_t)z * SPME_Y + y) * SPME_X + x] = (real)cells[i] * unit;
    }
}
#endif

/* ---- Waves ------------------------------------------------------------------------------- */

PLUGMC_FN double sum_of_rows(const double *rows, uint32_t count, int column)
{
    double sum = 0;
    for (uint32_t k = threadIdx.x; k < count; k += SPME_SOLVE_THREADS)
        sum += __ldcg(rows + (uint64_t)k * SPME_PARTIAL + column);
    return sum;
}

/* The last block of a walker adds the sums of all to what was asked for. */
PLUGMC_FN void add_sums(const spme_task &t, uint32_t w, double *held)
{
    double waves[SPME_PARTIAL], excluded[SPME_PARTIAL];
    for (int q = 0; q < SPME_PARTIAL; q++) {
        waves[q] =
            sum_of_rows(t.partial + (uint64_t)w * t.solve_blocks * SPME_PARTIAL, t.solve_blocks, q);
        excluded[q] = sum_of_rows(t.excluded + (uint64_t)w * t.exclude_blocks * SPME_PARTIAL,
                                  t.exclude_blocks, q);
    }
    block_sum(waves, held);
    block_sum(excluded, held);
    if (threadIdx.x != 0) return;
    const double poison = t.not_finite[w] ? __longlong_as_double(0x7ff8000000000000ll) : 0;
    if (t.energy) t.energy[w] += waves[0] / 2 + t.constant + excluded[0] + poison;
    for (int d = 0; d < 3 && t.virial; d++)
        t.virial[3 * w + d] +=
            (waves[0] - waves[1 + d]) / 2 + t.constant_virial + excluded[1 + d] + poison;
}

/* x: blocks of waves; y: walkers. Multiplies by G if forces are wanted. */
extern "C" __global__ void solve(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ double held[SPME_SOLVE_THREADS / 32 * SPME_PARTIAL];
    __shared__ int is_last;
    enum { N = SPME_X + SPME_Y + SPME_Z };
    const uint32_t w = blockIdx.y;
    real *waves = t.waves + 2 * WAVES * w;
    const real *weight = t.table, *square = t.table + N, *strain = t.table + 2 * N;
    double sum[SPME_PARTIAL] = {0, 0, 0, 0};
#pragma unroll
    for (int item = 0; item < SPME_SOLVE_ITEMS; item++) {
        const uint64_t i =
            ((uint64_t)blockIdx.x * SPME_SOLVE_ITEMS + item) * SPME_SOLVE_THREADS + threadIdx.x;
        if (i >= WAVES) continue;
        const uint32_t row = WAVES >> 32 ? (uint32_t)(i / HALF_X) : (uint32_t)i / HALF_X;
        const uint32_t x = (uint32_t)(i - (uint64_t)row * HALF_X);
        const uint32_t y = SPME_X + row % SPME_Y, z = SPME_X + SPME_Y + row / SPME_Y;
        const real k2 = square[x] + square[y] + square[z], over = i ? (real)1 / k2 : (real)0;
        const real g = (real)t.factor * weight[x] * weight[y] * weight[z] * over;
        real re, im;
        if (SINGLE) {
            float2 q = ((const float2 *)waves)[i];
            re = (real)q.x;
            im = (real)q.y;
        } else {
            double2 q = ((const double2 *)waves)[i];
            re = (real)q.x;
            im = (real)q.y;
        }
        const double twice = x == 0 || 2 * x == SPME_X ? 1 : 2;
        const double energy =
            twice * (double)g * ((double)re * (double)re + (double)im * (double)im);
        sum[0] += energy;
        if (t.virial) {
            sum[1] += energy * (double)(2 * over * square[x] + strain[x]);
            sum[2] += energy * (double)(2 * over * square[y] + strain[y]);
            sum[3] += energy * (double)(2 * over * square[z] + strain[z]);
        }
        if (!t.forces) continue;
        if (SINGLE) {
            float2 q;
            q.x = (float)(re * g);
            q.y = (float)(im * g);
            ((float2 *)waves)[i] = q;
        } else {
            double2 q;
            q.x = (double)(re * g);
            q.y = (double)(im * g);
            ((double2 *)waves)[i] = q;
        }
    }
    if (!t.energy && !t.virial) return;
    block_sum(sum, held);
    if (threadIdx.x == 0) {
        double *partial = t.partial + ((uint64_t)w * t.solve_blocks + blockIdx.x) * SPME_PARTIAL;
        for (int q = 0; q < SPME_PARTIAL; q++) partial[q] = sum[q];
        __threadfence();
        is_last = atomicAdd(t.ticket + w, 1u) == t.solve_blocks - 1;
    }
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) t.ticket[w] = 0;
    __threadfence();
    add_sums(t, w, held);
}

/* ---- Forces ------------------------------------------------------------------------------ */

PLUGMC_FN void add_force(const spme_task &t, uint64_t at, uint32_t w, double charge, real x, real y,
                         real z)
{
    const double poison = t.not_finite[w] ? __longlong_as_double(0x7ff8000000000000ll) : 0;
    double *force = (t.balance ? t.unbalanced : t.forces) + 3 * at;
    const double f[3] = {-charge * (SPME_X * t.inverse_length[0]) * (double)x + poison,
                         -charge * (SPME_Y * t.inverse_length[1]) * (double)y + poison,
                         -charge * (SPME_Z * t.inverse_length[2]) * (double)z + poison};
    for (int d = 0; d < 3; d++) force[d] = t.balance ? f[d] : force[d] + f[d];
}

#if !SPME_GATHERED
/* x: tiles; y: walkers. Potentials are taken relative to one in the middle, whose weights add up to
 * nothing: that keeps digits. */
extern "C" __global__ void __launch_bounds__(SPME_FORCE_THREADS)
    gather_forces(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    enum { EDGE = SPME_TILE + REACH };
    __shared__ real potential[EDGE * EDGE * EDGE];
    const int tile_x = blockIdx.x % TILES_X, tile_y = blockIdx.x / TILES_X % TILES_Y,
              tile_z = blockIdx.x / (TILES_X * TILES_Y);
    const uint32_t w = blockIdx.y;
    const uint64_t tile = (uint64_t)w * t.tiles + blockIdx.x;
    const uint32_t begin = t.span[2 * tile], number = t.span[2 * tile + 1];
    if (number == 0) return;
    const real *grid = t.grid + w * POINTS;
    for (int i = threadIdx.x; i < EDGE * EDGE * EDGE; i += SPME_FORCE_THREADS) {
        int x = tile_x * SPME_TILE + i % EDGE - REACH,
            y = tile_y * SPME_TILE + i / EDGE % EDGE - REACH,
            z = tile_z * SPME_TILE + i / (EDGE * EDGE) - REACH;
        if (x >= SPME_X || y >= SPME_Y || z >= SPME_Z) continue; /* past a tile that is cut */
        x += x < 0 ? SPME_X : 0;
        y += y < 0 ? SPME_Y : 0;
        z += z < 0 ? SPME_Z : 0;
        potential[i] = grid[((uint64_t)z * SPME_Y + y) * SPME_X + x];
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < number; k += SPME_FORCE_THREADS) {
        const uint64_t slot = (uint64_t)w * t.particles + begin + k;
        const spme_record c = ((const spme_record *)t.records)[slot];
        real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER], sx[SPME_ORDER], sy[SPME_ORDER],
            sz[SPME_ORDER];
        splines_and_slopes(fraction_of(c.x), wx, sx);
        splines_and_slopes(fraction_of(c.y), wy, sy);
        splines_and_slopes(fraction_of(c.z), wz, sz);
        /* point number j along an edge is at cell + REACH - j here */
        const real *corner = potential +
                             ((cell_of(c.z) + REACH) * EDGE + cell_of(c.y) + REACH) * EDGE +
                             cell_of(c.x) + REACH;
        const real middle = corner[-(SPME_ORDER / 2) * ((EDGE + 1) * EDGE + 1)];
        real fx = 0, fy = 0, fz = 0;
#pragma unroll UNROLLED
        for (int z = 0; z < SPME_ORDER; z++)
#pragma unroll
            for (int y = 0; y < SPME_ORDER; y++) {
                const real *row = corner - (z * EDGE + y) * EDGE;
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
        add_force(t, (uint64_t)w * t.particles + t.index[slot], w, (double)c.charge, fx, fy, fz);
    }
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
    block_sum(sum, held);
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
            s[d] -= t.length[d] * rint(s[d] / t.length[d]);
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
    block_sum(share, held);
    if (threadIdx.x == 0)
        for (int q = 0; q < SPME_PARTIAL; q++)
            t.excluded[((uint64_t)w * t.exclude_blocks + blockIdx.x) * SPME_PARTIAL + q] = share[q];
}

#if SPME_GATHERED
/* ---- Spreading by gathering ---------------------------------------------------------------
 *
 * M. J. Harvey, G. De Fabritiis, J. Chem. Theory Comput. 5, 2371 (2009), section II C: placement
 * puts each charge into the cell it is in, or, if that is taken, on a list; accumulation lets every
 * point of the grid collect from the n^3 cells that reach it; overflow spreads the list one by one.
 * Who gets a cell is a matter of chance, so sums are kept in fixed point. Charges are not sorted;
 * each gathers its force from the grid by itself. */

/* x: particles; y: walkers. Cells and the length of the list are 0 before. */
extern "C" __global__ void placement(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    int c[3];
    double f[3];
    if (!locate_all(t, (uint64_t)w * t.particles + i, c, f)) t.not_finite[w] = 1;
    const uint64_t cell = ((uint64_t)c[2] * SPME_Y + c[1]) * SPME_X + c[0];
    if (atomicCAS(t.occupant + w * POINTS + cell, 0u, i + 1) == 0) return;
    uint32_t *list = t.overflow + (uint64_t)w * (t.particles + 1);
    list[1 + atomicAdd(list, 1u)] = i;
}

PLUGMC_FN void splines_of(const spme_task &t, uint32_t w, uint32_t i, int c[3], real wx[SPME_ORDER],
                          real wy[SPME_ORDER], real wz[SPME_ORDER])
{
    double f[3];
    locate_all(t, (uint64_t)w * t.particles + i, c, f);
    splines((real)f[0], wx);
    splines((real)f[1], wy);
    splines((real)f[2], wz);
}

PLUGMC_FN long long in_units(const spme_task &t, real x)
{
    return __double2ll_rn((double)x / t.unit);
}

/* A block of SPME_X threads takes the row x: rows (y, z); y: walkers. */
extern "C" __global__ void __launch_bounds__(SPME_X)
    accumulation(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ real line[SPME_X][SPME_ORDER]; /* what the charge of a cell gives to point x - j */
    const int x = threadIdx.x, y = blockIdx.x % SPME_Y, z = blockIdx.x / SPME_Y;
    const uint32_t w = blockIdx.y;
    long long sum = 0;
#pragma unroll 1
    for (int k = 0; k < SPME_ORDER * SPME_ORDER; k++) {
        const int from_y = (y + k % SPME_ORDER) % SPME_Y, from_z = (z + k / SPME_ORDER) % SPME_Z;
        const uint32_t who =
            t.occupant[w * POINTS + ((uint64_t)from_z * SPME_Y + from_y) * SPME_X + x];
        if (who) {
            int c[3];
            real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER], here = (real)t.charge[who - 1];
            splines_of(t, w, who - 1, c, wx, wy, wz);
#pragma unroll
            for (int j = 0; j < SPME_ORDER; j++) {
                here *= j == k % SPME_ORDER ? wy[j] : (real)1;
                here *= j == k / SPME_ORDER ? wz[j] : (real)1;
            }
#pragma unroll
            for (int j = 0; j < SPME_ORDER; j++) line[x][j] = here * wx[j];
        } else {
#pragma unroll
            for (int j = 0; j < SPME_ORDER; j++) line[x][j] = 0;
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < SPME_ORDER; j++) {
            const int from = x + j < SPME_X ? x + j : x + j - SPME_X;
            sum += in_units(t, line[from][j]);
        }
        __syncthreads();
    }
    t.fixed[w * POINTS + (uint64_t)blockIdx.x * SPME_X + x] = (spme_u64)sum;
}

/* x: enough blocks; y: walkers. */
extern "C" __global__ void overflow(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t w = blockIdx.y;
    const uint32_t *list = t.overflow + (uint64_t)w * (t.particles + 1);
    for (uint32_t k = blockIdx.x * SPME_SORT_THREADS + threadIdx.x; k < list[0];
         k += gridDim.x * SPME_SORT_THREADS) {
        const uint32_t i = list[1 + k];
        int c[3];
        real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER];
        splines_of(t, w, i, c, wx, wy, wz);
#pragma unroll 1
        for (int at = 0; at < SPME_ORDER * SPME_ORDER * SPME_ORDER; at++) {
            const int a = at % SPME_ORDER, b = at / SPME_ORDER % SPME_ORDER,
                      d = at / (SPME_ORDER * SPME_ORDER);
            const int x = c[0] - a + (c[0] < a ? SPME_X : 0),
                      y = c[1] - b + (c[1] < b ? SPME_Y : 0),
                      z = c[2] - d + (c[2] < d ? SPME_Z : 0);
            const real here = (real)t.charge[i] * wy[b] * wz[d] * wx[a];
            atomicAdd(t.fixed + w * POINTS + ((uint64_t)z * SPME_Y + y) * SPME_X + x,
                      (spme_u64)in_units(t, here));
        }
    }
}

/* x: points; y: walkers. Leaves cells and list empty. */
extern "C" __global__ void to_real(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint64_t i = (uint64_t)blockIdx.x * SPME_SORT_THREADS + threadIdx.x,
                   at = blockIdx.y * POINTS + i;
    if (i == 0) t.overflow[(uint64_t)blockIdx.y * (t.particles + 1)] = 0;
    if (i >= POINTS) return;
    t.grid[at] = (real)((double)(long long)t.fixed[at] * t.unit);
    t.occupant[at] = 0;
}

/* x: particles; y: walkers. */
extern "C" __global__ void forces_one_by_one(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    int c[3];
    double f[3];
    const uint64_t at = (uint64_t)w * t.particles + i;
    locate_all(t, at, c, f);
    real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER], sx[SPME_ORDER], sy[SPME_ORDER],
        sz[SPME_ORDER];
    splines_and_slopes((real)f[0], wx, sx);
    splines_and_slopes((real)f[1], wy, sy);
    splines_and_slopes((real)f[2], wz, sz);
    const real *grid = t.grid + w * POINTS;
    const real middle = grid[((uint64_t)c[2] * SPME_Y + c[1]) * SPME_X + c[0]];
    real fx = 0, fy = 0, fz = 0;
#pragma unroll 1
    for (int z = 0; z < SPME_ORDER; z++)
#pragma unroll 1
        for (int y = 0; y < SPME_ORDER; y++) {
            const int from_y = c[1] - y + (c[1] < y ? SPME_Y : 0),
                      from_z = c[2] - z + (c[2] < z ? SPME_Z : 0);
            const real *row = grid + ((uint64_t)from_z * SPME_Y + from_y) * SPME_X;
            real value = 0, slope = 0;
#pragma unroll
            for (int x = 0; x < SPME_ORDER; x++) {
                const real p = row[c[0] - x + (c[0] < x ? SPME_X : 0)] - middle;
                value = multiply_add(wx[x], p, value);
                slope = multiply_add(sx[x], p, slope);
            }
            fx = multiply_add(wz[z] * wy[y], slope, fx);
            fy = multiply_add(wz[z] * sy[y], value, fy);
            fz = multiply_add(sz[z] * wy[y], value, fz);
        }
    add_force(t, at, w, t.charge[i], fx, fy, fz);
}
#endif
#endif
