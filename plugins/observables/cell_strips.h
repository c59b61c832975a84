/* cell_strips.h: how a block of a GPU looks around the particles of a strip, some cells of one row in a plane: the
 * positions of all that may be near are first brought into its shared memory, side by side. The same text in C,
 * which says how the rows are cut.
 *
 * "Entry" is a particle by its place in the order of cells.
 */
enum { STRIP_BLOCK = 128, STRIP_REACH = 2, STRIP_ROWS = 2 * STRIP_REACH + 1, STRIP_CELLS = 256 };

typedef struct cell_strips {
    int32_t cells;  /* of a strip */
    int32_t in_row; /* strips in a row of cells, or in all where nothing is brought */
    int32_t reach;  /* cells that are looked at in each direction, up to STRIP_REACH */
    uint32_t room;  /* entries that can be brought; 0: none are, and everybody looks for himself */
} cell_strips;

#ifndef __CUDACC_RTC__
/* Strips of about as many entries as a block has threads. count: cells; mean: entries a cell. Where there are few cells or
 * many particles in them nothing is brought, and strips go on from one row to the next. */
static inline cell_strips cut_into_strips(const int32_t count[2], double mean, int32_t reach)
{
    cell_strips s = {.reach = reach};
    const double most = fmax(1, 0.93 * STRIP_BLOCK / fmax(mean, 1e-3));
    const double in_row = fmax(1, fmin(fmin(most, STRIP_CELLS), count[0] - 2 * reach));
    const double around = mean * (in_row + 2 * reach) * (2 * reach + 1);
    const int32_t bring = count[0] > 2 * STRIP_ROWS && count[1] > STRIP_ROWS && around < 700;
    const int32_t all = bring ? count[0] : count[0] * count[1];
    s.cells = (int32_t)(bring ? in_row : fmin(most, all));
    s.in_row = (all + s.cells - 1) / s.cells;
    s.cells = (all + s.in_row - 1) / s.in_row; /* all alike, but for the last */
    s.in_row = (all + s.cells - 1) / s.cells;
    if (bring)
        s.room =
            (uint32_t)(1.25 * around * (s.cells + 2 * reach) / (in_row + 2 * reach) + 32) / 2 * 2;
    return s;
}

/* Of a walker. */
static inline uint32_t number_of_strips(const cell_strips *s, const int32_t count[2])
{
    return (uint32_t)s->in_row * (uint32_t)(s->room > 0 ? count[1] : 1);
}

/* Shared memory for what is brought. */
static inline uint32_t strip_bytes(const cell_strips *s)
{
    const uint32_t firsts = (uint32_t)((2 * s->reach + 1) * (s->cells + 2 * s->reach + 1));
    return s->room > 0 ? (s->room * 28 + firsts * 2 + 7) / 8 * 8 : 0;
}
#else
/* The strip of a block, and what is around it. */
typedef struct strip {
    int32_t x, y;        /* its first cell, its row */
    uint32_t begin, end; /* its entries */
    int32_t brought;     /* 1: the following is there */
    int32_t at_edge;     /* 1: some of it lies across an edge of the box */
    double *places;      /* [room][2] */
    float2 *
        near; /* [room]: the same from the first cell of the strip, across edges too, good to `blur` */
    float blur;        /* length */
    uint32_t *entries; /* [room] */
    /* [2 reach + 1][wide]: number of the first place in a cell, row by row, from `reach` cells left of the strip
     * to one more than `reach` right of it */
    uint16_t *first;
    int32_t wide;
} strip;

/* Number of an entry of the strip among `places`. */
static __device__ uint32_t place_in_strip(const cell_strips *shape, const strip *s, uint32_t entry)
{
    return s->first[shape->reach * s->wide + shape->reach] + (entry - s->begin);
}

/* What of a row is around a strip: from one cell to another, perhaps across the right edge. */
typedef struct strip_row {
    uint32_t from, until_edge, behind_edge, all; /* first entry, numbers of entries */
    uint32_t again;                              /* first entry behind the edge */
} strip_row;

static __device__ strip_row row_around(const uint32_t *row, int32_t first, int32_t cells,
                                       int32_t count)
{
    const int32_t end = first + cells;
    strip_row r;
    r.from = row[first];
    r.again = row[0];
    r.until_edge = row[end > count ? count : end] - r.from;
    r.behind_edge = end > count ? row[end - count] - r.again : 0;
    r.all = r.until_edge + r.behind_edge;
    return r;
}

static __device__ int32_t row_near(int32_t y, int32_t count)
{
    return y < 0 ? y + count : (y >= count ? y - count : y);
}

/* All threads. start: of the walker, as its positions and its frame; count: cells; memory: strip_bytes, of the
 * block, from a multiple of 16. */
static __device__ strip bring_strip(const cell_strips *shape, const int32_t *count,
                                    const walker_frame *frame, const uint32_t *start,
                                    const double *positions, void *memory)
{
    __shared__ strip_row around[STRIP_ROWS];
    const int32_t reach = shape->reach, rows = 2 * reach + 1;
    strip s;
    s.y = (int32_t)blockIdx.x / shape->in_row;
    s.x = (int32_t)blockIdx.x % shape->in_row * shape->cells;
    const int32_t left = (shape->room > 0 ? count[0] : count[0] * count[1]) - s.x,
                  cells = left < shape->cells ? left : shape->cells;
    const int32_t low = s.x - reach, first = low < 0 ? low + count[0] : low;
    s.wide = cells + 2 * reach + 1;
    s.begin = start[s.y * count[0] + s.x];
    s.end = start[s.y * count[0] + s.x + cells];
    s.at_edge = low < 0 || low + s.wide > count[0] || s.y < reach || s.y + reach >= count[1];
    s.places = (double *)memory;
    s.near = (float2 *)(s.places + 2 * shape->room);
    s.entries = (uint32_t *)(s.near + shape->room);
    s.blur = 3e-7f * (float)(fmax(frame->width[0] * s.wide, frame->width[1] * rows));
    s.first = (uint16_t *)(s.entries + shape->room);
    s.brought = 0;
    if (shape->room == 0) return s;
    if ((int32_t)threadIdx.x < rows) {
        const int32_t row = row_near(s.y + (int32_t)threadIdx.x - reach, count[1]);
        around[threadIdx.x] = row_around(start + row * count[0], first, s.wide - 1, count[0]);
    }
    __syncthreads();
    uint32_t before[STRIP_ROWS + 1] = {0}; /* entries in the rows below */
#pragma unroll
    for (int32_t r = 0; r < STRIP_ROWS; r++)
        before[r + 1] = before[r] + (r < rows ? around[r].all : 0);
    s.brought = before[STRIP_ROWS] < shape->room; /* by twos: one behind the last is looked at */
    if (!s.brought) return s;
    uint32_t below = 0;
    for (int32_t r = 0; r < rows; r++) {
        const uint32_t *row = start + row_near(s.y + r - reach, count[1]) * count[0];
        for (int32_t i = (int32_t)threadIdx.x; i < s.wide; i += STRIP_BLOCK) {
            const int32_t c = first + i;
            const uint32_t at = c <= count[0]
                                    ? row[c] - around[r].from
                                    : around[r].until_edge + row[c - count[0]] - around[r].again;
            s.first[r * s.wide + i] = (uint16_t)(below + at);
        }
        below += around[r].all;
    }
    const double corner[2] = {s.x * frame->width[0], s.y * frame->width[1]};
    for (uint32_t i = threadIdx.x; i < before[STRIP_ROWS]; i += STRIP_BLOCK) {
        int32_t r = 0;
        uint32_t at = i;
#pragma unroll
        for (int32_t q = 1; q < STRIP_ROWS; q++)
            if (i >= before[q] && q < rows) r = q, at = i - before[q];
        const uint32_t edge = around[r].until_edge;
        const uint32_t m = at < edge ? around[r].from + at : around[r].again + (at - edge);
        double x = positions[3 * (uint64_t)m], y = positions[3 * (uint64_t)m + 1];
        s.entries[i] = m;
        *(double2 *)(s.places + 2 * i) = make_double2(x, y);
        if (s.at_edge) {
            const int32_t on = s.y + r - reach;
            x += at < edge ? (low < 0 ? -frame->length[0] : 0) : (low < 0 ? 0 : frame->length[0]);
            y += on < 0 ? -frame->length[1] : (on >= count[1] ? frame->length[1] : 0);
        }
        s.near[i] = make_float2((float)(x - corner[0]), (float)(y - corner[1]));
    }
    __syncthreads();
    return s;
}
#endif
