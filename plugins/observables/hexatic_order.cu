/* hexatic_order.cu: the sixfold order around one particle, the same text on the CPU and on the
 * GPU. IEEE operations only, and sums of multiples of 2^-ORDER_BITS: the same numbers on both, in whatever order
 * neighbours are met.
 *
 * "Entry" k is a particle by its place in the order of cells. Cell (x, y) has the number
 * y count[0] + x.
 */
enum { ORDER_BITS = 36, ORDER_COPIES = 32, MOST_BONDS = 12 };

/* Configurations sorted by cells. Host or device pointers. */
typedef struct order_task {
    walker_frames frames;
    double cutoff_square;    /* length^2 */
    float cutoff;            /* length, the same in float: a bound to look up to */
    const uint32_t *start;   /* [walkers][cells + 1] */
    const double *positions; /* [walkers][particles][3] */
    uint32_t particles, cells;
    int32_t count[2]; /* cells in each direction */
    cell_strips strips;
    uint32_t strip_bytes; /* shared memory of a block for them, without lists */
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
    uint32_t *who;         /* numbers among `places` */
    uint32_t stride, self; /* self: the place of the entry */
    int32_t count, added;
    double re, im;        /* of those that are added: sums of exp(6 i theta) */
    const double *places; /* [][step], x and y first */
    int32_t step;
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
    const double *there = b->places + b->step * (uint64_t)place;
    bond to = {there[0] - b->x, there[1] - b->y};
    if (b->inside) return to;
    to.x = plugmc_nearest_image(to.x, b->length[0]);
    to.y = plugmc_nearest_image(to.y, b->length[1]);
    return to;
}

/* The nearest multiple of 2^-ORDER_BITS to a number that is not far above 1: the last bit of what it is added to. */
PLUGMC_FN double on_the_grid(double x)
{
    const double large = 1.5 * (double)((int64_t)1 << (52 - ORDER_BITS));
    return (x + large) - large;
}

/* Those of the list that are short enough. exp(6 i theta) is the third power of exp(2 i theta) = (x + i y)^2 / r^2.
 * `rounds`: as many as the list has, or more, so that threads with lists of several lengths stay together. */
PLUGMC_FN void add_bonds(bonds *b, double cutoff_square, int32_t rounds)
{
    const uint32_t *next = b->who;
    ONE_AT_A_TIME
    for (int32_t i = 0; i < rounds; i++, next += b->stride) {
        const uint32_t listed = *next;
        const bond to = bond_to(b, i < b->count ? listed : b->self);
        const double square = to.x * to.x + to.y * to.y;
        const int32_t is_bond = square < cutoff_square && square != 0;
        const double over = 1 / (is_bond ? square : 1),
                     cosine = is_bond ? (to.x * to.x - to.y * to.y) * over : 0,
                     sine = is_bond ? 2 * to.x * to.y * over : 0;
        b->re += on_the_grid(cosine * (cosine * cosine - 3 * sine * sine));
        b->im += on_the_grid(sine * (3 * cosine * cosine - sine * sine));
        b->added += is_bond;
    }
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
        if (b->count == MOST_BONDS) add_bonds(b, cutoff_square, b->count);
        b->who[b->count++ * b->stride] = m;
    }
}

PLUGMC_FN void begin_bonds(bonds *b, const double *places, int32_t step, const double *length,
                           uint32_t self, int32_t inside)
{
    const double *here = places + step * (uint64_t)self;
    b->places = places;
    b->self = self;
    b->step = step;
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
    begin_bonds(b, positions, 3, frame->length, k, 0);
    const int32_t cell_x = plugmc_cell_along(b->x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(b->y, frame->width[1], t->count[1]);
    for (int32_t i = 0; i < plugmc_cells_around(t->count[1]); i++) {
        const int32_t row = plugmc_cell_around(cell_y, i, t->count[1]) * t->count[0];
        const plugmc_runs runs = plugmc_cells_in_row(start, row, cell_x, 1, t->count[0]);
        for (int32_t r = 0; r < 2; r++)
            look_among(b, runs.begin[r], runs.end[r], k, t->cutoff_square);
    }
    add_bonds(b, t->cutoff_square, b->count);
}

/* psi_6 of an entry, in fixed point. */
typedef struct order_share {
    int64_t re, im;
} order_share;

PLUGMC_FN order_share share_of(const bonds *b)
{
    order_share s = {0, 0};
    if (b->added == 0) return s;
    const double unit = (double)((int64_t)1 << ORDER_BITS) / b->added;
    s.re = (int64_t)rint(unit * b->re);
    s.im = (int64_t)rint(unit * b->im);
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
/* Who may be near, among the places [begin, end) that have been brought: in single precision, so some of them are not.
 * Everybody is written into the list, which has room for one more than MOST_BONDS, and those who do not belong there
 * are written over. By twos, so that threads with an odd number of them do not wait for a remainder of their own. */
static __device__ uint32_t list_near(const strip *s, float2 here, uint32_t begin, uint32_t end,
                                     uint32_t own, float far, uint32_t *who, uint32_t listed)
{
#pragma unroll 1
    for (uint32_t first = begin; first < end; first += 2)
#pragma unroll
        for (uint32_t second = 0; second < 2; second++) {
            const uint32_t m = first + second;
            const float2 there = s->near[m];
            const float dx = there.x - here.x, dy = there.y - here.y;
            const int here_too = __fmaf_rn(dx, dx, dy * dy) < far * far && m != own && m < end;
            who[min(listed, MOST_BONDS * STRIP_BLOCK)] = m;
            if (here_too) listed += STRIP_BLOCK;
        }
    return listed;
}

/* order_of, among what has been brought. *many becomes 1 where there was no room for all bonds. */
static __device__ order_share order_in_strip(const order_task *t, uint32_t walker, const strip *s,
                                             float far, uint32_t *who, uint32_t *many)
{
    const walker_frame *frame = frame_of(&t->frames, walker);
    const uint32_t own = s->place;
    bonds b;
    b.who = who;
    b.stride = STRIP_BLOCK;
    begin_bonds(&b, s->places, 2, frame->length, own, !s->at_edge);
    const int32_t column = s->cell - s->x;
    const float2 here = s->near[own];
    uint32_t listed = 0;
#pragma unroll 1
    for (int32_t i = 0; i < 3; i++) {
        const uint16_t *first = s->first + i * s->wide + column;
        listed = list_near(s, here, first[0], first[3], own, far, who, listed);
    }
    b.count = (int32_t)(listed / STRIP_BLOCK);
    *many = b.count > MOST_BONDS;
    if (*many) b.count = 0;
    __syncwarp();
    add_bonds(&b, t->cutoff_square, (int32_t)most_in_warp((uint32_t)b.count));
    return share_of(&b);
}

/* A strip a block of STRIP_BLOCK (grid_of_strips). sums [ORDER_COPIES][walkers][2], added to in fixed point: of one copy
 * alone all blocks would have to wait for one another. Threads of a warp stay together: those for whom no entry is left
 * look at the last one, and add nothing. next: as sums, cleared. Dynamic shared memory: strip_bytes, then lists. */
extern "C" __global__ void __launch_bounds__(STRIP_BLOCK, 1024 / STRIP_BLOCK)
    order_sums(const __grid_constant__ order_task task, unsigned long long *sums,
               unsigned long long *next)
{
    plugmc_wait();
    extern __shared__ double2 memory[];
    uint32_t *who = (uint32_t *)((char *)memory + task.strip_bytes);
    const uint32_t *start = task.start + (uint64_t)blockIdx.z * (task.cells + 1);
    const double *positions = task.positions + (uint64_t)blockIdx.z * task.particles * 3;
    const walker_frame *frame = frame_of(&task.frames, blockIdx.z);
    int64_t re = 0, im = 0;
    if (blockIdx.x == 0 && blockIdx.y == 0)
        for (uint32_t c = threadIdx.x; c < 2 * ORDER_COPIES; c += STRIP_BLOCK)
            next[2 * ((uint64_t)(c / 2) * gridDim.z + blockIdx.z) + c % 2] = 0;
    strip s = strip_in(&task.strips, memory);
    const row_entries row = entries_of_row(&task.strips, task.count, start);
    for (uint32_t begin = row.begin + blockIdx.x * STRIP_BLOCK; begin < row.end;
         begin += gridDim.x * STRIP_BLOCK) {
        bring_strip(&s, &task.strips, task.count, frame, start, positions, begin, row.end);
        const int mine =
            begin + threadIdx.x < row.end && order_is_yours(&task, blockIdx.z, s.entry);
        uint32_t many = 1;
        order_share own = {0, 0};
        if (s.brought) {
            const float far = (task.cutoff + s.blur) * (1 + 1e-6f);
            own = order_in_strip(&task, blockIdx.z, &s, far, who + threadIdx.x, &many);
        }
        if (mine && many)
            own = order_of(&task, blockIdx.z, s.entry, who + threadIdx.x, STRIP_BLOCK);
        re += mine ? own.re : 0;
        im += mine ? own.im : 0;
        __syncthreads();
    }
    const unsigned long long all_re = sum_of_warp((unsigned long long)re),
                             all_im = sum_of_warp((unsigned long long)im);
    sums += 2 * ((uint64_t)((blockIdx.x + blockIdx.y) % ORDER_COPIES) * gridDim.z + blockIdx.z);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums, all_re);
        atomicAdd(sums + 1, all_im);
    }
}
#endif
