/* wide.cu: the sub-sweep where many particles are near a cell, as in a fluid of Lennard-Jones atoms in
 * three dimensions: a warp takes a cell. Its text follows that of trial.cu.
 *
 * The particles near the cell are gathered once, into a list in shared memory, and lane k meets entries
 * k, k + 32, ... of it. Energies are added in a fixed order, which is part of the chain: each lane
 * adds up its own entries in the order of the list, and the sums of the lanes are added like the
 * leaves of a tree, k and k + 16 first. The CPU does the same (change_energies in row.c).
 *
 * The list: the cell's own particles in the order of their slots, filled up to whole rounds of the
 * warp with entries that are nowhere; then those of other cells within the range of the cell: slot 0
 * of all cells, in their order, then slot 1 of all, and so on; filled up likewise.
 */
#define CB_ALL 0xffffffffu
#define CB_ROUNDED(n) (((n) + 31) & ~31)
#define CB_ROOM (CB_ROUNDED(CB_CAP) + CB_ROUNDED(CB_NEAR))
#define CB_TURNS (CB_ROUNDED(CB_CAP) / 32) /* own particles a lane */

/* The list of a warp. Coordinates are relative to the centre of its cell. */
typedef struct cb_list {
    float x[CB_ROOM], y[CB_ROOM];
#if DIM == 3
    float z[CB_ROOM];
#endif
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_ROOM];
#endif
} cb_list;

/* values[k / 32], without an index that the compiler does not know. */
PLUGMC_FN int cb_of_turn(const int values[CB_TURNS], int k)
{
    int value = values[0];
#pragma unroll
    for (int h = 1; h < CB_TURNS; h++) value = k >= 32 * h ? values[h] : value;
    return value;
}

PLUGMC_FN float cb_z(cb_vector v)
{
#if DIM == 3
    return v.z;
#else
    return 0.0f;
#endif
}

PLUGMC_FN float cb_list_z(const cb_list *list, int e)
{
#if DIM == 3
    return list->z[e];
#else
    return 0.0f;
#endif
}

PLUGMC_FN int cb_list_species(const cb_list *list, int e)
{
#if PLUGMC_SPECIES > 1
    return list->species[e];
#else
    return 0;
#endif
}

PLUGMC_FN void cb_place(cb_list *list, int e, float x, float y, float z)
{
    list->x[e] = x;
    list->y[e] = y;
#if DIM == 3
    list->z[e] = z;
#endif
}

/* v: what slot `slot` holds. */
PLUGMC_FN void cb_set_species(cb_list *list, int e, cb_vector v, const uint32_t *ids, int slot)
{
#if PLUGMC_SPECIES > 1
    list->species[e] = (uint8_t)cb_species(cb_id(v, ids, slot));
#endif
}

/* Entries n and on, up to a whole round. */
PLUGMC_FN void cb_fill_up(cb_list *list, int lane, int n)
{
    if (n + lane >= CB_ROUNDED(n)) return;
    cb_place(list, n + lane, PLUGMC_NOWHERE, 0.0f, 0.0f);
#if PLUGMC_SPECIES > 1
    list->species[n + lane] = 0;
#endif
}

/* Makes the list for a cell with n > 0 particles; returns its length. A lane asks one cell, in two
 * dimensions three lanes do, and several slots at once, so that their latencies overlap. More
 * particles than there is room for are left out, and *overflow is set. */
PLUGMC_FN int cb_gather(cb_list *list, int lane, cb_task task, const cb_vector *at,
                        const uint32_t *ids, const uint8_t *n_of, int n, cb_walls walls,
                        int *overflow)
{
    enum { SHARE = 32 / NEIGHBOURS, AHEAD = 4 };
    const int c = lane % NEIGHBOURS, k0 = lane / NEIGHBOURS;
    const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
    const int place = cb_neighbour(task, c), slot = cb_slot(place);
    const int there = k0 < SHARE && c != NEIGHBOURS / 2 ? n_of[place] : 0;

    const int first = cb_slot(cb_cell(task.x, task.y, task.z));
    for (int k = lane; k < n; k += 32) {
        const int mine = first + CB_PITCH * k;
        const cb_vector v = at[mine];
        cb_place(list, k, v.x, v.y, cb_z(v));
        cb_set_species(list, k, v, ids, mine);
    }
    cb_fill_up(list, lane, n);

    const int begin = CB_ROUNDED(n);
    int m = begin;
    for (int k1 = k0; __any_sync(CB_ALL, k1 < there); k1 += SHARE * AHEAD) {
        cb_vector v[AHEAD];
#pragma unroll
        for (int h = 0; h < AHEAD; h++)
            v[h] = at[slot + CB_PITCH * (k1 + SHARE * h < there ? k1 + SHARE * h : 0)];
#pragma unroll
        for (int h = 0; h < AHEAD; h++) {
            const int k = k1 + SHARE * h;
            const float jx = v[h].x + (float)sx, jy = v[h].y + (float)sy,
                        jz = cb_z(v[h]) + (float)sz;
            const bool near =
                k < there && cb_square_outside(DIM, jx, jy, jz, sx, sy, sz, walls.ratio_y,
                                               walls.ratio_z) < walls.reach;
            const unsigned found = __ballot_sync(CB_ALL, near);
            const int e = m + __popc(found & ((1u << lane) - 1));
            m += __popc(found);
            if (!near || e >= begin + CB_NEAR) continue;
            cb_place(list, e, jx, jy, jz);
            cb_set_species(list, e, v[h], ids, slot + CB_PITCH * k);
        }
    }
    if (m > begin + CB_NEAR) {
        if (lane == 0) *overflow = 2;
        m = begin + CB_NEAR;
    }
    cb_fill_up(list, lane, m);
    __syncwarp();
    return CB_ROUNDED(m);
}

/* order[h]: the slot whose turn is number lane + 32 h, in a random permutation of the first n: that of
 * exchanges of k = n - 1, n - 2, ... 1 with partners drawn from 0 ... k. What comes to stand in a place
 * is found from the place, by going through the exchanges backwards. */
PLUGMC_FN void cb_order_of_lanes(plugmc_seed seed, uint64_t sweep, int walker, uint32_t cell,
                                 int lane, int n, int order[CB_TURNS])
{
    int partner[CB_TURNS];
#pragma unroll
    for (int h = 0; h < CB_TURNS; h++) {
        const int k = lane + 32 * h;
        order[h] = k;
        partner[h] = 0;
        if (!CB_SHUFFLE || 32 * h >= n) continue;
        const plugmc_random r =
            plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
        partner[h] = (int)plugmc_below(cb_word(r, k), k + 1);
    }
    for (int k = 1; CB_SHUFFLE && k < n; k++) {
        const int j = __shfl_sync(CB_ALL, cb_of_turn(partner, k), k & 31);
#pragma unroll
        for (int h = 0; h < CB_TURNS; h++)
            order[h] = order[h] == k ? j : order[h] == j ? k : order[h];
    }
}

/* What a cell draws for a trial move. */
typedef struct cb_draw {
    float dx, dy, dz, uniform;
} cb_draw;

PLUGMC_FN cb_draw cb_draw_trial(plugmc_seed seed, uint64_t sweep, int walker, uint32_t cell, int t,
                                const float *step)
{
    cb_draw d;
    d.dz = d.uniform = 0.0f;
#if DIM == 2
    const plugmc_random r = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t >> 2);
    cb_displacement_2(cb_word(r, t), step[0], step[1], &d.dx, &d.dy);
#else
    const plugmc_random r = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t);
    cb_displacement_3(r, step[0], step[1], step[2], &d.dx, &d.dy, &d.dz);
#endif
#if PLUGMC_ENERGY_TERMS > 0
    const plugmc_random u = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ACCEPT, t >> 2);
    d.uniform = plugmc_uniform_float(cb_word(u, t));
#endif
    return d;
}

PLUGMC_FN float cb_square(cb_walls walls, float x, float y, float z)
{
    y *= walls.ratio_y;
    z *= walls.ratio_z;
    const float square = fmaf(y, y, x * x);
    return DIM == 3 ? fmaf(z, z, square) : square;
}

/* Meets the lane's entries but the particle itself, which is entry i. Most are out of range before and
 * after the move, add exactly nothing, and are passed over: the lane first notes who is not, in the
 * bits of a word, a bit a round. */
PLUGMC_FN void cb_meet_all(cb_trial *trial, cb_walls walls, const cb_list *list, int lane,
                           int length, int i)
{
    for (int begin = lane; begin < length; begin += 32 * 32) {
        const int rounds = (length - begin + 31) / 32;
        uint32_t met = 0;
#pragma unroll 4
        for (int r = 0; r < (rounds < 32 ? rounds : 32); r++) {
            const int e = begin + 32 * r;
            const float jx = list->x[e], jy = list->y[e], jz = cb_list_z(list, e);
            bool meets = cb_square(walls, trial->new_x - jx, trial->new_y - jy, trial->new_z - jz) <
                         walls.reach;
            if (PLUGMC_ENERGY_TERMS > 0)
                meets |= cb_square(walls, trial->old_x - jx, trial->old_y - jy, trial->old_z - jz) <
                         walls.reach;
            met |= (uint32_t)(meets && e != i) << r;
        }
        for (; met; met &= met - 1) {
            const int e = begin + 32 * (__ffs((int)met) - 1);
            cb_meet(trial, walls, list->x[e], list->y[e], cb_list_z(list, e),
                    cb_list_species(list, e));
        }
    }
    __syncwarp();
}

/* Whether the warp accepts the trial move, whose particle stays in the cell: the same in all lanes.
 * *lost: the change of energy is not a number, or minus infinity. */
PLUGMC_FN bool cb_accepts(const cb_trial *trial, cb_walls walls, const cb_walker *walkers,
                          int walker, float uniform, bool *lost)
{
    *lost = false;
    if (__any_sync(CB_ALL, cb_overlaps(trial, walls))) return false;
#if PLUGMC_ENERGY_TERMS > 0
    float change = cb_change(trial, walkers, walker);
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) change += __shfl_xor_sync(CB_ALL, change, d);
    *lost = !(change > -PLUGMC_NO_RANGE);
    return *lost || uniform < cb_probability(change);
#else
    return true;
#endif
}

/* Sub-sweep number `part` of sweep number `index` of the batch: one warp a cell of the set. id is not
 * read with one species. If there are more than CB_NEAR particles near a cell, its state is of no use;
 * after a change of energy that is not a number, all stay as they are. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_subsweep(uint64_t key, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const cb_walker *__restrict__ walkers,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts,
                cb_trouble *trouble CB_WINDOW)
{
    const plugmc_seed seed = cb_seed_of(key);
    __shared__ cb_list lists[CB_BLOCK / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    cb_list *list = &lists[warp];
    uint32_t accepted = 0;
    cb_task task;
    int n = 0, own = 0;
    plugmc_wait();
    if (cb_find_task(blockIdx.x * (CB_BLOCK / 32) + warp, plans, batch, index, part,
                     &task CB_OF_WINDOW)) {
        own = cb_cell(task.x, task.y, task.z);
        n = count[(size_t)task.walker * CELLS + own];
        if (PLUGMC_ENERGY_TERMS > 0 && trouble->lost) n = 0;
    }
    if (n > 0) {
        const int walker = task.walker, first = cb_slot(own);
        const cb_walls walls = cb_walls_of(walkers, walker);
        cb_vector *at = coordinate + (size_t)walker * SLOTS;
        const uint64_t sweep = *base + index;
        const uint32_t cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
        const int length = cb_gather(list, lane, task, at, id + (size_t)walker * SLOTS,
                                     count + (size_t)walker * CELLS, n, walls, &trouble->overflow);
        int order[CB_TURNS], turn = 0;
        cb_order_of_lanes(seed, sweep, walker, cell, lane, n, order);
        cb_draw drawn;      /* for trial move number lane, lane + 32, ... */
        uint32_t moved = 0; /* of the lane's own: bit h for slot lane + 32 h */
        for (int t = 0; t < CB_TRIALS; t++) {
            if ((t & 31) == 0)
                drawn =
                    cb_draw_trial(seed, sweep, walker, cell, t + lane, cb_step_of(walkers, walker));
            const int i = __shfl_sync(CB_ALL, cb_of_turn(order, turn), turn & 31);
            turn = turn + 1 == n ? 0 : turn + 1;
            cb_trial trial = cb_begin_trial(
                list->x[i], list->y[i], cb_list_z(list, i), __shfl_sync(CB_ALL, drawn.dx, t & 31),
                __shfl_sync(CB_ALL, drawn.dy, t & 31), __shfl_sync(CB_ALL, drawn.dz, t & 31),
                cb_list_species(list, i));
            const float uniform = __shfl_sync(CB_ALL, drawn.uniform, t & 31);
            if (!cb_stays(&trial)) continue;
            cb_meet_all(&trial, walls, list, lane, length, i);
            bool lost;
            if (!cb_accepts(&trial, walls, walkers, walker, uniform, &lost)) continue;
            if (lane == 0) cb_place(list, i, trial.new_x, trial.new_y, trial.new_z);
            __syncwarp();
            if ((i & 31) == lane) moved |= 1u << (i >> 5);
            accepted++;
            if (!lost) continue;
            trouble->lost = sweep + 1;
            break;
        }
        for (int k = lane; k < n; k += 32) {
            if (!(moved >> (k >> 5) & 1)) continue;
            at[first + CB_PITCH * k].x = list->x[k];
            at[first + CB_PITCH * k].y = list->y[k];
#if DIM == 3
            at[first + CB_PITCH * k].z = list->z[k];
#endif
        }
    }
    const bool counted = n > 0 && lane == 0 && cb_is_own(task.y, task.z CB_OF_WINDOW);
    cb_count_of(walkers, n > 0 ? task.walker : 0, counted ? CB_TRIALS : 0, counted ? accepted : 0,
                counts);
}
