/* hexatic_order.cu: the sixfold order around one particle, the same text on the CPU and on the
 * GPU. IEEE operations only and sums in fixed point: the same numbers on both.
 *
 * "Entry" k is a particle by its place in the order of cells. Cell (x, y) has the number
 * y count[0] + x.
 */
enum { ORDER_BITS = 36, ORDER_BLOCK = 128, ORDER_COPIES = 32, MOST_BONDS = 12 };

/* Configurations sorted by cells. Host or device pointers. */
typedef struct order_task {
    walker_frames frames;
    double cutoff_square;    /* length^2 */
    const uint32_t *start;   /* [walkers][cells + 1] */
    const double *positions; /* [walkers][particles][3] */
    uint32_t particles, cells;
    int32_t count[2]; /* cells in each direction */
    plugmc_share share;
} order_task;

/* Whether the order around entry k is this process's to find. */
PLUGMC_FN int order_is_yours(const order_task *t, uint32_t walker, uint32_t k)
{
    return plugmc_is_yours(&t->share, t->positions + 3 * ((uint64_t)walker * t->particles + k));
}

/* How many entries there are: cells hold those who are there. */
PLUGMC_FN uint32_t order_present(const order_task *t, uint32_t walker)
{
    return t->start[(uint64_t)walker * (t->cells + 1) + t->cells];
}

/* Bonds of one entry that are still to be added: [MOST_BONDS], side by side for the threads of a block. First
 * all that are short enough are looked for, then they are added, so that threads wait less for one another. */
typedef struct bonds {
    double *x, *y;
    uint32_t stride;
    int32_t count, added;
    double re, im; /* of those that are added: sums of exp(6 i theta) */
} bonds;

/* exp(6 i theta) is the third power of exp(2 i theta) = (x + i y)^2 / r^2. */
PLUGMC_FN void add_bonds(bonds *b)
{
    for (int32_t i = 0; i < b->count; i++) {
        const double dx = b->x[i * b->stride], dy = b->y[i * b->stride];
        const double over = 1 / (dx * dx + dy * dy), cosine = (dx * dx - dy * dy) * over,
                     sine = 2 * dx * dy * over;
        b->re += cosine * (cosine * cosine - 3 * sine * sine);
        b->im += sine * (3 * cosine * cosine - sine * sine);
    }
    b->added += b->count;
    b->count = 0;
}

/* psi_6 of entry k, in fixed point. */
PLUGMC_FN void order_around(const order_task *t, uint32_t walker, uint32_t k, bonds *b,
                            int64_t *real_part, int64_t *imaginary_part)
{
    const uint32_t *start = t->start + (uint64_t)walker * (t->cells + 1);
    const double *positions = t->positions + (uint64_t)walker * t->particles * 3;
    const double x = positions[3 * (uint64_t)k], y = positions[3 * (uint64_t)k + 1];
    const walker_frame *frame = frame_of(&t->frames, walker);
    const int32_t cell_x = plugmc_cell_along(x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(y, frame->width[1], t->count[1]);
    const int32_t rows = plugmc_cells_around(t->count[1]);
    /* The nearest image: of many cells those across an edge of the box say which one it is. */
    const int32_t few = t->count[0] < 5 || t->count[1] < 5;
    const double over_x = cell_x < 1 ? -frame->length[0] : frame->length[0];
    b->count = b->added = 0;
    b->re = b->im = 0;
    for (int32_t i = 0; i < rows; i++) {
        const int32_t row = plugmc_cell_around(cell_y, i, t->count[1]) * t->count[0];
        const int32_t row_y = cell_y + i - 1;
        const double over_y =
            row_y < 0 ? -frame->length[1] : (row_y >= t->count[1] ? frame->length[1] : 0);
        const plugmc_runs runs = plugmc_cells_in_row(start, row, cell_x, 1, t->count[0]);
        for (int32_t r = 0; r < 2; r++)
            for (uint32_t m = runs.begin[r]; m < runs.end[r]; m++) {
                const double *there = positions + 3 * (uint64_t)m;
                double dx = there[0] - x + (r ? over_x : 0), dy = there[1] - y + over_y;
                if (few) {
                    dx = plugmc_nearest_image(there[0] - x, frame->length[0]);
                    dy = plugmc_nearest_image(there[1] - y, frame->length[1]);
                }
                double square = dx * dx + dy * dy;
                if (m == k || square >= t->cutoff_square || square == 0) continue;
                if (b->count == MOST_BONDS) add_bonds(b);
                b->x[b->count * b->stride] = dx;
                b->y[b->count++ * b->stride] = dy;
            }
    }
    add_bonds(b);
    const double unit = (double)((int64_t)1 << ORDER_BITS);
    *real_part = b->added > 0 ? (int64_t)rint(unit * b->re / b->added) : 0;
    *imaginary_part = b->added > 0 ? (int64_t)rint(unit * b->im / b->added) : 0;
}

#ifdef __CUDACC_RTC__
/* One thread an entry; blocks of ORDER_BLOCK: x entries, y walkers. sums [ORDER_COPIES][walkers][2], added to
 * in fixed point: of one copy alone all blocks would have to wait for one another. */
extern "C" __global__ void __launch_bounds__(ORDER_BLOCK, 4)
    order_sums(const __grid_constant__ order_task task, unsigned long long *sums)
{
    __shared__ double x[MOST_BONDS * ORDER_BLOCK], y[MOST_BONDS * ORDER_BLOCK];
    const uint32_t k = blockIdx.x * ORDER_BLOCK + threadIdx.x;
    bonds b = {x + threadIdx.x, y + threadIdx.x, ORDER_BLOCK};
    int64_t re = 0, im = 0;
    if (k < order_present(&task, blockIdx.y) && order_is_yours(&task, blockIdx.y, k))
        order_around(&task, blockIdx.y, k, &b, &re, &im);
    for (int lane = 16; lane > 0; lane /= 2) {
        re += __shfl_down_sync(0xffffffffu, re, lane);
        im += __shfl_down_sync(0xffffffffu, im, lane);
    }
    sums += 2 * ((uint64_t)(blockIdx.x % ORDER_COPIES) * gridDim.y + blockIdx.y);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums, (unsigned long long)re);
        atomicAdd(sums + 1, (unsigned long long)im);
    }
}
#endif
