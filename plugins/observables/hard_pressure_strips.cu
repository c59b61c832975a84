/* hard_pressure_strips.cu: rifts and pairs of many disks, for the GPU alone: blocks bring what is around a strip of cells
 * into shared memory (cell_strips.h). Its text follows that of hard_pressure.cu, and the numbers are the same.
 */
/* look_around, among what has been brought. `own` is the place of the entry, `column` its cell from the left end of what
 * has been brought. Separations are those of single precision, so some do not belong there whom nothing comes of.
 * Everybody writes into the list, and those who do not belong there are written over. */
static __device__ void look_around_strip(const pressure_task *t, const strip *s, uint32_t own,
                                         int32_t column, around *list)
{
    const float2 here = s->near[own];
    const float across = (float)t->largest * (1 + 1e-6f) + s->blur,
                far = (float)t->around * (1 + 1e-6f) + s->blur;
    const int32_t near = t->near;
    uint32_t listed = 0;
#pragma unroll 1
    for (int32_t i = -near; i <= near; i++) {
        const int32_t reach = near == 2 && (i == -2 || i == 2) ? 1 : near;
        const uint16_t *first = s->first + (i + near) * s->wide + column;
        const uint32_t end = first[reach + 1];
#pragma unroll 1
        for (uint32_t by_two = first[-reach]; by_two < end; by_two += 2)
#pragma unroll
            for (uint32_t second = 0; second < 2; second++) {
                const uint32_t m = by_two + second;
                const float2 there = s->near[m];
                const float dx = there.x - here.x, dy = there.y - here.y;
                const int may = fminf(fabsf(dx), fabsf(dy)) <= across &&
                                __fmaf_rn(dx, dx, dy * dy) <= far * far && m != own && m < end;
                list->who[min(listed, AROUND * STRIP_BLOCK)] = m;
                if (may) listed += STRIP_BLOCK;
            }
    }
    list->count = listed / STRIP_BLOCK;
    list->own = own;
}

typedef struct found_path {
    free_path path;
    uint32_t overlaps;
} found_path;

/* free_path_of in a plane by a warp: each lane looks in a cell of its own, ten columns of three at once. All
 * lanes call it alike. */
static __device__ found_path path_by_warp(const pressure_task *t, pressure_walker w, uint32_t k,
                                          int32_t axis, int32_t sign)
{
    enum { COLUMNS = 10 };
    const int32_t other = 1 - axis, count = t->count[axis], lane = (int32_t)threadIdx.x & 31;
    const double *here = w.positions + 3 * (uint64_t)k, *width = w.frame->width;
    const double length = w.frame->length[axis];
    const int32_t cell = plugmc_cell_along(here[axis], width[axis], count);
    const int32_t cell_u = plugmc_cell_along(here[other], width[other], t->count[other]);
    found_path found = {{length, 0}, 0};
    for (int32_t step = 0; step < count; step += COLUMNS) {
        const int32_t on = step + lane / 3;
        if (lane < 3 * COLUMNS && on < count) {
            const int32_t ahead = cell + sign * on,
                          column =
                              ahead < 0 ? ahead + count : (ahead >= count ? ahead - count : ahead);
            const int32_t row = plugmc_cell_around(cell_u, lane % 3, t->count[other]);
            look_in_cell(t, w, k, axis, sign,
                         column * cell_stride(t, axis) + row * cell_stride(t, other), &found.path,
                         &found.overlaps);
        }
        for (int32_t lanes = 16; lanes > 0; lanes /= 2) {
            const free_path theirs = {__shfl_xor_sync(0xffffffffu, found.path.gap, lanes),
                                      __shfl_xor_sync(0xffffffffu, found.path.reach, lanes)};
            if (is_sooner(theirs, found.path)) found.path = theirs;
        }
        const double seen = seen_after(step + COLUMNS, cell, here[axis], sign, width[axis], length);
        if (found.path.gap <= seen - t->largest) break;
    }
    return found;
}

/* rift_share in a plane by a warp. */
static __device__ int64_t share_by_warp(const pressure_task *t, pressure_walker w, uint32_t k,
                                        int32_t axis, uint32_t *troubles)
{
    const found_path up = path_by_warp(t, w, k, axis, 1), down = path_by_warp(t, w, k, axis, -1);
    troubles[OVERLAPS] += up.overlaps + down.overlaps;
    look_at_length(t, axis, up.path, down.path, troubles);
    return up.path.reach == 0 ? 0 : share_of(t, up.path, down.path);
}

/* Something of an entry of a walker that others have to do: `unsure` as in plane_shares. */
static __device__ void leave(pressure_left left, uint32_t walker, uint32_t k, uint32_t unsure)
{
    left.of[atomicAdd(left.count, 1u)] = (uint64_t)walker << 35 | (uint64_t)k << 3 | unsure;
}

/* likely_shares of disks that are all alike, away from the edges of the box: what that spares is half of the work. */
static __device__ plane_shares simple_shares(const pressure_task *t, pressure_walker w, uint32_t k,
                                             const double *here, int32_t cell_x, int32_t cell_y,
                                             around list, uint32_t *troubles, uint32_t *histogram)
{
    list.inside = list.alike = 1;
    return likely_shares(t, w, k, here, cell_x, cell_y, &list, troubles, histogram);
}

/* For both axes of a plane, and pairs, without z: a strip a block of STRIP_BLOCK, y walkers. What is not sure is
 * left; it would keep the other threads waiting, and take registers from them. Dynamic shared memory: strip_bytes,
 * then [bins]. */
extern "C" __global__ void __launch_bounds__(STRIP_BLOCK, 8)
    rifts_and_pairs(const __grid_constant__ pressure_task task, const pressure_counters first,
                    const pressure_left left)
{
    extern __shared__ double2 memory[];
    __shared__ uint32_t who[(AROUND + 1) * STRIP_BLOCK];
    uint32_t *local = (uint32_t *)((char *)memory + task.strip_bytes),
             *histogram = task.bins > 0 ? local : NULL;
    const pressure_walker w = pressure_walker_of(&task, blockIdx.y);
    const pressure_counters to = own_copy(first);
    int64_t share[2] = {0, 0};
    uint32_t troubles[TROUBLES] = {0};
    begin_histogram(local, task.bins);
    const float over_width = (float)task.count[0] / (float)w.frame->length[0];
    const strip s = bring_strip(&task.strips, task.count, w.frame, w.start, w.positions, memory);
    around list = {who + threadIdx.x, STRIP_BLOCK, 0, s.places, s.entries, 2, 0, 0, 0};
    const int32_t simple = !s.at_edge && task.species_count == 1;
    for (uint32_t k = s.begin + threadIdx.x; k < s.end; k += STRIP_BLOCK) {
        if (!s.brought) { /* there was no room */
            if (pressure_is_yours(&task, w, k)) leave(left, blockIdx.y, k, 3 | MANY_AROUND);
            continue;
        }
        const uint32_t place = place_in_strip(&task.strips, &s, k);
        const double *here = s.places + 2 * place;
        if (!plugmc_is_yours(&task.share, here)) continue;
        const int32_t cell =
            plugmc_cell_quickly(here[0], w.frame->length[0], over_width, task.count[0]);
        look_around_strip(&task, &s, place, cell - s.x + task.near, &list);
        const plane_shares own =
            simple ? simple_shares(&task, w, k, here, cell, s.y, list, troubles, histogram)
                   : likely_shares(&task, w, k, here, cell, s.y, &list, troubles, histogram);
        share[0] += own.along[0];
        share[1] += own.along[1];
        if (own.unsure) leave(left, blockIdx.y, k, own.unsure);
    }
    add_share(to.shares, share[0]);
    add_share(to.shares + 1, share[1]);
    add_troubles(to.troubles, troubles);
    add_histogram(local, task.bins, to.histogram);
}

/* What rifts_and_pairs has left, a warp an entry. Into the first copy of the counters. */
extern "C" __global__ void rifts_left(const __grid_constant__ pressure_task task,
                                      const pressure_counters to, const pressure_left left)
{
    const uint32_t warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x & 31, n = *left.count;
    for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const uint32_t walker = (uint32_t)(left.of[i] >> 35), k = (uint32_t)(left.of[i] >> 3),
                       unsure = (uint32_t)left.of[i] & 7;
        const pressure_walker w = pressure_walker_of(&task, walker);
        uint32_t troubles[TROUBLES] = {0};
        for (int32_t axis = 0; axis < 2; axis++) {
            if (!(unsure >> axis & 1)) continue;
            const int64_t share = share_by_warp(&task, w, k, axis, troubles);
            if (lane == 0) atomicAdd(to.shares + 3 * walker + axis, (unsigned long long)share);
        }
        if (unsure & MANY_AROUND && lane == 0)
            count_pairs(&task, w, k, task.bins > 0 ? to.histogram + walker * task.bins : NULL,
                        troubles);
        add_troubles(to.troubles, troubles);
    }
}
