/* hard_pressure.cu: what one particle gives to the pressure. The same text is compiled by the C
 * compiler, as part of hard_pressure.c, and for the GPU: IEEE operations only, integer sums, so
 * the result is the same number on both.
 *
 * "Entry" k is a particle by its place in the order of cells. Cell (x, y, z) has the number
 * (z count[1] + y) count[0] + x.
 */
enum { PRESSURE_SHARE_BITS = 24, PRESSURE_BLOCK = 256 };

/* Configurations sorted by cells, and contact distances. Host or device pointers. */
typedef struct pressure_task {
    double largest; /* contact distance */
    double reach;   /* end of the histogram, length */
    double bins_per_length;
    double overlap; /* fraction of the contact distance that no pair may be closer than */
    walker_frames frames;
    const uint32_t *start;   /* [walkers][cells + 1] */
    const uint32_t *order;   /* [walkers][particles] */
    const double *positions; /* [walkers][particles][3] */
    const uint16_t *species; /* [particles] */
    const double *contact;   /* [species][species], length */
    uint32_t particles, cells;
    int32_t count[3]; /* cells in each direction */
    int32_t species_count, bins;
} pressure_task;

/* One walker's part of a task. */
typedef struct pressure_walker {
    const walker_frame *frame;
    const uint32_t *start, *order;
    const double *positions;
} pressure_walker;

/* How far a particle can go, and its separation from what it then touches, along the axis. */
typedef struct free_path {
    double gap, reach;
} free_path;

PLUGMC_FN pressure_walker pressure_walker_of(const pressure_task *t, uint32_t walker)
{
    pressure_walker w;
    w.frame = frame_of(&t->frames, walker);
    w.start = t->start + (uint64_t)walker * (t->cells + 1);
    w.order = t->order + (uint64_t)walker * t->particles;
    w.positions = t->positions + (uint64_t)walker * t->particles * 3;
    return w;
}

/* Difference between the numbers of two cells that are neighbours along `axis`. */
PLUGMC_FN int32_t cell_stride(const pressure_task *t, int32_t axis)
{
    return axis == 0 ? 1 : (axis == 1 ? t->count[0] : t->count[0] * t->count[1]);
}

PLUGMC_FN double contact_of(const pressure_task *t, pressure_walker w, uint32_t k, uint32_t m)
{
    if (t->species_count == 1) return t->largest;
    return t->contact[t->species[w.order[k]] * t->species_count + t->species[w.order[m]]];
}

/* The free path of entry k along `axis`, upwards (sign 1) or downwards (-1), others fixed.
 *
 * Columns of cells are searched one after another until no particle beyond can be touched sooner,
 * or all were: then the particle is back where it was (its images move with it), the path is the
 * edge of the box and it touches nothing, reach 0. Of the images of another particle across the
 * axis the nearest stands farthest out, so it alone counts; along the axis the first one ahead. */
PLUGMC_FN free_path free_path_of(const pressure_task *t, pressure_walker w, uint32_t k,
                                 int32_t axis, int32_t sign, uint32_t *overlaps)
{
    const int32_t u = axis == 2 ? 0 : axis + 1, v = axis == 0 ? 2 : axis - 1;
    const int32_t stride = cell_stride(t, axis), stride_u = cell_stride(t, u),
                  stride_v = cell_stride(t, v);
    const walker_frame *frame = w.frame;
    const double length = frame->length[axis], width = frame->width[axis];
    const double *here = w.positions + 3 * (uint64_t)k;
    const double x = here[axis], y = here[u], z = here[v];
    const int32_t cell = plugmc_cell_along(x, width, t->count[axis]);
    const int32_t cell_u = plugmc_cell_along(y, frame->width[u], t->count[u]);
    const int32_t cell_v = plugmc_cell_along(z, frame->width[v], t->count[v]);
    const int32_t across_u = plugmc_cells_around(t->count[u]),
                  across_v = plugmc_cells_around(t->count[v]);
    free_path path;
    path.gap = length;
    path.reach = 0;

    int32_t column = cell;
    for (int32_t step = 0; step < t->count[axis]; step++) {
        for (int32_t i = 0; i < across_u * across_v; i++) {
            int32_t c = column * stride +
                        plugmc_cell_around(cell_u, i % across_u, t->count[u]) * stride_u +
                        plugmc_cell_around(cell_v, i / across_u, t->count[v]) * stride_v;
            for (uint32_t m = w.start[c]; m < w.start[c + 1]; m++) {
                if (m == k) continue;
                const double *there = w.positions + 3 * (uint64_t)m;
                double dy = plugmc_nearest_image(there[u] - y, frame->length[u]);
                double dz = plugmc_nearest_image(there[v] - z, frame->length[v]);
                double contact = contact_of(t, w, k, m);
                double squared = contact * contact - (dy * dy + dz * dz);
                if (!(squared > 0)) continue;
                double ahead = (there[axis] - x) * sign;
                double dx = plugmc_nearest_image(ahead, length);
                double least = t->overlap * contact;
                *overlaps += dx * dx + dy * dy + dz * dz < least * least;
                if (ahead < 0) ahead += length;
                double reach = sqrt(squared);
                double gap = ahead > reach ? ahead - reach : 0;
                if (gap < path.gap) {
                    path.gap = gap;
                    path.reach = reach;
                }
            }
        }
        /* What was not seen yet is at least this far; the last term is for rounding. */
        double seen =
            (sign > 0 ? (cell + step + 1) * width - x : x - (cell - step) * width) - 1e-12 * length;
        if (path.gap <= seen - t->largest) break;
        column += sign;
        if (column < 0) column = t->count[axis] - 1;
        if (column == t->count[axis]) column = 0;
    }
    return path;
}

/* (reach on both sides) / rift in fixed point. Rifts shorter than the rounding of positions are taken as
 * that long. */
PLUGMC_FN int64_t share_of(const pressure_task *t, free_path up, free_path down)
{
    double rift = up.gap + down.gap, shortest = 1e-9 * t->largest;
    double share = (up.reach + down.reach) / (rift > shortest ? rift : shortest);
    return (int64_t)(share * (double)(1 << PRESSURE_SHARE_BITS) + 0.5);
}

/* That of entry k along `axis`. */
PLUGMC_FN int64_t rift_share(const pressure_task *t, pressure_walker w, uint32_t k, int32_t axis,
                             uint32_t *overlaps)
{
    free_path up = free_path_of(t, w, k, axis, 1, overlaps);
    if (up.reach == 0) return 0;
    return share_of(t, up, free_path_of(t, w, k, axis, -1, overlaps));
}

/* ---- All four free paths in the plane at once ------------------------------------------------------- */

PLUGMC_FN void take_nearer(free_path *path, double ahead, double length, double reach)
{
    if (ahead < 0) ahead += length;
    double gap = ahead > reach ? ahead - reach : 0;
    if (gap < path->gap) {
        path->gap = gap;
        path->reach = reach;
    }
}

/* What entry m, at there, leaves of the paths of one at (x, y): up and down along both axes. */
PLUGMC_FN void look_at(const pressure_task *t, const walker_frame *frame, double contact,
                       double ahead_x, double ahead_y, free_path path[4], uint32_t *overlaps)
{
    double dx = plugmc_nearest_image(ahead_x, frame->length[0]);
    double dy = plugmc_nearest_image(ahead_y, frame->length[1]);
    double along_x = contact * contact - dy * dy, along_y = contact * contact - dx * dx;
    double least = t->overlap * contact;
    *overlaps += dx * dx + dy * dy < least * least;
    if (along_x > 0) {
        double reach = sqrt(along_x);
        take_nearer(&path[0], ahead_x, frame->length[0], reach);
        take_nearer(&path[1], -ahead_x, frame->length[0], reach);
    }
    if (along_y > 0) {
        double reach = sqrt(along_y);
        take_nearer(&path[2], ahead_y, frame->length[1], reach);
        take_nearer(&path[3], -ahead_y, frame->length[1], reach);
    }
}

/* Shares of entry k along both axes of a plane with five cells each way or more: whoever it can touch first is
 * nearly always in the cells up to two from its own, of which those at the corners are too far from
 * either axis. Where that is not sure, the path is searched for by itself. */
PLUGMC_FN void rift_shares(const pressure_task *t, pressure_walker w, uint32_t k, int64_t share[2],
                           uint32_t *overlaps)
{
    const walker_frame *frame = w.frame;
    const double *here = w.positions + 3 * (uint64_t)k;
    const double x = here[0], y = here[1];
    const int32_t cell_x = plugmc_cell_along(x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(y, frame->width[1], t->count[1]);
    free_path path[4];
    for (int32_t p = 0; p < 4; p++) path[p].gap = frame->length[p / 2], path[p].reach = 0;
    for (int32_t i = -2; i <= 2; i++) {
        int32_t row = cell_y + i;
        row += row < 0 ? t->count[1] : (row >= t->count[1] ? -t->count[1] : 0);
        const int32_t reach = i == -2 || i == 2 ? 1 : 2;
        const plugmc_runs runs =
            plugmc_cells_in_row(w.start, row * t->count[0], cell_x, reach, t->count[0]);
        for (int32_t r = 0; r < 2; r++)
            for (uint32_t m = runs.begin[r]; m < runs.end[r]; m++) {
                const double *there = w.positions + 3 * (uint64_t)m;
                if (m != k)
                    look_at(t, frame, contact_of(t, w, k, m), there[0] - x, there[1] - y, path,
                            overlaps);
            }
    }
    for (int32_t axis = 0; axis < 2; axis++) {
        const int32_t cell = axis ? cell_y : cell_x;
        const double at = axis ? y : x, width = frame->width[axis];
        const double far = t->largest + 1e-12 * frame->length[axis];
        free_path *up = &path[2 * axis], *down = up + 1;
        if (up->gap > (cell + 3) * width - at - far) *up = free_path_of(t, w, k, axis, 1, overlaps);
        if (down->gap > at - (cell - 2) * width - far)
            *down = free_path_of(t, w, k, axis, -1, overlaps);
        share[axis] = up->reach == 0 ? 0 : share_of(t, *up, *down);
    }
}

PLUGMC_FN int32_t in_a_plane(const pressure_task *t)
{
    return t->count[0] >= 5 && t->count[1] >= 5 && t->count[2] == 1;
}

PLUGMC_FN void count_one(uint32_t *counter)
{
#ifdef __CUDACC_RTC__
    atomicAdd(counter, 1u);
#else
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

/* Distances of entry k from the entries after it. A distance that rounding has put below contact
 * belongs into the first bin: left out, g at contact would come out low. */
PLUGMC_FN void count_pairs(const pressure_task *t, pressure_walker w, uint32_t k,
                           uint32_t *histogram)
{
    const double *here = w.positions + 3 * (uint64_t)k;
    const double x = here[0], y = here[1], z = here[2];
    const walker_frame *frame = w.frame;
    const int32_t cell_x = plugmc_cell_along(x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(y, frame->width[1], t->count[1]);
    const int32_t cell_z = plugmc_cell_along(z, frame->width[2], t->count[2]);
    const int32_t ny = plugmc_cells_around(t->count[1]), nz = plugmc_cells_around(t->count[2]);
    for (int32_t i = 0; i < ny * nz; i++) {
        const int32_t row = (plugmc_cell_around(cell_z, i / ny, t->count[2]) * t->count[1] +
                             plugmc_cell_around(cell_y, i % ny, t->count[1])) *
                            t->count[0];
        const plugmc_runs runs = plugmc_cells_in_row(w.start, row, cell_x, 1, t->count[0]);
        for (int32_t r = 0; r < 2; r++)
            for (uint32_t m = runs.begin[r] > k ? runs.begin[r] : k + 1; m < runs.end[r]; m++) {
                const double *there = w.positions + 3 * (uint64_t)m;
                double dx = plugmc_nearest_image(there[0] - x, frame->length[0]);
                double dy = plugmc_nearest_image(there[1] - y, frame->length[1]);
                double dz = plugmc_nearest_image(there[2] - z, frame->length[2]);
                double squared = dx * dx + dy * dy + dz * dz;
                if (squared >= t->reach * t->reach) continue;
                double beyond = sqrt(squared) - t->largest;
                int32_t bin = beyond > 0 ? (int32_t)(beyond * t->bins_per_length) : 0;
                if (bin < t->bins) count_one(histogram + bin);
            }
    }
}

#ifdef __CUDACC_RTC__
static __device__ void add_share(unsigned long long *shares, int64_t share)
{
    for (int lane = 16; lane > 0; lane /= 2) share += __shfl_down_sync(0xffffffffu, share, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(shares, (unsigned long long)share);
}

/* One thread an entry; blocks of PRESSURE_BLOCK: x entries, y walkers, z axes, which is one for both axes of a
 * plane. shares [walkers][3], added to in fixed point; overlaps: one counter. */
extern "C" __global__ void rifts(const __grid_constant__ pressure_task task,
                                 unsigned long long *shares, uint32_t *overlaps)
{
    const uint32_t k = blockIdx.x * PRESSURE_BLOCK + threadIdx.x;
    const pressure_walker w = pressure_walker_of(&task, blockIdx.y);
    const int32_t axis = blockIdx.z;
    int64_t share[2] = {0, 0};
    uint32_t hits = 0;
    shares += 3 * blockIdx.y + axis;
    if (k < task.particles && in_a_plane(&task))
        rift_shares(&task, w, k, share, &hits);
    else if (k < task.particles)
        share[0] = rift_share(&task, w, k, axis, &hits);
    add_share(shares, share[0]);
    if (in_a_plane(&task)) add_share(shares + 1, share[1]);
    if (hits > 0) atomicAdd(overlaps, hits);
}

/* One thread an entry; blocks of PRESSURE_BLOCK: x entries, y walkers. Dynamic shared memory:
 * [bins]. histogram [walkers][bins], added to. */
extern "C" __global__ void pairs(const __grid_constant__ pressure_task task, uint32_t *histogram)
{
    extern __shared__ uint32_t local[];
    const uint32_t k = blockIdx.x * PRESSURE_BLOCK + threadIdx.x;
    for (int32_t b = threadIdx.x; b < task.bins; b += PRESSURE_BLOCK) local[b] = 0;
    __syncthreads();
    if (k < task.particles) count_pairs(&task, pressure_walker_of(&task, blockIdx.y), k, local);
    __syncthreads();
    for (int32_t b = threadIdx.x; b < task.bins; b += PRESSURE_BLOCK)
        if (local[b] > 0) atomicAdd(histogram + (uint64_t)blockIdx.y * task.bins + b, local[b]);
}
#endif
