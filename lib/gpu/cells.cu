/* Particles sorted by cell, for plugmc_view.cells in device memory. Within a cell particles stay in the order of
 * their index, whatever the order in which blocks run, and a cell may hold any number of them. Two ways:
 *
 *   by counting   cells_bin counts the particles of each cell, cells_places makes places of the counts,
 *                 cells_scatter puts particles there in whatever order, and in cells_settle each
 *                 finds its rank among those of its cell. For cells with few particles.
 *   by digits     a stable radix sort of (cell, particle), eight bits of the cell's number a pass.
 *
 * Each walker has `tiles` blocks of its own; block = walker * tiles + tile. Arrays: cell, slot, order
 * [walkers][particles]; start [walkers][cells + 1]; counts [walkers][CELLS_DIGITS][tiles]. Sums are found in
 * parts, since one block for all would take as long as everything else. */

/* The rules of system/geometry.h, with the same operations. An oblique box is one cell, whatever
 * this makes of its coordinates. */
static __device__ double place(const plugmc_box *box, double x, int d)
{
    return box->domain == PLUGMC_DOMAIN_PERIODIC && d < box->dimension
               ? plugmc_wrapped(x, box->length[d])
               : x;
}

static __device__ uint32_t cell_along(const cells_grid *g, const plugmc_box *box,
                                      const double width[3], double x, int d)
{
    if (g->count[d] == 1) return 0;
    double at = (place(box, x, d) - g->origin) / width[d];
    if (at < 0) return 0;
    return at < g->count[d] ? (uint32_t)at : (uint32_t)(g->count[d] - 1);
}

/* Who is not there, at NaN, is in no cell: number g.cells.
 * What lies behind those who are in `order` and `positions` is of no meaning.
 * counts NULL: nothing is counted. Else counts[c], 0 before, is the number in cell c, and slot what it was
 * when the particle came. */
extern "C" __global__ void cells_bin(cells_grid g, const plugmc_box *boxes, const double *positions,
                                     uint32_t *cell, uint32_t *slot, uint32_t *counts)
{
    plugmc_wait();
    uint32_t walker = blockIdx.x / g.tiles, tile = blockIdx.x % g.tiles;
    const plugmc_box *box = boxes + walker;
    __shared__ double width[3]; /* of a cell */
    if (threadIdx.x < 3) width[threadIdx.x] = box->length[threadIdx.x] / g.count[threadIdx.x];
    __syncthreads();
    for (uint32_t i = tile * CELLS_THREADS + threadIdx.x; i < g.particles;
         i += g.tiles * CELLS_THREADS) {
        uint64_t at = (uint64_t)walker * g.particles + i;
        const double *x = positions + 3 * at;
        const uint32_t c =
            isnan(x[0]) ? g.cells
                        : cell_along(&g, box, width, x[0], 0) +
                              g.count[0] * (cell_along(&g, box, width, x[1], 1) +
                                            g.count[1] * cell_along(&g, box, width, x[2], 2));
        cell[at] = c;
        /* most may be elsewhere, so that all threads would wait for one number */
        if (counts && c < g.cells)
            slot[at] = atomicAdd(counts + (uint64_t)walker * (g.cells + 1) + c, 1u);
    }
}

/* How often each digit is found in each tile. */
extern "C" __global__ void cells_count(cells_grid g, const uint32_t *cell, uint32_t shift,
                                       uint32_t *counts)
{
    plugmc_wait();
    __shared__ uint32_t found[CELLS_DIGITS];
    uint32_t walker = blockIdx.x / g.tiles, tile = blockIdx.x % g.tiles;
    found[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < CELLS_TILE; k += CELLS_THREADS) {
        uint32_t i = tile * CELLS_TILE + k;
        if (i < g.particles)
            atomicAdd(&found[cell[(uint64_t)walker * g.particles + i] >> shift & 255], 1u);
    }
    __syncthreads();
    counts[((uint64_t)walker * CELLS_DIGITS + threadIdx.x) * g.tiles + tile] = found[threadIdx.x];
}

/* Sum of x over the lanes below and this one. */
static __device__ uint32_t lanes_below(uint32_t x)
{
    for (int step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffffu, x, step);
        if ((threadIdx.x & 31) >= step) x += other;
    }
    return x;
}

/* Sum of x over the block, in all threads. */
static __device__ uint32_t block_sum(uint32_t x)
{
    __shared__ uint32_t warps[CELLS_THREADS / 32];
    uint32_t total = 0;
    x = lanes_below(x);
    if (threadIdx.x % 32 == 31) warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (uint32_t w = 0; w < CELLS_THREADS / 32; w++) total += warps[w];
    __syncthreads();
    return total;
}

/* What a block tells of its part, in one number, so that whoever reads it sees all of it or nothing: the launch,
 * whether it is the sum of the part alone (1) or with all before it (2), and that sum. */
static __device__ unsigned long long told_of(uint32_t launch, uint32_t kind, uint32_t sum)
{
    return (unsigned long long)launch << 34 | (unsigned long long)kind << 32 | sum;
}

/* By a warp: the sum of all parts before number `part` of a walker, told [parts]; tells that of this one. Look-back:
 * D. Merrill, M. Garland, NVIDIA technical report NVR-2016-002. */
static __device__ uint32_t sum_before(volatile unsigned long long *told, int32_t part,
                                      uint32_t launch, uint32_t own)
{
    const int32_t lane = (int32_t)threadIdx.x;
    uint32_t before = 0, done = part == 0;
    if (lane == 0) told[part] = told_of(launch, part == 0 ? 2 : 1, own);
    for (int32_t at = part - 1 - lane; !done; at -= 32) {
        unsigned long long word = told_of(launch, 2, 0);
        do {
            if (at >= 0) word = told[at];
        } while (!__all_sync(0xffffffffu, (uint32_t)(word >> 34) == launch));
        const uint32_t whole = __ballot_sync(0xffffffffu, (word >> 32 & 3) == 2);
        uint32_t sum = whole && lane >= __ffs((int)whole) ? 0 : (uint32_t)word;
        for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        before += sum;
        done = whole != 0;
    }
    if (lane == 0 && part > 0) told[part] = told_of(launch, 2, before + own);
    return before;
}

/* The n counts of each walker become places: sums over all before; the counts become 0, if they are not where the
 * places are. In parts of CELLS_PART, taken in turn by `ticket`, which had been drawn `drawn` times before, so that those that a
 * block waits for have begun. told [walkers][parts]. */
extern "C" __global__ void cells_places(uint32_t n, uint32_t launch, uint32_t *ticket,
                                        uint32_t drawn, unsigned long long *told, uint32_t *counts,
                                        uint32_t *places)
{
    enum { EACH = CELLS_PART / CELLS_THREADS };
    __shared__ uint32_t warps[CELLS_THREADS / 32], shared;
    const uint32_t parts = (n + CELLS_PART - 1) / CELLS_PART, warp = threadIdx.x / 32,
                   lane = threadIdx.x % 32;
    plugmc_wait();
    if (threadIdx.x == 0) shared = atomicAdd(ticket, 1u) - drawn;
    __syncthreads();
    const uint32_t walker = shared / parts, part = shared % parts, first = part * CELLS_PART;
    uint32_t own[EACH], sum = 0;
    counts += (uint64_t)walker * n;
    places += (uint64_t)walker * n;
    for (uint32_t k = 0; k < EACH; k++) {
        const uint32_t at = first + k * CELLS_THREADS + threadIdx.x;
        own[k] = at < n ? counts[at] : 0;
        if (at < n && counts != places) counts[at] = 0;
        sum += own[k];
    }
    sum = block_sum(sum);
    if (warp == 0) {
        const uint32_t before =
            sum_before(told + (uint64_t)walker * parts, (int32_t)part, launch, sum);
        if (lane == 0) shared = before;
    }
    __syncthreads();
    uint32_t before = shared;
    for (uint32_t k = 0; k < EACH; k++) {
        const uint32_t at = first + k * CELLS_THREADS + threadIdx.x, below = lanes_below(own[k]);
        uint32_t total = 0;
        if (lane == 31) warps[warp] = below;
        __syncthreads();
        uint32_t place = before + below - own[k];
        for (uint32_t w = 0; w < CELLS_THREADS / 32; w++) {
            if (w < warp) place += warps[w];
            total += warps[w];
        }
        if (at < n) places[at] = place;
        before += total;
        __syncthreads();
    }
}

/* Particles into their cells, in the order of their slots. */
extern "C" __global__ void cells_scatter(cells_grid g, const uint32_t *cell, const uint32_t *slot,
                                         const uint32_t *start, uint32_t *loose)
{
    plugmc_wait();
    uint32_t walker = blockIdx.x / g.tiles, tile = blockIdx.x % g.tiles;
    uint64_t first = (uint64_t)walker * g.particles;
    start += (uint64_t)walker * (g.cells + 1);
    for (uint32_t i = tile * CELLS_THREADS + threadIdx.x; i < g.particles;
         i += g.tiles * CELLS_THREADS) {
        const uint32_t c = cell[first + i];
        if (c < g.cells) loose[first + start[c] + slot[first + i]] = i;
    }
}

static __device__ void gather_one(const plugmc_box *box, const double *from, double *sorted)
{
    double to[3] = {from[0], from[1], from[2]};
    plugmc_wrap(box, to);
    for (int d = 0; d < 3; d++) sorted[d] = to[d];
}

/* Each to its rank among the particles of its cell, with its position, wrapped. */
extern "C" __global__ void cells_settle(cells_grid g, const plugmc_box *boxes,
                                        const double *positions, const uint32_t *cell,
                                        const uint32_t *start, const uint32_t *loose,
                                        uint32_t *order, double *sorted)
{
    plugmc_wait();
    uint32_t walker = blockIdx.x / g.tiles, tile = blockIdx.x % g.tiles;
    uint64_t first = (uint64_t)walker * g.particles;
    start += (uint64_t)walker * (g.cells + 1);
    for (uint32_t at = tile * CELLS_THREADS + threadIdx.x; at < start[g.cells];
         at += g.tiles * CELLS_THREADS) {
        uint32_t i = loose[first + at], c = cell[first + i], place = start[c];
        for (uint32_t m = start[c]; m < start[c + 1]; m++) place += loose[first + m] < i;
        order[first + place] = i;
        gather_one(boxes + walker, positions + 3 * (first + i), sorted + 3 * (first + place));
    }
}

/* Moves every particle to its place, in order. from_order NULL: particles 0, 1, 2, ... */
extern "C" __global__ void cells_move(cells_grid g, uint32_t shift, const uint32_t *places,
                                      const uint32_t *from_cell, const uint32_t *from_order,
                                      uint32_t *to_cell, uint32_t *to_order)
{
    plugmc_wait();
    enum { WARPS = CELLS_THREADS / 32 };
    __shared__ uint32_t next[CELLS_DIGITS];         /* place of the next particle of a digit */
    __shared__ uint32_t found[WARPS][CELLS_DIGITS]; /* in this round */
    uint32_t walker = blockIdx.x / g.tiles, tile = blockIdx.x % g.tiles;
    uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint64_t first = (uint64_t)walker * g.particles;
    next[threadIdx.x] = places[((uint64_t)walker * CELLS_DIGITS + threadIdx.x) * g.tiles + tile];

    for (uint32_t k = 0; k < CELLS_TILE; k += CELLS_THREADS) {
        uint32_t i = tile * CELLS_TILE + k + threadIdx.x;
        bool here = i < g.particles;
        uint32_t cell = here ? from_cell[first + i] : 0;
        uint32_t digit = here ? cell >> shift & 255 : CELLS_DIGITS;
        uint32_t same = __match_any_sync(0xffffffffu, digit);
        uint32_t rank = __popc(same & ((1u << lane) - 1));
        for (int w = 0; w < WARPS; w++) found[w][threadIdx.x] = 0;
        __syncthreads();
        if (here && rank == 0) found[warp][digit] = __popc(same);
        __syncthreads();
        if (here) {
            uint32_t place = next[digit] + rank;
            for (uint32_t w = 0; w < warp; w++) place += found[w][digit];
            to_cell[first + place] = cell;
            to_order[first + place] = from_order ? from_order[first + i] : i;
        }
        __syncthreads();
        for (int w = 0; w < WARPS; w++) next[threadIdx.x] += found[w][threadIdx.x];
    }
}

/* start[c]: number of particles in cells below c, by bisection of the sorted cells. Threads are
 * numbered over [walkers][cells + 1]. */
extern "C" __global__ void cells_start(cells_grid g, uint64_t n, const uint32_t *cell,
                                       uint32_t *start)
{
    plugmc_wait();
    uint64_t at = (uint64_t)blockIdx.x * CELLS_THREADS + threadIdx.x;
    if (at >= n) return;
    uint32_t walker = (uint32_t)(at / (g.cells + 1)), c = (uint32_t)(at % (g.cells + 1));
    cell += (uint64_t)walker * g.particles;
    uint32_t low = 0, high = g.particles;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cell[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    start[at] = low;
}

/* Positions in the order of the cells, wrapped. */
extern "C" __global__ void cells_gather(cells_grid g, const plugmc_box *boxes,
                                        const double *positions, const uint32_t *order,
                                        double *sorted)
{
    plugmc_wait();
    uint32_t walker = blockIdx.x / g.tiles, tile = blockIdx.x % g.tiles;
    uint64_t first = (uint64_t)walker * g.particles;
    for (uint32_t i = tile * CELLS_THREADS + threadIdx.x; i < g.particles;
         i += g.tiles * CELLS_THREADS) {
        gather_one(boxes + walker, positions + 3 * (first + order[first + i]),
                   sorted + 3 * (first + i));
    }
}
