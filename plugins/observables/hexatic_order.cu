/* hexatic_order.cu: the sixfold order around one particle, the same text on the CPU and on the
 * GPU. IEEE operations only and sums in fixed point: the same numbers on both.
 *
 * "Entry" k is a particle by its place in the order of cells. Cell (x, y) has the number
 * y count[0] + x.
 */
enum { ORDER_BITS = 36, ORDER_COPIES = 32, MOST_BONDS = 12 };

/* Configurations sorted by cells. Host or device pointers. */
typedef struct order_task {
    walker_frames frames;
    double cutoff_square;    /* length^2 */
    const uint32_t *start;   /* [walkers][cells + 1] */
    const double *positions; /* [walkers][particles][3] */
    uint32_t particles, cells;
    int32_t count[2]; /* cells in each direction */
    cell_strips strips;
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

/* Bonds of one entry: those that are still to be added, [MOST_BONDS], side by side for the threads of a block. First
 * all that are short enough are looked for, then they are added, so that threads wait less for one another. */
typedef struct bonds {
    uint32_t *who; /* numbers among `places` */
    uint32_t stride;
    int32_t count, added;
    double re, im;        /* of those that are added: sums of exp(6 i theta) */
    const double *places; /* [][3] */
    const double *length; /* edges of the box */
    double x, y;          /* of the entry */
    int32_t inside;       /* 1: nobody is looked for across an edge */
} bonds;

typedef struct bond {
    double x, y;
} bond;

/* In a box of one or two cells only the nearest image counts, in a larger one no other is near. */
PLUGMC_FN bond bond_to(const bonds *b, uint32_t place)
{
    const double *there = b->places + 3 * (uint64_t)place;
    bond to = {there[0] - b->x, there[1] - b->y};
    if (b->inside) return to;
    to.x = plugmc_nearest_image(to.x, b->length[0]);
    to.y = plugmc_nearest_image(to.y, b->length[1]);
    return to;
}

/* exp(6 i theta) is the third power of exp(2 i theta) = (x + i y)^2 / r^2. */
PLUGMC_FN void add_bonds(bonds *b)
{
    for (int32_t i = 0; i < b->count; i++) {
        const bond to = bond_to(b, b->who[i * b->stride]);
        const double over = 1 / (to.x * to.x + to.y * to.y),
                     cosine = (to.x * to.x - to.y * to.y) * over, sine = 2 * to.x * to.y * over;
        b->re += cosine * (cosine * cosine - 3 * sine * sine);
        b->im += sine * (3 * cosine * cosine - sine * sine);
    }
    b->added += b->count;
    b->count = 0;
}

/* Whoever is among the places [begin, end) and near enough. */
PLUGMC_FN void look_among(bonds *b, uint32_t begin, uint32_t end, uint32_t self,
                          double cutoff_square)
{
    for (uint32_t m = begin; m < end; m++) {
        const bond to = bond_to(b, m);
        const double square = to.x * to.x + to.y * to.y;
        if (m == self || square >= cutoff_square || square == 0) continue;
        if (b->count == MOST_BONDS) add_bonds(b);
        b->who[b->count++ * b->stride] = m;
    }
}

PLUGMC_FN void begin_bonds(bonds *b, const double *places, const double *length, const double *here,
                           int32_t inside)
{
    b->places = places;
    b->inside = inside;
    b->length = length;
    b->count = b->added = 0;
    b->re = b->im = 0;
    b->x = here[0];
    b->y = here[1];
}

/* All bonds of entry k. */
PLUGMC_FN void look_around(const order_task *t, uint32_t walker, uint32_t k, bonds *b)
{
    const uint32_t *start = t->start + (uint64_t)walker * (t->cells + 1);
    const double *positions = t->positions + (uint64_t)walker * t->particles * 3;
    const walker_frame *frame = frame_of(&t->frames, walker);
    begin_bonds(b, positions, frame->length, positions + 3 * (uint64_t)k, 0);
    const int32_t cell_x = plugmc_cell_along(b->x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(b->y, frame->width[1], t->count[1]);
    for (int32_t i = 0; i < plugmc_cells_around(t->count[1]); i++) {
        const int32_t row = plugmc_cell_around(cell_y, i, t->count[1]) * t->count[0];
        const plugmc_runs runs = plugmc_cells_in_row(start, row, cell_x, 1, t->count[0]);
        for (int32_t r = 0; r < 2; r++)
            look_among(b, runs.begin[r], runs.end[r], k, t->cutoff_square);
    }
    add_bonds(b);
}

/* psi_6 of an entry, in fixed point. */
typedef struct order_share {
    int64_t re, im;
} order_share;

PLUGMC_FN order_share share_of(const bonds *b)
{
    const double unit = (double)((int64_t)1 << ORDER_BITS);
    order_share s = {0, 0};
    if (b->added == 0) return s;
    s.re = (int64_t)rint(unit * b->re / b->added);
    s.im = (int64_t)rint(unit * b->im / b->added);
    return s;
}

/* That of entry k, all by one thread. */
PLUGMC_FN order_share order_of(const order_task *t, uint32_t walker, uint32_t k, uint32_t *who,
                               uint32_t stride)
{
    bonds b;
    b.who = who;
    b.stride = stride;
    look_around(t, walker, k, &b);
    return share_of(&b);
}

#ifdef __CUDACC_RTC__
/* Who is near, among the places [begin, end) that have been brought. Everybody is written into the list, which has room
 * for one more than MOST_BONDS, and those who do not belong there are written over. */
static __device__ int32_t list_near(const bonds *b, uint32_t begin, uint32_t end, uint32_t own,
                                    double cutoff_square, int32_t count)
{
#pragma unroll 2
    for (uint32_t m = begin; m < end; m++) {
        const bond to = bond_to(b, m);
        const double square = to.x * to.x + to.y * to.y;
        b->who[(count < MOST_BONDS ? count : MOST_BONDS) * STRIP_BLOCK] = m;
        count += square < cutoff_square && square != 0 && m != own;
    }
    return count;
}

/* order_of, among what has been brought, and in its order: cells across the left edge come last in a row. *many becomes 1
 * where there was no room for all bonds. */
static __device__ order_share order_in_strip(const order_task *t, uint32_t walker, const strip *s,
                                             uint32_t k, uint32_t *who, uint32_t *many)
{
    const walker_frame *frame = frame_of(&t->frames, walker);
    const uint32_t own = place_in_strip(&t->strips, s, k);
    bonds b;
    b.who = who;
    b.stride = STRIP_BLOCK;
    begin_bonds(&b, s->places, frame->length, s->places + 3 * own, !s->at_edge);
    const int32_t cell = plugmc_cell_along(b.x, frame->width[0], t->count[0]), column = cell - s->x,
                  across = cell == 0;
#pragma unroll 1
    for (int32_t i = 0; i < 3; i++) {
        const uint16_t *first = s->first + i * s->wide + column;
        b.count = list_near(&b, first[across], first[3], own, t->cutoff_square, b.count);
        if (across) b.count = list_near(&b, first[0], first[1], own, t->cutoff_square, b.count);
    }
    *many = b.count > MOST_BONDS;
    if (*many) b.count = 0;
    add_bonds(&b);
    return share_of(&b);
}

/* A strip a block of STRIP_BLOCK, y walkers. sums [ORDER_COPIES][walkers][2], added to in fixed point: of one copy
 * alone all blocks would have to wait for one another. Dynamic shared memory: strip_bytes. */
extern "C" __global__ void __launch_bounds__(STRIP_BLOCK, 7)
    order_sums(const __grid_constant__ order_task task, unsigned long long *sums)
{
    extern __shared__ double memory[];
    __shared__ uint32_t who[(MOST_BONDS + 1) * STRIP_BLOCK];
    const uint32_t *start = task.start + (uint64_t)blockIdx.y * (task.cells + 1);
    const double *positions = task.positions + (uint64_t)blockIdx.y * task.particles * 3;
    int64_t re = 0, im = 0;
    const strip s = bring_strip(&task.strips, task.count, start, positions, memory);
    uint32_t left = 0, turn = 0; /* 32 entries a thread are more than can have been brought */
    for (uint32_t k = s.begin + threadIdx.x; s.brought && k < s.end; k += STRIP_BLOCK) {
        uint32_t many;
        if (!order_is_yours(&task, blockIdx.y, k)) {
            turn++;
            continue;
        }
        const order_share own = order_in_strip(&task, blockIdx.y, &s, k, who + threadIdx.x, &many);
        re += own.re;
        im += own.im;
        left |= many << turn++;
    }
    for (uint32_t k = s.begin + threadIdx.x; k < s.end; k += STRIP_BLOCK, left >>= 1) {
        if ((s.brought && !(left & 1)) || !order_is_yours(&task, blockIdx.y, k)) continue;
        const order_share own = order_of(&task, blockIdx.y, k, who + threadIdx.x, STRIP_BLOCK);
        re += own.re;
        im += own.im;
    }
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
