/* lend.cu: particles into cells that others want, out of those of the checkerboard. Its text follows that of load.cu.
 *
 * Each is counted in its new cell, which says its slot there in whatever order, then placed. Threads take CB_TOGETHER
 * particles side by side, so that they wait for memory once and not for each.
 */
enum { CB_TOGETHER = 4 };

typedef struct cb_wanted {
    int count[3];          /* cells */
    const plugmc_box *box; /* [walkers] */
    uint32_t *start;       /* [walkers][cells + 1] */
    uint32_t *order;       /* [walkers][particles] */
    double *positions;     /* [walkers][particles][3] */
    uint2 *entry;          /* [walkers][SLOTS]: its cell, its slot there */
    long long particles;
} cb_wanted;

/* About one over the widths of cells. */
static __device__ void cb_over_widths(const cb_wanted *w, int walker, float over[3])
{
    for (int a = 0; a < DIM; a++) over[a] = (float)w->count[a] / (float)w->box[walker].length[a];
}

/* As the core finds cells; positions are in the box. */
static __device__ uint32_t cb_wanted_cell(const cb_wanted *w, int walker, const float over[3],
                                          const double at[3])
{
    uint32_t c[3] = {0, 0, 0};
    for (int a = 0; a < DIM; a++)
        c[a] = (uint32_t)plugmc_cell_quickly(at[a], w->box[walker].length[a], over[a], w->count[a]);
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
    float over[3];
    cb_over_widths(&w, home.walker, over);
    for (int first = 0; first < home.n; first += CB_TOGETHER) {
        const size_t slot = home.slot + CB_PITCH * first;
        uint2 entry[CB_TOGETHER];
        cb_vector v[CB_TOGETHER];
#pragma unroll
        for (int k = 0; k < CB_TOGETHER; k++)
            if (first + k < home.n) v[k] = coordinate[slot + CB_PITCH * k];
#pragma unroll
        for (int k = 0; k < CB_TOGETHER; k++) {
            double at[3] = {0, 0, 0};
            if (first + k >= home.n) break;
            cb_position(&home, v[k], quantum, at);
            entry[k].x = cb_wanted_cell(&w, home.walker, over, at);
            entry[k].y = atomicAdd(start + entry[k].x, 1u);
        }
#pragma unroll
        for (int k = 0; k < CB_TOGETHER; k++)
            if (first + k < home.n) w.entry[slot + CB_PITCH * k] = entry[k];
    }
}

/* A thread a cell of the checkerboard. What is right already is not written: without CB_IDS `order`, which is read for
 * species and there is but one; in a plane the third coordinate, which is 0 since the memory was taken. */
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
    for (int first = 0; first < home.n; first += CB_TOGETHER) {
        const size_t slot = home.slot + CB_PITCH * first;
        cb_vector v[CB_TOGETHER];
        uint32_t place[CB_TOGETHER], number[CB_IDS ? CB_TOGETHER : 1];
#pragma unroll
        for (int k = 0; k < CB_TOGETHER; k++) {
            if (first + k >= home.n) break;
            const uint2 entry = w.entry[slot + CB_PITCH * k];
            v[k] = coordinate[slot + CB_PITCH * k];
            place[k] = start[entry.x] + entry.y;
            if (CB_IDS) number[k] = cb_id(v[k], id, slot + CB_PITCH * k);
        }
#pragma unroll
        for (int k = 0; k < CB_TOGETHER; k++) {
            double at[3] = {0, 0, 0};
            if (first + k >= home.n) break;
            const long long to = home.walker * w.particles + place[k];
            cb_position(&home, v[k], quantum, at);
            if (CB_IDS) w.order[to] = number[k];
            if (DIM == 3 || to % 2 != 0)
                for (int a = 0; a < DIM; a++) w.positions[3 * to + a] = at[a];
            else
                *(double2 *)(w.positions + 3 * to) = make_double2(at[0], at[1]);
        }
    }
}
