/* checkerboard.cu: the random choices of the checkerboard sweep, shared by CPU and GPU, and the
 * kernels. checkerboard.c includes this file for the first part.
 *
 * Coordinates. A particle is stored relative to the centre of its cell, in units of the cell's
 * edges: a multiple of CB_QUANTUM in [-1/2, 1/2). Trial displacements and cell shifts are
 * multiples of CB_QUANTUM too, so every addition and subtraction of coordinates is exact in
 * float, within a cell and across cells: no particle drifts by rounding, none is lost, none
 * comes to overlap by a cell shift, and each trial move has its exact reverse.
 */

#define CB_QUANTUM 0x1p-23f
#define CB_QUANTA 8388608 /* quanta in a cell edge */

/* Pairs of a GPU's counters, of trial moves and of accepted ones; the counts are their sums. Warps
 * that add to the same place take turns, and a sub-sweep of a large system has 80,000 such sums. */
#define CB_COUNTERS 1024

/* Cells around a patch of disks that matter for its sweep, along an axis: two for each of the four
 * sub-sweeps and one for the shift. See disks.cu. */
#define CB_AROUND 9

/* What a walker does in one sweep. */
typedef struct cb_plan {
    uint8_t set[8];      /* order of the checkerboard sets; bit a of a set: parity along axis a */
    int32_t axis, sign;  /* the cells are shifted along axis, in direction sign */
    int32_t quanta;      /* by so many quanta */
    int32_t unused;
} cb_plan;

PLUGMC_FN cb_plan cb_make_plan(uint64_t seed, uint64_t sweep, uint32_t walker, int dimension,
                               int shuffle, int shift)
{
    cb_plan plan;
    uint32_t word[12];
    for (uint32_t d = 0; d < 3; d++) {
        plugmc_random r = plugmc_draw(seed, sweep, walker, 0, PLUGMC_PURPOSE_SWEEP, d);
        for (int k = 0; k < 4; k++) word[4 * d + k] = r.word[k];
    }
    for (int k = 0; k < 8; k++) plan.set[k] = (uint8_t)k;
    if (shuffle) /* Fisher-Yates */
        for (int k = (1 << dimension) - 1; k > 0; k--) {
            int j = (int)plugmc_below(word[k + 2], (uint32_t)k + 1);
            uint8_t t = plan.set[k];
            plan.set[k] = plan.set[j];
            plan.set[j] = t;
        }
    plan.axis = (int32_t)plugmc_below(word[0], (uint32_t)dimension);
    plan.sign = word[1] >> 31 ? 1 : -1;
    plan.quanta = shift ? (int32_t)plugmc_below(word[2], CB_QUANTA / 2) : 0;
    plan.unused = 0;
    return plan;
}

/* To the nearest quantum, for |x| < 1/2: adding 3/2 leaves no bits below it. */
PLUGMC_FN float cb_round(float x) { return (x + 1.5f) - 1.5f; }

/* Trial number t of a cell uses one random word in two dimensions: 12 bits of angle, and the
 * larger of two numbers of 10 bits as the radius, which falls into the annulus k with a
 * probability in proportion to its area. step: largest displacement in units of each cell edge. */
PLUGMC_FN void cb_displacement_2(uint32_t word, float step_x, float step_y, float *x, float *y)
{
    float sine, cosine;
    uint32_t a = word & 0x3ffu, b = (word >> 10) & 0x3ffu, k = a > b ? a : b;
    /* numbers in [1, 2) with these bits: cheaper than converting integers */
    float r = plugmc_float_of_bits(0x3f800000u | k << 13) - (1.0f - 0x1p-11f);
    float t = plugmc_float_of_bits(0x3f800000u | (word >> 20) << 11) - 1.0f;
    plugmc_sincos_turn(t, &sine, &cosine);
    *x = cb_round(r * cosine * step_x);
    *y = cb_round(r * sine * step_y);
}

/* In three dimensions a block of four: 16 bits of azimuth, 16 of height, and the largest of
 * three numbers of 21 bits, which is distributed as the cube root of one. */
PLUGMC_FN void cb_displacement_3(plugmc_random w, float step_x, float step_y, float step_z, float *x,
                                 float *y, float *z)
{
    float sine, cosine;
    uint32_t a = w.word[1] >> 11, b = w.word[2] >> 11, c = w.word[3] >> 11;
    uint32_t m = a > b ? a : b;
    m = m > c ? m : c;
    float r = ((float)m + 0.5f) * 0x1p-21f;
    float height = ((float)(w.word[0] & 0xffffu) + 0.5f) * 0x1p-15f - 1.0f;
    float across = sqrtf(1.0f - height * height);
    plugmc_sincos_turn((float)(w.word[0] >> 16) * 0x1p-16f, &sine, &cosine);
    *x = cb_round(r * across * cosine * step_x);
    *y = cb_round(r * across * sine * step_y);
    *z = cb_round(r * height * step_z);
}

/* How far a coordinate of a particle in the next cell on `side` (-1, 0, 1) is beyond the edge of the
 * cell in the middle, in units of the edge in x. */
PLUGMC_FN float cb_outside(float x, int side, float ratio)
{
    const float beyond = fmaf((float)side, x, -0.5f); /* exact */
    return beyond > 0.0f ? beyond * ratio : 0.0f;
}

/* Particles near a cell are those for which the square of the distance from it is below the square of
 * the range. In cells with many of them the order in which energies are added depends on who is
 * near, so CPU and GPU round these squares alike. */
PLUGMC_FN float cb_square_outside(int dimension, float x, float y, float z, int side_x, int side_y,
                                  int side_z, float ratio_y, float ratio_z)
{
    const float ex = cb_outside(x, side_x, 1.0f), ey = cb_outside(y, side_y, ratio_y);
    const float square = fmaf(ey, ey, ex * ex);
    if (dimension == 2) return square;
    const float ez = cb_outside(z, side_z, ratio_z);
    return fmaf(ez, ez, square);
}

#ifdef __CUDACC_RTC__
/* ---- Kernels ---------------------------------------------------------------------------------
 * Fixed for the run, as macros: CB_MX CB_MY CB_MZ cells in each direction, CB_PITCH the
 * places of half a row, CB_CAP slots a cell, CB_TRIALS, CB_WALKERS, CB_SHUFFLE,
 * CB_SHUFFLE_SETS, CB_SHIFT, CB_IDS, CB_SCALE CB_RATIO_Y CB_RATIO_Z, CB_CONTACTS (table of
 * squares in units of the edge in x, one for each pair of species), CB_FIRST (table of first
 * particles of species), CB_BLOCK threads a block, CB_AT_ONCE (1: all cells of a set run at the same
 * time), CB_REACH the square of the range in units of the edge in x, CB_NEAR the room for particles
 * within that range of a cell, CB_WIDE (1: they are many, and a warp takes a cell: wide.cu), CB_COLUMNS
 * threads of a block that take a cell where a thread does.
 *
 * CB_TILED (1: equal hard disks, whose sweep is in disks.cu); there CB_RESIDENT blocks for which a
 * multiprocessor has to have room, CB_PATCH (1: a block makes the whole sweep of a patch), CB_PATCH_X
 * CB_PATCH_Y its cells, CB_CHOSEN (1: random numbers are drawn before the sweep before has ended).
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
#define CELLS (ROWS * 2 * CB_PITCH)   /* counts of a walker */
#define SLOTS (CELLS * CB_CAP)             /* coordinates of a walker */
#define HALF_ROW (CB_CAP * CB_PITCH)       /* coordinates of half a row */
#define ACTIVE (HX * (CB_MY / 2) * (DIM == 3 ? CB_MZ / 2 : 1)) /* cells of a set */
#define NEIGHBOURS (DIM == 3 ? 27 : 9)
#if DIM == 3
typedef float4 cb_vector;
#else
typedef float2 cb_vector;
#endif

__device__ static const float cb_contact[] = CB_CONTACTS;
__device__ static const uint32_t cb_first[] = CB_FIRST;

PLUGMC_FN int cb_cell(int x, int y, int z)
{
    return ((z * CB_MY + y) * 2 + (x & 1)) * CB_PITCH + (x >> 1);
}

PLUGMC_FN int cb_slot(int cell) { return cell + cell / CB_PITCH * ((CB_CAP - 1) * CB_PITCH); }

/* The number of the particle in a slot; ids is not read in three dimensions. */
PLUGMC_FN uint32_t cb_id(cb_vector v, const uint32_t *ids, int slot)
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

/* One thread a sweep of the batch, one block a walker: what will be done, and where the cells
 * will be afterwards (origin, in quanta, not yet reduced to the box). */
extern "C" __global__ void cb_plan_batch(uint64_t seed, const uint64_t *base, cb_plan *plans,
                                         long long *origin)
{
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

/* Where a thread takes a cell: the particles near it, one column a thread: its own first, then those
 * of other cells within the range of any point of the cell, in the order of cells and slots.
 * Coordinates are relative to the centre of the cell, which is exact (see above). */
typedef struct cb_near {
    float x[CB_NEAR][CB_COLUMNS], y[CB_NEAR][CB_COLUMNS];
#if DIM == 3
    float z[CB_NEAR][CB_COLUMNS];
#endif
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_NEAR][CB_COLUMNS];
#endif
} cb_near;

/* The cell of a thread in a set, or none. */
typedef struct cb_task {
    int walker, x, y, z;
} cb_task;

PLUGMC_FN bool cb_find_task(int thread, const cb_plan *plans, int batch, int index, int part,
                            cb_task *task)
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
    return true;
}

/* The cell of neighbour c, for c = dx + 3 dy + 9 dz with all three from 0 to 2. */
PLUGMC_FN int cb_neighbour(cb_task t, int c)
{
    const int dx = c % 3, dy = c / 3 % 3, dz = DIM == 3 ? c / 9 : 1;
    int x = dx == 0 ? (t.x == 0 ? CB_MX - 1 : t.x - 1) : dx == 1 ? t.x : t.x == CB_MX - 1 ? 0 : t.x + 1;
    int y = dy == 0 ? (t.y == 0 ? CB_MY - 1 : t.y - 1) : dy == 1 ? t.y : t.y == CB_MY - 1 ? 0 : t.y + 1;
    int z = dz == 0 ? (t.z == 0 ? CB_MZ - 1 : t.z - 1) : dz == 1 ? t.z : t.z == CB_MZ - 1 ? 0 : t.z + 1;
    return cb_cell(x, y, z);
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

#if CB_CAP <= 8
/* Slots in the order of the trials, 4 bits each: a random permutation of the first n. */
PLUGMC_FN uint32_t cb_order(uint64_t seed, uint64_t sweep, int walker, uint32_t cell, int n)
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

#if !CB_TILED
/* ---- The sub-sweep -------------------------------------------------------------------------------
 * What is common to the kernel below, where a thread takes a cell, and to that of wide.cu. */

/* Word number k of a block, modulo 4, without an index that the compiler does not know. */
PLUGMC_FN uint32_t cb_word(plugmc_random random, int k)
{
    k &= 3;
    return k == 0 ? random.word[0] : k == 1 ? random.word[1] : k == 2 ? random.word[2] : random.word[3];
}

/* A trial move, relative to the centre of its cell, and what it has met so far. */
typedef struct cb_trial {
    float old_x, old_y, old_z, new_x, new_y, new_z;
    int species;
    float nearest; /* smallest square of a distance, with one species */
    bool overlap;  /* with several */
    plugmc_sums sums;
} cb_trial;

/* Of the particle at x, y, z; z is not used in two dimensions. */
PLUGMC_FN cb_trial cb_begin_trial(float x, float y, float z, float dx, float dy, float dz, int species)
{
    cb_trial t;
    t.old_x = x;
    t.old_y = y;
    t.old_z = z;
    t.new_x = x + dx;
    t.new_y = y + dy;
    t.new_z = z + dz;
    t.species = species;
    t.nearest = PLUGMC_NOWHERE;
    t.overlap = false;
    plugmc_sums_clear(&t.sums);
    return t;
}

PLUGMC_FN bool cb_stays(const cb_trial *t)
{
    const bool stays = t->new_x >= -0.5f && t->new_x < 0.5f && t->new_y >= -0.5f && t->new_y < 0.5f;
    return DIM == 3 ? stays && t->new_z >= -0.5f && t->new_z < 0.5f : stays;
}

/* A particle of species b at jx, jy, jz; PLUGMC_NOWHERE in jx if there is none. */
PLUGMC_FN void cb_meet(cb_trial *t, float jx, float jy, float jz, int b)
{
    const float ux = t->new_x - jx, uy = (t->new_y - jy) * CB_RATIO_Y;
    float r2 = fmaf(uy, uy, ux * ux);
#if DIM == 3
    const float uz = (t->new_z - jz) * CB_RATIO_Z;
    r2 = fmaf(uz, uz, r2);
#endif
#if PLUGMC_SPECIES > 1
    t->overlap = t->overlap || r2 < cb_contact[t->species * PLUGMC_SPECIES + b];
#else
    t->nearest = fminf(t->nearest, r2);
#endif
#if PLUGMC_ENERGY_TERMS > 0
    if (jx < PLUGMC_NOWHERE) {
        plugmc_separation to, from;
        to.x = ux * CB_SCALE;
        to.y = uy * CB_SCALE;
        from.x = (t->old_x - jx) * CB_SCALE;
        from.y = (t->old_y - jy) * CB_RATIO_Y * CB_SCALE;
        to.r2 = fmaf(to.y, to.y, to.x * to.x);
        from.r2 = fmaf(from.y, from.y, from.x * from.x);
        to.z = from.z = 0.0f;
#if DIM == 3
        to.z = uz * CB_SCALE;
        from.z = (t->old_z - jz) * CB_RATIO_Z * CB_SCALE;
        to.r2 = fmaf(to.z, to.z, to.r2);
        from.r2 = fmaf(from.z, from.z, from.r2);
#endif
        plugmc_sums_add_change(&t->sums, from, to, plugmc_site_of_species(t->species),
                               plugmc_site_of_species(b));
    }
#endif
}

/* Whether it has overlapped with one of those that it has met. */
PLUGMC_FN bool cb_overlaps(const cb_trial *t)
{
    return PLUGMC_SPECIES == 1 ? t->nearest < cb_contact[0] : t->overlap;
}

/* Change of the energy by those that it has met. */
PLUGMC_FN float cb_change(const cb_trial *t)
{
    return plugmc_sums_total(&t->sums, plugmc_site_of_species(t->species));
}

#if !CB_WIDE
/* Sub-sweep number `part` of sweep number `index` of the batch: one thread a cell of the set. id is
 * not read with one species. *overflow is set to 2 if there are more than CB_NEAR particles near a
 * cell; its state is then of no use. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_subsweep(uint64_t seed, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const float *__restrict__ step,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts, int *overflow)
{
    __shared__ cb_near near;
    const int me = threadIdx.x;
    uint32_t trials = 0, accepted = 0;
    cb_task task;
    int n = 0, own = 0;
    plugmc_wait();
    if ((CB_COLUMNS == CB_BLOCK || threadIdx.x < CB_COLUMNS) &&
        cb_find_task(blockIdx.x * CB_COLUMNS + threadIdx.x, plans, batch, index, part, &task)) {
        own = cb_cell(task.x, task.y, task.z);
        n = count[(size_t)task.walker * CELLS + own];
    }
    if (n > 0) {
        const int walker = task.walker;
        const uint8_t *n_of = count + (size_t)walker * CELLS;
        cb_vector *at = coordinate + (size_t)walker * SLOTS;
        const uint32_t *ids = id + (size_t)walker * SLOTS;
        const uint64_t sweep = *base + index;
        const uint32_t cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
        const int first = cb_slot(own);
        int m = n; /* entries of this thread's column */

        for (int k = 0; k < n; k++) {
            cb_vector v = at[first + CB_PITCH * k];
            near.x[k][me] = v.x;
            near.y[k][me] = v.y;
#if DIM == 3
            near.z[k][me] = v.z;
#endif
#if PLUGMC_SPECIES > 1
            near.species[k][me] = (uint8_t)cb_species(cb_id(v, ids, first + CB_PITCH * k));
#endif
        }
#pragma unroll 3
        for (int c = 0; c < NEIGHBOURS; c++) {
            const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
            if (c == NEIGHBOURS / 2) continue;
            const int place = cb_neighbour(task, c), there = n_of[place], slot = cb_slot(place);
            for (int k0 = 0; k0 < there; k0 += 4) {
                /* four at once, so that their latencies overlap */
                cb_vector v[4];
#pragma unroll
                for (int k = 0; k < 4; k++)
                    v[k] = at[slot + CB_PITCH * (k0 + k < there ? k0 + k : k0)];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const float jx = v[k].x + (float)sx, jy = v[k].y + (float)sy;
                    float jz = 0.0f;
#if DIM == 3
                    jz = v[k].z + (float)sz;
#endif
                    const float square = cb_square_outside(DIM, jx, jy, jz, sx, sy, sz, CB_RATIO_Y,
                                                           CB_RATIO_Z);
                    if (k0 + k >= there || !(square < CB_REACH)) continue;
                    if (m < CB_NEAR - 1) {
                        near.x[m][me] = jx;
                        near.y[m][me] = jy;
#if DIM == 3
                        near.z[m][me] = jz;
#endif
#if PLUGMC_SPECIES > 1
                        near.species[m][me] = (uint8_t)cb_species(cb_id(v[k], ids, slot + CB_PITCH * (k0 + k)));
#endif
                    }
                    m++;
                }
            }
        }
        if (m > CB_NEAR - 1) {
            *overflow = 2;
            m = CB_NEAR - 1;
        }
        near.x[m][me] = PLUGMC_NOWHERE; /* the loop below takes entries in pairs */
        near.y[m][me] = 0.0f;
#if DIM == 3
        near.z[m][me] = 0.0f;
#endif
#if PLUGMC_SPECIES > 1
        near.species[m][me] = 0;
#endif

#if CB_CAP <= 8
        const uint32_t order = cb_order(seed, sweep, walker, cell, n);
#else
        uint8_t permutation[CB_CAP];
        for (int k = 0; k < CB_CAP; k++) permutation[k] = (uint8_t)k;
        if (CB_SHUFFLE)
            for (int k = n - 1; k > 0; k--) {
                plugmc_random r = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
                uint32_t j = plugmc_below(r.word[k & 3], k + 1);
                uint8_t t = permutation[k];
                permutation[k] = permutation[j];
                permutation[j] = t;
            }
#endif

        const float step_x = step[0], step_y = step[1], step_z = DIM == 3 ? step[2] : 0.0f;
        plugmc_random random, uniform;
        uint64_t moved = 0;
        int turn = 0;
#if CB_TRIALS <= 8
#pragma unroll
#endif
        for (int t = 0; t < CB_TRIALS; t++) {
#if CB_CAP <= 8
            const int i = (int)((order >> (4 * turn)) & 15u);
#else
            const int i = permutation[turn];
#endif
            turn = turn + 1 == n ? 0 : turn + 1;
            float dx, dy, dz = 0.0f, old_z = 0.0f;
#if DIM == 2
            if ((t & 3) == 0)
                random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t >> 2);
            cb_displacement_2(random.word[t & 3], step_x, step_y, &dx, &dy);
#else
            random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t);
            cb_displacement_3(random, step_x, step_y, step_z, &dx, &dy, &dz);
            old_z = near.z[i][me];
#endif
#if PLUGMC_SPECIES > 1
            const int a = near.species[i][me];
#else
            const int a = 0;
#endif
            cb_trial trial = cb_begin_trial(near.x[i][me], near.y[i][me], old_z, dx, dy, dz, a);
            near.x[i][me] = PLUGMC_NOWHERE; /* so that it does not meet itself */
            for (int k = 0; k < m; k += 2) {
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float jz = 0.0f;
                    int b = 0;
#if DIM == 3
                    jz = near.z[k + h][me];
#endif
#if PLUGMC_SPECIES > 1
                    b = near.species[k + h][me];
#endif
                    cb_meet(&trial, near.x[k + h][me], near.y[k + h][me], jz, b);
                }
            }
            bool accept = cb_stays(&trial) && !cb_overlaps(&trial);
#if PLUGMC_ENERGY_TERMS > 0
            if ((t & 3) == 0)
                uniform = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ACCEPT, t >> 2);
            accept = accept && plugmc_uniform_float(cb_word(uniform, t)) < plugmc_exp(-cb_change(&trial));
#endif
            near.x[i][me] = accept ? trial.new_x : trial.old_x;
            if (accept) {
                near.y[i][me] = trial.new_y;
#if DIM == 3
                near.z[i][me] = trial.new_z;
#endif
                moved |= (uint64_t)1 << i;
                accepted++;
            }
        }
        trials = CB_TRIALS;
        for (int k = 0; k < n; k++) {
            if (!(moved >> k & 1)) continue;
            at[first + CB_PITCH * k].x = near.x[k][me];
            at[first + CB_PITCH * k].y = near.y[k][me];
#if DIM == 3
            at[first + CB_PITCH * k].z = near.z[k][me];
#endif
        }
    }
    cb_count(trials, accepted, counts);
}
#endif
#endif

#if CB_DISKS
/* Puts a new cell together from the slots of the old one, v[0 ... 3] with n disks, and of the one on the
 * side that disks come from, v[4 ... 7] with m. They are moved by -s along axis, those of the other
 * cell also by its distance, `edge`. Slot k of the new cell is k `stride` on. Returns how many there
 * are, which may be more than slots. */
PLUGMC_FN int cb_gather(const float2 v[8], const uint32_t number[8], int n, int m, int axis, float s,
                        float edge, float2 *cell, uint32_t *numbers, int stride)
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
             uint32_t *__restrict__ to_id, uint8_t *__restrict__ to_count, int *overflow)
{
    /* A block takes both parities of a tile in four rows, so that the cells which two threads read
     * are mostly read from memory once. */
    const int warp = threadIdx.x >> 5, walker = blockIdx.z;
    const int q = blockIdx.x * 32 + (threadIdx.x & 31), row = blockIdx.y * 4 + (warp >> 1);
    if (!CB_AT_ONCE) plugmc_wait();
    if (q >= HX || row >= ROWS) return;
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
            const bool have = k0 + k < (CB_CAP < 2 ? CB_CAP : 2) || k0 + k < n; /* two without waiting for the count */
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

/* For runs without CB_IDS: the number of particles before each cell in row-major order, one block of
 * CB_SCAN threads a walker. */
#define CB_SCAN 512
extern "C" __global__ void __launch_bounds__(CB_SCAN) cb_number(const uint8_t *count, uint32_t *offset)
{
    __shared__ uint32_t sums[CB_SCAN / 32];
    const int cells = CB_MX * ROWS, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t before = 0;
    plugmc_wait();
    for (int begin = 0; begin < cells; begin += CB_SCAN) {
        const int cell = begin + threadIdx.x;
        uint32_t n = 0;
        if (cell < cells) {
            const int x = cell % CB_MX, row = cell / CB_MX;
            n = count[(size_t)blockIdx.x * CELLS + cb_cell(x, row % CB_MY, row / CB_MY)];
        }
        uint32_t sum = n; /* inclusive, within the warp, then over warps */
        for (int d = 1; d < 32; d <<= 1) {
            const uint32_t left = __shfl_up_sync(0xffffffffu, sum, d);
            sum += lane >= d ? left : 0;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        uint32_t total = 0;
        for (int w = 0; w < CB_SCAN / 32; w++) {
            sum += w < warp ? sums[w] : 0;
            total += sums[w];
        }
        if (cell < cells) offset[(size_t)blockIdx.x * cells + cell] = before + sum - n;
        before += total;
        __syncthreads();
    }
}

/* Positions in the box, [walkers][particles][3]. Without CB_IDS particles are numbered as they
 * come: offset[walker][cell in row-major order] is the number of those before. */
extern "C" __global__ void cb_store(const cb_vector *coordinate, const uint32_t *id,
                                    const uint8_t *count, const long long *origin,
                                    const uint32_t *offset, double *positions, long long particles,
                                    double quantum_x, double quantum_y, double quantum_z)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int cells = CB_MX * ROWS;
    int walker = thread / cells, cell = thread - walker * cells;
    plugmc_wait();
    if (walker >= CB_WALKERS) return;
    const int x = cell % CB_MX, row = cell / CB_MX, y = row % CB_MY, z = row / CB_MY;
    const int place = cb_cell(x, y, z), n = count[(size_t)walker * CELLS + place];
    const int m[3] = {CB_MX, CB_MY, CB_MZ}, at[3] = {x, y, z};
    const double quantum[3] = {quantum_x, quantum_y, quantum_z};
    for (int k = 0; k < n; k++) {
        const size_t slot = (size_t)walker * SLOTS + cb_slot(place) + CB_PITCH * k;
        const cb_vector v = coordinate[slot];
        const long long i = CB_IDS ? (long long)cb_id(v, id + (size_t)walker * SLOTS, cb_slot(place) + CB_PITCH * k)
                                   : (long long)offset[(size_t)walker * cells + cell] + k;
        double *out = positions + 3 * ((long long)walker * particles + i);
#if DIM == 3
        const float local[3] = {v.x, v.y, v.z};
#else
        const float local[2] = {v.x, v.y};
        out[2] = 0.0;
#endif
        for (int a = 0; a < DIM; a++) {
            const long long edge = (long long)CB_QUANTA * m[a];
            long long q = (long long)CB_QUANTA * at[a] + CB_QUANTA / 2 +
                          (long long)(local[a] * (float)CB_QUANTA);
            q = (q + origin[3 * walker + a]) % edge;
            if (q < 0) q += edge;
            out[a] = (double)q * quantum[a];
        }
    }
}
#endif
