/* lend.cu: particles into cells that others want, out of those of the checkerboard. Its text follows that of load.cu.
 *
 * Each is counted in its new cell, which says its slot there in whatever order, then placed, and then those of a cell
 * are put in the order of their numbers. Without CB_IDS particles are numbered by their slots, which is the order of
 * the numbers that cb_store gives them.
 */
typedef struct cb_wanted {
    int count[3];          /* cells */
    const plugmc_box *box; /* [walkers] */
    uint32_t *start;       /* [walkers][cells + 1] */
    uint32_t *order;       /* [walkers][particles] */
    double *positions;     /* [walkers][particles][3] */
    uint2 *entry;          /* [walkers][SLOTS]: its cell, its slot there */
    long long particles;
} cb_wanted;

/* As the core finds cells; positions are in the box. */
static __device__ uint32_t cb_wanted_cell(const cb_wanted *w, const double width[3],
                                          const double at[3])
{
    uint32_t c[3] = {0, 0, 0};
    for (int a = 0; a < DIM; a++) {
        const double x = at[a] / width[a];
        if (w->count[a] > 1) c[a] = x < w->count[a] ? (uint32_t)x : (uint32_t)w->count[a] - 1;
    }
    return c[0] + w->count[0] * (c[1] + w->count[1] * c[2]);
}

static __device__ uint32_t cb_wanted_cells(const cb_wanted *w)
{
    return (uint32_t)w->count[0] * w->count[1] * w->count[2];
}

/* A thread a cell of the checkerboard. */
extern "C" __global__ void cb_count_wanted(const __grid_constant__ cb_wanted w,
                                           const cb_vector *coordinate, const uint8_t *count,
                                           const long long *origin, CB_QUANTUM_PARAMETERS)
{
    cb_home home;
    plugmc_wait();
    if (!cb_find_home(&home, count, origin)) return;
    CB_FIND_QUANTUM(home.walker);
    uint32_t *start = w.start + (size_t)home.walker * (cb_wanted_cells(&w) + 1);
    double width[3];
    for (int a = 0; a < DIM; a++) width[a] = w.box[home.walker].length[a] / w.count[a];
    for (int k = 0; k < home.n; k++) {
        double at[3] = {0, 0, 0};
        const size_t slot = home.slot + CB_PITCH * k;
        cb_position(&home, coordinate[slot], quantum, at);
        const uint32_t c = cb_wanted_cell(&w, width, at);
        w.entry[slot] = make_uint2(c, atomicAdd(start + c, 1u));
    }
}

/* A thread a cell of the checkerboard. */
extern "C" __global__ void cb_place_wanted(const __grid_constant__ cb_wanted w,
                                           const cb_vector *coordinate, const uint32_t *id,
                                           const uint8_t *count, const long long *origin,
                                           CB_QUANTUM_PARAMETERS)
{
    cb_home home;
    plugmc_wait();
    if (!cb_find_home(&home, count, origin)) return;
    CB_FIND_QUANTUM(home.walker);
    const uint32_t *start = w.start + (size_t)home.walker * (cb_wanted_cells(&w) + 1);
    for (int k = 0; k < home.n; k++) {
        double at[3] = {0, 0, 0};
        const size_t slot = home.slot + CB_PITCH * k;
        const cb_vector v = coordinate[slot];
        cb_position(&home, v, quantum, at);
        const uint2 entry = w.entry[slot];
        const long long place = home.walker * w.particles + start[entry.x] + entry.y;
        w.order[place] = CB_IDS ? cb_id(v, id, slot) : (uint32_t)(home.cell * CB_CAP + k);
        cb_put(w.positions, place, at);
    }
}

/* A thread a wanted cell: few particles are there, and mostly in order. */
extern "C" __global__ void cb_order_wanted(const __grid_constant__ cb_wanted w)
{
    const uint32_t cells = cb_wanted_cells(&w);
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int walker = (int)(thread / cells);
    plugmc_wait();
    if (walker >= CB_WALKERS) return;
    const uint32_t *start = w.start + (size_t)walker * (cells + 1) + thread % cells;
    uint32_t *order = w.order + walker * w.particles;
    const uint32_t begin = start[0], end = start[1];
    for (uint32_t i = begin + 1; i < end; i++) {
        const uint32_t number = order[i];
        uint32_t to = i;
        while (to > begin && order[to - 1] > number) to--;
        if (to == i) continue;
        double *at = w.positions + 3 * walker * w.particles;
        const double moved[3] = {at[3 * (size_t)i], at[3 * (size_t)i + 1], at[3 * (size_t)i + 2]};
        for (uint32_t j = i; j > to; j--) {
            order[j] = order[j - 1];
            for (size_t a = 0; a < 3; a++) at[3 * (size_t)j + a] = at[3 * (size_t)(j - 1) + a];
        }
        order[to] = number;
        for (size_t a = 0; a < 3; a++) at[3 * (size_t)to + a] = moved[a];
    }
    for (uint32_t i = begin; i < end && !CB_IDS; i++) order[i] = i; /* any of the only species */
}
