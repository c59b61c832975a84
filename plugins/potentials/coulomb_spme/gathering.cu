/* gathering.cu: each point of the grid looks for its charges: the scheme of the paper. */
#if SPME_GATHERED
/* ---- Spreading by gathering ---------------------------------------------------------------
 *
 * M. J. Harvey, G. De Fabritiis, J. Chem. Theory Comput. 5, 2371 (2009), section II C: placement
 * puts each charge into the cell it is in, or, if that is taken, on a list; accumulation lets every
 * point of the grid collect from the n^3 cells that reach it; overflow spreads the list one by one.
 * Who gets a cell is a matter of chance, so sums are kept in fixed point. Charges are not sorted;
 * each gathers its force from the grid by itself. */

/* x: particles; y: walkers. Cells and the length of the list are 0 before. */
extern "C" __global__ void placement(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    int c[3];
    double f[3];
    if (!locate_all(t, w, i, c, f)) t.not_finite[w] = 1;
    const uint64_t cell = ((uint64_t)c[2] * SPME_Y + c[1]) * SPME_X + c[0];
    if (atomicCAS(t.occupant + w * POINTS + cell, 0u, i + 1) == 0) return;
    uint32_t *list = t.overflow + (uint64_t)w * (t.particles + 1);
    list[1 + atomicAdd(list, 1u)] = i;
}

PLUGMC_FN void splines_of(const spme_task &t, uint32_t w, uint32_t i, int c[3], real wx[SPME_ORDER],
                          real wy[SPME_ORDER], real wz[SPME_ORDER])
{
    double f[3];
    locate_all(t, w, i, c, f);
    splines((real)f[0], wx);
    splines((real)f[1], wy);
    splines((real)f[2], wz);
}

PLUGMC_FN long long in_units(const spme_task &t, real x)
{
    return __double2ll_rn((double)x / t.unit);
}

/* A block of SPME_X threads takes the row x: rows (y, z); y: walkers. */
extern "C" __global__ void __launch_bounds__(SPME_X)
    accumulation(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    __shared__ real line[SPME_X][SPME_ORDER]; /* what the charge of a cell gives to point x - j */
    const int x = threadIdx.x, y = blockIdx.x % SPME_Y, z = blockIdx.x / SPME_Y;
    const uint32_t w = blockIdx.y;
    long long sum = 0;
#pragma unroll 1
    for (int k = 0; k < SPME_ORDER * SPME_ORDER; k++) {
        const int from_y = (y + k % SPME_ORDER) % SPME_Y, from_z = (z + k / SPME_ORDER) % SPME_Z;
        const uint32_t who =
            t.occupant[w * POINTS + ((uint64_t)from_z * SPME_Y + from_y) * SPME_X + x];
        if (who) {
            int c[3];
            real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER],
                here = (real)charge_of(t, w, who - 1);
            splines_of(t, w, who - 1, c, wx, wy, wz);
#pragma unroll
            for (int j = 0; j < SPME_ORDER; j++) {
                here *= j == k % SPME_ORDER ? wy[j] : (real)1;
                here *= j == k / SPME_ORDER ? wz[j] : (real)1;
            }
#pragma unroll
            for (int j = 0; j < SPME_ORDER; j++) line[x][j] = here * wx[j];
        } else {
#pragma unroll
            for (int j = 0; j < SPME_ORDER; j++) line[x][j] = 0;
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < SPME_ORDER; j++) {
            const int from = x + j < SPME_X ? x + j : x + j - SPME_X;
            sum += in_units(t, line[from][j]);
        }
        __syncthreads();
    }
    t.fixed[w * POINTS + (uint64_t)blockIdx.x * SPME_X + x] = (spme_u64)sum;
}

/* x: enough blocks; y: walkers. */
extern "C" __global__ void overflow(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t w = blockIdx.y;
    const uint32_t *list = t.overflow + (uint64_t)w * (t.particles + 1);
    for (uint32_t k = blockIdx.x * SPME_SORT_THREADS + threadIdx.x; k < list[0];
         k += gridDim.x * SPME_SORT_THREADS) {
        const uint32_t i = list[1 + k];
        int c[3];
        real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER];
        splines_of(t, w, i, c, wx, wy, wz);
#pragma unroll 1
        for (int at = 0; at < SPME_ORDER * SPME_ORDER * SPME_ORDER; at++) {
            const int a = at % SPME_ORDER, b = at / SPME_ORDER % SPME_ORDER,
                      d = at / (SPME_ORDER * SPME_ORDER);
            const int x = c[0] - a + (c[0] < a ? SPME_X : 0),
                      y = c[1] - b + (c[1] < b ? SPME_Y : 0),
                      z = c[2] - d + (c[2] < d ? SPME_Z : 0);
            const real here = (real)charge_of(t, w, i) * wy[b] * wz[d] * wx[a];
            atomicAdd(t.fixed + w * POINTS + ((uint64_t)z * SPME_Y + y) * SPME_X + x,
                      (spme_u64)in_units(t, here));
        }
    }
}

/* x: points; y: walkers. Leaves cells and list empty. A number that is none, for a position that is
 * none, makes everything so. */
extern "C" __global__ void to_real(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint64_t i = (uint64_t)blockIdx.x * SPME_SORT_THREADS + threadIdx.x,
                   at = blockIdx.y * POINTS + i;
    if (i == 0) t.overflow[(uint64_t)blockIdx.y * (t.particles + 1)] = 0;
    if (i >= POINTS) return;
    t.grid[at] =
        t.not_finite[blockIdx.y] ? not_a_number() : (real)((double)(long long)t.fixed[at] * t.unit);
    t.occupant[at] = 0;
}

/* x: particles; y: walkers. */
extern "C" __global__ void forces_one_by_one(const __grid_constant__ spme_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * SPME_SORT_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    int c[3];
    double f[3];
    locate_all(t, w, i, c, f);
    real wx[SPME_ORDER], wy[SPME_ORDER], wz[SPME_ORDER], sx[SPME_ORDER], sy[SPME_ORDER],
        sz[SPME_ORDER];
    splines_and_slopes((real)f[0], wx, sx);
    splines_and_slopes((real)f[1], wy, sy);
    splines_and_slopes((real)f[2], wz, sz);
    const real *grid = t.grid + w * POINTS;
    const real middle = grid[((uint64_t)c[2] * SPME_Y + c[1]) * SPME_X + c[0]];
    real fx = 0, fy = 0, fz = 0;
#pragma unroll 1
    for (int z = 0; z < SPME_ORDER; z++)
#pragma unroll 1
        for (int y = 0; y < SPME_ORDER; y++) {
            const int from_y = c[1] - y + (c[1] < y ? SPME_Y : 0),
                      from_z = c[2] - z + (c[2] < z ? SPME_Z : 0);
            const real *row = grid + ((uint64_t)from_z * SPME_Y + from_y) * SPME_X;
            real value = 0, slope = 0;
#pragma unroll
            for (int x = 0; x < SPME_ORDER; x++) {
                const real p = row[c[0] - x + (c[0] < x ? SPME_X : 0)] - middle;
                value = multiply_add(wx[x], p, value);
                slope = multiply_add(sx[x], p, slope);
            }
            fx = multiply_add(wz[z] * wy[y], slope, fx);
            fy = multiply_add(wz[z] * sy[y], value, fy);
            fz = multiply_add(sz[z] * wy[y], value, fz);
        }
    add_force(t, w, i, charge_of(t, w, i), fx, fy, fz);
}
#endif
