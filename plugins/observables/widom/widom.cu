/* widom.cu: test insertions on a GPU, in double precision, at the places of places.h.
 *
 * A block takes a cell of a walker. It puts all who may be near a place of the cell into shared memory once,
 * one thread for each cell around, the closest in front. Then each warp tries 32 places at a time: each lane
 * looks for one of the closest that forbids its place (hopeless.c), which ends nearly all places in a dense
 * fluid; the places that are left are taken one after the other by all lanes, who share the neighbours.
 *
 * Each place has a number of its own to write, and these are added in a fixed order, so the result does not
 * depend on the order in which uniform places are sorted into cells. */

/* ---- Uniform places, sorted by cell ---------------------------------------------------------- */

/* The cell of place k, where x of the grid are places and y rows. */
PLUGMC_FN uint32_t widom_own_cell(const widom_task *t, uint32_t k)
{
    const uint32_t walker = t->first + blockIdx.y;
    double r[3], f[3];
    widom_place(&t->places, &t->boxes[walker], walker, k, r, f);
    return widom_cell_of(&t->places, f);
}

/* begin [rows][cells + 1], zeros before: how many places are in each. */
extern "C" __global__ void __launch_bounds__(WIDOM_ADDING)
    widom_count(const __grid_constant__ widom_task t)
{
    const uint32_t k = blockIdx.x * WIDOM_ADDING + threadIdx.x;
    if (k >= t.places.places) return;
    atomicAdd(t.begin + (uint64_t)blockIdx.y * (t.places.cells + 1) + widom_own_cell(&t, k), 1u);
}

/* Sum of x over the threads of a block before this one; *all becomes that over all of them. warps: room
 * for one number of each warp. */
template <typename number> PLUGMC_FN number sum_before(number x, number *warps, number *all)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    number sum = x, before = 0, total = 0;
    for (int step = 1; step < 32; step *= 2) {
        const number other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++) {
        if (w < warp) before += warps[w];
        total += warps[w];
    }
    __syncthreads();
    *all = total;
    return before + sum - x;
}

/* Numbers become beginnings, in begin and in next. One block a row. */
extern "C" __global__ void __launch_bounds__(WIDOM_ADDING)
    widom_begin(const __grid_constant__ widom_task t)
{
    __shared__ uint32_t warps[WIDOM_ADDING / 32];
    const uint32_t n = t.places.cells + 1;
    uint32_t *begin = t.begin + (uint64_t)blockIdx.x * n, *next = t.next + (uint64_t)blockIdx.x * n,
             before = 0;
    for (uint32_t first = 0; first < n; first += WIDOM_ADDING) {
        const uint32_t c = first + threadIdx.x;
        uint32_t all;
        const uint32_t at = before + sum_before(c < n ? begin[c] : 0u, warps, &all);
        if (c < n) begin[c] = next[c] = at;
        before += all;
    }
}

extern "C" __global__ void __launch_bounds__(WIDOM_ADDING)
    widom_list(const __grid_constant__ widom_task t)
{
    const uint32_t k = blockIdx.x * WIDOM_ADDING + threadIdx.x;
    if (k >= t.places.places) return;
    uint32_t *next = t.next + (uint64_t)blockIdx.y * (t.places.cells + 1) + widom_own_cell(&t, k);
    t.list[(uint64_t)blockIdx.y * t.places.places + atomicAdd(next, 1u)] = k;
}

/* ---- Who is near ----------------------------------------------------------------------------- */

/* The close ones from the front on, the rest from behind. */
typedef struct widom_near {
    double x[WIDOM_NEAR], y[WIDOM_NEAR], z[WIDOM_NEAR];
    uint16_t species[WIDOM_NEAR];
    uint64_t warps[WIDOM_THREADS / 32];
} widom_near;

PLUGMC_FN int32_t widom_species(const widom_task *t, uint64_t row, uint32_t k)
{
    return PLUGMC_SPECIES == 1 ? 0 : t->species[t->order[row + k]];
}

/* The slot of near particle j, where the first `close` are in front. */
PLUGMC_FN uint32_t widom_slot(uint32_t j, uint32_t close)
{
    return j < close ? j : WIDOM_NEAR - 1 - (j - close);
}

/* Particles begin ... end - 1, in the order of cells, that may be near: how many are close, and in the high
 * half of the result the others. With `near` they are put there, behind `at`. */
PLUGMC_FN uint64_t widom_sift(const widom_task *t, uint32_t walker, const widom_cell *cell,
                              uint32_t begin, uint32_t end, uint64_t at, widom_near *near)
{
    const uint64_t row = (uint64_t)walker * t->particles;
    const double reach = t->places.reach * t->places.reach * (1 + 1e-9);
    uint64_t found = 0;
    for (uint32_t k = begin; k < end; k++) {
        const double *r = t->positions + 3 * (row + k);
        const double square = widom_square_from(&t->boxes[walker], cell, r);
        if (!(square < reach) && !(square <= t->widest)) continue; /* or nobody is there */
        const int close = square <= t->widest;
        if (near) {
            const uint32_t place =
                close ? (uint32_t)(at + found) : WIDOM_NEAR - 1 - (uint32_t)((at + found) >> 32);
            near->x[place] = r[0];
            near->y[place] = r[1];
            near->z[place] = r[2];
            near->species[place] = (uint16_t)widom_species(t, row, k);
        }
        found += close ? 1ull : 1ull << 32;
    }
    return found;
}

/* Returns how many are near; if these are more than there is room for, they are not all there. */
PLUGMC_FN uint32_t widom_collect(const widom_task *t, uint32_t walker, uint32_t cell,
                                 widom_near *near, uint32_t *close)
{
    const plugmc_box *box = &t->boxes[walker];
    const widom_cell at = widom_cell_at(&t->places, box, cell);
    const widom_range around = widom_around(&t->places, box, &at);
    const uint32_t *start = t->start + (uint64_t)walker * (t->places.cells + 1);
    const int32_t cells = around.n[0] * around.n[1] * around.n[2];
    uint64_t before = 0;
    for (int32_t first = 0; first < cells; first += WIDOM_THREADS) {
        const int32_t i = first + threadIdx.x;
        const uint32_t other = i < cells ? widom_cell_around(&t->places, &around, i) : 0;
        const uint32_t begin = i < cells ? start[other] : 0, end = i < cells ? start[other + 1] : 0;
        uint64_t all;
        const uint64_t own = widom_sift(t, walker, &at, begin, end, 0, nullptr);
        const uint64_t mine = before + sum_before(own, near->warps, &all);
        before += all;
        if ((before & 0xffffffffu) + (before >> 32) > WIDOM_NEAR) break;
        widom_sift(t, walker, &at, begin, end, mine, near);
    }
    __syncthreads();
    *close = (uint32_t)before;
    return (uint32_t)before + (uint32_t)(before >> 32);
}

/* ---- One place ------------------------------------------------------------------------------- */

/* Whether one of the close forbids the place r of a lane. square [species] */
PLUGMC_FN int widom_taken(const widom_near *near, uint32_t close, const double *square,
                          plugmc_images images, const double r[3])
{
    for (uint32_t j = 0; j < close; j++) {
        const plugmc_separation s =
            plugmc_separated(r[0] - near->x[j], r[1] - near->y[j], r[2] - near->z[j], images);
        if (s.r2 < square[PLUGMC_SPECIES == 1 ? 0 : near->species[j]]) return 1;
    }
    return 0;
}

/* Who a test particle meets: `n` near ones at hand, or all. */
typedef struct widom_met {
    const widom_near *near; /* NULL: all */
    uint32_t n, close;
    uint32_t walker;
    plugmc_images images;
    const double *multipliers;
} widom_met;

/* Adds the pairs of this lane; returns whether one of them overlaps. */
PLUGMC_FN int widom_meet(const widom_task *t, const widom_met *m, const double r[3],
                         plugmc_site own, plugmc_sums *sums)
{
    const uint64_t row = (uint64_t)m->walker * t->particles;
    for (uint32_t j = threadIdx.x % 32; j < m->n && PLUGMC_ENERGY_TERMS > 0 && m->near; j += 32) {
        const uint32_t at = widom_slot(j, m->close);
        const plugmc_separation s = plugmc_separated(r[0] - m->near->x[at], r[1] - m->near->y[at],
                                                     r[2] - m->near->z[at], m->images);
        plugmc_sums_add_energy(sums, s, own, plugmc_site_of_species(m->near->species[at]));
    }
    const uint32_t all = t->start[(uint64_t)m->walker * (t->places.cells + 1) + t->places.cells];
    int overlap = 0;
    for (uint32_t j = threadIdx.x % 32; j < all && !m->near && !overlap; j += 32) {
        const double *at = t->positions + 3 * (row + j);
        const int32_t species = widom_species(t, row, j);
        const plugmc_separation s =
            plugmc_separated(r[0] - at[0], r[1] - at[1], r[2] - at[2], m->images);
        plugmc_sums_add_energy(sums, s, own, plugmc_site_of_species(species));
        overlap = PLUGMC_CONTACTS && s.r2 < plugmc_contact_square(t->inserted, species);
    }
    return overlap;
}

/* exp(-dU/kT) at r, by all lanes of a warp. */
PLUGMC_FN double widom_factor(const widom_task *t, const widom_met *m, const double r[3])
{
    const plugmc_site own = plugmc_site_of_species(t->inserted);
    plugmc_sums sums;
    plugmc_sums_clear(&sums);
    int forbidden = widom_meet(t, m, r, own, &sums);
#if PLUGMC_WEIGHTED
    double growth = plugmc_sums_weighted(&sums, own, m->multipliers);
#else
    double growth = plugmc_sums_total(&sums, own) * PLUGMC_OVER_KT;
#endif
    if (PLUGMC_FIELDS > 0 && threadIdx.x % 32 == 0) {
        const plugmc_position at = {r[0], r[1], r[2]};
#if PLUGMC_WEIGHTED
        growth += plugmc_fields_weighted(at, own, &forbidden, m->multipliers);
#else
        growth += plugmc_fields(at, own, &forbidden) * PLUGMC_OVER_KT;
#endif
    }
    if (__any_sync(0xffffffffu, forbidden)) return 0;
    for (int half = 16; half > 0; half /= 2) growth += __shfl_xor_sync(0xffffffffu, growth, half);
    return exp(-growth);
}

/* ---- All places ------------------------------------------------------------------------------ */

/* x: cells; y: rows. */
extern "C" __global__ void __launch_bounds__(WIDOM_THREADS)
    widom_insert(const __grid_constant__ widom_task t)
{
    __shared__ widom_near near;
    const widom_places *p = &t.places;
    const uint32_t walker = t.first + blockIdx.y, cell = blockIdx.x, lane = threadIdx.x % 32;
    const uint32_t *begin = t.begin + (uint64_t)blockIdx.y * (p->cells + 1);
    const uint32_t *list = t.list + (uint64_t)blockIdx.y * p->places;
    double *value = t.value + (uint64_t)blockIdx.y * p->places;
    const uint32_t first = p->per_cell ? cell * p->per_cell : begin[cell],
                   end = p->per_cell ? first + p->per_cell : begin[cell + 1];
    if (first == end) return;
    widom_met m = {&near, 0, 0, walker, plugmc_images_of_walker(t.boxes, walker), nullptr};
    if (t.multipliers) m.multipliers = (const double *)(t.multipliers + walker * t.row);
    if (!t.all && p->reach > 0) m.n = widom_collect(&t, walker, cell, &near, &m.close);
    if (t.all || m.n > WIDOM_NEAR) m.near = nullptr;
    const double *square =
        t.square + (m.n <= t.near_limit ? WIDOM_HOPELESS : WIDOM_OVERLAP) * t.species_count;
    for (uint32_t k = first + threadIdx.x; k - lane < end; k += WIDOM_THREADS) {
        const uint32_t number = k < end && !p->per_cell ? list[k] : k;
        double r[3] = {0, 0, 0}, f[3], own = 0;
        if (k < end) widom_place(p, &t.boxes[walker], walker, number, r, f);
        const int open = k < end && (!m.near || !widom_taken(&near, m.close, square, m.images, r));
        for (uint32_t left = __ballot_sync(0xffffffffu, open); left; left &= left - 1) {
            const int who = __ffs(left) - 1;
            double at[3];
            for (int d = 0; d < 3; d++) at[d] = __shfl_sync(0xffffffffu, r[d], who);
            const double found = widom_factor(&t, &m, at);
            if (lane == who) own = found;
        }
        if (k < end) value[number] = own;
    }
}

/* parts [walkers][parts]: x parts, y rows. */
extern "C" __global__ void __launch_bounds__(WIDOM_ADDING)
    widom_sum(const __grid_constant__ widom_task t, double *parts)
{
    const double *value = t.value + (uint64_t)blockIdx.y * t.places.places;
    double mine = 0;
    for (uint64_t k = blockIdx.x * WIDOM_ADDING + threadIdx.x; k < t.places.places;
         k += (uint64_t)gridDim.x * WIDOM_ADDING)
        mine += value[k];
    const double sum = sum_of_block<WIDOM_ADDING>(mine);
    if (threadIdx.x == 0) parts[(uint64_t)(t.first + blockIdx.y) * gridDim.x + blockIdx.x] = sum;
}
