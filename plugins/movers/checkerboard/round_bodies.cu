/* round_bodies.cu: the sub-sweep of disks and spheres that are written as bodies: a thread takes a cell. Its text follows that of
 * body_moves.cu.
 *
 * Spheres inside them are nearly as large as those around, so squares of distances decide nearly all trial moves. Orientations stay
 * where they are, and are read for pairs between the two, and where a body is turned. */

/* Bodies near each cell: its own first, then those of other cells within the range of any point of the cell. */
typedef struct cb_near {
    float x[CB_NEAR][CB_COLUMNS], y[CB_NEAR][CB_COLUMNS];
#if DIM == 3
    float z[CB_NEAR][CB_COLUMNS];
#endif
    int32_t slot[CB_NEAR][CB_COLUMNS];
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_NEAR][CB_COLUMNS];
#endif
} cb_near;

/* The particles of a walker. */
typedef struct cb_there {
    cb_vector *at;
    const uint32_t *ids;
    const uint8_t *counts;
    int4 *orientations;
} cb_there;

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

PLUGMC_FN void cb_enter(cb_near *near, int k, int me, float x, float y, float z, cb_vector v,
                        const uint32_t *ids, int slot)
{
    near->x[k][me] = x;
    near->y[k][me] = y;
#if DIM == 3
    near->z[k][me] = z;
#endif
    near->slot[k][me] = slot;
#if PLUGMC_SPECIES > 1
    near->species[k][me] = (uint8_t)cb_species(cb_id(v, ids, slot));
#endif
}

/* Number of bodies near a cell, of which the first n are its own; those that do not fit are left out. */
PLUGMC_FN int cb_gather_round(cb_near *near, int me, cb_task task, int n, cb_walls walls,
                              const cb_there *there)
{
    const int own = cb_slot(cb_cell(task.x, task.y, task.z));
    int m = n;
    for (int k = 0; k < n; k++) {
        const cb_vector v = there->at[own + CB_PITCH * k];
        cb_enter(near, k, me, v.x, v.y, cb_z(v), v, there->ids, own + CB_PITCH * k);
    }
#pragma unroll 3
    for (int c = 0; c < NEIGHBOURS; c++) {
        const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
        if (c == NEIGHBOURS / 2) continue;
        const int place = cb_neighbour(task, c), some = there->counts[place], slot = cb_slot(place);
        for (int k0 = 0; k0 < some; k0 += 4) {
            /* four at once, so that their latencies overlap */
            cb_vector v[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[k] = there->at[slot + CB_PITCH * (k0 + k < some ? k0 + k : k0)];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float x = v[k].x + (float)sx, y = v[k].y + (float)sy,
                            z = cb_z(v[k]) + (float)sz;
                const float square =
                    cb_square_outside(DIM, x, y, z, sx, sy, sz, walls.ratio_y, walls.ratio_z);
                if (k0 + k >= some || !(square < walls.reach)) continue;
                if (m < CB_NEAR)
                    cb_enter(near, m, me, x, y, z, v[k], there->ids, slot + CB_PITCH * (k0 + k));
                m++;
            }
        }
    }
    return m;
}

PLUGMC_FN plugmc_orientation cb_orientation_near(const cb_near *near, int k, int me,
                                                 const cb_there *there)
{
    const int slot = near->slot[k][me];
    return cb_of_int4(there->orientations[cb_id(there->at[slot], there->ids, slot)]);
}

PLUGMC_FN float cb_square_to(const cb_near *near, int k, int me, cb_walls walls, const cb_body *b)
{
    return cb_square(b->x - near->x[k][me], b->y - near->y[k][me], b->z - cb_z_near(near, k, me),
                     walls);
}

/* Whether b, once entry i, overlaps with one of those whose sphere around it meets its own. */
PLUGMC_FN bool cb_meets_close(const cb_near *near, int me, int m, int i, cb_walls walls, cb_body *b,
                              const cb_there *there)
{
    plugmc_body_sums none = {};
    b->placed.pose = plugmc_pose_of(&b->placed.orientation, DIM);
    for (int k = 0; k < m; k++) {
        if (k == i || !(cb_square_to(near, k, me, walls, b) < walls.reach)) continue;
        const plugmc_separation s = cb_separation(b->x - near->x[k][me], b->y - near->y[k][me],
                                                  b->z - cb_z_near(near, k, me), walls);
        plugmc_placed other = {};
        other.site = plugmc_site_of_species(cb_species_near(near, k, me));
        other.orientation = cb_orientation_near(near, k, me, there);
        if (plugmc_meet(s, &b->placed, &other, &none)) return true;
    }
    return false;
}

/* Whether b, once entry i, overlaps with one of the m bodies near the cell. */
PLUGMC_FN bool cb_meets(const cb_near *near, int me, int m, int i, cb_walls walls, bool turned,
                        cb_body *b, const cb_there *there)
{
    bool inside = false, close = false;
#pragma unroll 4
    for (int k = 0; k < m; k++) {
        const float square = cb_square_to(near, k, me, walls, b);
        const int pair = b->placed.site.species * PLUGMC_SPECIES + cb_species_near(near, k, me);
        const bool other = k != i;
        inside |= other & (square < cb_contact_of(walls, pair));
        close |= other & (square < walls.reach);
    }
    if (inside || !close) return inside;
    if (!turned) b->placed.orientation = cb_orientation_near(near, i, me, there);
    return cb_meets_close(near, me, m, i, walls, b, there);
}

/* As cb_subsweep of bodies.cu. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_subsweep(uint64_t key, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const cb_walker *__restrict__ walkers,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts, cb_trouble *trouble,
                int4 *all_orientations CB_WINDOW)
{
    __shared__ cb_near near;
    const int me = threadIdx.x;
    uint32_t trials[CB_KINDS] = {0, 0}, accepted[CB_KINDS] = {0, 0};
    cb_task task = {0, 0, 0, 0};
    int n = 0;
    plugmc_wait();
    if (me < CB_COLUMNS &&
        cb_find_task(blockIdx.x * CB_COLUMNS + me, plans, batch, index, part, &task CB_OF_WINDOW))
        n = count[(size_t)task.walker * CELLS + cb_cell(task.x, task.y, task.z)];
    if (n > 0) {
        const plugmc_seed seed = cb_seed_of(key);
        const uint64_t sweep = *base + index;
        const int walker = task.walker;
        const uint32_t cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
        const cb_walls walls = cb_walls_of(walkers, walker);
        const cb_there there = {coordinate + (size_t)walker * SLOTS, id + (size_t)walker * SLOTS,
                                count + (size_t)walker * CELLS,
                                all_orientations + (size_t)walker * CB_PARTICLES};
        int m = cb_gather_round(&near, me, task, n, walls, &there);
        if (m > CB_NEAR) {
            trouble->overflow = 2;
            m = CB_NEAR;
        }
        cb_visit v = {seed, sweep, cell, walker, n};
        cb_shuffle(&v);
        const bool counted = cb_is_own(task.y, task.z CB_OF_WINDOW);
        uint64_t moved = 0;
        int turn = 0;
        plugmc_random kinds = {};
#if CB_TRIALS <= 8 && CB_ROTATIONS == 0
#pragma unroll
#endif
        for (int t = 0; t < CB_TRIALS; t++) {
            const plugmc_random random =
                plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t);
            if (CB_ROTATIONS > 0 && (t & 3) == 0)
                kinds = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORIENTATION, t >> 2);
            const bool turns = CB_ROTATIONS > 0 && cb_word(kinds, t) < CB_ROTATIONS;
            const int i = cb_visited(&v, turn);
            turn = turn + 1 == n ? 0 : turn + 1;
            cb_body b = {};
            b.placed.site = plugmc_site_of_species(cb_species_near(&near, i, me));
            b.x = near.x[i][me];
            b.y = near.y[i][me];
            b.z = cb_z_near(&near, i, me);
            if (turns) b.placed.orientation = cb_orientation_near(&near, i, me, &there);
            const bool accept = cb_move(&b, random, turns, cb_step_of(walkers, walker),
                                        cb_turn_of(walkers, walker)) &&
                                !cb_meets(&near, me, m, i, walls, turns, &b, &there);
            trials[CB_DISPLACED] += counted && !turns;
            trials[CB_TURNED] += counted && turns;
            accepted[CB_DISPLACED] += counted && accept && !turns;
            accepted[CB_TURNED] += counted && accept && turns;
            if (!accept) continue;
            if (turns) {
                const int slot = near.slot[i][me];
                there.orientations[cb_id(there.at[slot], there.ids, slot)] =
                    cb_int4(b.placed.orientation);
                continue;
            }
            near.x[i][me] = b.x;
            near.y[i][me] = b.y;
#if DIM == 3
            near.z[i][me] = b.z;
#endif
            moved |= (uint64_t)1 << i;
        }
        for (int k = 0; k < n; k++) {
            if (!(moved >> k & 1)) continue;
            cb_vector *to = there.at + near.slot[k][me];
            to->x = near.x[k][me];
            to->y = near.y[k][me];
#if DIM == 3
            to->z = near.z[k][me];
#endif
        }
    }
    cb_count_of(walkers, n > 0 ? task.walker : 0, trials[CB_DISPLACED], accepted[CB_DISPLACED],
                counts);
    if (CB_ROTATIONS > 0)
        cb_count_of(walkers, n > 0 ? task.walker : 0, trials[CB_TURNED], accepted[CB_TURNED],
                    counts + 2 * CB_COUNTERS * CB_RUNGS);
}
