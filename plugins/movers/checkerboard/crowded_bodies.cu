/* crowded_bodies.cu: the sub-sweep of hard bodies of which many are near a cell, as of long rods: a block takes it. Its text follows
 * that of body_moves.cu.
 *
 * As many trial moves as no body has twice are made together. Warps look at all pairs of a move and a body near the cell, each at
 * 32 of these bodies at a time: pairs in reach go into a list of the warp's, from which its lanes take them. Potentials that
 * find most of those which are apart by a quick look (PLUGMC_BODY_APART) have that before, and the rest goes into a second list, so
 * that no lane idles while others look on. Where the other
 * body has a move as well, an earlier one of the cell, both its positions are looked at. In the end moves are decided in their
 * order, by bits: so all decisions are those of moves that are made one after the other. */
#define CB_WARPS (CB_BLOCK / 32)
#define CB_MOVE_BITS 4
#define CB_MOVES (CB_TRIALS < 16 ? CB_TRIALS : 16)
/* Bodies near the cell; behind them, from CB_NEAR on, bodies after their moves. */
#define CB_ENTRIES (CB_NEAR + CB_MOVES)
#define CB_NONE 255

/* Bodies near the cell, its own first. */
typedef struct cb_near {
    float x[CB_ENTRIES], y[CB_ENTRIES];
#if DIM == 3
    float z[CB_ENTRIES];
#endif
    cb_parts parts[CB_ENTRIES];
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_ENTRIES];
#endif
    float axis[3][plugmc_any_quick_look ? CB_NEAR + CB_MOVES : 1]; /* x of the body */
    int count; /* of entries, or of those that would be there if there were room */
} cb_near;

/* Trial moves of different bodies of the cell. Bits are those of moves. */
typedef struct cb_moves {
    float4 at[CB_MOVES]; /* x, y, z after the move, and bits of its entry */
    plugmc_pose pose[CB_MOVES];
    uint32_t were[CB_MOVES],
        come[CB_MOVES]; /* earlier moves: the move overlaps with that body as it was, as it has become */
    uint32_t rejected;       /* whatever becomes of other moves */
    uint8_t move_of[CB_CAP]; /* of an entry of the cell; or CB_NONE */
    uint8_t order[CB_CAP], partner[CB_CAP];
    uint8_t changed[CB_CAP]; /* bits of kinds of moves */
    /* of each warp: entry * 2^CB_MOVE_BITS + move */
    uint16_t pairs[CB_WARPS][32 * CB_MOVES + 32], rest[CB_WARPS][64];
} cb_moves;

PLUGMC_FN void cb_enter(cb_near *near, int k, float x, float y, float z, uint32_t number, int4 o)
{
    near->x[k] = x;
    near->y[k] = y;
#if DIM == 3
    near->z[k] = z;
#endif
    near->parts[k] = cb_parts_of(o);
    if (plugmc_any_quick_look) {
        const plugmc_orientation turned = cb_of_int4(o);
        const plugmc_pose pose = plugmc_pose_of(&turned, DIM);
        for (int d = 0; d < 3; d++) near->axis[d][k] = pose.x[d];
    }
#if PLUGMC_SPECIES > 1
    near->species[k] = (uint8_t)cb_species(number);
#endif
}

PLUGMC_FN float cb_z_near(const cb_near *near, int k)
{
#if DIM == 3
    return near->z[k];
#else
    return 0.0f;
#endif
}

PLUGMC_FN int cb_species_near(const cb_near *near, int k)
{
#if PLUGMC_SPECIES > 1
    return near->species[k];
#else
    return 0;
#endif
}

PLUGMC_FN plugmc_orientation cb_orientation_near(const cb_near *near, int k)
{
    return cb_of_int4(cb_orientation_of(near->parts[k]));
}

/* The cell's own bodies are entries 0 ... n - 1, in the order of slots; of the others, whose order is of no matter, a warp takes
 * some cells, and of each slots at once, so that their latencies overlap. */
PLUGMC_FN void cb_gather_crowd(cb_near *near, int lane, int warp, cb_task task, int n,
                               cb_walls walls, const uint8_t *counts, const cb_vector *at,
                               const uint32_t *ids, const int4 *orientations)
{
    enum { AHEAD = 4, ROUNDS = (CB_CAP + 31) / 32 };
    for (int first = warp; first < NEIGHBOURS; first += AHEAD * CB_WARPS)
        for (int round = 0; round < ROUNDS; round++) {
            cb_vector v[AHEAD];
            uint32_t number[AHEAD];
            int4 o[AHEAD];
            bool is_near[AHEAD];
            const int k = lane + 32 * round;
#pragma unroll
            for (int h = 0; h < AHEAD; h++) {
                const int c = first + h * CB_WARPS;
                const int place = c < NEIGHBOURS ? cb_neighbour(task, c) : 0;
                const int from = cb_slot(place) + CB_PITCH * k;
                is_near[h] = c < NEIGHBOURS && k < counts[place];
                if (!is_near[h]) continue;
                v[h] = at[from];
                number[h] = cb_id(v[h], ids, from);
                o[h] = orientations[number[h]];
            }
#pragma unroll
            for (int h = 0; h < AHEAD; h++) {
                const int c = first + h * CB_WARPS;
                const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
                float x = 0.0f, y = 0.0f, z = 0.0f;
                if (is_near[h]) {
                    x = v[h].x + (float)sx;
                    y = v[h].y + (float)sy;
                    z = cb_z(v[h]) + (float)sz;
                    is_near[h] = c == NEIGHBOURS / 2 ||
                                 cb_square_outside(DIM, x, y, z, sx, sy, sz, walls.ratio_y,
                                                   walls.ratio_z) < walls.reach;
                }
                if (c == NEIGHBOURS / 2) {
                    if (is_near[h]) cb_enter(near, k, x, y, z, number[h], o[h]);
                    continue;
                }
                const uint32_t all = __ballot_sync(CB_WHOLE_WARP, is_near[h]);
                int to = 0;
                if (lane == 0 && all) to = atomicAdd(&near->count, __popc(all));
                to = __shfl_sync(CB_WHOLE_WARP, to, 0) + __popc(all & ((1u << lane) - 1));
                if (is_near[h] && to < CB_NEAR) cb_enter(near, to, x, y, z, number[h], o[h]);
            }
        }
}

/* A random permutation of the first n slots, that of exchanges of k = n - 1, n - 2, ... 1 with partners drawn from 0 ... k. What comes
 * to stand in a place is found from the place, by going through the exchanges backwards. */
PLUGMC_FN void cb_draw_partner(cb_moves *moves, plugmc_seed seed, uint64_t sweep, int walker,
                               uint32_t cell, int k, int n)
{
    if (k >= n) return;
    const plugmc_random r = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
    moves->partner[k] = CB_SHUFFLE ? (uint8_t)plugmc_below(cb_word(r, k), k + 1) : (uint8_t)k;
    moves->changed[k] = 0;
}

PLUGMC_FN void cb_find_turn(cb_moves *moves, int place, int n)
{
    int from = place;
    if (place >= n) return;
    for (int k = 1; k < n; k++) {
        const int j = moves->partner[k];
        from = from == k ? j : from == j ? k : from;
    }
    moves->order[place] = (uint8_t)from;
}

/* Trial `t` of the cell, which is move b, of the body whose turn it is. Returns whether it turns it. */
PLUGMC_FN bool cb_begin_move(cb_moves *moves, cb_near *near, plugmc_seed seed, uint64_t sweep,
                             int walker, uint32_t cell, int t, int n, int b, const float *step,
                             double largest)
{
    const plugmc_random random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t);
    const plugmc_random kinds =
        plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORIENTATION, t >> 2);
    const bool turns = cb_word(kinds, t) < CB_ROTATIONS;
    const int i = moves->order[t % n];
    cb_body body = {};
    body.placed.orientation = cb_orientation_near(near, i);
    body.x = near->x[i];
    body.y = near->y[i];
    body.z = cb_z_near(near, i);
    if (!cb_move(&body, random, turns, step, largest)) atomicOr(&moves->rejected, 1u << b);
    cb_enter(near, CB_NEAR + b, body.x, body.y, body.z, 0, cb_int4(body.placed.orientation));
#if PLUGMC_SPECIES > 1
    near->species[CB_NEAR + b] = near->species[i];
#endif
    moves->at[b] = make_float4(body.x, body.y, body.z, plugmc_float_of_bits((uint32_t)i));
    moves->pose[b] = plugmc_pose_of(&body.placed.orientation, DIM);
    moves->were[b] = moves->come[b] = 0;
    moves->move_of[i] = (uint8_t)b;
    return turns;
}

/* Separation of move b from entry k. */
PLUGMC_FN plugmc_separation cb_apart(const cb_near *near, const cb_moves *moves, int k, int b,
                                     cb_walls walls)
{
    const float4 at = moves->at[b];
    return cb_separation(at.x - near->x[k], at.y - near->y[k], at.z - cb_z_near(near, k), walls);
}

/* Whether move b overlaps with entry k. */
PLUGMC_FN bool cb_overlap(const cb_near *near, const cb_moves *moves, int k, int b, cb_walls walls)
{
    plugmc_placed moved = {}, other = {};
    moved.site = plugmc_site_of_species(cb_species_near(near, CB_NEAR + b));
    moved.orientation = cb_orientation_near(near, CB_NEAR + b);
    moved.pose = moves->pose[b];
    other.site = plugmc_site_of_species(cb_species_near(near, k));
    other.orientation = cb_orientation_near(near, k);
    plugmc_body_sums none = {};
    return plugmc_meet(cb_apart(near, moves, k, b, walls), &moved, &other, &none);
}

/* Whether a quick look shows that it does not. */
PLUGMC_FN bool cb_quickly_apart(const cb_near *near, const cb_moves *moves, int k, int b,
                                cb_walls walls)
{
    float axis[2][3];
    for (int d = 0; d < 3; d++) {
        axis[0][d] = moves->pose[b].x[d];
        axis[1][d] = near->axis[d][k];
    }
    return plugmc_surely_apart(cb_apart(near, moves, k, b, walls), axis[0], axis[1],
                               plugmc_site_of_species(cb_species_near(near, CB_NEAR + b)),
                               plugmc_site_of_species(cb_species_near(near, k)));
}

/* Move b overlaps with entry k. */
PLUGMC_FN void cb_note(cb_moves *moves, int k, int b, int n)
{
    const int earlier = k >= CB_NEAR ? k - CB_NEAR : k < n ? moves->move_of[k] : CB_NONE;
    if (earlier >= b) /* it does not move before */
        atomicOr(&moves->rejected, 1u << b);
    else if (k >= CB_NEAR)
        atomicOr(&moves->come[b], 1u << earlier);
    else
        atomicOr(&moves->were[b], 1u << earlier);
}

PLUGMC_FN uint32_t cb_rejected(const cb_moves *moves)
{
    return *(const volatile uint32_t *)&moves->rejected;
}

/* Pairs in reach of entry k of this lane and one of its moves, bits, that are not yet rejected: into the list that has `count`
 * already. Returns how many there are then. */
PLUGMC_FN int cb_list_pairs(const cb_near *near, const cb_moves *moves, uint16_t *pairs, int count,
                            int lane, int k, uint32_t of, int made, cb_walls walls)
{
    const uint32_t before = (1u << lane) - 1;
    /* other warps reject moves meanwhile: all lanes go by what the first has read, so that they vote together */
    const uint32_t read = __shfl_sync(CB_WHOLE_WARP, cb_rejected(moves), 0);
    const uint32_t left = ~read & ((1u << made) - 1);
    const float x = near->x[k], y = near->y[k], z = cb_z_near(near, k);
#pragma unroll
    for (int b = 0; b < CB_MOVES; b++) {
        if (!(left >> b & 1)) continue;
        const float4 at = moves->at[b];
        const float square = cb_square(at.x - x, at.y - y, at.z - z, walls);
        const bool in_reach = (square < walls.reach) & ((of >> b & 1) != 0);
        const uint32_t all = __ballot_sync(CB_WHOLE_WARP, in_reach);
        if (in_reach) pairs[count + __popc(all & before)] = (uint16_t)(k << CB_MOVE_BITS | b);
        count += __popc(all);
    }
    return count;
}

/* Moves that lane k of a tile looks at; of the first tile, which are bodies after their moves, later ones than its own. */
PLUGMC_FN uint32_t cb_moves_of_entry(const cb_moves *moves, int tile, int lane, int k, int made,
                                     int n, int m)
{
    if (tile == 0) return lane < made ? ~1u << lane : 0;
    if (k >= m) return 0;
    return k < n && moves->move_of[k] != CB_NONE ? ~(1u << moves->move_of[k]) : ~0u;
}

/* Takes up to 32 pairs from the end of a list; returns that of the lane, or -1. */
PLUGMC_FN int cb_take(const uint16_t *pairs, int *count, int lane)
{
    const int some = *count < 32 ? *count : 32;
    *count -= some;
    return lane < some ? pairs[*count + lane] : -1;
}

/* Lanes look at pairs of the list, until there are less than `least`. */
PLUGMC_FN int cb_look_at(const cb_near *near, cb_moves *moves, const uint16_t *pairs, int count,
                         int least, int lane, int n, cb_walls walls)
{
#pragma unroll 1
    while (count >= least) {
        const int pair = cb_take(pairs, &count, lane);
        const int b = pair & ((1 << CB_MOVE_BITS) - 1), k = pair >> CB_MOVE_BITS;
        if (pair >= 0 && !(cb_rejected(moves) >> b & 1) && cb_overlap(near, moves, k, b, walls))
            cb_note(moves, k, b, n);
        __syncwarp();
    }
    return count;
}

/* The same with a quick look before, whose rest goes into a second list with `others` already, fewer than 32; the last time all are looked at. */
PLUGMC_FN int cb_sift(const cb_near *near, cb_moves *moves, const uint16_t *pairs, int count,
                      uint16_t *rest, int *others, bool is_last, int lane, int n, cb_walls walls)
{
    const uint32_t before = (1u << lane) - 1;
#pragma unroll 1
    while (count >= (is_last ? 1 : 32)) {
        const int pair = cb_take(pairs, &count, lane);
        const int b = pair & ((1 << CB_MOVE_BITS) - 1), k = pair >> CB_MOVE_BITS;
        const bool stays = pair >= 0 && !(cb_rejected(moves) >> b & 1) &&
                           !cb_quickly_apart(near, moves, k, b, walls);
        const uint32_t all = __ballot_sync(CB_WHOLE_WARP, stays);
        if (stays) rest[*others + __popc(all & before)] = (uint16_t)pair;
        *others += __popc(all);
        __syncwarp();
        *others = cb_look_at(near, moves, rest, *others, 32, lane, n, walls);
    }
    /* also where there was nothing to sift in the end */
    if (is_last) *others = cb_look_at(near, moves, rest, *others, 1, lane, n, walls);
    return count;
}

/* All pairs of the first `made` moves and of the m bodies near the cell, n of which are its own. */
PLUGMC_FN void cb_look_at_pairs(const cb_near *near, cb_moves *moves, int lane, int warp, int made,
                                int n, int m, cb_walls walls)
{
    uint16_t *pairs = moves->pairs[warp];
    const int last = (m + 31) / 32;
    int count = 0, others = 0;
#pragma unroll 1
    for (int tile = warp; tile <= last; tile += CB_WARPS) {
        const bool is_last = tile + CB_WARPS > last;
        const int k = tile == 0 ? CB_NEAR + lane : 32 * (tile - 1) + lane;
        const uint32_t of = cb_moves_of_entry(moves, tile, lane, k, made, n, m);
        count = cb_list_pairs(near, moves, pairs, count, lane, of ? k : 0, of, made, walls);
        __syncwarp();
        if (plugmc_any_quick_look)
            count = cb_sift(near, moves, pairs, count, moves->rest[warp], &others, is_last, lane, n,
                            walls);
        else
            count = cb_look_at(near, moves, pairs, count, is_last ? 1 : 32, lane, n, walls);
    }
}

/* Which moves are accepted, bits: each lane has one, and depends on earlier ones alone, so this ends, and there is one answer. */
PLUGMC_FN uint32_t cb_decide(const cb_moves *moves, int lane, int made)
{
    uint32_t accepted = 0, before;
    const bool possible = lane < made && !(moves->rejected >> lane & 1);
    const uint32_t were = possible ? moves->were[lane] : 0, come = possible ? moves->come[lane] : 0;
    do {
        before = accepted;
        accepted = __ballot_sync(CB_WHOLE_WARP, possible && !(were & ~before) && !(come & before));
    } while (accepted != before);
    return accepted;
}

/* What has changed of the cell's own bodies. */
PLUGMC_FN void cb_write_back(const cb_near *near, const cb_moves *moves, int lane, int n, int first,
                             cb_vector *at, const uint32_t *ids, int4 *orientations)
{
    for (int k = lane; k < n; k += 32) {
        const int to = first + CB_PITCH * k;
        if (moves->changed[k] >> CB_DISPLACED & 1) {
            at[to].x = near->x[k];
            at[to].y = near->y[k];
#if DIM == 3
            at[to].z = near->z[k];
#endif
        }
        if (moves->changed[k] >> CB_TURNED & 1)
            orientations[cb_id(at[to], ids, to)] = cb_orientation_of(near->parts[k]);
    }
}

/* As cb_subsweep of bodies.cu. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK, CB_RESIDENT)
    cb_subsweep(uint64_t key, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const cb_walker *__restrict__ walkers,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts, cb_trouble *trouble,
                int4 *all_orientations CB_WINDOW)
{
    __shared__ cb_near near;
    __shared__ cb_moves moves;
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t trials[CB_KINDS] = {0, 0}, accepted[CB_KINDS] = {0, 0};
    cb_task task;
    plugmc_wait();
    if (!cb_find_task(blockIdx.x, plans, batch, index, part, &task CB_OF_WINDOW)) return;
    const int own = cb_cell(task.x, task.y, task.z);
    const int n = count[(size_t)task.walker * CELLS + own];
    if (n == 0) return;
    const plugmc_seed seed = cb_seed_of(key);
    const uint64_t sweep = *base + index;
    const uint32_t cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
    const cb_walls walls = cb_walls_of(walkers, task.walker);
    cb_vector *at = coordinate + (size_t)task.walker * SLOTS;
    const uint32_t *ids = id + (size_t)task.walker * SLOTS;
    int4 *orientations = all_orientations + (size_t)task.walker * CB_PARTICLES;
    if (threadIdx.x == 0) near.count = n;
    for (int k = threadIdx.x; k < CB_CAP; k += CB_BLOCK)
        cb_draw_partner(&moves, seed, sweep, task.walker, cell, k, n);
    __syncthreads();
    cb_gather_crowd(&near, lane, warp, task, n, walls, count + (size_t)task.walker * CELLS, at, ids,
                    orientations);
    for (int k = threadIdx.x; k < CB_CAP; k += CB_BLOCK) cb_find_turn(&moves, k, n);
    __syncthreads();
    const int m = near.count < CB_NEAR ? near.count : CB_NEAR;
    if (near.count > CB_NEAR && threadIdx.x == 0) trouble->overflow = 2;
#pragma unroll 1
    for (int t = 0, made; t < CB_TRIALS; t += made) {
        bool turns = false;
        made = CB_TRIALS - t < CB_MOVES ? CB_TRIALS - t : CB_MOVES;
        made = made < n ? made : n;
        if (warp == 0) {
            for (int k = lane; k < n; k += 32) moves.move_of[k] = CB_NONE;
            if (lane == 0) moves.rejected = 0;
            __syncwarp();
            if (lane < made)
                turns = cb_begin_move(&moves, &near, seed, sweep, task.walker, cell, t + lane, n,
                                      lane, cb_step_of(walkers, task.walker),
                                      cb_turn_of(walkers, task.walker));
        }
        __syncthreads();
        cb_look_at_pairs(&near, &moves, lane, warp, made, n, m, walls);
        __syncthreads();
        if (warp == 0) {
            const uint32_t moved = cb_decide(&moves, lane, made);
            const bool mine = moved >> lane & 1;
            if (mine) {
                const int i = (int)plugmc_bits(moves.at[lane].w);
                near.x[i] = near.x[CB_NEAR + lane];
                near.y[i] = near.y[CB_NEAR + lane];
#if DIM == 3
                near.z[i] = near.z[CB_NEAR + lane];
#endif
                near.parts[i] = near.parts[CB_NEAR + lane];
                for (int d = 0; d < 3 && plugmc_any_quick_look; d++)
                    near.axis[d][i] = near.axis[d][CB_NEAR + lane];
                moves.changed[i] |= (uint8_t)(1 << (turns ? CB_TURNED : CB_DISPLACED));
            }
            trials[CB_DISPLACED] += lane < made && !turns;
            trials[CB_TURNED] += lane < made && turns;
            accepted[CB_DISPLACED] += mine && !turns;
            accepted[CB_TURNED] += mine && turns;
            __syncwarp();
        }
    }
    if (warp > 0) return;
    cb_write_back(&near, &moves, lane, n, cb_slot(own), at, ids, orientations);
    if (!cb_is_own(task.y, task.z CB_OF_WINDOW)) return;
    cb_count_of(walkers, task.walker, trials[CB_DISPLACED], accepted[CB_DISPLACED], counts);
    cb_count_of(walkers, task.walker, trials[CB_TURNED], accepted[CB_TURNED],
                counts + 2 * CB_COUNTERS * CB_RUNGS);
}
