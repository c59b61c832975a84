/* structure_factor.cu: sum of exp(i k.r) over the particles of each species, for many waves. */
enum { WAVE_THREADS = 256 };

/* One block a wave (x), species (y) and walker (z).
 *   positions [walkers][particles][3]          length
 *   boxes     [walkers]
 *   waves     [waves][3]                       n of k = 2 pi sum_d n_d b_d
 *   first     [species + 1]                    species s: particles first[s] ... first[s + 1] - 1, those
 *                                              that are there before those that are not
 *   out       [walkers][waves][species][2]     real and imaginary part */
extern "C" __global__ void __launch_bounds__(WAVE_THREADS)
    density_waves(const double *positions, const plugmc_box *boxes, const int32_t *waves,
                  const int64_t *first, int64_t particles, double *out)
{
    __shared__ double re[WAVE_THREADS], im[WAVE_THREADS];
    const uint32_t species = blockIdx.y;
    const int32_t *n = waves + 3 * (uint64_t)blockIdx.x;
    double along[3], c = 0, s = 0; /* n.f = sum_e r_e along_e */
    for (int e = 0; e < 3; e++) {
        const double *inverse = boxes[blockIdx.z].inverse[e];
        along[e] = n[0] * inverse[0] + n[1] * inverse[1] + n[2] * inverse[2];
    }
    positions += 3 * (uint64_t)blockIdx.z * (uint64_t)particles;
    for (int64_t i = first[species] + threadIdx.x; i < first[species + 1]; i += WAVE_THREADS) {
        const double *r = positions + 3 * i;
        if (isnan(r[0])) break;
        const double turns = r[0] * along[0] + r[1] * along[1] + r[2] * along[2];
        double sine, cosine;
        sincospi(2 * (turns - rint(turns)), &sine, &cosine);
        c += cosine;
        s += sine;
    }
    re[threadIdx.x] = c;
    im[threadIdx.x] = s;
    for (int half = WAVE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= half) continue;
        re[threadIdx.x] += re[threadIdx.x + half];
        im[threadIdx.x] += im[threadIdx.x + half];
    }
    if (threadIdx.x > 0) return;
    out += 2 * (((uint64_t)blockIdx.z * gridDim.x + blockIdx.x) * gridDim.y + species);
    out[0] = re[0];
    out[1] = im[0];
}
