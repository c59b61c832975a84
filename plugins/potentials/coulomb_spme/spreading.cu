/* spreading.cu: a block adds up the charges that fall on its tile; coulomb_spme.cu says how. */
#if !SPME_GATHERED
/* ---- Spreading --------------------------------------------------------------------------- */

enum {
    PITCH = SPME_TILE_X + 2 * REACH, /* of rows of a tile, with room for what falls beside it: each
                                        addition would need a branch else */
    CELLS = PITCH * SPME_TILE_Y * SPME_TILE_Z,
    MOST_SOURCES = 27,
    BATCH = FEW      ? 1
            : SINGLE ? 4
                     : 2, /* records that a thread looks at before any is added */
    MOST_KEPT = BATCH * SPREAD_THREADS,
    CROWD = 2048, /* charges near a tile; with more the unit costs digits of single precision */
    NOWHERE = 255,
    BANKS = 32 /* of shared memory; one for each thread of a warp */
};

/* The charges of a tile that may reach the block's. */
struct spme_source {
    uint32_t begin, end; /* among all candidates of the block */
    uint32_t tile;
    uint32_t offset; /* from the first cell of the block's tile to its own, 8 bits an axis */
};

/* Shared memory of a block. */
struct spread_memory {
    integer cells[CELLS];
    spme_record kept[MOST_KEPT];  /* charges that reach the tile, */
    uint32_t relative[MOST_KEPT]; /* and their cells, as `offset` */
    uint16_t rank[MOST_KEPT];     /* among those of the same bank */
    uint16_t order[MOST_KEPT];    /* sorted by bank */
    uint32_t in_bank[BANKS];      /* how many */
    spme_source sources[MOST_SOURCES];
    uint32_t candidates, kept_count;
    int not_finite;
    integer largest;
};

/* Points of tile number `tile` along an edge: the last one may be cut. */
PLUGMC_FN int tile_width(int tile, int size, int points)
{
    const int rest = points - tile * size;
    return points % size == 0 || rest > size ? size : rest;
}

/* Tiles along an edge whose charges reach a tile: itself and those after it, at most three, each
 * with the distance from the first cell of the tile to its own. Returns how many. */
PLUGMC_FN int reaching(int tile, int size, int points, int other[3], int offset[3])
{
    const int end = tile_width(tile, size, points) + REACH, tiles = (points + size - 1) / size;
    int n = 0;
    for (int at = 0; at < end && n < 3; n++) {
        other[n] = tile;
        offset[n] = at;
        at += tile_width(tile, size, points);
        tile = tile + 1 < tiles ? tile + 1 : 0;
    }
    return n;
}

/* By the first warp: whose charges reach the tile. */
PLUGMC_FN void find_sources(const spme_task &t, const int tile[3], spread_memory &m)
{
    const uint32_t *count = t.count + (uint64_t)blockIdx.y * t.tiles;
    int x[3], y[3], z[3], from_x[3], from_y[3], from_z[3];
    const int nx = reaching(tile[0], SPME_TILE_X, SPME_X, x, from_x);
    const int ny = reaching(tile[1], SPME_TILE_Y, SPME_Y, y, from_y);
    const int nz = reaching(tile[2], SPME_TILE_Z, SPME_Z, z, from_z);
    const int s = threadIdx.x;
    uint32_t number = 0;
    spme_source source;
    if (s < nx * ny * nz) {
        const int a = s % nx, b = s / nx % ny, c = s / (nx * ny);
        source.tile = (z[c] * TILES_Y + y[b]) * TILES_X + x[a];
        source.offset = from_x[a] | from_y[b] << 8 | from_z[c] << 16;
        number = count[source.tile];
    }
    uint32_t until = number;
    for (int step = 1; step < 32; step <<= 1) {
        uint32_t before = __shfl_up_sync(0xffffffffu, until, step);
        if (s >= step) until += before;
    }
    source.begin = until - number;
    source.end = until;
    if (s < nx * ny * nz) m.sources[s] = source;
    m.in_bank[s] = 0;
    if (s == 31) m.candidates = until;
    if (s == 0) {
        m.kept_count = 0;
        m.not_finite = 0;
        m.largest = 0;
    }
}

/* Where the first of its points is among the cells of the tile; what may be none of it. */
PLUGMC_FN int corner_of(uint32_t relative)
{
    const int x = relative & 255, y = relative >> 8 & 255, z = relative >> 16;
    return (z * SPME_TILE_Y + y) * PITCH + REACH + x;
}

/* Keeps a charge that reaches the tile. */
PLUGMC_FN void keep(spread_memory &m, const spme_record &c, uint32_t offset, const int width[3])
{
    const int x = (offset & 255) + cell_of(c.x), y = (offset >> 8 & 255) + cell_of(c.y),
              z = (offset >> 16) + cell_of(c.z);
    if (x >= width[0] + REACH || y >= width[1] + REACH || z >= width[2] + REACH) return;
    const uint32_t slot = atomicAdd(&m.kept_count, 1u);
    const uint32_t relative = x | y << 8 | z << 16;
    m.kept[slot] = c;
    m.relative[slot] = relative;
    m.rank[slot] = (uint16_t)atomicAdd(&m.in_bank[corner_of(relative) % BANKS], 1u);
    if (c.charge != c.charge) m.not_finite = 1;
}

/* Sorts those that are kept by the bank of their first point. All threads add at the same distance
 * from theirs: from banks that differ to banks that differ. So threads of a warp, which take
 * charges at equal distances in that order, seldom wait for one another. */
PLUGMC_FN void sort_by_bank(spread_memory &m)
{
    const uint32_t lane = threadIdx.x % BANKS, own = m.in_bank[lane];
    uint32_t until = own;
    for (int step = 1; step < BANKS; step <<= 1) {
        uint32_t before = __shfl_up_sync(0xffffffffu, until, step);
        if (lane >= step) until += before;
    }
    for (uint32_t from = threadIdx.x - lane; from < m.kept_count; from += SPREAD_THREADS) {
        const uint32_t k = from + lane;
        const int there = k < m.kept_count, bank = there ? corner_of(m.relative[k]) % BANKS : 0;
        const uint32_t first = __shfl_sync(0xffffffffu, until - own, bank);
        if (there) m.order[first + m.rank[k]] = (uint16_t)k;
    }
}

/* Adds a charge to the tile: point x - j has the weight M_n(f + j). Magnitudes are rounded up. */
template <int magnitudes>
PLUGMC_FN void deposit(integer *cells, const spme_record &c, uint32_t relative, const int width[3],
                       real scale)
{
    const int y = relative >> 8 & 255, z = relative >> 16;
    real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER];
    splines(fraction_of(c.x), wx);
    splines(fraction_of(c.y), wy);
    splines(fraction_of(c.z), wz);
    const real charge = scale * (magnitudes && c.charge < 0 ? -c.charge : c.charge);
    integer *corner = cells + corner_of(relative);
#pragma unroll UNROLLED
    for (int k = 0; k < SPME_ORDER; k++) {
        if ((unsigned)(z - k) >= (unsigned)width[2]) continue;
        const real at_z = charge * wz[k];
#pragma unroll
        for (int j = 0; j < SPME_ORDER; j++) {
            if ((unsigned)(y - j) >= (unsigned)width[1]) continue;
            const real at_y = at_z * wy[j];
            integer *row = corner - (k * SPME_TILE_Y + j) * PITCH;
#pragma unroll
            for (int i = 0; i < SPME_ORDER; i++)
                exact::add(row - i, exact::product(at_y, wx[i]) + magnitudes);
        }
    }
}

/* All candidates, a batch after the other: who reaches the tile is kept, so that all threads of a
 * warp have something to add. */
template <int magnitudes>
PLUGMC_FN void add_all(const spme_task &t, spread_memory &m, const int width[3], real scale)
{
    const spme_record *records = (const spme_record *)t.records;
    uint32_t s = 0;
    for (uint32_t from = 0; from < m.candidates; from += MOST_KEPT) {
        spme_record found[BATCH];
        uint32_t offset[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const uint32_t k = from + b * SPREAD_THREADS + threadIdx.x;
            offset[b] = NOWHERE;
            if (k >= m.candidates) continue;
            while (k >= m.sources[s].end) s++;
            found[b] =
                records[place_of<0>(t, blockIdx.y, m.sources[s].tile, k - m.sources[s].begin)];
            offset[b] = m.sources[s].offset;
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (offset[b] != NOWHERE) keep(m, found[b], offset[b], width);
        __syncthreads();
        sort_by_bank(m);
        __syncthreads();
        const uint32_t number = m.kept_count, warps = (number + BANKS - 1) / BANKS;
        for (uint32_t k = threadIdx.x; k < warps * BANKS; k += SPREAD_THREADS) {
            const uint32_t at = k % BANKS * warps + k / BANKS;
            if (at >= number) continue;
            const uint32_t which = m.order[at];
            deposit<magnitudes>(m.cells, m.kept[which], m.relative[which], width, scale);
        }
        __syncthreads();
        if (threadIdx.x < BANKS) m.in_bank[threadIdx.x] = 0;
        if (threadIdx.x == 0) m.kept_count = 0;
        __syncthreads();
    }
}

/* Units of the sums per charge, such that neither one product nor the sum of `number` of them,
 * whose magnitudes add up to `bound`, is too large. */
PLUGMC_FN real scale_of(const spme_task &t, double bound, double number)
{
    const double for_sum = (exact::most() - 2 * number) / bound,
                 for_each = exact::each() / t.largest;
    return (real)((1 - 1e-6) * (for_sum < for_each ? for_sum : for_each));
}

/* The sum of magnitudes at the point where it is largest, by a round of its own. */
PLUGMC_FN double largest_sum(const spme_task &t, spread_memory &m, const int width[3])
{
    const real coarse = (real)((double)(1 << 30) / (t.largest * m.candidates));
    add_all<1>(t, m, width, coarse);
    integer most = 0;
    for (int i = threadIdx.x; i < CELLS; i += SPREAD_THREADS) {
        most = m.cells[i] > most ? m.cells[i] : most;
        m.cells[i] = 0;
    }
    atomicMax(&m.largest, most);
    __syncthreads();
    return (double)m.largest / (double)coarse;
}

/* x: tiles; y: walkers. */
extern "C" __global__ void __launch_bounds__(SPREAD_THREADS)
    spread(const __grid_constant__ spme_task t)
{
    __shared__ spread_memory m;
    const int block = blockIdx.x,
              tile[3] = {block % TILES_X, block / TILES_X % TILES_Y, block / (TILES_X * TILES_Y)};
    const int width[3] = {tile_width(tile[0], SPME_TILE_X, SPME_X),
                          tile_width(tile[1], SPME_TILE_Y, SPME_Y),
                          tile_width(tile[2], SPME_TILE_Z, SPME_Z)};
    for (int i = threadIdx.x; i < CELLS; i += SPREAD_THREADS) m.cells[i] = 0;
    plugmc_wait();
    if (threadIdx.x < 32) find_sources(t, tile, m);
    __syncthreads();

    const double number = m.candidates;
    double bound = t.largest * number;
    if (SINGLE && number > CROWD) bound = largest_sum(t, m, width);
    const real scale = number > 0 ? scale_of(t, bound, number) : (real)1;
    add_all<0>(t, m, width, scale);

    const real unit = (real)1 / scale;
    real *grid = t.grid + blockIdx.y * POINTS +
                 ((uint64_t)tile[2] * SPME_TILE_Z * SPME_Y + tile[1] * SPME_TILE_Y) * SPME_X +
                 tile[0] * SPME_TILE_X;
    enum { POINTS_OF_TILE = SPME_TILE_X * SPME_TILE_Y * SPME_TILE_Z };
    for (int i = threadIdx.x; i < POINTS_OF_TILE; i += SPREAD_THREADS) {
        const int x = i % SPME_TILE_X, row = i / SPME_TILE_X, y = row % SPME_TILE_Y,
                  z = row / SPME_TILE_Y;
        if (x < width[0] && y < width[1] && z < width[2])
            grid[((uint64_t)z * SPME_Y + y) * SPME_X + x] =
                m.not_finite ? not_a_number() : (real)m.cells[row * PITCH + REACH + x] * unit;
    }
}
#endif
