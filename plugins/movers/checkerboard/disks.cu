/* disks.cu: the sweep of equal hard disks, at most four a cell. Its text follows that of
 * checkerboard.cu, and its decisions and chain are those of the kernels there.
 *
 * Small systems, CB_PATCH: a block makes the whole sweep of a patch of cells, cb_sweep. Others: a block
 * takes the active cells of a piece of a row, cb_subsweep, and cb_shift follows after four of them.
 *
 * Cells have three slots and a fourth, which is rarely used. Empty slots hold PLUGMC_NOWHERE, the
 * fourth only in shared memory.
 */

/* ---- The trial moves of a cell ---------------------------------------------------------------------
 * |r - j|^2 - |r|^2 = |j|^2 - 2 r.j takes fewer operations a neighbour than the differences do; its
 * rounding error is below CB_DOUBT, and only trial moves that come as near to a contact as that are
 * decided by the differences. */
#define CB_DOUBT 3e-6f

PLUGMC_FN float cb_distance(cb_walls walls, float ux, float uy)
{
    uy *= walls.ratio_y;
    return fmaf(uy, uy, ux * ux);
}

/* The smallest of three numbers none of which is negative: their bits are in the same order, and
 * integers take one instruction where floats take two. */
PLUGMC_FN float cb_least(float a, float b, float c)
{
    const int x = (int)plugmc_bits(a), y = (int)plugmc_bits(b), z = (int)plugmc_bits(c);
    const int least = x < y ? x : y;
    return plugmc_float_of_bits((uint32_t)(least < z ? least : z));
}

/* x, which the compiler is not to compute again from what it came from. */
PLUGMC_FN float cb_keep(float x)
{
    asm("" : "+f"(x));
    return x;
}

/* The slots of n particles in the order of the trials, 2 bits each: what cb_order does, by the six
 * permutations of three. */
PLUGMC_FN uint32_t cb_order_of_four(uint32_t drawn, int n)
{
#define CB_PERMUTATION(number, a, b, c) ((uint64_t)((a) | (b) << 2 | (c) << 4) << 6 * (number))
    const uint64_t permutations = CB_PERMUTATION(0, 1, 2, 0) | CB_PERMUTATION(1, 2, 1, 0) |
                                  CB_PERMUTATION(2, 2, 0, 1) | CB_PERMUTATION(3, 0, 2, 1) |
                                  CB_PERMUTATION(4, 1, 0, 2) | CB_PERMUTATION(5, 0, 1, 2);
    const uint32_t third = n > 2 ? drawn >> 1 & 3u : 2;
    const uint32_t second = n > 1 ? drawn & 1u : 1;
    uint32_t order =
        CB_SHUFFLE ? (uint32_t)(permutations >> 6 * (2 * third + second)) & 63u : 0x24u;
    if (n < 4 || !CB_SHUFFLE) return order | 3u << 6;
    const uint32_t last = drawn >> 3; /* changes places with slot 3 */
#pragma unroll
    for (int k = 0; k < 6; k += 2)
        if ((order >> k & 3u) == last) order |= 3u << k;
    return order | last << 6;
}

/* What a cell does in a sub-sweep, before its particles are known. */
typedef struct cb_choice {
    float dx[CB_TRIALS], dy[CB_TRIALS];
    uint32_t order; /* drawn from 2, 3 and 4 numbers: bit 0, bits 1 and 2, bits 3 and 4 */
} cb_choice;

PLUGMC_FN cb_choice cb_choose(plugmc_seed seed, uint64_t sweep, int walker, uint32_t cell,
                              const float *step)
{
    cb_choice choice;
    plugmc_random random;
    const float step_x = CB_EARLY(float, step[0]), step_y = CB_EARLY(float, step[1]);
#pragma unroll
    for (int trial = 0; trial < CB_TRIALS; trial++) {
        if ((trial & 3) == 0)
            random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, trial >> 2);
        cb_displacement_2(random.word[trial & 3], step_x, step_y, &choice.dx[trial],
                          &choice.dy[trial]);
    }
    random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, 0);
    choice.order = plugmc_below(random.word[1], 2) | plugmc_below(random.word[2], 3) << 1 |
                   plugmc_below(random.word[3], 4) << 3;
    return choice;
}

/* What is near an active cell, in shared memory. Slots are CB_OWN_STEP, CB_MIDDLE_STEP and CB_SIDE_STEP
 * disks apart. */
typedef struct cb_around {
    float2 *own;             /* slot 0 of the cell */
    const float2 *middle[2]; /* of the cells below and above */
    const float2 *side[3]; /* of those to the left, in the row below, its own and the row above; the
                                cell to the right comes next to it */
    uint32_t fourth;       /* neighbours with a fourth disk: bit 9 column + 3 row + 2, columns and
                                rows from 0 to 2: the highest of the three bits of a count */
#if !CB_PATCH
    const cb_vector *fourths; /* which are in memory, and here in each row and column */
    int rows[3], columns[3];
#endif
} cb_around;

#if CB_PATCH
#define CB_MOST_X (CB_PATCH_X + CB_AROUND) /* cells of the patch and its surroundings */
#define CB_MOST_Y (CB_PATCH_Y + CB_AROUND)
#define CB_MOST_HALF ((CB_MOST_X + 1) / 2) /* of them, those of one parity in a row */
#define CB_PLACES (2 * CB_MOST_HALF * CB_MOST_Y)
#define CB_OWN_STEP CB_PLACES
#define CB_MIDDLE_STEP CB_PLACES
#define CB_SIDE_STEP CB_PLACES
#else
#define CB_OWN_STEP CB_BLOCK
#define CB_MIDDLE_STEP CB_BLOCK
#define CB_SIDE_STEP (CB_BLOCK + 1)
#endif

/* The fourth disk of a neighbour. */
PLUGMC_FN float2 cb_fourth(const cb_around *around, int row, int column)
{
#if CB_PATCH
    const float2 *side = row == 0 ? around->side[0] : row == 1 ? around->side[1] : around->side[2];
    const float2 *middle = row == 0 ? around->middle[0] : around->middle[1];
    return column == 1 ? middle[3 * CB_MIDDLE_STEP] : side[3 * CB_SIDE_STEP + column / 2];
#else
    const int r = row == 0 ? around->rows[0] : row == 1 ? around->rows[1] : around->rows[2];
    return around->fourths[r + (column == 0   ? around->columns[0]
                                : column == 1 ? around->columns[1]
                                              : around->columns[2])];
#endif
}

/* The disks of a cell after its trial moves. */
typedef struct cb_moved {
    float2 disk[4];
    uint32_t slots, accepted; /* slot of disk k, 2 bits each */
} cb_moved;

/* The trial moves of a cell with n disks, one at least. */
PLUGMC_FN cb_moved cb_try(const cb_choice *choice, const cb_around *around, cb_walls walls, int n)
{
    /* neighbours relative to the centre of this cell, and their distances from it; 1 is added
     * to these, so that no sum below is negative */
    float jx[24], jy[24], jj[24];
#pragma unroll
    for (int e = 0; e < 24; e++) {
        const int r = e < 18 ? e / 6 : 2 * ((e - 18) / 3), slot = e % 3;
        const int column = e < 18 ? 2 * (e / 3 % 2) : 1;
        const float2 j = column == 1 ? around->middle[r / 2][slot * CB_MIDDLE_STEP]
                                     : around->side[r][slot * CB_SIDE_STEP + column / 2];
        jx[e] = column == 1 ? j.x : j.x + (float)(column - 1);
        jy[e] = r == 1 ? j.y : j.y + (float)(r - 1);
        const float uy = jy[e] * walls.ratio_y;
        jj[e] = cb_keep(fmaf(uy, uy, fmaf(jx[e], jx[e], 1.0f)));
    }
    /* Its particles wait in the order of the trials; one that has tried goes to the end. */
    uint32_t order = cb_order_of_four(choice->order, n), accepted = 0;
    float2 queue[4];
#pragma unroll
    for (int k = 0; k < 4; k++) queue[k] = around->own[(order >> 2 * k & 3u) * CB_OWN_STEP];
    const float contact = cb_contact_of(walls, 0);
#pragma unroll
    for (int trial = 0; trial < CB_TRIALS; trial++) {
        const float new_x = queue[0].x + choice->dx[trial], new_y = queue[0].y + choice->dy[trial];
        const float inside = cb_least(cb_distance(walls, new_x - queue[1].x, new_y - queue[1].y),
                                      cb_distance(walls, new_x - queue[2].x, new_y - queue[2].y),
                                      cb_distance(walls, new_x - queue[3].x, new_y - queue[3].y));
        /* 1 + |r - j|^2 - |r|^2, positive for any r within the cell; two chains of minima, since
         * one is as slow as it is long */
        const float twice_x = -2.0f * new_x,
                    twice_y = -2.0f * (walls.ratio_y * walls.ratio_y) * new_y;
        float near[2] = {PLUGMC_NOWHERE, PLUGMC_NOWHERE};
#pragma unroll
        for (int e = 0; e < 24; e += 2) {
            const float d = fmaf(jx[e], twice_x, fmaf(jy[e], twice_y, jj[e]));
            const float f = fmaf(jx[e + 1], twice_x, fmaf(jy[e + 1], twice_y, jj[e + 1]));
            near[e / 2 % 2] = cb_least(near[e / 2 % 2], d, f);
        }
        const float gap =
            fminf(near[0], near[1]) + (cb_distance(walls, new_x, new_y) - (contact + 1.0f));
        bool accept = new_x >= -0.5f && new_x < 0.5f && new_y >= -0.5f && new_y < 0.5f &&
                      inside >= contact && gap > -CB_DOUBT;
        if (accept && (gap < CB_DOUBT || around->fourth)) {
            if (gap < CB_DOUBT)
#pragma unroll 1
                for (int k = 0; k < 3; k++)
#pragma unroll
                    for (int r = 0; r < 3; r++) {
                        const float row = new_y - (float)(r - 1);
                        const float2 a = around->side[r][k * CB_SIDE_STEP],
                                     c = around->side[r][k * CB_SIDE_STEP + 1];
                        accept = accept &&
                                 cb_distance(walls, (new_x + 1.0f) - a.x, row - a.y) >= contact &&
                                 cb_distance(walls, (new_x - 1.0f) - c.x, row - c.y) >= contact;
                        if (r == 1) continue;
                        const float2 b = around->middle[r / 2][k * CB_MIDDLE_STEP];
                        accept = accept && cb_distance(walls, new_x - b.x, row - b.y) >= contact;
                    }
            for (uint32_t rest = accept ? around->fourth : 0; rest; rest &= rest - 1) {
                const int c = (__ffs((int)rest) - 1) / 3, column = c / 3, r = c - 3 * column;
                const float2 j = cb_fourth(around, r, column);
                accept = accept && cb_distance(walls, (new_x - (float)(column - 1)) - j.x,
                                               (new_y - (float)(r - 1)) - j.y) >= contact;
            }
        }
        accepted += accept;
        const float2 tried = accept ? make_float2(new_x, new_y) : queue[0];
        queue[0] = n == 1 ? tried : queue[1];
        queue[1] = n == 2 ? tried : queue[2];
        queue[2] = n == 3 ? tried : queue[3];
        if (n == 4) queue[3] = tried;
    }
    /* whoever is next now, first: order repeats itself after n */
    const int next = n == 2 ? CB_TRIALS % 2 : n == 3 ? CB_TRIALS % 3 : n == 4 ? CB_TRIALS % 4 : 0;
    order &= (1u << 2 * n) - 1;
    order = (order | order << 2 * n) >> 2 * next;
    const cb_moved moved = {{queue[0], queue[1], queue[2], queue[3]}, order, accepted};
    return moved;
}

#if !CB_PATCH
/* ---- The sub-sweep of large systems ----------------------------------------------------------------
 * A block takes CB_BLOCK active cells of a row and keeps their surroundings in shared memory: first
 * three slots of the rows below and above, and of the columns in between, which neighbouring
 * threads share. A fourth disk in a neighbouring cell is rare and read from memory. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK, CB_RESIDENT)
    cb_subsweep(uint64_t key, const uint64_t *base, const cb_plan *plans, int batch, int index,
                int part, const cb_walker *walkers, cb_vector *coordinate, const uint32_t *id,
                const uint8_t *count, unsigned long long *counts, int *overflow CB_WINDOW)
{
    const plugmc_seed seed = cb_seed_of(key);
    enum { KEPT = 3 };                             /* slots of neighbours */
    __shared__ float2 own[4][CB_BLOCK];            /* of the active cells */
    __shared__ float2 middle[2][KEPT][CB_BLOCK];   /* rows below and above, same columns */
    __shared__ float2 side[3][KEPT][CB_BLOCK + 1]; /* three rows, the columns left of each thread's,
                                                      and the one right of the last */
    __shared__ uint32_t counts_left[CB_BLOCK + 1]; /* of these columns, 3 bits a row */
    const int t = threadIdx.x, walker = CB_WALKERS > 1 ? blockIdx.z : 0;
    const int first = blockIdx.x * CB_BLOCK, q = first + t;
    const float *step = cb_step_of(walkers, walker);
    const cb_walls walls = cb_walls_of(walkers, walker);
    plugmc_wait();
    const int set = plans[walker * batch + index].set[part];
    const uint64_t sweep = *base + index;
    const int px = set & 1;
#if CB_SPREAD
    const int y = cb_layer(window, blockIdx.y, CB_MY);
#else
    const int y = 2 * blockIdx.y + ((set >> 1) & 1);
#endif
    const uint32_t cell = (uint32_t)(y * CB_MX + 2 * q + px);

    /* Everything is asked for before anything is used. Columns are places in a half row: its own in
     * those of the same parity, the ones left and right of it in the others. */
    const uint8_t *n_of = count + (size_t)walker * CELLS;
    cb_vector *at = coordinate + (size_t)walker * SLOTS;
    const int own_column = q < HX ? q : HX - 1;
    const int left = q + px == 0 ? HX - 1 : q + px <= HX ? q + px - 1 : 0;
    const int right = q + px < HX ? q + px : 0;
    const int rows[3] = {y == 0 ? CB_MY - 1 : y - 1, y, y == CB_MY - 1 ? 0 : y + 1};
    float2 from_left[3][4], from_middle[3][4];
    int n_left[3], n_middle[3];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const int same = 2 * rows[r] + px, other = 2 * rows[r] + 1 - px;
        const cb_vector *a = at + (other * HALF_ROW + left),
                        *b = at + (same * HALF_ROW + own_column);
#pragma unroll
        for (int k = 0; k < KEPT; k++) from_left[r][k] = a[k * CB_PITCH];
#pragma unroll
        for (int k = 0; k < (r == 1 ? 4 : KEPT); k++) from_middle[r][k] = b[k * CB_PITCH];
        n_left[r] = n_of[other * CB_PITCH + left];
        n_middle[r] = n_of[same * CB_PITCH + own_column];
    }
    cb_vector *home = at + ((2 * y + px) * HALF_ROW + own_column);

    /* random numbers are drawn while memory answers */
    const cb_choice choice = cb_choose(seed, sweep, walker, cell, step);
    __syncwarp();

    const int n = q < HX ? n_middle[1] : 0;
    uint32_t fourth = (uint32_t)(n_left[0] | n_left[1] << 3 | n_left[2] << 6);
    counts_left[t] = fourth;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
#pragma unroll
        for (int r = 0; r < 3; r++) side[r][k][t] = from_left[r][k];
        middle[0][k][t] = from_middle[0][k];
        own[k][t] = from_middle[1][k];
        middle[1][k][t] = from_middle[2][k];
    }
    own[3][t] = n > 3 ? from_middle[1][3] : make_float2(PLUGMC_NOWHERE, 0.0f);
    if (t < 3 * KEPT && first + CB_BLOCK <= HX) { /* else the last thread has one to its right */
        const int edge = first + CB_BLOCK - 1 + px < HX ? first + CB_BLOCK - 1 + px : 0;
        int other[3];
#pragma unroll
        for (int r = 0; r < 3; r++) other[r] = 2 * rows[r] + 1 - px;
        const int r = t / KEPT, k = t - KEPT * r,
                  mine = r == 0   ? other[0]
                         : r == 1 ? other[1]
                                  : other[2];
        side[r][k][CB_BLOCK] = at[mine * HALF_ROW + k * CB_PITCH + edge];
        if (t == 0)
            counts_left[CB_BLOCK] = (uint32_t)(n_of[other[0] * CB_PITCH + edge] |
                                               n_of[other[1] * CB_PITCH + edge] << 3 |
                                               n_of[other[2] * CB_PITCH + edge] << 6);
    }
    __syncthreads();

    uint32_t accepted = 0;
    if (n > 0) {
        fourth |= (uint32_t)(n_middle[0] | n_middle[2] << 6) << 9 | counts_left[t + 1] << 18;
        const cb_around around = {
            &own[0][t],
            {&middle[0][0][t], &middle[1][0][t]},
            {&side[0][0][t], &side[1][0][t], &side[2][0][t]},
            fourth & 0x4924924u,
            at + 3 * CB_PITCH,
            {2 * rows[0] * HALF_ROW, 2 * rows[1] * HALF_ROW, 2 * rows[2] * HALF_ROW},
            {(1 - px) * HALF_ROW + left, px * HALF_ROW + own_column, (1 - px) * HALF_ROW + right}};
        const cb_moved moved = cb_try(&choice, &around, walls, n);
        accepted = moved.accepted;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (k < n) home[(moved.slots >> 2 * k & 3u) * CB_PITCH] = moved.disk[k];
    }
    const bool counted = n > 0 && cb_is_own(y, 0 CB_OF_WINDOW);
    cb_count_of(walkers, walker, counted ? CB_TRIALS : 0, counted ? accepted : 0, counts);
}
#else
/* ---- The whole sweep of small systems ---------------------------------------------------------------
 * A block takes a patch of CB_PATCH_X x CB_PATCH_Y cells, and what is around them as far as it matters
 * for where their disks are after the sweep: a ring of cells for each sub-sweep that follows, at most,
 * and one side for the shift. Neighbouring blocks sweep these cells too and come to the same, since
 * random numbers belong to cells. So blocks need not wait for each other within a sweep, which
 * would take longer than that. Cells are numbered from the first of the patch, or, where it is said
 * that they are local, from the first around it. */

/* What a patch needs along one axis. */
typedef struct cb_extent {
    int own;               /* cells of the patch */
    int low, high;         /* first and last cell that is needed */
    uint32_t first, cells; /* of the set of a sub-sweep, a byte each: local number, how many */
} cb_extent;

/* Of a block. */
typedef struct cb_region {
    int x0, y0; /* first cell of the patch, even */
    cb_extent x, y;
} cb_region;

/* The cells that are needed, in shared memory, at the place of their local numbers. */
typedef struct cb_patch {
    float2 disk[4][CB_PLACES];
    uint8_t count[CB_PLACES];
} cb_patch;

#if CB_CHOSEN
/* What is chosen for the cells of a sub-sweep, one a thread. */
typedef struct cb_choices {
    float dx[CB_TRIALS][CB_BLOCK], dy[CB_TRIALS][CB_BLOCK];
    uint32_t order[CB_BLOCK];
} cb_choices;
#endif

/* For a patch of `own` cells whose disks come over from the cell before (side < 0) or behind
 * (side > 0), if the shift is along this axis. Back from the last sub-sweep: cells of its set at the edge
 * of what is needed after it need the next cell before it. */
PLUGMC_FN cb_extent cb_extend(int own, int side, int axis, uint64_t sets)
{
    cb_extent e = {own, side < 0 ? -1 : 0, side > 0 ? own : own - 1, 0, 0};
    int first[4];
#pragma unroll
    for (int part = 3; part >= 0; part--) {
        const int parity = (int)(sets >> (8 * part + axis) & 1);
        const int last = e.high - ((e.high ^ parity) & 1);
        first[part] = e.low + ((e.low ^ parity) & 1);
        e.cells |= (uint32_t)((last - first[part]) / 2 + 1) << 8 * part;
        e.low = e.low < first[part] ? e.low : first[part] - 1;
        e.high = e.high > last ? e.high : last + 1;
    }
#pragma unroll
    for (int part = 0; part < 4; part++) e.first |= (uint32_t)(first[part] - e.low) << 8 * part;
    return e;
}

PLUGMC_FN int cb_wrap(int x, int n) { return x < 0 ? x + n : x >= n ? x - n : x; }

/* The place of a local cell. Those of equal parity of x follow each other, as in memory. */
PLUGMC_FN int cb_place(int x, int y) { return (2 * y + (x & 1)) * CB_MOST_HALF + (x >> 1); }

PLUGMC_FN int cb_tasks(const cb_region *region, int part)
{
    return (int)((region->x.cells >> 8 * part & 255u) * (region->y.cells >> 8 * part & 255u));
}

/* The local cell of a task of a sub-sweep. */
PLUGMC_FN void cb_local_cell(const cb_region *region, int part, int task, int *x, int *y)
{
    const int columns = (int)(region->x.cells >> 8 * part & 255u), row = task / columns;
    *x = (int)(region->x.first >> 8 * part & 255u) + 2 * (task - row * columns);
    *y = (int)(region->y.first >> 8 * part & 255u) + 2 * row;
}

/* What random numbers know a local cell by. */
PLUGMC_FN uint32_t cb_number_of(const cb_region *region, int x, int y)
{
    return (uint32_t)(cb_wrap(region->y0 + region->y.low + y, CB_MY) * CB_MX +
                      cb_wrap(region->x0 + region->x.low + x, CB_MX));
}

/* All cells that are needed, from memory. */
PLUGMC_FN void cb_read(const cb_region *region, const cb_vector *coordinate, const uint8_t *count,
                       cb_patch *patch)
{
    enum { TOGETHER = CB_CHOSEN ? 6 : 3 }; /* cells that a thread waits for at a time */
    const int places = cb_place(0, region->y.high - region->y.low + 1);
#pragma unroll TOGETHER
    for (int place = threadIdx.x; place < places; place += CB_BLOCK) {
        const int half_row = place / CB_MOST_HALF, q = place - half_row * CB_MOST_HALF;
        const int x = region->x.low + 2 * q + (half_row & 1), y = region->y.low + (half_row >> 1);
        if (x > region->x.high) continue;
        const int cell = cb_cell(cb_wrap(region->x0 + x, CB_MX), cb_wrap(region->y0 + y, CB_MY), 0);
        const cb_vector *at = coordinate + cb_slot(cell);
        float2 slot[4];
#pragma unroll
        for (int k = 0; k < 4; k++) slot[k] = at[k * CB_PITCH];
        const uint8_t n = count[cell];
        patch->count[place] = n;
#pragma unroll
        for (int k = 0; k < 3; k++) patch->disk[k][place] = slot[k];
        patch->disk[3][place] = n > 3 ? slot[3] : make_float2(PLUGMC_NOWHERE, 0.0f);
    }
}

/* What is around a local cell. */
PLUGMC_FN cb_around cb_look_around(cb_patch *patch, int x, int y)
{
    enum { ROW = 2 * CB_MOST_HALF };
    const int place = cb_place(x, y);
    cb_around around = {&patch->disk[0][place],
                        {&patch->disk[0][place - ROW], &patch->disk[0][place + ROW]},
                        {0, 0, 0},
                        (uint32_t)patch->count[place - ROW] << 9 |
                            (uint32_t)patch->count[place + ROW] << 15};
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const int left = cb_place(x - 1, y + r - 1);
        around.side[r] = &patch->disk[0][left];
        around.fourth |= (uint32_t)patch->count[left] << 3 * r | (uint32_t)patch->count[left + 1]
                                                                     << (18 + 3 * r);
    }
    around.fourth &= 0x4924924u;
    return around;
}

/* The patch after the shift, to memory. new_disk [4], new_id [4]: CB_BLOCK apart. */
PLUGMC_FN void cb_write_shifted(const cb_region *region, const cb_patch *patch, int axis, int sign,
                                int quanta, const uint32_t *from_id, cb_vector *to, uint32_t *to_id,
                                uint8_t *to_count, float2 *new_disk, uint32_t *new_id,
                                int *overflow)
{
    enum { HALF = CB_PATCH_X / 2 };
    const float s = (float)(sign * quanta) * CB_QUANTUM, edge = sign > 0 ? 1.0f : -1.0f;
    for (int i = threadIdx.x; i < 2 * HALF * region->y.own; i += CB_BLOCK) {
        const int half_row = i / HALF, q = i - half_row * HALF;
        const int x = 2 * q + (half_row & 1), y = half_row >> 1;
        if (x >= region->x.own) continue;
        const int other_x = x + (axis == 0 ? sign : 0), other_y = y + (axis == 1 ? sign : 0);
        const int here = cb_place(x - region->x.low, y - region->y.low);
        const int there = cb_place(other_x - region->x.low, other_y - region->y.low);
        const int cell = cb_cell(region->x0 + x, region->y0 + y, 0), first = cb_slot(cell);
        float2 v[8];
        uint32_t id[8];
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = patch->disk[k & 3][k < 4 ? here : there];
        if (CB_IDS) { /* which have stayed in memory */
            const int other = cb_slot(cb_cell(cb_wrap(region->x0 + other_x, CB_MX),
                                              cb_wrap(region->y0 + other_y, CB_MY), 0));
#pragma unroll
            for (int k = 0; k < 8; k++)
                id[k] = from_id[(k < 4 ? first : other) + (k & 3) * CB_PITCH];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) new_disk[k * CB_BLOCK] = make_float2(PLUGMC_NOWHERE, 0.0f);
        int filled = cb_gather(v, id, patch->count[here], patch->count[there], axis, s, edge,
                               new_disk, new_id, CB_BLOCK);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (k < 3 || k < filled) to[first + k * CB_PITCH] = new_disk[k * CB_BLOCK];
            if (CB_IDS && k < filled) to_id[first + k * CB_PITCH] = new_id[k * CB_BLOCK];
        }
        if (filled > 4) {
            *overflow = 1;
            filled = 4;
        }
        to_count[cell] = (uint8_t)filled;
    }
}

extern "C" __global__ void __launch_bounds__(CB_BLOCK, CB_RESIDENT)
    cb_sweep(uint64_t key, const uint64_t *base, const cb_plan *plans, int batch, int index,
             const cb_walker *walkers, const cb_vector *from, const uint32_t *from_id,
             const uint8_t *from_count, cb_vector *__restrict__ to, uint32_t *__restrict__ to_id,
             uint8_t *__restrict__ to_count, unsigned long long *counts, int *overflow)
{
    const plugmc_seed seed = cb_seed_of(key);
    __shared__ cb_patch patch;
    __shared__ union {
#if CB_CHOSEN
        cb_choices chosen[4]; /* of the sub-sweeps */
#endif
        struct {
            float2 disk[4][CB_BLOCK];
            uint32_t id[CB_IDS ? 4 : 1][CB_BLOCK];
        } made; /* then: new cells, one a thread */
    } scratch;
    const int t = threadIdx.x, walker = CB_WALKERS > 1 ? blockIdx.z : 0;
    const size_t cells = (size_t)walker * CELLS, slots = (size_t)walker * SLOTS;
    const float *step = cb_step_of(walkers, walker);
    const cb_walls walls = cb_walls_of(walkers, walker);
    if (index == 0) plugmc_wait(); /* for the plans; those of later sweeps are there */
    const cb_plan *plan = &plans[walker * batch + index];
    const int axis = CB_EARLY(int32_t, plan->axis), sign = CB_EARLY(int32_t, plan->sign);
    const int quanta = CB_EARLY(int32_t, plan->quanta);
    const uint64_t sweep = CB_EARLY(uint64_t, *base) + index;
    uint64_t sets = 0;
#pragma unroll
    for (int part = 0; part < 4; part++)
        sets |= (uint64_t)CB_EARLY(uint8_t, plan->set[part]) << 8 * part;
    cb_region region;
    region.x0 = blockIdx.x * CB_PATCH_X;
    region.y0 = blockIdx.y * CB_PATCH_Y;
    region.x = cb_extend(CB_MX - region.x0 < CB_PATCH_X ? CB_MX - region.x0 : CB_PATCH_X,
                         axis == 0 ? sign : 0, 0, sets);
    region.y = cb_extend(CB_MY - region.y0 < CB_PATCH_Y ? CB_MY - region.y0 : CB_PATCH_Y,
                         axis == 1 ? sign : 0, 1, sets);
#if CB_CHOSEN
#pragma unroll 1
    for (int part = 0; part < 4; part++) {
        int x, y;
        if (t >= cb_tasks(&region, part)) continue;
        cb_local_cell(&region, part, t, &x, &y);
        const cb_choice choice = cb_choose(seed, sweep, walker, cb_number_of(&region, x, y), step);
#pragma unroll
        for (int trial = 0; trial < CB_TRIALS; trial++) {
            scratch.chosen[part].dx[trial][t] = choice.dx[trial];
            scratch.chosen[part].dy[trial][t] = choice.dy[trial];
        }
        scratch.chosen[part].order[t] = choice.order;
    }
#endif
    if (index > 0) plugmc_wait();
    cb_read(&region, from + slots, from_count + cells, &patch);
    __syncthreads();

    uint32_t trials = 0, accepted = 0;
#pragma unroll 1
    for (int part = 0; part < 4; part++) {
        const int tasks = cb_tasks(&region, part);
        for (int task = t; task < tasks; task += CB_BLOCK) {
            int x, y;
            cb_local_cell(&region, part, task, &x, &y);
            const int n = patch.count[cb_place(x, y)];
            if (n == 0) continue;
#if CB_CHOSEN
            cb_choice choice;
#pragma unroll
            for (int trial = 0; trial < CB_TRIALS; trial++) {
                choice.dx[trial] = scratch.chosen[part].dx[trial][t];
                choice.dy[trial] = scratch.chosen[part].dy[trial][t];
            }
            choice.order = scratch.chosen[part].order[t];
#else
            const cb_choice choice =
                cb_choose(seed, sweep, walker, cb_number_of(&region, x, y), step);
#endif
            const cb_around around = cb_look_around(&patch, x, y);
            const cb_moved moved = cb_try(&choice, &around, walls, n);
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (k < n) around.own[(moved.slots >> 2 * k & 3u) * CB_OWN_STEP] = moved.disk[k];
            x += region.x.low;
            y += region.y.low;
            if (x < 0 || x >= region.x.own || y < 0 || y >= region.y.own) continue;
            trials += CB_TRIALS; /* cells around are counted where they belong */
            accepted += moved.accepted;
        }
        __syncthreads();
    }
    cb_write_shifted(&region, &patch, axis, sign, quanta, from_id + slots, to + slots,
                     to_id + slots, to_count + cells, &scratch.made.disk[0][t],
                     &scratch.made.id[0][t], overflow);
    cb_count_of(walkers, walker, trials, accepted, counts);
}
#endif
