/* coulomb_ewald.cu: energy, forces and virial of the waves on a GPU, in double precision; notation: sum.c. device_task.h stands
 * before it when it is compiled.
 *
 *     phases        exp(2 pi i m f) of each particle, as on the CPU each from the one before
 *     structure     a thread a wave adds up z exp(i k.r) of one part of the particles
 *     weigh         S from its parts; weight and energy of each wave
 *     add_energy    sums of these, one block a walker
 *     add_forces    a block a particle: z sum_k k Im(conj(2 weight S) exp(i k.r))
 *
 * All sums run in an order that depends on numbers of particles and waves alone, so that results do not depend on how many
 * walkers there are.
 */
PLUGMC_FN double2 product(double2 a, double2 b)
{
    return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* exp(2 pi i n f) from the phases of |n|. */
PLUGMC_FN double2 phase_of(const double2 *phases, int n)
{
    double2 e = phases[abs(n)];
    if (n < 0) e.y = -e.y;
    return e;
}

/* exp(i k.r) of the particle with these phases. */
PLUGMC_FN double2 wave_at(const ewald_task &t, const double2 *phases, ewald_wave n)
{
    const double2 x = phases[n.x], /* never less than 0 */
        y = phase_of(phases + t.most[0] + 1, n.y),
                  z = phase_of(phases + t.most[0] + t.most[1] + 2, n.z);
    return product(product(x, y), z);
}

PLUGMC_FN const double2 *phases_of(const ewald_task &t, uint32_t w, uint32_t particle)
{
    return (const double2 *)t.phase + ((uint64_t)w * t.particles + particle) * t.phases;
}

PLUGMC_FN const plugmc_box *box_of(const ewald_task &t, uint32_t w)
{
    return t.box + (t.own_boxes ? w : 0);
}

/* v of all threads, in thread 0; held [EWALD_THREADS / 32][EWALD_SUMS]. */
template <int columns> PLUGMC_FN void block_sum(double v[columns], double *held)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int q = 0; q < columns; q++) {
        for (int step = 16; step > 0; step >>= 1) v[q] += __shfl_down_sync(0xffffffffu, v[q], step);
        if (lane == 0) held[warp * EWALD_SUMS + q] = v[q];
    }
    __syncthreads();
    for (int q = 0; q < columns && threadIdx.x == 0; q++) {
        v[q] = held[q];
        for (int k = 1; k < EWALD_THREADS / 32; k++) v[q] += held[k * EWALD_SUMS + q];
    }
    __syncthreads();
}

/* x: particles; y: walkers. */
extern "C" __global__ void __launch_bounds__(EWALD_THREADS)
    phases(const __grid_constant__ ewald_task t)
{
    plugmc_wait();
    const uint32_t i = blockIdx.x * EWALD_THREADS + threadIdx.x, w = blockIdx.y;
    if (i >= t.particles) return;
    const plugmc_box *box = box_of(t, w);
    const double *r = t.positions + 3 * ((uint64_t)w * t.particles + i);
    double2 *out = (double2 *)phases_of(t, w, i);
    const int absent = t.numbers_change && isnan(r[0]) && isnan(r[1]);
    for (int d = 0; d < 3; d++) {
        const double f =
            r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
        double2 step = make_double2(0, 0), e = make_double2(absent ? 0 : 1, 0);
        if (!absent) sincospi(2 * f, &step.y, &step.x);
        for (int m = 0; m <= t.most[d]; m++) {
            *out++ = e;
            e = product(e, step);
        }
    }
}

/* x: waves; y: walkers; z: parts of the particles. */
extern "C" __global__ void __launch_bounds__(EWALD_THREADS)
    structure(const __grid_constant__ ewald_task t)
{
    plugmc_wait();
    const uint32_t k = blockIdx.x * EWALD_THREADS + threadIdx.x, w = blockIdx.y,
                   begin = blockIdx.z * t.length, end = min(begin + t.length, t.particles);
    if (k >= t.waves) return;
    const ewald_wave n = t.wave[k];
    double2 sum = make_double2(0, 0);
    for (uint32_t i = begin; i < end; i++) {
        const double2 e = wave_at(t, phases_of(t, w, i), n);
        const double charge = t.charge[i];
        sum.x += charge * e.x;
        sum.y += charge * e.y;
    }
    ((double2 *)t.share)[((uint64_t)w * t.parts + blockIdx.z) * t.waves + k] = sum;
}

/* Energy and virial of one wave, and what its forces need. */
PLUGMC_FN void weigh_wave(const ewald_task &t, uint32_t w, uint32_t k, double sums[EWALD_SUMS])
{
    const plugmc_box *box = box_of(t, w);
    const ewald_wave n = t.wave[k];
    const double pi = 3.14159265358979323846;
    double2 s = make_double2(0, 0);
    for (uint32_t part = 0; part < t.parts; part++) {
        const double2 more =
            ((const double2 *)t.share)[((uint64_t)w * t.parts + part) * t.waves + k];
        s.x += more.x;
        s.y += more.y;
    }
    double along[3], k2 = 0;
    for (int e = 0; e < 3; e++) {
        along[e] = 2 * pi *
                   (n.x * box->inverse[e][0] + n.y * box->inverse[e][1] + n.z * box->inverse[e][2]);
        k2 += along[e] * along[e];
    }
    const double spread = k2 / (4 * t.alpha * t.alpha),
                 weight = 4 * pi * t.bjerrum_length / box->volume * exp(-spread) / k2;
    ((double2 *)t.pull)[(uint64_t)w * t.waves + k] =
        make_double2(2 * weight * s.x, 2 * weight * s.y);
    sums[0] = weight * (s.x * s.x + s.y * s.y);
    for (int d = 0; d < 3; d++)
        sums[1 + d] = sums[0] * (1 - 2 * along[d] * along[d] / k2 * (1 + spread));
}

/* x: waves; y: walkers. */
extern "C" __global__ void __launch_bounds__(EWALD_THREADS)
    weigh(const __grid_constant__ ewald_task t)
{
    plugmc_wait();
    __shared__ double held[EWALD_THREADS / 32 * EWALD_SUMS];
    const uint32_t k = blockIdx.x * EWALD_THREADS + threadIdx.x, w = blockIdx.y;
    double sums[EWALD_SUMS] = {0, 0, 0, 0};
    if (k < t.waves) weigh_wave(t, w, k, sums);
    block_sum<EWALD_SUMS>(sums, held);
    for (int q = 0; q < EWALD_SUMS && threadIdx.x == 0; q++)
        t.partial[((uint64_t)w * t.wave_blocks + blockIdx.x) * EWALD_SUMS + q] = sums[q];
}

/* y: walkers. */
extern "C" __global__ void __launch_bounds__(EWALD_THREADS)
    add_energy(const __grid_constant__ ewald_task t)
{
    plugmc_wait();
    __shared__ double held[EWALD_THREADS / 32 * EWALD_SUMS];
    const uint32_t w = blockIdx.y;
    double sums[EWALD_SUMS] = {0, 0, 0, 0};
    for (uint32_t k = threadIdx.x; k < t.wave_blocks; k += EWALD_THREADS)
        for (int q = 0; q < EWALD_SUMS; q++)
            sums[q] += t.partial[((uint64_t)w * t.wave_blocks + k) * EWALD_SUMS + q];
    block_sum<EWALD_SUMS>(sums, held);
    if (threadIdx.x) return;
    if (t.energy) t.energy[w] += sums[0] + t.constant[2 * w];
    for (int d = 0; d < 3 && t.virial; d++)
        t.virial[3 * w + d] += sums[1 + d] + t.constant[2 * w + 1];
}

/* x: particles, a block each; y: walkers. */
extern "C" __global__ void __launch_bounds__(EWALD_THREADS)
    add_forces(const __grid_constant__ ewald_task t)
{
    plugmc_wait();
    __shared__ double held[EWALD_THREADS / 32 * EWALD_SUMS];
    const uint32_t i = blockIdx.x, w = blockIdx.y;
    const double charge = t.charge[i];
    if (charge == 0) return;
    const double2 *phases = phases_of(t, w, i),
                  *pull = (const double2 *)t.pull + (uint64_t)w * t.waves;
    double f[3] = {0, 0, 0};
    for (uint32_t k = threadIdx.x; k < t.waves; k += EWALD_THREADS) {
        const ewald_wave n = t.wave[k];
        const double2 e = wave_at(t, phases, n), s = pull[k];
        const double slope = s.x * e.y - s.y * e.x;
        f[0] += n.x * slope;
        f[1] += n.y * slope;
        f[2] += n.z * slope;
    }
    block_sum<3>(f, held);
    if (threadIdx.x) return;
    const plugmc_box *box = box_of(t, w);
    double *out = t.forces + 3 * ((uint64_t)w * t.particles + i);
    for (int e = 0; e < 3; e++)
        out[e] +=
            charge * 6.28318530717958647693 *
            (f[0] * box->inverse[e][0] + f[1] * box->inverse[e][1] + f[2] * box->inverse[e][2]);
}
