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

PLUGMC_FN float cb_less(float a, float b)
{
    const int x = (int)plugmc_bits(a), y = (int)plugmc_bits(b);
    return plugmc_float_of_bits((uint32_t)(x < y ? x : y));
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

/* plugmc_draw with the keys of all rounds, which come as an argument: computed here they were 18 instructions of a
 * thread. */
PLUGMC_FN plugmc_random cb_draw(const cb_keys *keys, uint64_t sweep, uint32_t walker, uint32_t cell,
                                uint32_t purpose, uint32_t draw)
{
#ifdef PLUGMC_FIRST_WALKER
    walker += PLUGMC_FIRST_WALKER;
#endif
    uint32_t c[4] = {cell, (uint32_t)sweep,
                     ((uint32_t)(sweep >> 32) << 16) | (purpose << 8) | draw, walker};
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint32_t high = plugmc_mulhi(0xD2511F53u, c[0]), low = 0xD2511F53u * c[0];
        c[0] = plugmc_mulhi(0xCD9E8D57u, c[2]) ^ c[1] ^ keys->of[round][0];
        c[1] = 0xCD9E8D57u * c[2];
        c[2] = high ^ c[3] ^ keys->of[round][1];
        c[3] = low;
    }
    const plugmc_random drawn = {{c[0], c[1], c[2], c[3]}};
    return drawn;
}

/* What a cell does in a sub-sweep, before its particles are known. */
typedef struct cb_choice {
    float dx[CB_TRIALS], dy[CB_TRIALS];
    uint32_t order; /* drawn from 2, 3 and 4 numbers: bit 0, bits 1 and 2, bits 3 and 4 */
} cb_choice;

PLUGMC_FN cb_choice cb_choose(const cb_keys *keys, uint64_t sweep, int walker, uint32_t cell,
                              const float *step)
{
    cb_choice choice;
    plugmc_random random;
    const float step_x = CB_EARLY(float, step[0]), step_y = CB_EARLY(float, step[1]);
#pragma unroll
    for (int trial = 0; trial < CB_TRIALS; trial++) {
        if ((trial & 3) == 0)
            random = cb_draw(keys, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, trial >> 2);
        cb_displacement_2(random.word[trial & 3], step_x, step_y, &choice.dx[trial],
                          &choice.dy[trial]);
    }
    random = cb_draw(keys, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, 0);
    choice.order = plugmc_below(random.word[1], 2) | plugmc_below(random.word[2], 3) << 1 |
                   plugmc_below(random.word[3], 4) << 3;
    return choice;
}

/* Where the disks of an active cell and of those around it are. Slots are CB_OWN_STEP, CB_MIDDLE_STEP and
 * CB_SIDE_STEP disks apart. */
typedef struct cb_around {
    float2 *own;     /* slot 0 of the cell, in shared memory */
    uint32_t fourth; /* neighbours with a fourth disk: bit 9 column + 3 row + 2, columns and
                        rows from 0 to 2: the highest of the three bits of a count */
#if CB_PATCH
    const float2 *middle[2]; /* of the cells below and above */
    const float2 *side[3]; /* of those to the left, in the row below, its own and the row above; the
                                cell to the right comes next to it */
#else
    const cb_vector *disks; /* in memory, and here in each row and column */
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
#endif

/* Disk k of a neighbour. */
PLUGMC_FN float2 cb_near_disk(const cb_around *around, int row, int column, int k)
{
#if CB_PATCH
    const float2 *side = row == 0 ? around->side[0] : row == 1 ? around->side[1] : around->side[2];
    const float2 *middle = row == 0 ? around->middle[0] : around->middle[1];
    return column == 1 ? middle[k * CB_MIDDLE_STEP] : side[k * CB_SIDE_STEP + column / 2];
#else
    const int r = row == 0 ? around->rows[0] : row == 1 ? around->rows[1] : around->rows[2];
    return around->disks[k * CB_PITCH + r +
                         (column == 0   ? around->columns[0]
                          : column == 1 ? around->columns[1]
                                        : around->columns[2])];
#endif
}

/* Whether a disk is free of those that the sums of cb_try leave open: of the fourth disks of neighbours, or of
 * all their disks. Rare: small rather than fast. */
PLUGMC_FN bool cb_is_free(const cb_around *around, cb_walls walls, float x, float y, bool of_all)
{
    const float contact = cb_contact_of(walls, 0);
    uint32_t rest = of_all ? 0x4920924u : around->fourth; /* all cells but the one in the middle */
    bool free = true;
#pragma unroll 1
    for (; rest; rest &= rest - 1) {
        const int bit = __ffs((int)rest) - 1, c = bit / 3, column = c / 3, row = c - 3 * column;
        const int n = 3 + (int)(around->fourth >> bit & 1u);
#pragma unroll 1
        for (int k = of_all ? 0 : 3; k < n; k++) {
            const float2 j = cb_near_disk(around, row, column, k);
            free = free && cb_distance(walls, (x - (float)(column - 1)) - j.x,
                                       (y - (float)(row - 1)) - j.y) >= contact;
        }
    }
    return free;
}

/* The order of n disks, `next` of them further on: whoever is next now, first. */
PLUGMC_FN uint32_t cb_turned(uint32_t order, int n, int next)
{
    const uint32_t all = (1u << 2 * n) - 1;
    return next == 0 ? order : (order & all) >> 2 * next | (order << 2 * (n - next) & all);
}

/* The disks of a cell after its trial moves. */
typedef struct cb_moved {
    float2 disk[4];
    uint32_t slots, accepted; /* slot of disk k, 2 bits each */
} cb_moved;

/* The first three slots of the cells around: 24 disks, or, if two threads share a cell, 12 for each of them: those
 * of the row below and of the cell to the left, or of the row above and of the cell to the right. First comes that
 * row, from the left to the right. */
enum { CB_DISKS_AROUND = 24 / CB_SHARE };

/* The row (0 to 2) and column of disk e; half: which of the two threads. */
PLUGMC_FN int cb_row_of(int e, int half)
{
    if (CB_SHARE == 2) return e < 9 ? 2 * half : 1;
    return e < 9 ? 0 : e < 18 ? 2 : 1;
}
PLUGMC_FN int cb_column_of(int e, int half)
{
    if (CB_SHARE == 2) return e < 9 ? e / 3 : 2 * half;
    return e < 18 ? e % 9 / 3 : 2 * ((e - 18) / 3);
}

/* The least of both threads that share a cell, if they do. */
PLUGMC_FN float cb_least_of_both(float x)
{
#if CB_SHARE == 2
    return cb_less(x, __shfl_xor_sync(0xffffffffu, x, 1));
#else
    return x;
#endif
}

/* The trial moves of a cell with n disks. around_it: the disks around that this thread looks at,
 * relative to the centres of their cells. If two threads share a cell, all threads of a warp take part. */
PLUGMC_FN cb_moved cb_try(const cb_choice *choice, const cb_around *around,
                          const float2 around_it[CB_DISKS_AROUND], int half, cb_walls walls, int n)
{
    /* Neighbours relative to the centre of this cell, times -1/2, which leaves no factor to the trial moves below;
     * and the squares of these distances from it; 1/4 is added, so that no sum below is negative. */
    float jx[CB_DISKS_AROUND], jy[CB_DISKS_AROUND], jj[CB_DISKS_AROUND];
#pragma unroll
    for (int e = 0; e < CB_DISKS_AROUND; e++) {
        const float2 j = around_it[e];
        const int column = cb_column_of(e, half), row = cb_row_of(e, half);
        jx[e] = column == 1 ? -0.5f * j.x : fmaf(j.x, -0.5f, -0.5f * (float)(column - 1));
        jy[e] = row == 1 ? -0.5f * j.y : fmaf(j.y, -0.5f, -0.5f * (float)(row - 1));
        const float uy = jy[e] * walls.ratio_y;
        jj[e] = cb_keep(fmaf(uy, uy, fmaf(jx[e], jx[e], 0.25f)));
    }
    /* Its particles wait in the order of the trials; one that has tried goes to the end. */
    uint32_t order = cb_order_of_four(choice->order, n), accepted = 0;
    float2 queue[4];
#pragma unroll
    for (int k = 0; k < 4; k++) queue[k] = around->own[(order >> 2 * k & 3u) * CB_OWN_STEP];
    const float contact = cb_contact_of(walls, 0);
    /* Gaps below this are looked at again: where there are fourth disks, all of them. */
    const float doubt = around->fourth || n == 4 ? PLUGMC_NOWHERE : CB_DOUBT;
#pragma unroll
    for (int trial = 0; trial < CB_TRIALS; trial++) {
        const float new_x = queue[0].x + choice->dx[trial], new_y = queue[0].y + choice->dy[trial];
        const float one = cb_distance(walls, new_x - queue[1].x, new_y - queue[1].y),
                    two = cb_distance(walls, new_x - queue[2].x, new_y - queue[2].y);
        /* (1 + |r - j|^2 - |r|^2) / 4, positive for any r within the cell; two chains of minima, since
         * one is as slow as it is long */
        const float scaled_y = walls.ratio_y * walls.ratio_y * new_y;
        float d[CB_DISKS_AROUND];
#pragma unroll
        for (int e = 0; e < CB_DISKS_AROUND; e++)
            d[e] = fmaf(jx[e], new_x, fmaf(jy[e], scaled_y, jj[e]));
        enum { CHAIN = CB_DISKS_AROUND / 2 };
        float near[2] = {cb_least(d[0], d[1], d[2]), cb_least(d[CHAIN], d[CHAIN + 1], d[CHAIN + 2])};
#pragma unroll
        for (int e = 3; e < CHAIN - 1; e += 2) {
            near[0] = cb_least(near[0], d[e], d[e + 1]);
            near[1] = cb_least(near[1], d[CHAIN + e], d[CHAIN + e + 1]);
        }
        near[0] = cb_least(near[0], d[CHAIN - 1], d[2 * CHAIN - 1]);
        const float uy = walls.ratio_y * new_y;
        float gap = fmaf(4.0f, cb_least_of_both(cb_less(near[0], near[1])),
                         fmaf(uy, uy, fmaf(new_x, new_x, -(contact + 1.0f))));
        /* `&`, since branches for some of the threads take longer than what they save */
        const bool fits = (new_x >= -0.5f) & (new_x < 0.5f) & (new_y >= -0.5f) & (new_y < 0.5f) &
                          (cb_less(one, two) >= contact);
        if (fits && fabsf(gap) < doubt) {
            bool free = cb_is_free(around, walls, new_x, new_y, gap < CB_DOUBT);
            if (n == 4)
                free = free && cb_distance(walls, new_x - queue[3].x, new_y - queue[3].y) >= contact;
            gap = free ? 1.0f : -1.0f;
        }
        const bool accept = fits && gap > 0.0f;
        if (accept) accepted++;
        const float2 tried = accept ? make_float2(new_x, new_y) : queue[0];
        queue[0] = n == 1 ? tried : queue[1];
        queue[1] = n == 2 ? tried : queue[2];
        queue[2] = n == 3 ? tried : queue[3];
        if (n == 4) queue[3] = tried;
    }
    order = n == 2   ? cb_turned(order, 2, CB_TRIALS % 2)
            : n == 3 ? cb_turned(order, 3, CB_TRIALS % 3)
            : n == 4 ? cb_turned(order, 4, CB_TRIALS % 4)
                     : order;
    const cb_moved moved = {{queue[0], queue[1], queue[2], queue[3]}, order, accepted};
    return moved;
}

#if !CB_PATCH
/* ---- The sub-sweep of large systems ----------------------------------------------------------------
 * A block takes CB_BLOCK active cells of a row and keeps their surroundings in shared memory: first
 * three slots of the rows below and above, and of the columns in between, which neighbouring
 * threads share. A fourth disk in a neighbouring cell is rare and read from memory. */
/* An address, which the compiler is not to compute again for other rows. */
template <class T> PLUGMC_FN T *cb_known(T *address)
{
    size_t global = __cvta_generic_to_global(address);
    asm("" : "+l"(global));
    return (T *)__cvta_global_to_generic(global);
}

extern "C" __global__ void __launch_bounds__(CB_BLOCK, CB_RESIDENT)
    cb_subsweep(cb_keys keys, const uint64_t *base, const cb_plan *plans, int batch, int index,
                int part, const cb_walker *walkers, cb_vector *coordinate, const uint32_t *id,
                const uint8_t *count, unsigned long long *counts, int *overflow CB_WINDOW)
{
    __shared__ float2 own[4][CB_BLOCK]; /* of the active cells: each thread its own */
    const int t = threadIdx.x, walker = CB_WALKERS > 1 ? blockIdx.z : 0;
    const int q = blockIdx.x * CB_BLOCK + t;
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
     * those of the same parity, the ones left and right of it in the others. Rows: places of cells from those of this one. */
    const uint8_t *n_of = count + (size_t)walker * CELLS;
    cb_vector *at = coordinate + (size_t)walker * SLOTS;
    const int own_column = q < HX ? q : HX - 1;
    const int left = q + px == 0 ? HX - 1 : q + px <= HX ? q + px - 1 : 0;
    const int right = q + px < HX ? q + px : 0;
    const int row = 2 * CB_PITCH, rows[3] = {y == 0 ? (CB_MY - 1) * row : -row, 0,
                                             y == CB_MY - 1 ? (1 - CB_MY) * row : row};
    const int same = 2 * y + px, other = 2 * y + 1 - px;
    cb_vector *home = cb_known(at + (same * HALF_ROW + own_column));
    const cb_vector *before = cb_known(at + (other * HALF_ROW + left)),
                    *behind = cb_known(at + (other * HALF_ROW + right));
    const uint8_t *n_home = cb_known(n_of + (same * CB_PITCH + own_column)),
                  *n_before = cb_known(n_of + (other * CB_PITCH + left)),
                  *n_behind = cb_known(n_of + (other * CB_PITCH + right));
    float2 around_it[CB_DISKS_AROUND], own_slot[4];
    uint32_t fourth = 0; /* and other bits of counts */
    int n = 0;
#pragma unroll
    for (int e = 0; e < CB_DISKS_AROUND; e++) {
        const int r = cb_row_of(e, 0), column = cb_column_of(e, 0);
        const cb_vector *cell_of = column == 0 ? before : column == 1 ? home : behind;
        around_it[e] = cell_of[(int64_t)rows[r] * CB_CAP + e % 3 * CB_PITCH];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) own_slot[k] = home[k * CB_PITCH];
    uint32_t n_around[9];
#pragma unroll
    for (int c = 0; c < 9; c++) {
        const uint8_t *n_at = c < 3 ? n_before : c < 6 ? n_home : n_behind;
        n_around[c] = n_at[rows[c % 3]];
    }

    /* random numbers are drawn while memory answers */
    const cb_choice choice = cb_choose(&keys, sweep, walker, cell, step);
    __syncwarp();

    if (q < HX) n = (int)n_around[4];
#pragma unroll
    for (int c = 0; c < 9; c++)
        if (c != 4) fourth |= n_around[c] << 3 * c;
#pragma unroll
    for (int k = 0; k < 3; k++) own[k][t] = own_slot[k];
    own[3][t] = n > 3 ? own_slot[3] : make_float2(PLUGMC_NOWHERE, 0.0f);

    uint32_t accepted = 0;
    if (n > 0) {
        const cb_around around = {
            &own[0][t],
            fourth & 0x4924924u,
            at,
            {rows[0] * CB_CAP, 0, rows[2] * CB_CAP},
            {other * HALF_ROW + left, same * HALF_ROW + own_column, other * HALF_ROW + right}};
        const cb_moved moved = cb_try(&choice, &around, around_it, 0, walls, n);
        accepted = moved.accepted;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (k < n) home[(size_t)(moved.slots >> 2 * k & 3u) * CB_PITCH] = moved.disk[k];
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
/* What is chosen for the cells of a sub-sweep, all of which the block takes at a time. */
#define CB_AT_A_TIME (CB_BLOCK / CB_SHARE)
typedef struct cb_choices {
    float dx[CB_TRIALS][CB_AT_A_TIME], dy[CB_TRIALS][CB_AT_A_TIME];
    uint32_t order[CB_AT_A_TIME];
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
    const int columns = (int)(region->x.cells >> 8 * part & 255u), 
              row = (int)__fdividef((float)task + 0.5f, (float)columns);
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
                        (uint32_t)patch->count[place - ROW] << 9 |
                            (uint32_t)patch->count[place + ROW] << 15,
                        {&patch->disk[0][place - ROW], &patch->disk[0][place + ROW]},
                        {0, 0, 0}};
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
    cb_sweep(cb_keys keys, const uint64_t *base, const cb_plan *plans, int batch, int index,
             const cb_walker *walkers, const cb_vector *from, const uint32_t *from_id,
             const uint8_t *from_count, cb_vector *__restrict__ to, uint32_t *__restrict__ to_id,
             uint8_t *__restrict__ to_count, unsigned long long *counts, int *overflow)
{
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
    enum { WARP = 32, CELLS_A_WARP = WARP / CB_SHARE };
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
        const cb_choice choice = cb_choose(&keys, sweep, walker, cb_number_of(&region, x, y), step);
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
        for (int first = t / WARP * CELLS_A_WARP; first < tasks; first += CB_BLOCK / CB_SHARE) {
            /* of threads that share cells, those without one do what the last cell does */
            const int task = first + t % WARP / CB_SHARE, half = t % CB_SHARE;
            if (CB_SHARE == 1 && task >= tasks) break;
            int x, y;
            cb_local_cell(&region, part, task < tasks ? task : tasks - 1, &x, &y);
            const int n = patch.count[cb_place(x, y)];
            if (CB_SHARE == 1 && n == 0) continue;
#if CB_CHOSEN
            cb_choice choice;
#pragma unroll
            for (int trial = 0; trial < CB_TRIALS; trial++) {
                choice.dx[trial] = scratch.chosen[part].dx[trial][task];
                choice.dy[trial] = scratch.chosen[part].dy[trial][task];
            }
            choice.order = scratch.chosen[part].order[task];
#else
            const cb_choice choice =
                cb_choose(&keys, sweep, walker, cb_number_of(&region, x, y), step);
#endif
            const cb_around around = cb_look_around(&patch, x, y);
            float2 around_it[CB_DISKS_AROUND];
#pragma unroll
            for (int e = 0; e < CB_DISKS_AROUND; e++)
                around_it[e] =
                    cb_near_disk(&around, cb_row_of(e, half), cb_column_of(e, half), e % 3);
            const cb_moved moved = cb_try(&choice, &around, around_it, half, walls, n);
            if (half > 0 || task >= tasks || n == 0) continue;
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
