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

/* Trial number t of a cell uses one random word in two dimensions: 16 bits of angle, 16 of the
 * square of the radius. step: largest displacement in units of each cell edge. */
PLUGMC_FN void cb_displacement_2(uint32_t word, float step_x, float step_y, float *x, float *y)
{
    float sine, cosine;
    float r = sqrtf(((float)(word & 0xffffu) + 0.5f) * 0x1p-16f);
    plugmc_sincos_turn((float)(word >> 16) * 0x1p-16f, &sine, &cosine);
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

#ifdef __CUDACC_RTC__
/* ---- Kernels ---------------------------------------------------------------------------------
 * Fixed for the run, as macros: CB_MX CB_MY CB_MZ cells in each direction, CB_ROW the stride of
 * half a row, CB_PAD its left padding, CB_CAP slots a cell, CB_TRIALS, CB_WALKERS, CB_SHUFFLE,
 * CB_SHUFFLE_SETS, CB_SHIFT, CB_IDS, CB_SCALE CB_RATIO_Y CB_RATIO_Z, CB_CONTACTS (table of
 * squares in units of the edge in x, one for each pair of species), CB_FIRST (table of first
 * particles of species), CB_BLOCK.
 *
 * Layout: value of slot k, cell (x, y, z), walker w of axis a at
 *     ((((w * DIM + a) * CB_CAP + k) * CB_MZ + z) * CB_MY + y) * 2 + x % 2) * CB_ROW + CB_PAD + x / 2
 * so that the threads of a warp, which take every other cell of a row, read neighbouring words.
 */
#define DIM PLUGMC_DIMENSION
#define HX (CB_MX / 2)
#define ROWS (CB_MY * CB_MZ)
#define PLANE (ROWS * 2 * CB_ROW)          /* words of one slot of one axis */
#define AXIS (CB_CAP * PLANE)              /* words of one axis */
#define WALKER (DIM * AXIS)                /* words of a walker's coordinates */
#define ACTIVE (HX * (CB_MY / 2) * (DIM == 3 ? CB_MZ / 2 : 1)) /* cells of a set */
#define NEIGHBOURS (DIM == 3 ? 27 : 9)
#define IN_REGISTERS (NEIGHBOURS * CB_CAP <= 40)

__device__ static const float cb_contact[] = CB_CONTACTS;
__device__ static const uint32_t cb_first[] = CB_FIRST;

PLUGMC_FN int cb_word(int x, int y, int z)
{
    return ((z * CB_MY + y) * 2 + (x & 1)) * CB_ROW + CB_PAD + (x >> 1);
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
    cb_plan p = cb_make_plan(seed, *base + k, walker, DIM, CB_SHUFFLE_SETS, CB_SHIFT);
    plans[walker * blockDim.x + k] = p;
    atomicAdd((unsigned long long *)&origin[3 * walker + p.axis],
              (unsigned long long)((long long)p.sign * p.quanta));
}

extern "C" __global__ void cb_advance(uint64_t *base, uint64_t n) { *base += n; }

/* Sub-sweep number `part` of sweep number `index` of the batch: one thread a cell of the set.
 * coordinate, id, count as laid out above; id is not read with one species. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_subsweep(uint64_t seed, const uint64_t *base, const cb_plan *plans, int batch, int index,
                int part, const float *step, float *coordinate, const uint32_t *id,
                const uint8_t *count, unsigned long long *counts)
{
    int thread = blockIdx.x * CB_BLOCK + threadIdx.x;
    int walker = thread / ACTIVE, local = thread - walker * ACTIVE;
    uint32_t trials = 0, accepted = 0;
    if (walker < CB_WALKERS) {
        int set = plans[walker * batch + index].set[part];
        int qy = local / HX, q = local - qy * HX;
        int qz = DIM == 3 ? qy / (CB_MY / 2) : 0;
        if (DIM == 3) qy -= qz * (CB_MY / 2);
        int px = set & 1;
        int x = 2 * q + px, y = 2 * qy + ((set >> 1) & 1), z = DIM == 3 ? 2 * qz + (set >> 2) : 0;
        const uint8_t *n_of = count + walker * PLANE;
        float *cx = coordinate + (size_t)walker * WALKER, *cy = cx + AXIS;
        float *cz = DIM == 3 ? cx + 2 * AXIS : cx;
        const uint32_t *ids = id + (size_t)walker * AXIS;
        int own = cb_word(x, y, z);
        int n = n_of[own];
        if (n > 0) {
            uint64_t sweep = *base + index;
            uint32_t cell = (uint32_t)((z * CB_MY + y) * CB_MX + x);

            /* Words of the neighbouring cells. */
            int left = x == 0 ? CB_MX - 1 : x - 1, right = x == CB_MX - 1 ? 0 : x + 1;
            int below = y == 0 ? CB_MY - 1 : y - 1, above = y == CB_MY - 1 ? 0 : y + 1;
            int front = z == 0 ? CB_MZ - 1 : z - 1, back = z == CB_MZ - 1 ? 0 : z + 1;

            float ox[CB_CAP], oy[CB_CAP], oz[DIM == 3 ? CB_CAP : 1];
            int kind[PLUGMC_SPECIES > 1 ? CB_CAP : 1];
            uint32_t order = 0; /* slots in the order of the trials, 4 bits each, or see below */
#if CB_CAP > 8
            uint8_t permutation[CB_CAP];
#endif
#pragma unroll
            for (int k = 0; k < CB_CAP; k++) {
                bool there = k < n;
                ox[k] = there ? cx[own + k * PLANE] : PLUGMC_NOWHERE;
                oy[k] = there ? cy[own + k * PLANE] : 0.0f;
                if (DIM == 3) oz[k] = there ? cz[own + k * PLANE] : 0.0f;
                if (PLUGMC_SPECIES > 1) kind[k] = there ? cb_species(ids[own + k * PLANE]) : 0;
            }
#if CB_CAP <= 8
            order = 0x76543210u;
            if (CB_SHUFFLE) {
                plugmc_random r;
#pragma unroll
                for (int k = CB_CAP - 1; k > 0; k--) {
                    if (k == CB_CAP - 1 || (k & 3) == 3)
                        r = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
                    if (k < n) {
                        /* exchange entries k and j */
                        uint32_t j = plugmc_below(r.word[k & 3], k + 1);
                        uint32_t d = ((order >> (4 * k)) ^ (order >> (4 * j))) & 15u;
                        order ^= (d << (4 * k)) | (d << (4 * j));
                    }
                }
            }
#else
            for (int k = 0; k < CB_CAP; k++) permutation[k] = (uint8_t)k;
            if (CB_SHUFFLE)
                for (int k = n - 1; k > 0; k--) {
                    plugmc_random r =
                        plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
                    uint32_t j = plugmc_below(r.word[k & 3], k + 1);
                    uint8_t t = permutation[k];
                    permutation[k] = permutation[j];
                    permutation[j] = t;
                }
#endif

            int word[NEIGHBOURS];
            int there[NEIGHBOURS];
#pragma unroll
            for (int c = 0; c < NEIGHBOURS; c++) {
                int dx = c % 3, dy = c / 3 % 3, dz = DIM == 3 ? c / 9 : 1;
                word[c] = cb_word(dx == 0 ? left : dx == 1 ? x : right,
                                  dy == 0 ? below : dy == 1 ? y : above,
                                  dz == 0 ? front : dz == 1 ? z : back);
                there[c] = n_of[word[c]];
            }
#if IN_REGISTERS
            float rx[NEIGHBOURS * CB_CAP], ry[NEIGHBOURS * CB_CAP];
            float rz[DIM == 3 ? NEIGHBOURS * CB_CAP : 1];
#pragma unroll
            for (int c = 0; c < NEIGHBOURS; c++)
#pragma unroll
                for (int k = 0; k < CB_CAP; k++) {
                    if (c == NEIGHBOURS / 2) continue;
                    bool have = k < there[c];
                    rx[c * CB_CAP + k] = have ? cx[word[c] + k * PLANE] : PLUGMC_NOWHERE;
                    ry[c * CB_CAP + k] = have ? cy[word[c] + k * PLANE] : 0.0f;
                    if (DIM == 3) rz[c * CB_CAP + k] = have ? cz[word[c] + k * PLANE] : 0.0f;
                }
#endif

            plugmc_random random, uniform;
            uint32_t moved = 0;
            int turn = 0;
#if CB_TRIALS <= 8
#pragma unroll
#endif
            for (int t = 0; t < CB_TRIALS; t++) {
#if CB_CAP <= 8
                int i = (int)((order >> (4 * turn)) & 15u);
#else
                int i = permutation[turn];
#endif
                turn = turn + 1 == n ? 0 : turn + 1;
                float px0 = ox[0], py0 = oy[0], pz0 = DIM == 3 ? oz[0] : 0.0f;
                int a = PLUGMC_SPECIES > 1 ? kind[0] : 0;
#pragma unroll
                for (int k = 1; k < CB_CAP; k++) {
                    if (k == i) {
                        px0 = ox[k];
                        py0 = oy[k];
                        if (DIM == 3) pz0 = oz[k];
                        if (PLUGMC_SPECIES > 1) a = kind[k];
                    }
                }
                float dx, dy, dz = 0.0f;
                if (DIM == 2) {
                    if ((t & 3) == 0)
                        random =
                            plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t >> 2);
                    cb_displacement_2(random.word[t & 3], step[0], step[1], &dx, &dy);
                } else {
                    random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t);
                    cb_displacement_3(random, step[0], step[1], step[2], &dx, &dy, &dz);
                }
                float nx = px0 + dx, ny = py0 + dy, nz = pz0 + dz;
                bool accept = nx >= -0.5f && nx < 0.5f && ny >= -0.5f && ny < 0.5f &&
                              (DIM == 2 || (nz >= -0.5f && nz < 0.5f));
#if PLUGMC_ENERGY_TERMS > 0
                plugmc_sums sums;
                plugmc_sums_clear(&sums);
                plugmc_site site = plugmc_site_of_species(a);
#endif
                float nearest = PLUGMC_NOWHERE; /* smallest r^2, with one species */
                bool overlap = false;
#if IN_REGISTERS
#pragma unroll
#endif
                for (int c = 0; c < NEIGHBOURS; c++) {
                    int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
                    float bx = nx - (float)sx, by = ny - (float)sy, bz = nz - (float)sz;
                    float fx = px0 - (float)sx, fy = py0 - (float)sy, fz = pz0 - (float)sz;
                    bool centre = c == NEIGHBOURS / 2;
#if !IN_REGISTERS
                    if (!centre && !accept) break;
#endif
#if IN_REGISTERS
#pragma unroll
                    for (int k = 0; k < CB_CAP; k++) {
#else
#pragma unroll 1
                    for (int k = 0; k < (centre ? n : there[c]); k++) {
#endif
                        float jx, jy, jz = 0.0f;
                        int b = 0;
                        if (centre) {
#if IN_REGISTERS
                            jx = k == i ? PLUGMC_NOWHERE : ox[k];
                            jy = oy[k];
                            if (DIM == 3) jz = oz[k];
                            if (PLUGMC_SPECIES > 1) b = kind[k];
#else
                            if (k == i) continue;
                            jx = ox[k], jy = oy[k];
                            if (DIM == 3) jz = oz[k];
                            if (PLUGMC_SPECIES > 1) b = kind[k];
#endif
                        } else {
#if IN_REGISTERS
                            jx = rx[c * CB_CAP + k], jy = ry[c * CB_CAP + k];
                            if (DIM == 3) jz = rz[c * CB_CAP + k];
#else
                            jx = cx[word[c] + k * PLANE], jy = cy[word[c] + k * PLANE];
                            if (DIM == 3) jz = cz[word[c] + k * PLANE];
#endif
                            if (PLUGMC_SPECIES > 1)
                                b = k < there[c] ? cb_species(ids[word[c] + k * PLANE]) : 0;
                        }
                        float ux = bx - jx, uy = (by - jy) * CB_RATIO_Y, uz = (bz - jz) * CB_RATIO_Z;
                        float r2 = fmaf(uy, uy, ux * ux);
                        if (DIM == 3) r2 = fmaf(uz, uz, r2);
                        if (PLUGMC_SPECIES == 1)
                            nearest = fminf(nearest, r2);
                        else
                            overlap = overlap || r2 < cb_contact[a * PLUGMC_SPECIES + b];
#if PLUGMC_ENERGY_TERMS > 0
                        if (jx < PLUGMC_NOWHERE) {
                            plugmc_separation to, from;
                            to.x = ux * CB_SCALE;
                            to.y = uy * CB_SCALE;
                            to.z = uz * CB_SCALE;
                            to.r2 = fmaf(to.y, to.y, to.x * to.x);
                            if (DIM == 3) to.r2 = fmaf(to.z, to.z, to.r2);
                            from.x = (fx - jx) * CB_SCALE;
                            from.y = (fy - jy) * CB_RATIO_Y * CB_SCALE;
                            from.z = (fz - jz) * CB_RATIO_Z * CB_SCALE;
                            from.r2 = fmaf(from.y, from.y, from.x * from.x);
                            if (DIM == 3) from.r2 = fmaf(from.z, from.z, from.r2);
                            plugmc_sums_add_change(&sums, from, to, site, plugmc_site_of_species(b));
                        }
#endif
                    }
                }
                if (PLUGMC_SPECIES == 1) overlap = nearest < cb_contact[0];
                accept = accept && !overlap;
#if PLUGMC_ENERGY_TERMS > 0
                if ((t & 3) == 0)
                    uniform = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ACCEPT, t >> 2);
                uint32_t u = (t & 3) == 0 ? uniform.word[0] : (t & 3) == 1 ? uniform.word[1]
                           : (t & 3) == 2 ? uniform.word[2] : uniform.word[3];
                accept = accept && plugmc_uniform_float(u) < plugmc_exp(-plugmc_sums_total(&sums, site));
#endif
#pragma unroll
                for (int k = 0; k < CB_CAP; k++) {
                    bool here = accept && k == i;
                    ox[k] = here ? nx : ox[k];
                    oy[k] = here ? ny : oy[k];
                    if (DIM == 3) oz[k] = here ? nz : oz[k];
                    moved |= (uint32_t)here << k;
                }
                accepted += accept;
            }
            trials = CB_TRIALS;
#pragma unroll
            for (int k = 0; k < CB_CAP; k++) {
                if (moved >> k & 1) {
                    cx[own + k * PLANE] = ox[k];
                    cy[own + k * PLANE] = oy[k];
                    if (DIM == 3) cz[own + k * PLANE] = oz[k];
                }
            }
        }
    }
    for (int lane = 16; lane > 0; lane >>= 1) {
        trials += __shfl_xor_sync(0xffffffffu, trials, lane);
        accepted += __shfl_xor_sync(0xffffffffu, accepted, lane);
    }
    if ((threadIdx.x & 31) == 0 && trials > 0) {
        atomicAdd(&counts[0], (unsigned long long)trials);
        atomicAdd(&counts[1], (unsigned long long)accepted);
    }
}

/* Moves the cells, which is moving the particles the other way: each thread gathers one new
 * cell from the old cell of the same index and the neighbour on the side the particles come
 * from. *overflow is set if a cell has more particles than slots. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_shift(const cb_plan *plans, int batch, int index, const float *from, const uint32_t *from_id,
             const uint8_t *from_count, float *to, uint32_t *to_id, uint8_t *to_count, int *overflow)
{
    int thread = blockIdx.x * CB_BLOCK + threadIdx.x;
    const int cells = CB_MX * ROWS;
    int walker = thread / cells, local = thread - walker * cells;
    if (walker >= CB_WALKERS) return;
    /* neighbouring threads take neighbouring words: q fastest, then parity */
    int row = local / CB_MX, in_row = local - row * CB_MX;
    int parity = in_row >= HX, q = in_row - parity * HX;
    int x = 2 * q + parity, y = row % CB_MY, z = row / CB_MY;
    const cb_plan *p = &plans[walker * batch + index];
    int axis = p->axis, sign = p->sign;
    float s = (float)(sign * p->quanta) * CB_QUANTUM;
    int here = cb_word(x, y, z);
    int nx = x, ny = y, nz = z;
    if (axis == 0) nx = sign > 0 ? (x == CB_MX - 1 ? 0 : x + 1) : (x == 0 ? CB_MX - 1 : x - 1);
    if (axis == 1) ny = sign > 0 ? (y == CB_MY - 1 ? 0 : y + 1) : (y == 0 ? CB_MY - 1 : y - 1);
    if (axis == 2) nz = sign > 0 ? (z == CB_MZ - 1 ? 0 : z + 1) : (z == 0 ? CB_MZ - 1 : z - 1);
    int there = cb_word(nx, ny, nz);
    size_t w = (size_t)walker * WALKER, wi = (size_t)walker * AXIS;
    int n = from_count[walker * PLANE + here], m = from_count[walker * PLANE + there], filled = 0;
#pragma unroll
    for (int source = 0; source < 2; source++) {
        int word = source ? there : here;
        int there_n = source ? m : n;
#pragma unroll
        for (int k = 0; k < CB_CAP; k++) {
            if (k < there_n) {
                float v[3];
                for (int a = 0; a < DIM; a++) v[a] = from[w + a * AXIS + k * PLANE + word];
                float c = axis == 0 ? v[0] : axis == 1 ? v[1] : v[DIM - 1];
                c -= s;
                bool left = c < -0.5f || c >= 0.5f;
                if (left == (source == 1)) {
                    if (source) c += sign > 0 ? 1.0f : -1.0f;
                    if (axis == 0) v[0] = c;
                    if (axis == 1) v[1] = c;
                    if (DIM == 3 && axis == 2) v[2] = c;
                    if (filled < CB_CAP) {
                        for (int a = 0; a < DIM; a++) to[w + a * AXIS + filled * PLANE + here] = v[a];
                        if (CB_IDS) to_id[wi + filled * PLANE + here] = from_id[wi + k * PLANE + word];
                    }
                    filled++;
                }
            }
        }
    }
    if (filled > CB_CAP) {
        *overflow = 1;
        filled = CB_CAP;
    }
    to_count[walker * PLANE + here] = (uint8_t)filled;
}

/* Positions in the box, [walkers][particles][3]. Without CB_IDS particles are numbered as they
 * come: offset[walker][cell in row-major order] is the number of those before. */
extern "C" __global__ void cb_store(const float *coordinate, const uint32_t *id, const uint8_t *count,
                                    const long long *origin, const uint32_t *offset, double *positions,
                                    long long particles, double quantum_x, double quantum_y,
                                    double quantum_z)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int cells = CB_MX * ROWS;
    int walker = thread / cells, cell = thread - walker * cells;
    if (walker >= CB_WALKERS) return;
    int x = cell % CB_MX, row = cell / CB_MX, y = row % CB_MY, z = row / CB_MY;
    int word = cb_word(x, y, z);
    size_t w = (size_t)walker * WALKER, wi = (size_t)walker * AXIS;
    int n = count[walker * PLANE + word];
    for (int k = 0; k < n; k++) {
        long long i = CB_IDS ? (long long)id[wi + k * PLANE + word]
                             : (long long)offset[walker * cells + cell] + k;
        double *out = positions + 3 * ((long long)walker * particles + i);
        for (int a = 0; a < 3; a++) {
            if (a >= DIM) {
                out[a] = 0.0;
                continue;
            }
            long long edge = (long long)CB_QUANTA * (a == 0 ? CB_MX : a == 1 ? CB_MY : CB_MZ);
            long long at = (long long)CB_QUANTA * (a == 0 ? x : a == 1 ? y : z) + CB_QUANTA / 2 +
                           (long long)(coordinate[w + a * AXIS + k * PLANE + word] * (float)CB_QUANTA);
            at = (at + origin[3 * walker + a]) % edge;
            if (at < 0) at += edge;
            out[a] = (double)at * (a == 0 ? quantum_x : a == 1 ? quantum_y : quantum_z);
        }
    }
}
#endif
