/* checkerboard.cu: what all kernels of the checkerboard share, the plans of sweeps, the cell shift and
 * the way out. Its text follows that of random_choices.h; the sub-sweeps come after it: trial.cu and
 * either subsweep.cu, where a thread takes a cell, or wide.cu, where a block does; or disks.cu.
 *
 * Fixed for the run, as macros: CB_MX CB_MY CB_MZ cells in each direction, CB_PITCH the
 * places of half a row, CB_CAP slots a cell, CB_TRIALS, CB_WALKERS, CB_SHUFFLE,
 * CB_SHUFFLE_SETS, CB_SHIFT, CB_IDS, CB_SCALE CB_RATIO_Y CB_RATIO_Z, CB_CONTACTS (table of
 * squares in units of the edge in x, one for each pair of species), CB_FIRST (table of first
 * particles of species), CB_BLOCK threads a block, CB_AT_ONCE (1: all cells of a set run at the same
 * time), CB_REACH the square of the range in units of the edge in x, CB_NEAR the room for particles
 * within that range of a cell, CB_COLUMNS threads of a block that take a cell where a thread does.
 *
 * CB_ALIKE: 1 if all walkers have one temperature, are on one rung and in one box, CB_RUNGS of the
 * ladder. Where boxes change, CB_SCALE, CB_RATIO_Y, CB_RATIO_Z, CB_CONTACTS and CB_REACH are not there:
 * each walker has its own.
 *
 * CB_CORES: 1 if particles have cores, CB_RESIDENT blocks for which a multiprocessor has to have room (in disks.cu and wide.cu). In
 * disks.cu: CB_PATCH (1: a block makes the whole sweep of a patch), CB_PATCH_X CB_PATCH_Y its cells, CB_CHOSEN (1: random
 * numbers are drawn before the sweep before has ended).
 *
 * CB_BODIES: 1 if particles are bodies, CB_PARTICLES a walker; CB_ROTATIONS is 2^32 times the share of trial moves that
 * turn them: see bodies.cu.
 *
 * CB_SPREAD: 1 if several processes sweep a walker. Sub-sweeps then have an argument more, which layers of cells
 * they take, and so has the cell shift: see domains.c.
 *
 * Layout: cells of equal parity of x follow each other along half a row, which is padded to
 * CB_PITCH places; slot 0 of a half row is followed by its slot 1, and so on. cb_cell is the place
 * of a cell among counts, cb_slot that of its slot 0 among coordinates; slot k is k CB_PITCH on. A
 * coordinate is a float2, or in three dimensions a float4 with the bits of the particle's number
 * in w.
 */

/* Plans, the number of the first sweep and the step. Of small systems cb_shift reads them before
 * plugmc_wait, and so does cb_sweep, but not in the first sweep, which follows cb_plan_batch: what
 * writes them has ended once the kernel before this one runs. `volatile` keeps the order and goes
 * past L1, which may hold older values. Nothing else may be read so early, and no pointer to it may
 * promise (const __restrict__) that nobody writes. Large systems read them after the wait, through
 * L1: so many warps asking L2 for one address are served one after the other. */
#if CB_AT_ONCE
#define CB_EARLY(type, what) (*(const volatile type *)&(what))
#else
#define CB_EARLY(type, what) (what)
#endif
#define DIM PLUGMC_DIMENSION
#define HX (CB_MX / 2)
#define ROWS (CB_MY * CB_MZ)
#define CELLS (ROWS * 2 * CB_PITCH)  /* counts of a walker */
#define SLOTS (CELLS * CB_CAP)       /* coordinates of a walker */
#define HALF_ROW (CB_CAP * CB_PITCH) /* coordinates of half a row */
#define LAYERS (DIM == 3 ? CB_MZ : CB_MY)
#if CB_SPREAD
#define CB_WINDOW , cb_window window
#define CB_OF_WINDOW , window
#define ACTIVE (HX * (DIM == 3 ? CB_MY / 2 : 1) * window.active) /* cells of a set */
#else
#define CB_WINDOW
#define CB_OF_WINDOW
#define ACTIVE (HX * (DIM == 3 ? CB_MY / 2 : 1) * (LAYERS / 2))
#endif
#if CB_BODIES
#define CB_ORIENTATIONS , int4 *orientations /* [walkers][CB_PARTICLES] */
#else
#define CB_ORIENTATIONS
#endif
#define NEIGHBOURS (DIM == 3 ? 27 : 9)
#if DIM == 3
typedef float4 cb_vector;
#else
typedef float2 cb_vector;
#endif

/* What a walker has beside its particles. */
#if CB_ALIKE
typedef struct cb_walker {
#if CB_BODIES
    double turn;
#endif
    float step[3];
} cb_walker; /* one for all */
#else
typedef struct cb_walker {
    cb_head head;
    double multiplier[PLUGMC_TERMS];
#if PLUGMC_BOX_CHANGES
    float contact[PLUGMC_SPECIES * PLUGMC_SPECIES];
#endif
} cb_walker;
#endif

PLUGMC_FN const float *cb_step_of(const cb_walker *walkers, int walker)
{
#if CB_ALIKE
    return walkers->step;
#else
    return walkers[walker].head.step;
#endif
}

#if CB_BODIES
PLUGMC_FN double cb_turn_of(const cb_walker *walkers, int walker)
{
#if CB_ALIKE
    return walkers->turn;
#else
    return walkers[walker].head.turn;
#endif
}
#endif

/* The box of a walker in units of its cells: constants, unless boxes change. */
#if PLUGMC_BOX_CHANGES
typedef struct cb_walls {
    float scale, ratio_y, ratio_z, reach, contact;
    const float *contacts;
} cb_walls;

PLUGMC_FN cb_walls cb_walls_of(const cb_walker *walkers, int walker)
{
    const cb_walker *w = &walkers[walker];
    const cb_walls walls = {CB_EARLY(float, w->head.scale),   CB_EARLY(float, w->head.ratio_y),
                            CB_EARLY(float, w->head.ratio_z), CB_EARLY(float, w->head.reach),
                            CB_EARLY(float, w->contact[0]),   w->contact};
    return walls;
}

/* Square of the contact distance of a pair of species. */
PLUGMC_FN float cb_contact_of(cb_walls walls, int pair)
{
    return PLUGMC_SPECIES == 1 ? walls.contact : walls.contacts[pair];
}
#else
typedef struct cb_walls {
    float scale, ratio_y, ratio_z, reach;
} cb_walls;
__device__ static const float cb_contact[] = CB_CONTACTS;

PLUGMC_FN cb_walls cb_walls_of(const cb_walker *, int)
{
    return {CB_SCALE, CB_RATIO_Y, CB_RATIO_Z, CB_REACH};
}

PLUGMC_FN float cb_contact_of(cb_walls, int pair) { return cb_contact[pair]; }
#endif

__device__ static const uint32_t cb_first[] = CB_FIRST;

PLUGMC_FN int cb_cell(int x, int y, int z)
{
    return ((z * CB_MY + y) * 2 + (x & 1)) * CB_PITCH + (x >> 1);
}

PLUGMC_FN int cb_slot(int cell) { return cell + cell / CB_PITCH * ((CB_CAP - 1) * CB_PITCH); }

/* The number of the particle in a slot; ids is not read in three dimensions. */
PLUGMC_FN uint32_t cb_id(cb_vector v, const uint32_t *ids, size_t slot)
{
#if DIM == 3
    return plugmc_bits(v.w);
#else
    return ids[slot];
#endif
}

PLUGMC_FN int cb_species(uint32_t id)
{
    int s = 0;
#pragma unroll
    for (int k = 1; k < PLUGMC_SPECIES; k++) s += id >= cb_first[k];
    return s;
}

/* Kernels get the key alone: with the whole struct as an argument a sweep of 32,768 Lennard-Jones atoms takes 4 %
 * longer on an H200, as the compiler loads it at another place. What else is in a seed is a constant here. */
PLUGMC_FN plugmc_seed cb_seed_of(uint64_t key)
{
    const plugmc_seed seed = {key, 0, 0};
    return seed;
}

/* One thread a sweep of the batch, one block a walker: what will be done, and where the cells
 * will be afterwards (origin, in quanta, not yet reduced to the box). */
extern "C" __global__ void cb_plan_batch(uint64_t key, const uint64_t *base, cb_plan *plans,
                                         long long *origin)
{
    const plugmc_seed seed = cb_seed_of(key);
    uint32_t k = threadIdx.x, walker = blockIdx.x;
    plugmc_wait();
    cb_plan p = cb_make_plan(seed, *base + k, walker, DIM, CB_SHUFFLE_SETS, CB_SHIFT);
    plans[walker * blockDim.x + k] = p;
    atomicAdd((unsigned long long *)&origin[3 * walker + p.axis],
              (unsigned long long)((long long)p.sign * p.quanta));
}

extern "C" __global__ void cb_advance(uint64_t *base, uint64_t n)
{
    plugmc_wait();
    *base += n;
}
/* The cell of a thread in a set, or none. */
typedef struct cb_task {
    int walker, x, y, z;
} cb_task;

PLUGMC_FN bool cb_find_task(int thread, const cb_plan *plans, int batch, int index, int part,
                            cb_task *task CB_WINDOW)
{
    int walker = thread / ACTIVE, local = thread - walker * ACTIVE;
    if (walker >= CB_WALKERS) return false;
    int set = plans[walker * batch + index].set[part];
    int qy = local / HX, q = local - qy * HX;
    int qz = DIM == 3 ? qy / (CB_MY / 2) : 0;
    if (DIM == 3) qy -= qz * (CB_MY / 2);
    task->walker = walker;
    task->x = 2 * q + (set & 1);
    task->y = 2 * qy + ((set >> 1) & 1);
    task->z = DIM == 3 ? 2 * qz + (set >> 2) : 0;
#if CB_SPREAD
    if (DIM == 3)
        task->z = cb_layer(window, qz, CB_MZ);
    else
        task->y = cb_layer(window, qy, CB_MY);
#endif
    return true;
}

/* The cell of neighbour c, for c = dx + 3 dy + 9 dz with all three from 0 to 2. */
PLUGMC_FN int cb_neighbour(cb_task t, int c)
{
    const int dx = c % 3, dy = c / 3 % 3, dz = DIM == 3 ? c / 9 : 1;
    int x = dx == 0            ? (t.x == 0 ? CB_MX - 1 : t.x - 1)
            : dx == 1          ? t.x
            : t.x == CB_MX - 1 ? 0
                               : t.x + 1;
    int y = dy == 0            ? (t.y == 0 ? CB_MY - 1 : t.y - 1)
            : dy == 1          ? t.y
            : t.y == CB_MY - 1 ? 0
                               : t.y + 1;
    int z = dz == 0            ? (t.z == 0 ? CB_MZ - 1 : t.z - 1)
            : dz == 1          ? t.z
            : t.z == CB_MZ - 1 ? 0
                               : t.z + 1;
    return cb_cell(x, y, z);
}

/* Whether the trials of a cell are counted here; others count them where they sweep it, too. */
PLUGMC_FN bool cb_is_own(int y, int z CB_WINDOW)
{
#if CB_SPREAD
    return cb_counts(window, DIM == 3 ? z : y);
#else
    return true;
#endif
}

/* Adds a warp's trials and acceptances to one of the run's pairs of counters. */
PLUGMC_FN void cb_count(uint32_t trials, uint32_t accepted, unsigned long long *counts)
{
#if __CUDA_ARCH__ >= 800
    trials = __reduce_add_sync(0xffffffffu, trials);
    accepted = __reduce_add_sync(0xffffffffu, accepted);
#else
    for (int lane = 16; lane > 0; lane >>= 1) {
        trials += __shfl_xor_sync(0xffffffffu, trials, lane);
        accepted += __shfl_xor_sync(0xffffffffu, accepted, lane);
    }
#endif
    const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const uint32_t warp = block * (CB_BLOCK / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (lane < 2 && trials > 0)
        atomicAdd(&counts[2 * (warp % CB_COUNTERS) + lane],
                  (unsigned long long)(lane == 0 ? trials : accepted));
}

/* The same, rung by rung: a warp may have cells of several walkers. */
PLUGMC_FN void cb_count_of(const cb_walker *walkers, int walker, uint32_t trials, uint32_t accepted,
                           unsigned long long *counts)
{
#if CB_RUNGS > 1
    const int rung = trials > 0 ? walkers[walker].head.rung : -1;
    for (unsigned left = __ballot_sync(0xffffffffu, trials > 0); left;) {
        const int counted = __shfl_sync(0xffffffffu, rung, __ffs((int)left) - 1);
        const bool mine = rung == counted;
        cb_count(mine ? trials : 0, mine ? accepted : 0, counts + 2 * CB_COUNTERS * counted);
        left &= ~__ballot_sync(0xffffffffu, mine);
    }
#else
    cb_count(trials, accepted, counts);
#endif
}

#if CB_CAP <= 8
/* Slots in the order of the trials, 4 bits each: a random permutation of the first n. */
PLUGMC_FN uint32_t cb_order(plugmc_seed seed, uint64_t sweep, int walker, uint32_t cell, int n)
{
    uint32_t order = 0x76543210u;
    plugmc_random r;
    if (!CB_SHUFFLE) return order;
#pragma unroll
    for (int k = CB_CAP - 1; k > 0; k--) { /* Fisher-Yates */
        if (k == CB_CAP - 1 || (k & 3) == 3)
            r = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
        if (k < n) {
            uint32_t j = plugmc_below(r.word[k & 3], k + 1);
            uint32_t d = ((order >> (4 * k)) ^ (order >> (4 * j))) & 15u;
            order ^= (d << (4 * k)) | (d << (4 * j));
        }
    }
    return order;
}
#endif

#if DIM == 2 && CB_CAP == 4
#define CB_DISKS 1 /* cb_shift keeps PLUGMC_NOWHERE in empty slots but the fourth */
#else
#define CB_DISKS 0
#endif

#if CB_DISKS
/* Puts a new cell together from the slots of the old one, v[0 ... 3] with n disks, and of the one on the
 * side that disks come from, v[4 ... 7] with m. They are moved by -s along axis, those of the other
 * cell also by its distance, `edge`. Slot k of the new cell is k `stride` on. Returns how many there
 * are, which may be more than slots. */
PLUGMC_FN int cb_gather(const float2 v[8], const uint32_t number[8], int n, int m, int axis,
                        float s, float edge, float2 *cell, uint32_t *numbers, int stride)
{
    int filled = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float c = (axis == 0 ? v[k].x : v[k].y) - s;
        const bool leaves = c < -0.5f || c >= 0.5f;
        if ((k & 3) >= (k < 4 ? n : m) || leaves != (k >= 4)) continue;
        if (k >= 4) c += edge;
        if (filled < 4) {
            cell[filled * stride] = axis == 0 ? make_float2(c, v[k].y) : make_float2(v[k].x, c);
            if (CB_IDS) numbers[filled * stride] = number[k];
        }
        filled++;
    }
    return filled;
}
#endif

/* Moves the cells, which is moving the particles the other way: each thread gathers one new
 * cell from the old cell of the same index and the neighbour on the side the particles come
 * from. *overflow is set if a cell has more particles than slots. */
extern "C" __global__ void __launch_bounds__(256)
    cb_shift(const cb_plan *plans, int batch, int index, const cb_vector *from,
             const uint32_t *from_id, const uint8_t *from_count, cb_vector *__restrict__ to,
             uint32_t *__restrict__ to_id, uint8_t *__restrict__ to_count, int *overflow CB_WINDOW)
{
    /* A block takes both parities of a tile in four rows, so that the cells which two threads read
     * are mostly read from memory once. */
    const int warp = threadIdx.x >> 5, walker = blockIdx.z;
    const int q = blockIdx.x * 32 + (threadIdx.x & 31);
    int row = blockIdx.y * 4 + (warp >> 1);
    if (!CB_AT_ONCE) plugmc_wait();
#if CB_SPREAD
    if (q >= HX || row >= window.active * (ROWS / LAYERS)) return;
    row += window.first * (ROWS / LAYERS);
    if (row >= ROWS) row -= ROWS;
#else
    if (q >= HX || row >= ROWS) return;
#endif
    int x = 2 * q + (warp & 1), y = row % CB_MY, z = row / CB_MY;
    const cb_plan *p = &plans[walker * batch + index];
    const int axis = CB_EARLY(int32_t, p->axis), sign = CB_EARLY(int32_t, p->sign);
    const float s = (float)(sign * CB_EARLY(int32_t, p->quanta)) * CB_QUANTUM,
                edge = sign > 0 ? 1.0f : -1.0f;
    const int here = cb_cell(x, y, z);
    if (axis == 0) x = sign > 0 ? (x == CB_MX - 1 ? 0 : x + 1) : (x == 0 ? CB_MX - 1 : x - 1);
    if (axis == 1) y = sign > 0 ? (y == CB_MY - 1 ? 0 : y + 1) : (y == 0 ? CB_MY - 1 : y - 1);
    if (axis == 2) z = sign > 0 ? (z == CB_MZ - 1 ? 0 : z + 1) : (z == 0 ? CB_MZ - 1 : z - 1);
    const int there = cb_cell(x, y, z);
    const size_t counts = (size_t)walker * CELLS, slots = (size_t)walker * SLOTS;
    const int first = cb_slot(here), other = cb_slot(there);
    if (CB_AT_ONCE) plugmc_wait();
    const int n = from_count[counts + here], m = from_count[counts + there];
    int filled = 0;
#if CB_DISKS
    /* All eight slots are read before the first is needed. The new cell is put together in shared
     * memory and written in whole sectors of four cells, empty slots and all: a sector written in
     * part would have to be read as well. */
    __shared__ float2 cell[4][256];
    __shared__ uint32_t numbers[CB_IDS ? 4 : 1][256];
    const int me = threadIdx.x;
    float2 v[8];
    uint32_t number[8];
#pragma unroll
    for (int k = 0; k < 4; k++) cell[k][me] = make_float2(PLUGMC_NOWHERE, 0.0f);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const size_t was = slots + (k < 4 ? first : other) + CB_PITCH * (k & 3);
        const bool have = (k & 3) < 3 || (k & 3) < (k < 4 ? n : m);
        v[k] = have ? from[was] : make_float2(0.0f, 0.0f);
        number[k] = CB_IDS && have ? from_id[was] : 0;
    }
    filled = cb_gather(v, number, n, m, axis, s, edge, &cell[0][me], &numbers[0][me], 256);
    const unsigned active = __activemask();
    const int sector = me & 28;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const unsigned used = __ballot_sync(active, k < filled);
        const bool some = used >> sector & 15u;
        if (k < 3 || some) to[slots + first + CB_PITCH * k] = cell[k][me];
        if (CB_IDS && some) to_id[slots + first + CB_PITCH * k] = numbers[k][me];
    }
#else
#pragma unroll
    for (int k0 = 0; k0 < CB_CAP; k0 += 4) {
        /* read before the first is needed, so that latencies overlap */
        cb_vector v[4];
        uint32_t number[4];
        if (k0 > 0 && k0 >= n) break;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const bool have = k0 + k < (CB_CAP < 2 ? CB_CAP : 2) ||
                              k0 + k < n; /* two without waiting for the count */
            const size_t was = slots + first + CB_PITCH * (k0 + k);
            if (have) v[k] = from[was];
            if (CB_IDS && DIM == 2 && have) number[k] = from_id[was];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (k0 + k >= n) continue;
            float *c = axis == 0 ? &v[k].x : &v[k].y;
#if DIM == 3
            c = axis == 2 ? &v[k].z : c;
#endif
            *c -= s;
            if (*c < -0.5f || *c >= 0.5f) continue;
            to[slots + first + CB_PITCH * filled] = v[k];
            if (CB_IDS && DIM == 2) to_id[slots + first + CB_PITCH * filled] = number[k];
            filled++;
        }
    }
#pragma unroll
    for (int k0 = 0; k0 < CB_CAP; k0 += 4) { /* and those that come over from the other cell */
        cb_vector v[4];
        uint32_t number[4];
        if (k0 > 0 && k0 >= m) break;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const bool have = k0 + k < (CB_CAP < 2 ? CB_CAP : 2) || k0 + k < m;
            const size_t was = slots + other + CB_PITCH * (k0 + k);
            if (have) v[k] = from[was];
            if (CB_IDS && DIM == 2 && have) number[k] = from_id[was];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (k0 + k >= m) continue;
            float *c = axis == 0 ? &v[k].x : &v[k].y;
#if DIM == 3
            c = axis == 2 ? &v[k].z : c;
#endif
            *c -= s;
            if (!(*c < -0.5f || *c >= 0.5f)) continue;
            *c += edge;
            if (filled < CB_CAP) {
                to[slots + first + CB_PITCH * filled] = v[k];
                if (CB_IDS && DIM == 2) to_id[slots + first + CB_PITCH * filled] = number[k];
            }
            filled++;
        }
    }
#endif
    if (filled > CB_CAP) {
        *overflow = 1;
        filled = CB_CAP;
    }
    to_count[counts + here] = (uint8_t)filled;
}

/* `domain` of the host: layers from `first` on, which go on round the box. */
typedef struct cb_layers {
    int first, layers;
} cb_layers;

PLUGMC_FN int cb_is_among(cb_layers which, int y, int z)
{
    const int behind = (DIM == 3 ? z : y) - which.first;
    return behind + (behind < 0 ? LAYERS : 0) < which.layers;
}

/* `cell` in row-major order. */
PLUGMC_FN int cb_cell_is_among(cb_layers which, int cell)
{
    const int row = cell / CB_MX;
    return cb_is_among(which, row % CB_MY, row / CB_MY);
}

/* Particles in a cell, in row-major order; none in other layers. */
PLUGMC_FN uint32_t cb_count_of(const uint8_t *count, cb_layers which, int walker, int cell)
{
    const int x = cell % CB_MX, row = cell / CB_MX;
    if (!cb_cell_is_among(which, cell)) return 0;
    return count[(size_t)walker * CELLS + cb_cell(x, row % CB_MY, row / CB_MY)];
}

/* Sum of n over the threads below and this one; *total over all of the block. */
static __device__ uint32_t cb_sum_below(uint32_t n, uint32_t *total)
{
    __shared__ uint32_t sums[CB_SCAN / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t sum = n;
    for (int d = 1; d < 32; d <<= 1) {
        const uint32_t left = __shfl_up_sync(0xffffffffu, sum, d);
        sum += lane >= d ? left : 0;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    *total = 0;
    for (int w = 0; w < CB_SCAN / 32; w++) {
        sum += w < warp ? sums[w] : 0;
        *total += sums[w];
    }
    __syncthreads();
    return sum;
}

/* For runs without CB_IDS: the number of particles before each cell in row-major order. Blocks of CB_SCAN threads: x
 * parts of CB_PART cells, each of which counts all that lie before it; y walkers. */
extern "C" __global__ void __launch_bounds__(CB_SCAN)
    cb_number(const uint8_t *count, const cb_layers which, uint32_t *offset)
{
    const int cells = CB_MX * ROWS, first = blockIdx.x * CB_PART, walker = blockIdx.y;
    uint32_t n = 0, before, total;
    plugmc_wait();
    for (int cell = threadIdx.x; cell < first; cell += CB_SCAN)
        n += cb_count_of(count, which, walker, cell);
    cb_sum_below(n, &before);
    for (int begin = first; begin < first + CB_PART && begin < cells; begin += CB_SCAN) {
        const int cell = begin + threadIdx.x;
        n = cell < cells ? cb_count_of(count, which, walker, cell) : 0;
        const uint32_t sum = cb_sum_below(n, &total);
        if (cell < cells) offset[(size_t)walker * cells + cell] = before + sum - n;
        before += total;
    }
}

/* Position `number` of all. It begins at a multiple of 16 bytes or 8 bytes behind one: two writes, not three. */
static __device__ void cb_put(double *positions, long long number, const double to[3])
{
    double *out = positions + 3 * number;
    if (number & 1) {
        out[0] = to[0];
        *(double2 *)(out + 1) = make_double2(to[1], to[2]);
    } else {
        *(double2 *)out = make_double2(to[0], to[1]);
        out[2] = to[2];
    }
}

/* What a thread needs to know of a cell, to say where its particles are. Threads take cells in row-major order. */
typedef struct cb_home {
    int walker, cell, n; /* n: particles */
    size_t slot;         /* of all walkers */
    long long first[3];  /* quanta of its middle, in the box */
} cb_home;

PLUGMC_FN bool cb_find_home(cb_home *home, const uint8_t *count, const long long *origin)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, cells = CB_MX * ROWS;
    home->walker = thread / cells;
    home->cell = thread - home->walker * cells;
    if (home->walker >= CB_WALKERS) return false;
    const int x = home->cell % CB_MX, row = home->cell / CB_MX, y = row % CB_MY, z = row / CB_MY;
    const int place = cb_cell(x, y, z), m[3] = {CB_MX, CB_MY, CB_MZ}, at[3] = {x, y, z};
    home->n = count[(size_t)home->walker * CELLS + place];
    home->slot = (size_t)home->walker * SLOTS + cb_slot(place);
    for (int a = 0; a < DIM; a++) {
        const long long edge = (long long)CB_QUANTA * m[a];
        long long q = origin[3 * home->walker + a] + (long long)CB_QUANTA * at[a] + CB_QUANTA / 2;
        q += q < 0 ? edge : (q >= edge ? -edge : 0); /* an origin is seldom a box away */
        if (q < 0 || q >= edge) q = (q % edge + edge) % edge;
        home->first[a] = q;
    }
    return true;
}

/* Where a particle of the cell is, in the box; in two dimensions z is left alone. */
PLUGMC_FN void cb_position(const cb_home *home, cb_vector v, const double *quantum, double to[3])
{
    const int m[3] = {CB_MX, CB_MY, CB_MZ};
#if DIM == 3
    const float local[3] = {v.x, v.y, v.z};
#else
    const float local[2] = {v.x, v.y};
#endif
    for (int a = 0; a < DIM; a++) {
        const long long edge = (long long)CB_QUANTA * m[a];
        long long q = home->first[a] + (int)(local[a] * (float)CB_QUANTA);
        if (q < 0) q += edge;
        if (q >= edge) q -= edge;
        to[a] = (double)q * quantum[a];
    }
}

/* Lengths of a quantum: of each walker where boxes change, else of all. */
#if PLUGMC_BOX_CHANGES
#define CB_QUANTUM_PARAMETERS const cb_walker *walkers
#define CB_FIND_QUANTUM(walker) const double *quantum = walkers[walker].head.quantum
#else
#define CB_QUANTUM_PARAMETERS double quantum_x, double quantum_y, double quantum_z
#define CB_FIND_QUANTUM(walker) const double quantum[3] = {quantum_x, quantum_y, quantum_z}
#endif

/* Positions in the box, [walkers][particles][3]. Without CB_IDS particles are numbered as they
 * come: offset[walker][cell in row-major order] is the number of those before. */
extern "C" __global__ void cb_store(const cb_vector *coordinate, const uint32_t *id,
                                    const uint8_t *count, const long long *origin,
                                    const uint32_t *offset, const cb_layers which,
                                    double *positions, long long particles, CB_QUANTUM_PARAMETERS)
{
    cb_home home;
    plugmc_wait();
    if (!cb_find_home(&home, count, origin)) return;
    if (!cb_cell_is_among(which, home.cell)) return;
    CB_FIND_QUANTUM(home.walker);
    for (int k = 0; k < home.n; k++) {
        const size_t slot = home.slot + CB_PITCH * k;
        const cb_vector v = coordinate[slot];
        const long long i =
            CB_IDS ? (long long)cb_id(v, id, slot)
                   : (long long)offset[(size_t)home.walker * CB_MX * ROWS + home.cell] + k;
        double to[3] = {0, 0, 0};
        cb_position(&home, v, quantum, to);
        cb_put(positions, (long long)home.walker * particles + i, to);
    }
}

/* The slot of each particle in its cell, [walkers][particles]. With CB_IDS. */
extern "C" __global__ void cb_find_slots(const cb_vector *coordinate, const uint32_t *id,
                                         const uint8_t *count, const long long *origin,
                                         long long particles, uint8_t *slots)
{
    cb_home home;
    plugmc_wait();
    if (!cb_find_home(&home, count, origin)) return;
    for (int k = 0; k < home.n; k++) {
        const size_t slot = home.slot + CB_PITCH * k;
        slots[home.walker * particles + cb_id(coordinate[slot], id, slot)] = (uint8_t)k;
    }
}
