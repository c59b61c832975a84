/* bodies.cu: the sub-sweep of bodies, which are displaced and turned: CB_LANES threads of a warp take a cell, so that each
 * looks at another of the few bodies that a trial move comes near to. Hard ones (CB_POOLED) are looked at by all lanes of the warp, in
 * a list of all its cells; energies are added in an order of their own, so there each cell has its lanes. Its text follows that of body_moves.cu. Orientations do
 * not move with their bodies from cell to cell: they lie in the order of numbers.
 *
 * Warps stay together: where one of their cells has nothing to do, its lanes take part in votes all the same. */
#define CB_CELLS_A_WARP (32 / CB_LANES)
/* Bits of an entry of the pool that say whose trial move it is. */
#define CB_CELL_BITS 5

/* Number of an entry. */
#if CB_NEAR <= 256
typedef uint8_t cb_entry;
#else
typedef uint16_t cb_entry;
#endif

/* Bodies near the cells of a block: their own first, then those of other cells within the range of any point of the cell, in
 * the order of cells and slots. */
typedef struct cb_near {
    float x[CB_NEAR][CB_COLUMNS], y[CB_NEAR][CB_COLUMNS];
#if DIM == 3
    float z[CB_NEAR][CB_COLUMNS];
#endif
    int32_t part[DIM == 2 ? 1 : 4][CB_NEAR][CB_COLUMNS]; /* of orientations */
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_NEAR][CB_COLUMNS];
#endif
#if CB_POOLED
    uint16_t pool[CB_NEAR * CB_COLUMNS]; /* of each warp: see cb_fill_pool */
#else
    /* entries that a body can reach after a trial move and, where energies are compared, before it */
    cb_entry reached[PLUGMC_BODY_ENERGIES > 0 ? 2 : 1][CB_NEAR][CB_COLUMNS];
#endif
} cb_near;

/* The lanes of a cell: `lane` of them, in column `me`. */
typedef struct cb_group {
    int me, lane, first; /* `first` lane of the warp */
} cb_group;

/* Lanes of the group for which `yes` holds, as bits. */
PLUGMC_FN uint32_t cb_vote(cb_group g, bool yes)
{
    return __ballot_sync(CB_WHOLE_WARP, yes) >> g.first & (CB_WHOLE_WARP >> (32 - CB_LANES));
}

PLUGMC_FN void cb_enter(cb_near *near, int k, int me, float x, float y, float z, uint32_t number,
                        int4 o)
{
    near->x[k][me] = x;
    near->y[k][me] = y;
    near->part[0][k][me] = o.x;
#if DIM == 3
    near->z[k][me] = z;
    near->part[1][k][me] = o.y;
    near->part[2][k][me] = o.z;
    near->part[3][k][me] = o.w;
#endif
#if PLUGMC_SPECIES > 1
    near->species[k][me] = (uint8_t)cb_species(number);
#endif
}

/* Number of bodies near a cell, of which the first n are its own. Those that do not fit are left out. Lanes look at
 * CB_LANES slots at a time; n is 0 where there is no cell to sweep. */
PLUGMC_FN int cb_gather_bodies(cb_near *near, cb_group g, cb_task task, int n, cb_walls walls,
                               const uint8_t *counts, const cb_vector *at, const uint32_t *ids,
                               const int4 *orientations)
{
    int m = 0;
#pragma unroll 3
    for (int first = 0; first < NEIGHBOURS * CB_CAP; first += CB_LANES) {
        const int slot = first + g.lane, k = slot % CB_CAP, order = slot / CB_CAP;
        /* the cell itself comes first */
        const int c = order == 0 ? NEIGHBOURS / 2 : order <= NEIGHBOURS / 2 ? order - 1 : order;
        const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
        bool is_near = n > 0 && order < NEIGHBOURS;
        float jx = 0.0f, jy = 0.0f, jz = 0.0f;
        uint32_t number = 0;
        int4 o = make_int4(0, 0, 0, 0);
        if (is_near) {
            const int place = cb_neighbour(task, c);
            is_near = k < counts[place];
            if (is_near) {
                const int from = cb_slot(place) + CB_PITCH * k;
                const cb_vector v = at[from];
                number = cb_id(v, ids, from);
                o = orientations[number];
                jx = v.x + (float)sx;
                jy = v.y + (float)sy;
                jz = cb_z(v) + (float)sz;
                is_near =
                    order == 0 || cb_square_outside(DIM, jx, jy, jz, sx, sy, sz, walls.ratio_y,
                                                    walls.ratio_z) < walls.reach;
            }
        }
        const uint32_t all = cb_vote(g, is_near);
        const int to = m + __popc(all & ((1u << g.lane) - 1));
        if (is_near && to < CB_NEAR) cb_enter(near, to, g.me, jx, jy, jz, number, o);
        m += __popc(all);
    }
    __syncwarp();
    return m;
}

PLUGMC_FN plugmc_orientation cb_orientation(const cb_near *near, int k, int me)
{
    plugmc_orientation o = {{near->part[0][k][me], 0, 0, 0}};
#if DIM == 3
    for (int d = 1; d < 4; d++) o.part[d] = near->part[d][k][me];
#endif
    return o;
}

PLUGMC_FN float cb_z_near(const cb_near *near, int k, int me)
{
#if DIM == 3
    return near->z[k][me];
#else
    return 0.0f;
#endif
}

PLUGMC_FN int cb_species_near(const cb_near *near, int k, int me)
{
#if PLUGMC_SPECIES > 1
    return near->species[k][me];
#else
    return 0;
#endif
}

PLUGMC_FN cb_body cb_body_of(const cb_near *near, int i, int me)
{
    cb_body b = {};
    b.placed.site = plugmc_site_of_species(cb_species_near(near, i, me));
    b.placed.orientation = cb_orientation(near, i, me);
    b.x = near->x[i][me];
    b.y = near->y[i][me];
    b.z = cb_z_near(near, i, me);
    return b;
}

/* Whether entry k of the m near the cell, which is not entry i, is in reach of b. */
PLUGMC_FN bool cb_reaches(const cb_near *near, cb_group g, int k, int m, int i, cb_walls walls,
                          const cb_body *b)
{
    if (k >= m || k == i) return false;
    return cb_square(b->x - near->x[k][g.me], b->y - near->y[k][g.me],
                     b->z - cb_z_near(near, k, g.me), walls) < walls.reach;
}

/* Whether b overlaps with entry k of column `me`; if not, their energies are added to the sums. */
PLUGMC_FN bool cb_meets_one(const cb_near *near, int k, int me, cb_walls walls, const cb_body *b,
                            plugmc_body_sums *sums)
{
    const plugmc_separation s = cb_separation(b->x - near->x[k][me], b->y - near->y[k][me],
                                              b->z - cb_z_near(near, k, me), walls);
    plugmc_placed other = {};
    other.site = plugmc_site_of_species(cb_species_near(near, k, me));
    other.orientation = cb_orientation(near, k, me);
    return plugmc_meet(s, &b->placed, &other, sums);
}

#if CB_POOLED
/* Bodies in reach of the trial moves of all cells of the warp, in one list of pairs: entry * 2^CB_CELL_BITS + number of the
 * cell in the warp. Lanes then take pairs from it, whoever's they are, so that none is idle while another cell has more
 * neighbours. Returns how many there are. */
PLUGMC_FN int cb_fill_pool(const cb_near *near, uint16_t *pool, cb_group g, int m, int i,
                           cb_walls walls, const cb_body *b)
{
    const uint32_t before = (1u << (threadIdx.x & 31)) - 1, cell = g.first / CB_LANES;
    int count = 0;
    for (int first = 0; __any_sync(CB_WHOLE_WARP, first < m); first += CB_LANES) {
        const int k = first + g.lane;
        const bool in_reach = cb_reaches(near, g, k, m, i, walls, b);
        const uint32_t all = __ballot_sync(CB_WHOLE_WARP, in_reach);
        if (in_reach) pool[count + __popc(all & before)] = (uint16_t)(k << CB_CELL_BITS | cell);
        count += __popc(all);
    }
    __syncwarp();
    return count;
}

/* The body of lane `from`, and its box. */
PLUGMC_FN cb_body cb_body_of_lane(const cb_body *b, cb_walls *walls, int from)
{
    cb_body other = {};
    other.x = __shfl_sync(CB_WHOLE_WARP, b->x, from);
    other.y = __shfl_sync(CB_WHOLE_WARP, b->y, from);
    for (int d = 0; d < (DIM == 2 ? 1 : 4); d++)
        other.placed.orientation.part[d] =
            __shfl_sync(CB_WHOLE_WARP, b->placed.orientation.part[d], from);
#if DIM == 3
    other.z = __shfl_sync(CB_WHOLE_WARP, b->z, from);
#endif
    int species = 0;
#if PLUGMC_SPECIES > 1
    species = __shfl_sync(CB_WHOLE_WARP, b->placed.site.species, from);
#endif
#if PLUGMC_BOX_CHANGES
    walls->scale = __shfl_sync(CB_WHOLE_WARP, walls->scale, from);
    walls->ratio_y = __shfl_sync(CB_WHOLE_WARP, walls->ratio_y, from);
    walls->ratio_z = __shfl_sync(CB_WHOLE_WARP, walls->ratio_z, from);
#endif
    other.placed.site = plugmc_site_of_species(species);
    other.placed.pose = plugmc_pose_of(&other.placed.orientation, DIM);
    return other;
}

/* The bits of all lanes together. */
PLUGMC_FN uint32_t cb_bits_of_warp(uint32_t bits)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(CB_WHOLE_WARP, bits);
#else
    for (int lane = 16; lane > 0; lane >>= 1) bits |= __shfl_xor_sync(CB_WHOLE_WARP, bits, lane);
    return bits;
#endif
}

/* Whether b overlaps with one of the bodies that are near; `possible` is false where there is nothing to look at. */
PLUGMC_FN bool cb_meets(cb_near *near, cb_group g, int m, int i, cb_walls walls, bool possible,
                        cb_body *b, plugmc_body_sums *sums)
{
    const int lane = threadIdx.x & 31, cell = g.first / CB_LANES;
    uint16_t *pool = near->pool + (g.me - cell) * CB_NEAR;
    const int count = cb_fill_pool(near, pool, g, possible ? m : 0, i, walls, b);
    const uint32_t all_cells = (1u << CB_CELLS_A_WARP) - 1;
    uint32_t overlapping = 0; /* cells */
    *sums = plugmc_body_sums();
    for (int first = 0; first < count && overlapping != all_cells; first += 32) {
        const int entry = first + lane < count ? pool[first + lane] : 0;
        const int of = entry & (CB_CELLS_A_WARP - 1), k = entry >> CB_CELL_BITS;
        cb_walls its_walls = walls;
        const cb_body moved = cb_body_of_lane(b, &its_walls, of * CB_LANES);
        bool overlap = false;
        if (first + lane < count && !(overlapping >> of & 1))
            overlap = cb_meets_one(near, k, g.me - cell + of, its_walls, &moved, sums);
        overlapping |= cb_bits_of_warp(overlap ? 1u << of : 0);
    }
    return overlapping >> cell & 1;
}
#else
/* A body of the cell before a trial move and after it. */
enum { CB_AFTER, CB_BEFORE, CB_ENDS = PLUGMC_BODY_ENERGIES > 0 ? 2 : 1 };

/* How many of the m bodies near the cell, but entry i, are in reach of each of both; they are in near->reached, in order. */
PLUGMC_FN void cb_reach_out(cb_near *near, cb_group g, int m, int i, cb_walls walls,
                            const cb_body *const b[CB_ENDS], int count[CB_ENDS])
{
    for (int e = 0; e < CB_ENDS; e++) count[e] = 0;
    for (int first = 0; __any_sync(CB_WHOLE_WARP, first < m); first += CB_LANES) {
        const int k = first + g.lane;
#pragma unroll
        for (int e = 0; e < CB_ENDS; e++) {
            const bool in_reach = cb_reaches(near, g, k, m, i, walls, b[e]);
            const uint32_t all = cb_vote(g, in_reach);
            const int to = count[e] + __popc(all & ((1u << g.lane) - 1));
            if (in_reach) near->reached[e][to][g.me] = (cb_entry)k;
            count[e] += __popc(all);
        }
    }
    __syncwarp();
}

/* Whether b overlaps with one of the `count` bodies that end e reaches. If not, *sums are the energies, which the lanes add up in
 * the order that bodies.c has. */
PLUGMC_FN bool cb_meets_reached(cb_near *near, cb_group g, int e, int count, cb_walls walls,
                                cb_body *b, plugmc_body_sums *sums)
{
    bool overlaps = false;
    b->placed.pose = plugmc_pose_of(&b->placed.orientation, DIM);
    *sums = plugmc_body_sums();
    for (int first = 0; __any_sync(CB_WHOLE_WARP, first < count && !overlaps); first += CB_LANES) {
        bool overlap = false;
        if (first + g.lane < count && !overlaps) {
            const int k = near->reached[e][first + g.lane][g.me];
            overlap = cb_meets_one(near, k, g.me, walls, b, sums);
        }
        const uint32_t found = cb_vote(g, overlap); /* by all, also where it is known */
        overlaps = overlaps || found;
    }
#if PLUGMC_BODY_ENERGIES > 0
    for (int t = 0; t < PLUGMC_BODIES; t++) {
        if (overlaps) sums->term[t] = 0;
        for (int other = 1; other < CB_LANES; other *= 2)
            sums->term[t] += __shfl_xor_sync(CB_WHOLE_WARP, sums->term[t], other);
    }
#endif
    return overlaps;
}
#endif

/* Energies of a change; with multipliers, of -ln p. */
PLUGMC_FN float cb_change_of_bodies(const plugmc_body_sums *from, const plugmc_body_sums *to,
                                    const cb_walker *walkers, int walker)
{
#if PLUGMC_WEIGHTED
    return plugmc_body_change_weighted(from, to, walkers[walker].multiplier);
#else
    return plugmc_body_change(from, to);
#endif
}

/* Where a body has gone. */
PLUGMC_FN void cb_put(cb_near *near, cb_group g, int i, const cb_body *b)
{
    near->x[i][g.me] = b->x;
    near->y[i][g.me] = b->y;
    near->part[0][i][g.me] = b->placed.orientation.part[0];
#if DIM == 3
    near->z[i][g.me] = b->z;
    for (int d = 1; d < 4; d++) near->part[d][i][g.me] = b->placed.orientation.part[d];
#endif
}

/* Word t modulo 4 of draw t / 4. */
PLUGMC_FN uint32_t cb_draw_word(const cb_visit *v, int purpose, int t)
{
    return cb_word(plugmc_draw(v->seed, v->sweep, v->walker, v->cell, purpose, t >> 2), t);
}

/* Whether a possible move of entry i from `now` to `trial` is accepted, by a random word. */
PLUGMC_FN bool cb_accepts(cb_near *near, cb_group g, int m, int i, cb_walls walls, cb_body *now,
                          cb_body *trial, bool possible, uint32_t word, const cb_walker *walkers,
                          const cb_visit *v, bool *lost, cb_trouble *trouble)
{
    plugmc_body_sums to;
#if CB_POOLED
    return !cb_meets(near, g, m, i, walls, possible, trial, &to) && possible;
#else
    int count[CB_ENDS];
    const cb_body *const ends[] = {trial, now};
    cb_reach_out(near, g, possible ? m : 0, i, walls, ends, count);
    possible = !cb_meets_reached(near, g, CB_AFTER, count[CB_AFTER], walls, trial, &to) && possible;
#if PLUGMC_BODY_ENERGIES > 0
    plugmc_body_sums from;
    cb_meets_reached(near, g, CB_BEFORE, possible ? count[CB_BEFORE] : 0, walls, now, &from);
    if (!possible || *lost) return false;
    const float change = cb_change_of_bodies(&from, &to, walkers, v->walker);
    if (!(change > -PLUGMC_NO_RANGE)) {
        *lost = true;
        if (g.lane == 0) trouble->lost = v->sweep + 1;
        return true;
    }
    return plugmc_uniform_float(word) < cb_probability(change);
#else
    return possible;
#endif
#endif
}

/* As cb_subsweep of subsweep.cu. Of the counters those of displacements come first, then those of turns. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_subsweep(uint64_t key, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const cb_walker *__restrict__ walkers,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts, cb_trouble *trouble,
                int4 *all_orientations CB_WINDOW)
{
    __shared__ cb_near near;
    const cb_group g = {(int)threadIdx.x / CB_LANES, (int)threadIdx.x % CB_LANES,
                        (int)(threadIdx.x & 31) / CB_LANES * CB_LANES};
    uint32_t trials[CB_KINDS] = {0, 0}, accepted[CB_KINDS] = {0, 0};
    cb_task task = {0, 0, 0, 0};
    cb_visit v = {cb_seed_of(key), 0, 0, 0, 0};
    plugmc_wait();
    if (g.me < CB_COLUMNS && cb_find_task(blockIdx.x * CB_COLUMNS + g.me, plans, batch, index, part,
                                          &task CB_OF_WINDOW)) {
        v.n = count[(size_t)task.walker * CELLS + cb_cell(task.x, task.y, task.z)];
        if (PLUGMC_BODY_ENERGIES > 0 && trouble->lost) v.n = 0;
    }
    v.walker = v.n > 0 ? task.walker : 0;
    v.sweep = *base + index;
    v.cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
    const cb_walls walls = cb_walls_of(walkers, v.walker);
    const double largest = cb_turn_of(walkers, v.walker);
    cb_vector *at = coordinate + (size_t)v.walker * SLOTS;
    const uint32_t *ids = id + (size_t)v.walker * SLOTS;
    int4 *orientations = all_orientations + (size_t)v.walker * CB_PARTICLES;
    int m = cb_gather_bodies(&near, g, task, v.n, walls, count + (size_t)v.walker * CELLS, at, ids,
                             orientations);
    if (m > CB_NEAR) {
        trouble->overflow = 2;
        m = CB_NEAR;
    }
    cb_shuffle(&v);
    const bool counted = cb_is_own(task.y, task.z CB_OF_WINDOW);
    uint64_t moved[CB_KINDS] = {0, 0};
    bool lost = false; /* of this cell */
    int turn = 0;
#pragma unroll 1
    for (int first = 0; first < CB_TRIALS; first += CB_LANES) {
        /* each lane draws for one trial move */
        const int mine = first + g.lane;
        const plugmc_random words =
            plugmc_draw(v.seed, v.sweep, v.walker, v.cell, PLUGMC_PURPOSE_TRIAL, mine);
        const uint32_t kind_word = cb_draw_word(&v, PLUGMC_PURPOSE_ORIENTATION, mine);
        uint32_t accept_word = 0;
        if (PLUGMC_BODY_ENERGIES > 0) accept_word = cb_draw_word(&v, PLUGMC_PURPOSE_ACCEPT, mine);
#pragma unroll 1
        for (int t = first; t < CB_TRIALS && t < first + CB_LANES; t++) {
            const int from = g.first + t - first;
            const int i = v.n > 0 ? cb_visited(&v, turn) : 0;
            plugmc_random random;
            for (int d = 0; d < 4; d++)
                random.word[d] = __shfl_sync(CB_WHOLE_WARP, words.word[d], from);
            const bool turns = __shfl_sync(CB_WHOLE_WARP, kind_word, from) < CB_ROTATIONS;
            const uint32_t word = __shfl_sync(CB_WHOLE_WARP, accept_word, from);
            turn = turn + 1 >= v.n ? 0 : turn + 1;
            cb_body now = cb_body_of(&near, i, g.me < CB_COLUMNS ? g.me : 0), trial = now;
            bool accept =
                v.n > 0 && cb_move(&trial, random, turns, cb_step_of(walkers, v.walker), largest);
            accept = cb_accepts(&near, g, m, i, walls, &now, &trial, accept, word, walkers, &v,
                                &lost, trouble);
            if (g.lane == 0 && v.n > 0) {
                trials[CB_DISPLACED] += counted && !turns;
                trials[CB_TURNED] += counted && turns;
                accepted[CB_DISPLACED] += counted && accept && !turns;
                accepted[CB_TURNED] += counted && accept && turns;
                if (accept) {
                    cb_put(&near, g, i, &trial);
                    moved[turns ? CB_TURNED : CB_DISPLACED] |= (uint64_t)1 << i;
                }
            }
            __syncwarp();
        }
    }
    if (g.lane == 0)
        for (int k = 0; k < v.n; k++) {
            const int to = cb_slot(cb_cell(task.x, task.y, task.z)) + CB_PITCH * k;
            if (moved[CB_DISPLACED] >> k & 1) {
                at[to].x = near.x[k][g.me];
                at[to].y = near.y[k][g.me];
#if DIM == 3
                at[to].z = near.z[k][g.me];
#endif
            }
            if (moved[CB_TURNED] >> k & 1) {
                orientations[cb_id(at[to], ids, to)] = cb_int4(cb_orientation(&near, k, g.me));
            }
        }
    cb_count_of(walkers, v.walker, trials[CB_DISPLACED], accepted[CB_DISPLACED], counts);
    cb_count_of(walkers, v.walker, trials[CB_TURNED], accepted[CB_TURNED],
                counts + 2 * CB_COUNTERS * CB_RUNGS);
}
