/* hard_pressure_strips.cu: rifts and pairs of many disks, for the GPU alone: blocks bring what is around a strip of
 * disks into shared memory (cell_strips.h). Its text follows that of hard_pressure.cu, and the numbers are the same.
 */
/* look_around, among what has been brought. Separations are those of single precision, so some do not belong there
 * whom nothing comes of. Everybody writes into the list, and those who do not belong there are written over. */
static __device__ void look_around_strip(const pressure_task *t, const strip *s, around *list)
{
    const uint32_t own = s->place;
    const int32_t column = s->cell - s->x + t->near;
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

/* free_path_of in a plane both ways by a warp, half of it upwards, half downwards: each lane looks in a cell of its
 * own, five columns of three at once. All lanes call it alike; each gets the path of its half. */
static __device__ found_path path_by_half(const pressure_task *t, pressure_walker w, uint32_t k,
                                          int32_t axis)
{
    enum { COLUMNS = 5 };
    const int32_t other = 1 - axis, count = t->count[axis], lane = (int32_t)threadIdx.x & 15,
                  sign = threadIdx.x & 16 ? -1 : 1;
    const double *here = w.positions + 3 * (uint64_t)k, *width = w.frame->width;
    const double length = w.frame->length[axis];
    const int32_t cell = plugmc_cell_along(here[axis], width[axis], count);
    const int32_t cell_u = plugmc_cell_along(here[other], width[other], t->count[other]);
    found_path found = {{length, 0}, 0};
    int32_t all_seen = 0;
    for (int32_t step = 0; step < count; step += COLUMNS) {
        const int32_t on = step + lane / 3;
        if (!all_seen && lane < 3 * COLUMNS && on < count) {
            const int32_t ahead = cell + sign * on,
                          column =
                              ahead < 0 ? ahead + count : (ahead >= count ? ahead - count : ahead);
            const int32_t row = plugmc_cell_around(cell_u, lane % 3, t->count[other]);
            look_in_cell(t, w, k, axis, sign,
                         column * cell_stride(t, axis) + row * cell_stride(t, other), &found.path,
                         &found.overlaps);
        }
        for (int32_t lanes = 8; lanes > 0; lanes /= 2) {
            const free_path theirs = {__shfl_xor_sync(0xffffffffu, found.path.gap, lanes),
                                      __shfl_xor_sync(0xffffffffu, found.path.reach, lanes)};
            if (is_sooner(theirs, found.path)) found.path = theirs;
        }
        const double seen = seen_after(step + COLUMNS, cell, here[axis], sign, width[axis], length);
        all_seen |= found.path.gap <= seen - t->largest;
        if (__all_sync(0xffffffffu, all_seen)) break;
    }
    return found;
}

/* rift_share in a plane by a warp. */
static __device__ int64_t share_by_warp(const pressure_task *t, pressure_walker w, uint32_t k,
                                        int32_t axis, uint32_t *troubles)
{
    const found_path own = path_by_half(t, w, k, axis);
    const free_path up = {__shfl_sync(0xffffffffu, own.path.gap, 0),
                          __shfl_sync(0xffffffffu, own.path.reach, 0)},
                    down = {__shfl_sync(0xffffffffu, own.path.gap, 16),
                            __shfl_sync(0xffffffffu, own.path.reach, 16)};
    troubles[OVERLAPS] += own.overlaps;
    look_at_length(t, axis, up, down, troubles);
    return up.reach == 0 ? 0 : share_of(t, up, down);
}

/* Something of an entry of a walker that others have to do: `unsure` as in plane_shares. */
static __device__ void leave(pressure_left left, uint32_t walker, uint32_t k, uint32_t unsure)
{
    left.of[atomicAdd(left.count, 1u)] = (uint64_t)walker << 35 | (uint64_t)k << 3 | unsure;
}

/* The pairs of a warp's entries with those behind them, bits of places in their lists. Most have one or none, so all
 * are put in a row [PAIR_ROW] and shared out. */
static __device__ void count_pairs_together(const pressure_task *t, pressure_walker w,
                                            const around *list, uint32_t pairs, uint32_t *row,
                                            uint32_t *histogram, uint32_t *troubles)
{
    const uint32_t lane = threadIdx.x & 31, own = (uint32_t)__popc(pairs);
    uint32_t at = own;
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, at, lanes);
        if (lane >= lanes) at += before;
    }
    const uint32_t all = __shfl_sync(0xffffffffu, at, 31);
    at -= own;
    for (uint32_t done = 0; done < all; done += PAIR_ROW) {
        ONE_AT_A_TIME
        for (; pairs && at < done + PAIR_ROW; pairs &= pairs - 1, at++)
            row[at - done] = list->who[(__ffs((int)pairs) - 1) * list->stride] << 16 | list->own;
        __syncwarp();
        ONE_AT_A_TIME
        for (uint32_t i = lane; i < PAIR_ROW && done + i < all; i += 32) {
            const uint32_t place = row[i] & 0xffff;
            count_with(t, w, entry_of(list, place), list->places + list->step * place, list,
                       row[i] >> 16, histogram, troubles);
        }
        __syncwarp();
    }
}

/* What is around the entry at a place of the strip, all threads of a warp together. */
static __device__ plane_shares shares_in_strip(const pressure_task *t, pressure_walker w,
                                               const strip *s, const around *list, uint32_t *row,
                                               uint32_t *histogram, uint32_t *troubles)
{
    const double *here = list->places + list->step * list->own;
    const uint32_t listed = min(list->count, (uint32_t)AROUND), rounds = most_in_warp(listed);
    const survey seen = survey_of(t, w, s->entry, here, list, rounds);
    const plane_shares shares = likely_shares(t, w, s->entry, here, s->cell, s->y, list, &seen);
    __syncwarp();
    count_pairs_together(t, w, list, list->count > AROUND ? 0 : seen.pairs, row, histogram,
                         troubles);
    return shares;
}

/* The same of disks that are all alike, away from the edges of the box: what that spares is half of the work. */
static __device__ plane_shares simple_shares(const pressure_task *t, pressure_walker w,
                                             const strip *s, around list, uint32_t *row,
                                             uint32_t *histogram, uint32_t *troubles)
{
    list.inside = list.alike = 1;
    return shares_in_strip(t, w, s, &list, row, histogram, troubles);
}

/* For both axes of a plane, and pairs, without z: a strip a block of STRIP_BLOCK (grid_of_strips). What is not sure is
 * left; it would keep the other threads waiting, and take registers from them. Threads of a warp stay together: those
 * for whom no entry is left look at the last one, and count nothing. next [numbers]: counters for the next time, cleared.
 * Dynamic shared memory: strip_bytes, then lists and rows of pairs; what begins at a place that the compiler does not
 * know is kept in a register, and not worked out anew at each access. */
extern "C" __global__ void __launch_bounds__(STRIP_BLOCK, 1024 / STRIP_BLOCK)
    rifts_and_pairs(const __grid_constant__ pressure_task task, const pressure_counters first,
                    const pressure_left left, uint32_t *next, uint32_t numbers)
{
    plugmc_wait();
    extern __shared__ double2 memory[];
    uint32_t *who = (uint32_t *)((char *)memory + task.strip_bytes),
             *row = who + (AROUND + 1) * STRIP_BLOCK + threadIdx.x / 32 * PAIR_ROW;
    const pressure_walker w = pressure_walker_of(&task, blockIdx.z);
    const pressure_counters to = copy_for(first, blockIdx.x + blockIdx.y, blockIdx.z);
    uint32_t *histogram = task.bins > 0 ? to.histogram + (uint64_t)blockIdx.z * task.bins : NULL;
    int64_t share[2] = {0, 0};
    uint32_t troubles[TROUBLES] = {0};
    if (blockIdx.y == 0 && blockIdx.z == 0)
        for (uint32_t i = blockIdx.x * STRIP_BLOCK + threadIdx.x; i < numbers;
             i += gridDim.x * STRIP_BLOCK)
            next[i] = 0;
    strip s = strip_in(&task.strips, memory);
    const row_entries row_of = entries_of_row(&task.strips, task.count, w.start);
    for (uint32_t begin = row_of.begin + blockIdx.x * STRIP_BLOCK; begin < row_of.end;
         begin += gridDim.x * STRIP_BLOCK) {
        bring_strip(&s, &task.strips, task.count, w.frame, w.start, w.positions, begin, row_of.end);
        const int wanted = begin + threadIdx.x < row_of.end;
        if (s.brought) {
            const int mine = wanted && plugmc_is_yours(&task.share, s.places + 2 * s.place);
            around list = {who + threadIdx.x, STRIP_BLOCK, 0, s.places, s.entries, 2, 0, 0, 0};
            look_around_strip(&task, &s, &list);
            if (!mine) list.count = 0;
            __syncwarp();
            const plane_shares own =
                !s.at_edge && task.species_count == 1
                    ? simple_shares(&task, w, &s, list, row, histogram, troubles)
                    : shares_in_strip(&task, w, &s, &list, row, histogram, troubles);
            share[0] += own.along[0];
            share[1] += own.along[1];
            if (mine && own.unsure) leave(left, blockIdx.z, s.entry, own.unsure);
        } else if (wanted && pressure_is_yours(&task, w, s.entry)) {
            leave(left, blockIdx.z, s.entry, 3 | MANY_AROUND);
        }
        __syncthreads();
    }
    add_share(to.shares, share[0]);
    add_share(to.shares + 1, share[1]);
    add_troubles(to.troubles, troubles);
}

/* What rifts_and_pairs has left, a warp an entry and axis: each waits for memory long enough. Into the first copy of the
 * counters. */
extern "C" __global__ void rifts_left(const __grid_constant__ pressure_task task,
                                      const pressure_counters to, const pressure_left left)
{
    plugmc_wait();
    const uint32_t warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x & 31, n = *left.count;
    for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < 2 * n; i += warps) {
        const uint64_t of = left.of[i / 2];
        const uint32_t walker = (uint32_t)(of >> 35), k = (uint32_t)(of >> 3),
                       unsure = (uint32_t)of & 7;
        const int32_t axis = (int32_t)(i & 1);
        const pressure_walker w = pressure_walker_of(&task, walker);
        uint32_t troubles[TROUBLES] = {0};
        if (unsure >> axis & 1) {
            const int64_t share = share_by_warp(&task, w, k, axis, troubles);
            if (lane == 0) atomicAdd(to.shares + 3 * walker + axis, (unsigned long long)share);
        }
        if (axis == 0 && unsure & MANY_AROUND && lane == 0)
            count_pairs(&task, w, k, task.bins > 0 ? to.histogram + walker * task.bins : NULL,
                        troubles);
        add_troubles(to.troubles, troubles);
    }
}
