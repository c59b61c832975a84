/* cell_strips.h: how a block of a GPU looks around the particles of a strip, as many of a row of cells in a plane as it
 * has threads: the positions of all that may be near are first brought into its shared memory, side by side. The same
 * text in C, which says how the rows are cut.
 *
 * "Entry" is a particle by its place in the order of cells. Blocks are small, so that few wait for the slowest of them.
 */
enum { STRIP_BLOCK = 64, STRIP_REACH = 2, STRIP_ROWS = 2 * STRIP_REACH + 1, STRIP_CELLS = 256 };

/* A loop that is not unrolled. Where it is, by fours say, threads with a remainder go another way than those without,
 * and everything behind the loop is made twice, each time for a part of the warp. */
#ifdef __CUDACC_RTC__
#define ONE_AT_A_TIME _Pragma("unroll 1")
#else
#define ONE_AT_A_TIME
#endif

typedef struct cell_strips {
    int32_t cells;  /* of a strip at most */
    int32_t in_row; /* blocks for a row of cells, or for all entries where nothing is brought */
    int32_t reach;  /* cells that are looked at in each direction, up to STRIP_REACH */
    uint32_t room;  /* entries that can be brought; 0: none are, and everybody looks for himself */
} cell_strips;

#ifndef __CUDACC_RTC__
/* count: cells; mean: entries a cell. Where there are few cells, or few or many particles in them, nothing is brought.
 * A row with more entries than most has its blocks go on. */
static inline cell_strips cut_into_strips(const int32_t count[2], double mean, int32_t reach)
{
    enum { MOST_ROWS = 65535 }; /* blocks of a grid */
    cell_strips s = {.reach = reach};
    const double cells = STRIP_BLOCK / fmax(mean, 1e-3), most = 1.5 * cells + 8,
                 around = mean * (cells + 2 * reach + 1) * (2 * reach + 1),
                 in_row = mean * count[0], all = in_row * count[1];
    const int32_t bring = count[0] > 2 * STRIP_ROWS && count[1] > STRIP_ROWS &&
                          count[1] <= MOST_ROWS && around < 700 && most <= STRIP_CELLS;
    s.in_row = (int32_t)ceil(((bring ? in_row + 4 * sqrt(in_row) : all) + 1) / STRIP_BLOCK);
    s.cells = (int32_t)fmin(most, count[0] - 2 * reach);
    if (bring) s.room = (uint32_t)(1.65 * around + 16) / 2 * 2;
    return s;
}

/* x along a row, y rows, z walkers. */
static inline void grid_of_strips(const cell_strips *s, const int32_t count[2], int32_t walkers,
                                  uint32_t grid[3])
{
    grid[0] = (uint32_t)s->in_row;
    grid[1] = (uint32_t)(s->room > 0 ? count[1] : 1);
    grid[2] = (uint32_t)walkers;
}

/* Shared memory for what is brought. */
static inline uint32_t strip_bytes(const cell_strips *s)
{
    const uint32_t firsts = (uint32_t)((2 * s->reach + 1) * (s->cells + 2 * s->reach + 1));
    return s->room > 0 ? (s->room * 28 + firsts * 2 + 7) / 8 * 8 : 0;
}
#else
/* The largest of a warp, all of whose threads ask. */
static __device__ uint32_t most_in_warp(uint32_t n)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, n);
#else
    for (int lanes = 16; lanes > 0; lanes /= 2) n = max(n, __shfl_xor_sync(0xffffffffu, n, lanes));
    return n;
#endif
}

/* The sum over a warp, all of whose threads ask, modulo 2^64: of three parts of the bits. */
static __device__ unsigned long long sum_of_warp(unsigned long long n)
{
#if __CUDA_ARCH__ >= 800
    const uint32_t low = __reduce_add_sync(0xffffffffu, (uint32_t)n & 0xffffff),
                   middle = __reduce_add_sync(0xffffffffu, (uint32_t)(n >> 24) & 0xffffff),
                   high = __reduce_add_sync(0xffffffffu, (uint32_t)(n >> 48));
    return low + ((unsigned long long)middle << 24) + ((unsigned long long)high << 48);
#else
    for (int lanes = 16; lanes > 0; lanes /= 2) n += __shfl_xor_sync(0xffffffffu, n, lanes);
    return n;
#endif
}

/* Entries of a row of cells; where nothing is brought, of all rows. */
typedef struct row_entries {
    uint32_t begin, end;
} row_entries;

static __device__ row_entries entries_of_row(const cell_strips *shape, const int32_t *count,
                                             const uint32_t *start)
{
    const uint32_t *row = start + blockIdx.y * (uint32_t)count[0];
    const row_entries e = {row[0], row[shape->room > 0 ? count[0] : count[0] * count[1]]};
    return e;
}

/* A strip, and what is around it. */
typedef struct strip {
    int32_t x, y;    /* its first cell, its row */
    uint32_t entry;  /* that of the thread; behind the last entry the last one */
    int32_t cell;    /* along the row, of that entry */
    uint32_t place;  /* of that entry among `places` */
    int32_t brought; /* 1: the following is there */
    int32_t at_edge; /* 1: some of it lies across an edge of the box */
    double *places;  /* [room][2] */
    float2 *
        near; /* [room]: the same from the first cell of the strip, across edges too, good to `blur` */
    float blur;        /* length */
    uint32_t *entries; /* [room] */
    /* [2 reach + 1][wide]: number of the first place in a cell, row by row, from `reach` cells left of the strip
     * to one more than `reach` right of it */
    uint16_t *first;
    int32_t wide;
} strip;

/* memory: strip_bytes, of the block, from a multiple of 16. */
static __device__ strip strip_in(const cell_strips *shape, void *memory)
{
    strip s;
    s.places = (double *)memory;
    s.near = (float2 *)(s.places + 2 * shape->room);
    s.entries = (uint32_t *)(s.near + shape->room);
    s.first = (uint16_t *)(s.entries + shape->room);
    return s;
}

/* What of a row of cells is around a strip: from one cell to another, perhaps across the right edge. */
typedef struct strip_row {
    uint32_t cells;       /* number of its first cell */
    uint32_t from, again; /* first entry; first entry behind the edge */
    uint32_t until_edge, all;
    uint32_t below; /* entries of the rows before it */
    double up;      /* length: where it lies across an edge of the box, that far from there */
} strip_row;

/* Row r of those around a strip. */
static __device__ strip_row row_around(const strip *s, int32_t r, int32_t reach, int32_t first,
                                       const int32_t *count, const walker_frame *frame,
                                       const uint32_t *start)
{
    const int32_t on = s->y + r - reach, end = first + s->wide - 1;
    strip_row row;
    row.cells = (uint32_t)(on < 0 ? on + count[1] : (on >= count[1] ? on - count[1] : on)) *
                (uint32_t)count[0];
    row.up = on < 0 ? -frame->length[1] : (on >= count[1] ? frame->length[1] : 0);
    const uint32_t *cell = start + row.cells;
    row.from = cell[first];
    row.again = cell[0];
    row.until_edge = cell[end > count[0] ? count[0] : end] - row.from;
    row.all = row.until_edge + (end > count[0] ? cell[end - count[0]] - row.again : 0);
    return row;
}

/* The first threads of a block hold a row each: finds what is below it, and puts it into `around` [rows]. All threads of
 * the first warp. */
static __device__ void put_rows(strip_row row, int32_t rows, strip_row *around)
{
    row.below = row.all;
    for (int32_t lanes = 1; lanes < STRIP_ROWS; lanes *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, row.below, lanes);
        if ((int32_t)threadIdx.x >= lanes) row.below += before;
    }
    row.below -= row.all;
    if ((int32_t)threadIdx.x < rows) around[threadIdx.x] = row;
}

/* Numbers of the first places in the cells of all rows. */
static __device__ void find_first_places(const strip *s, int32_t rows, int32_t first,
                                         int32_t cells_in_row, const uint32_t *start,
                                         const strip_row *around)
{
    for (int32_t i = (int32_t)threadIdx.x; i < rows * s->wide; i += STRIP_BLOCK) {
        int32_t r = 0, c = i;
#pragma unroll
        for (int32_t q = 1; q < STRIP_ROWS; q++)
            if (i >= q * s->wide) r = q, c = i - q * s->wide;
        const strip_row *row = around + r;
        const uint32_t *cell = start + row->cells;
        c += first;
        const uint32_t at = c <= cells_in_row
                                ? cell[c] - row->from
                                : row->until_edge + cell[c - cells_in_row] - row->again;
        s->first[i] = (uint16_t)(row->below + at);
    }
}

/* Brings the entries of a row. left, right: length: how far those before the edge of the box and those behind it are
 * from where they belong, less the corner of the strip. */
static __device__ void bring_row(const strip *s, const strip_row *row, double left, double right,
                                 double up, const double *positions)
{
    for (uint32_t i = threadIdx.x; i < row->all; i += STRIP_BLOCK) {
        const int before_edge = i < row->until_edge;
        const uint32_t m = before_edge ? row->from + i : row->again + (i - row->until_edge),
                       place = row->below + i;
        const double x = positions[3 * (uint64_t)m], y = positions[3 * (uint64_t)m + 1];
        s->entries[place] = m;
        *(double2 *)(s->places + 2 * place) = make_double2(x, y);
        s->near[place] = make_float2((float)(x + (before_edge ? left : right)), (float)(y + up));
    }
}

/* All threads, into memory that has been placed. start: of the walker, as its positions and its frame; count: cells;
 * begin, end: entries, of a row. */
static __device__ void bring_strip(strip *s, const cell_strips *shape, const int32_t *count,
                                   const walker_frame *frame, const uint32_t *start,
                                   const double *positions, uint32_t begin, uint32_t end)
{
    __shared__ strip_row around[STRIP_ROWS];
    __shared__ int32_t ends[2];
    const int32_t reach = shape->reach, rows = 2 * reach + 1;
    s->entry = min(begin + threadIdx.x, end - 1);
    s->brought = 0;
    if (shape->room == 0) return;
    s->cell = plugmc_cell_quickly(positions[3 * (uint64_t)s->entry], frame->length[0],
                                  __fdividef((float)count[0], (float)frame->length[0]), count[0]);
    if (threadIdx.x == 0) ends[0] = s->cell;
    if (threadIdx.x == STRIP_BLOCK - 1) ends[1] = s->cell;
    __syncthreads();
    s->x = ends[0];
    s->y = (int32_t)blockIdx.y;
    const int32_t cells = ends[1] - s->x + 1, low = s->x - reach,
                  first = low < 0 ? low + count[0] : low;
    if (cells > shape->cells) return;
    s->wide = cells + 2 * reach + 1;
    s->at_edge = low < 0 || low + s->wide > count[0] || s->y < reach || s->y + reach >= count[1];
    s->blur = 3.1e-7f *
              fmaxf((float)frame->width[0] * (float)s->wide, (float)frame->width[1] * (float)rows);
    if (threadIdx.x < 32)
        put_rows(row_around(s, (int32_t)threadIdx.x < rows ? (int32_t)threadIdx.x : 0, reach, first,
                            count, frame, start),
                 rows, around);
    __syncthreads();
    const uint32_t all = around[rows - 1].below + around[rows - 1].all;
    if (all >= shape->room) return; /* by twos: one behind the last is looked at */
    s->brought = 1;
    find_first_places(s, rows, first, count[0], start, around);
    const double corner = s->x * frame->width[0], below = s->y * frame->width[1],
                 across = frame->length[0];
#pragma unroll 1
    for (int32_t r = 0; r < rows; r++)
        bring_row(s, around + r, (low < 0 ? -across : 0) - corner, (low < 0 ? 0 : across) - corner,
                  around[r].up - below, positions);
    const strip_row *own = around + reach;
    s->place =
        own->below + (low < 0 ? own->until_edge + s->entry - own->again : s->entry - own->from);
    __syncthreads();
}
#endif
