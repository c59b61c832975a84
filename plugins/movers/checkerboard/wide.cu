/* wide.cu: the sub-sweep where many particles are near a cell, as in a fluid of Lennard-Jones atoms in
 * three dimensions: a block takes a cell. Its text follows that of trial.cu.
 *
 * The particles near the cell are gathered once, into a list in shared memory: the cell's own in the order of their
 * slots, then those of other cells within the range of the cell: slot 0 of all cells, in their order, then slot 1 of all, and
 * so on. Then come as many trial moves as no particle has twice. A warp finds what the others, who stay where they are, do to
 * a move, and what the cell's own particles do from where they are now. Then each lane of the first warp decides a move. The
 * first that is accepted is made, and those after it are decided again.
 *
 * Energies are added in a fixed order, which is part of the chain. Own particle k adds to sum k, modulo 32, and the sums are added
 * like the leaves of a tree, k and k + 16 first. Of the others those that are looked at (cb_most_bytes) are numbered in the order of the
 * list; number k adds to sum k, modulo 32, of as many more sums, which are added likewise. The CPU does the same (wide.c).
 */
#define CB_ALL 0xffffffffu
#define CB_ROUNDED(n) (((n) + 31) & ~31)
#define CB_OTHERS CB_ROUNDED(CB_CAP) /* first entry of another cell */
#define CB_TURNS (CB_OTHERS / 32)    /* own particles a lane */
#define CB_WARPS (CB_BLOCK / 32)
/* Moves that are weighed at a time; entries that are looked at, and particles that are then met, before the rest; room for
 * those, at whose end each lane has a place for entries that do not count. */
#define CB_MOVES (CB_TRIALS < 32 ? CB_TRIALS : 32)
#define CB_AT_A_TIME 64
#define CB_CHOSEN_ROOM (2 * CB_AT_A_TIME + 32)

/* The list of a cell. Coordinates are relative to its centre. */
typedef struct cb_list {
    float x[CB_OTHERS + CB_NEAR], y[CB_OTHERS + CB_NEAR];
#if DIM == 3
    float z[CB_OTHERS + CB_NEAR];
#endif
    uint32_t bytes[CB_NEAR + CB_AT_A_TIME]; /* x, y, z of the others, see cb_byte */
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_OTHERS + CB_NEAR];
#endif
    int found[2][CB_WARPS]; /* entries, by each warp */
} cb_list;

/* Trial moves of different particles. */
typedef struct cb_moves {
    float own[CB_MOVES][36]; /* sums of changes of the energy by own particles, 32 a move */
    float others[CB_MOVES];  /* the change by others */
    float x[CB_MOVES], y[CB_MOVES], z[CB_MOVES]; /* new */
    float uniform[CB_MOVES];
    uint32_t bytes[CB_MOVES], most[CB_MOVES]; /* the middle of old and new; see cb_most_bytes */
    uint32_t overlaps[CB_MOVES];              /* with own particles: bit k, modulo 32 */
    uint8_t entry[CB_MOVES], rejected[CB_MOVES];
    int n, lost;
} cb_moves;

/* values[k / 32], without an index that the compiler does not know. */
PLUGMC_FN int cb_of_turn(const int values[CB_TURNS], int k)
{
    int value = values[0];
#pragma unroll
    for (int h = 1; h < CB_TURNS; h++) value = k >= 32 * h ? values[h] : value;
    return value;
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

PLUGMC_FN void cb_sync()
{
    if (CB_WARPS > 1)
        __syncthreads();
    else
        __syncwarp();
}

/* Enters number e of the others, which is v in its own cell. */
PLUGMC_FN void cb_enter(cb_list *list, int e, cb_vector v, float jx, float jy, float jz,
                        cb_walls walls, float an_edge, const uint32_t *ids, int slot)
{
    cb_place(list, CB_OTHERS + e, jx, jy, jz);
    cb_set_species(list, CB_OTHERS + e, v, ids, slot);
    list->bytes[e] = cb_byte(jx, 1.0f, an_edge) | cb_byte(jy, walls.ratio_y, an_edge) << 8 |
                     (DIM == 3 ? cb_byte(jz, walls.ratio_z, an_edge) << 16 : 0u);
}

/* Makes the list for a cell with n > 0 particles; returns how many are in other cells. A lane asks one cell, in two
 * dimensions three lanes do, and several slots at once, so that their latencies overlap; so does each warp. More
 * particles than there is room for are left out, and *overflow is set. */
PLUGMC_FN int cb_gather(cb_list *list, int lane, int warp, cb_task task, const cb_vector *at,
                        const uint32_t *ids, const uint8_t *n_of, int n, cb_walls walls,
                        float an_edge, int *overflow)
{
    enum { SHARE = 32 / NEIGHBOURS, AHEAD = 4, SLOTS_A_WARP = SHARE * AHEAD };
    const int c = lane % NEIGHBOURS, k0 = lane / NEIGHBOURS;
    const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
    const int place = cb_neighbour(task, c), slot = cb_slot(place);
    const int there = k0 < SHARE && c != NEIGHBOURS / 2 ? n_of[place] : 0;

    const int first = cb_slot(cb_cell(task.x, task.y, task.z));
    for (int k = threadIdx.x; k < n; k += CB_BLOCK) {
        const int mine = first + CB_PITCH * k;
        const cb_vector v = at[mine];
        cb_place(list, k, v.x, v.y, cb_z(v));
        cb_set_species(list, k, v, ids, mine);
    }

    int m = 0, turn = 0;
    for (int k1 = k0; __any_sync(CB_ALL, k1 < there); k1 += SLOTS_A_WARP * CB_WARPS, turn ^= 1) {
        const int k2 = k1 + SLOTS_A_WARP * warp;
        cb_vector v[AHEAD];
        unsigned found[AHEAD];
        int before = 0, all = 0;
#pragma unroll
        for (int h = 0; h < AHEAD; h++)
            v[h] = at[slot + CB_PITCH * (k2 + SHARE * h < there ? k2 + SHARE * h : 0)];
#pragma unroll
        for (int h = 0; h < AHEAD; h++) {
            const bool near = k2 + SHARE * h < there &&
                              cb_square_outside(DIM, v[h].x + (float)sx, v[h].y + (float)sy,
                                                cb_z(v[h]) + (float)sz, sx, sy, sz, walls.ratio_y,
                                                walls.ratio_z) < walls.reach;
            found[h] = __ballot_sync(CB_ALL, near);
            all += __popc(found[h]);
        }
        if (CB_WARPS > 1) {
            if (lane == 0) list->found[turn][warp] = all;
            __syncthreads();
            all = 0;
#pragma unroll
            for (int w = 0; w < CB_WARPS; w++) {
                before += w < warp ? list->found[turn][w] : 0;
                all += list->found[turn][w];
            }
        }
        int e = m + before;
#pragma unroll
        for (int h = 0; h < AHEAD; h++) {
            const int mine = e + __popc(found[h] & ((1u << lane) - 1));
            e += __popc(found[h]);
            if ((found[h] >> lane & 1) && mine < CB_NEAR)
                cb_enter(list, mine, v[h], v[h].x + (float)sx, v[h].y + (float)sy,
                         cb_z(v[h]) + (float)sz, walls, an_edge, ids,
                         slot + CB_PITCH * (k2 + SHARE * h));
        }
        m += all;
    }
    if (m > CB_NEAR && threadIdx.x == 0) *overflow = 2;
    m = m < CB_NEAR ? m : CB_NEAR;
    /* whose fourth byte is further away than cb_most_bytes can be */
    for (int k = threadIdx.x; k < CB_AT_A_TIME; k += CB_BLOCK) list->bytes[m + k] = 0xff000000u;
    return m;
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

/* The next moves of the cell: those of trials t ... t + 31, as far as each particle has one. order and drawn: of the lane. */
PLUGMC_FN void cb_begin_moves(cb_moves *moves, const cb_list *list, int lane, cb_walls walls,
                              float an_edge, int n, int turn, int t, const int order[CB_TURNS],
                              const cb_draw *drawn)
{
    const int left = CB_TRIALS - t, room = 32 - (t & 31), once = n - turn;
    const int of_trials = left < room ? left : room, many = of_trials < once ? of_trials : once;
    const int from = (t + lane) & 31, place = turn + lane;
    const float dx = __shfl_sync(CB_ALL, drawn->dx, from),
                dy = __shfl_sync(CB_ALL, drawn->dy, from),
                dz = __shfl_sync(CB_ALL, drawn->dz, from),
                uniform = __shfl_sync(CB_ALL, drawn->uniform, from);
    int i = 0;
#pragma unroll
    for (int h = 0; h < CB_TURNS; h++) {
        const int there = __shfl_sync(CB_ALL, order[h], place & 31);
        i = place >> 5 == h ? there : i;
    }
    if (lane == 0) moves->n = many;
    if (lane < many) {
        const float x = list->x[i], y = list->y[i], z = cb_list_z(list, i);
        const cb_trial trial = cb_begin_trial(x, y, z, dx, dy, dz, 0);
        moves->x[lane] = trial.new_x;
        moves->y[lane] = trial.new_y;
        moves->z[lane] = trial.new_z;
        moves->uniform[lane] = uniform;
        moves->entry[lane] = (uint8_t)i;
        moves->rejected[lane] = !cb_stays(&trial);
        moves->bytes[lane] = cb_byte(x + 0.5f * dx, 1.0f, an_edge) |
                             cb_byte(y + 0.5f * dy, walls.ratio_y, an_edge) << 8 |
                             (DIM == 3 ? cb_byte(z + 0.5f * dz, walls.ratio_z, an_edge) << 16 : 0u);
        moves->most[lane] =
            cb_most_bytes(walls.reach, walls.ratio_y, walls.ratio_z, an_edge, dx, dy, dz);
    }
    __syncwarp();
}

/* Move number b, which has met nobody. */
PLUGMC_FN cb_trial cb_trial_of(const cb_moves *moves, const cb_list *list, int b)
{
    const int i = moves->entry[b];
    cb_trial trial = cb_begin_trial(list->x[i], list->y[i], cb_list_z(list, i), 0.0f, 0.0f, 0.0f,
                                    cb_list_species(list, i));
    trial.new_x = moves->x[b];
    trial.new_y = moves->y[b];
    trial.new_z = moves->z[b];
    return trial;
}

/* Numbers of entries that a warp has chosen, by an address in shared memory that stays in a register: of an array of a warp the
 * compiler finds it anew at each access, by six instructions. */
PLUGMC_FN uint32_t cb_address(uint16_t *numbers)
{
    uint32_t at;
    asm volatile("mov.u32 %0, %1;" : "=r"(at) : "r"((uint32_t)__cvta_generic_to_shared(numbers)));
    return at;
}

PLUGMC_FN void cb_choose(uint32_t numbers, int k, int entry)
{
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(numbers + 2 * k), "h"((uint16_t)entry));
}

PLUGMC_FN int cb_chosen(uint32_t numbers, int k)
{
    uint16_t entry;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(entry) : "r"(numbers + 2 * k));
    return entry;
}

/* Notes what own particles k, k + 32, ... do to move number b. */
PLUGMC_FN void cb_note(cb_moves *moves, cb_walls walls, const cb_walker *walkers, int walker, int b,
                       int k, const cb_trial *met)
{
#if CB_CORES
    if (cb_overlaps(met, walls))
        atomicOr(&moves->overlaps[b], 1u << k);
    else
        atomicAnd(&moves->overlaps[b], ~(1u << k));
#endif
#if PLUGMC_ENERGY_TERMS > 0
    moves->own[b][k] = cb_change(met, walkers, walker);
#endif
}

/* Finds that; k < 32. The particle that is moved does not meet itself. */
PLUGMC_FN void cb_weigh_own(cb_moves *moves, cb_walls walls, const cb_walker *walkers, int walker,
                            const cb_list *list, int n, int k, int b)
{
    cb_trial trial = cb_trial_of(moves, list, b);
    const int i = moves->entry[b];
    for (int e = k; e < n; e += 32)
        if (e != i)
            cb_meet_one(&trial, walls, list->x[e], list->y[e], cb_list_z(list, e),
                        cb_list_species(list, e));
    cb_note(moves, walls, walkers, walker, b, k, &trial);
}

/* Own particles are chosen, too, where each has a sum of its own. */
#define CB_OWN 0x8000

/* Move number b meets n of those that are chosen. */
PLUGMC_FN void cb_meet_chosen(cb_trial *trial, cb_walls walls, const cb_walker *walkers, int walker,
                              cb_moves *moves, const cb_list *list, uint32_t chosen, int lane,
                              int n, int b)
{
    __syncwarp();
#pragma unroll 1
    for (int k = lane; k < n; k += 32) {
        const int entry = cb_chosen(chosen, k), own = CB_TURNS == 1 && entry >= CB_OWN;
        const int e = own ? entry - CB_OWN : CB_OTHERS + entry;
        cb_trial met = *trial;
        if (own) cb_forget(&met);
        cb_meet_one(&met, walls, list->x[e], list->y[e], cb_list_z(list, e),
                    cb_list_species(list, e));
        if (own)
            cb_note(moves, walls, walkers, walker, b, e, &met);
        else
            *trial = met;
    }
    __syncwarp();
}

/* Move number b meets the particles of other cells, and own ones where each has a sum of its own. */
PLUGMC_FN void cb_meet_all(cb_trial *trial, cb_walls walls, const cb_walker *walkers, int walker,
                           cb_moves *moves, const cb_list *list, uint32_t chosen, int lane, int own,
                           int others, int b)
{
    const uint32_t below = (1u << lane) - 1, bytes = moves->bytes[b], most = moves->most[b];
    const int nowhere = 2 * CB_AT_A_TIME + lane;
    int n = 0;
#pragma unroll 1
    for (int begin = lane; begin < others + lane; begin += CB_AT_A_TIME) {
        uint32_t square[CB_AT_A_TIME / 32];
#pragma unroll
        for (int h = 0; h < CB_AT_A_TIME / 32; h++) {
            const uint32_t apart = __vabsdiffu4(list->bytes[begin + 32 * h], bytes);
            square[h] = __dp4a(apart, apart, 0u);
        }
#pragma unroll
        for (int h = 0; h < CB_AT_A_TIME / 32; h++) {
            const bool met = square[h] <= most;
            const unsigned all = __ballot_sync(CB_ALL, met);
            cb_choose(chosen, met ? n + __popc(all & below) : nowhere, begin + 32 * h);
            n += __popc(all);
        }
        if (n < CB_AT_A_TIME) continue;
        cb_meet_chosen(trial, walls, walkers, walker, moves, list, chosen, lane, CB_AT_A_TIME, b);
        n -= CB_AT_A_TIME;
        for (int k = lane; k < n; k += 32)
            cb_choose(chosen, k, cb_chosen(chosen, CB_AT_A_TIME + k));
    }
    if (CB_TURNS == 1) {
        const int i = moves->entry[b];
        cb_choose(chosen, lane < own && lane != i ? n + lane - (lane > i) : nowhere, lane | CB_OWN);
        n += own - 1;
    }
    cb_meet_chosen(trial, walls, walkers, walker, moves, list, chosen, lane, n, b);
}

/* What the particles of other cells do to move number b, and its own: what own ones do is there already if they were
 * chosen. */
PLUGMC_FN void cb_weigh(cb_moves *moves, cb_walls walls, const cb_walker *walkers, int walker,
                        const cb_list *list, uint32_t chosen, int lane, int n, int others, int b)
{
    if (moves->rejected[b]) return;
    cb_trial trial = cb_trial_of(moves, list, b);
    if (lane == 0) moves->overlaps[b] = 0;
    if (PLUGMC_ENERGY_TERMS > 0) moves->own[b][lane] = 0.0f;
    cb_meet_all(&trial, walls, walkers, walker, moves, list, chosen, lane, n, others, b);
    if (__any_sync(CB_ALL, cb_overlaps(&trial, walls))) {
        if (lane == 0) moves->rejected[b] = 1;
        return;
    }
    if (CB_TURNS > 1) cb_weigh_own(moves, walls, walkers, walker, list, n, lane, b);
#if PLUGMC_ENERGY_TERMS > 0
    float change = cb_change(&trial, walkers, walker);
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) change += __shfl_xor_sync(CB_ALL, change, d);
    if (lane == 0) moves->others[b] = change;
#endif
}

/* The sums of a move, added like the leaves of a tree. */
PLUGMC_FN float cb_sum_of_own(const float *sums)
{
    float4 a[8];
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = ((const float4 *)sums)[k];
#pragma unroll
    for (int half = 4; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++) {
            a[k].x += a[k + half].x;
            a[k].y += a[k + half].y;
            a[k].z += a[k + half].z;
            a[k].w += a[k + half].w;
        }
    return (a[0].x + a[0].z) + (a[0].y + a[0].w);
}

/* Whether move number b is accepted as things are. *lost: the change of energy is not a number, or minus
 * infinity. */
PLUGMC_FN bool cb_accepts(const cb_moves *moves, const cb_walker *walkers, int walker, int b,
                          bool *lost)
{
    *lost = false;
    if (moves->rejected[b] || moves->overlaps[b]) return false;
#if PLUGMC_ENERGY_TERMS > 0
    const float change = cb_sum_of_own(moves->own[b]) + moves->others[b];
    *lost = !(change > -PLUGMC_NO_RANGE);
    return *lost || moves->uniform[b] < cb_probability(change);
#else
    return true;
#endif
}

/* Decides the moves one after the other, up to one whose change of energy is not a number; returns how many are accepted.
 * moved: of the lane's own particles, bit h for slot lane + 32 h. */
PLUGMC_FN uint32_t cb_decide(cb_moves *moves, cb_walls walls, const cb_walker *walkers, int walker,
                             cb_list *list, int lane, int n, uint32_t *moved)
{
    const int many = moves->n;
    uint32_t accepted = 0;
    for (int next = 0; next < many;) {
        bool lost = false, accepts = false;
        if (lane >= next && lane < many) accepts = cb_accepts(moves, walkers, walker, lane, &lost);
        const int b = __ffs((int)__ballot_sync(CB_ALL, accepts)) - 1;
        if (b < 0) break;
        const int i = moves->entry[b];
        if (lane == b) {
            cb_place(list, i, moves->x[b], moves->y[b], moves->z[b]);
            if (lost) moves->lost = 1;
        }
        if ((i & 31) == lane) *moved |= 1u << (i >> 5);
        accepted++;
        next = b + 1;
        __syncwarp();
        if (PLUGMC_ENERGY_TERMS > 0 && moves->lost) break;
        if (lane >= next && lane < many && !moves->rejected[lane])
            cb_weigh_own(moves, walls, walkers, walker, list, n, i & 31, lane);
    }
    return accepted;
}

/* All trial moves of a cell with n particles; returns how many are accepted, in the first warp. */
PLUGMC_FN uint32_t cb_make_moves(cb_moves *moves, cb_walls walls, float an_edge,
                                 const cb_walker *walkers, cb_list *list, uint32_t chosen, int lane,
                                 int warp, plugmc_seed seed, uint64_t sweep, cb_task task, int n,
                                 int others, uint32_t *moved)
{
    const uint32_t cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
    uint32_t accepted = 0;
    int order[CB_TURNS], turn = 0;
    cb_draw drawn; /* for trial move number lane, lane + 32, ... */
    if (warp == 0) cb_order_of_lanes(seed, sweep, task.walker, cell, lane, n, order);
    for (int t = 0; t < CB_TRIALS;) {
        if (warp == 0) {
            if ((t & 31) == 0)
                drawn = cb_draw_trial(seed, sweep, task.walker, cell, t + lane,
                                      cb_step_of(walkers, task.walker));
            cb_begin_moves(moves, list, lane, walls, an_edge, n, turn, t, order, &drawn);
        }
        cb_sync();
        const int many = moves->n;
        for (int b = warp; b < many; b += CB_WARPS)
            cb_weigh(moves, walls, walkers, task.walker, list, chosen, lane, n, others, b);
        cb_sync();
        if (warp == 0)
            accepted += cb_decide(moves, walls, walkers, task.walker, list, lane, n, moved);
        t += many;
        turn = turn + many == n ? 0 : turn + many;
        if (t >= CB_TRIALS) break;
        cb_sync();
        if (PLUGMC_ENERGY_TERMS > 0 && moves->lost) break;
    }
    return accepted;
}

/* Sub-sweep number `part` of sweep number `index` of the batch: one block a cell of the set. id is not
 * read with one species. If there are more than CB_NEAR particles near a cell, its state is of no use;
 * after a change of energy that is not a number, all stay as they are. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK, CB_RESIDENT)
    cb_subsweep(uint64_t key, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const cb_walker *__restrict__ walkers,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts,
                cb_trouble *trouble CB_WINDOW)
{
    __shared__ cb_list list;
    __shared__ __align__(16) cb_moves moves;
    __shared__ uint16_t chosen[CB_WARPS][CB_CHOSEN_ROOM];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    cb_task task;
    plugmc_wait();
    if (!cb_find_task(blockIdx.x, plans, batch, index, part, &task CB_OF_WINDOW)) return;
    const int own = cb_cell(task.x, task.y, task.z), walker = task.walker;
    const uint8_t *n_of = count + (size_t)walker * CELLS;
    const int n = n_of[own];
    /* all warps must see the same of what other blocks may write meanwhile */
    if (PLUGMC_ENERGY_TERMS > 0 && __syncthreads_or(trouble->lost != 0)) return;
    if (n == 0) return;
    const cb_walls walls = cb_walls_of(walkers, walker);
    const float an_edge = cb_bytes_an_edge(walls.reach, walls.ratio_y, walls.ratio_z);
    cb_vector *at = coordinate + (size_t)walker * SLOTS;
    const uint64_t sweep = *base + index;
    if (threadIdx.x == 0) moves.lost = 0;
    const int others = cb_gather(&list, lane, warp, task, at, id + (size_t)walker * SLOTS, n_of, n,
                                 walls, an_edge, &trouble->overflow);
    cb_sync();
    uint32_t moved = 0;
    const uint32_t accepted =
        cb_make_moves(&moves, walls, an_edge, walkers, &list, cb_address(chosen[warp]), lane, warp,
                      cb_seed_of(key), sweep, task, n, others, &moved);
    if (warp > 0) return;
    if (moves.lost && lane == 0) trouble->lost = sweep + 1;
    const int first = cb_slot(own);
    for (int k = lane; k < n; k += 32) {
        if (!(moved >> (k >> 5) & 1)) continue;
        at[first + CB_PITCH * k].x = list.x[k];
        at[first + CB_PITCH * k].y = list.y[k];
#if DIM == 3
        at[first + CB_PITCH * k].z = list.z[k];
#endif
    }
    const bool counted = lane == 0 && cb_is_own(task.y, task.z CB_OF_WINDOW);
    cb_count_of(walkers, walker, counted ? CB_TRIALS : 0, counted ? accepted : 0, counts);
}
