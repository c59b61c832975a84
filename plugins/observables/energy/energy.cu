/* energy.cu: the pair energies of a whole configuration, all pairs, in double precision. For
 * potentials without a range, where there are no cells, and for few particles. Who is not there is at NaN.
 *
 * Particles are taken in tiles of TILE. Tile x sums its pairs with itself and with the next half
 * of the others, in a circle, so that all tiles have the same work; `part` says which of those a
 * block takes. Each pair is met once: where the circle has a tile just opposite, the first of the
 * two takes it. What a thread adds up and the order of it depend on the number of particles and of
 * parts alone, and the sums of the blocks are added on the host: the same energy on every GPU.
 */
enum { ENERGY_TILE = 256 };

/* One block a tile (x), part (y) and walker (z).
 *   positions [walkers][particles][3]   length
 *   boxes     [walkers]
 *   species   [particles]
 *   sums      [walkers][terms][parts][tiles]   out, kT; terms with a pair energy, in their order */
extern "C" __global__ void pair_energies(const double *positions, const plugmc_box *boxes,
                                         const uint16_t *species, uint32_t particles, double *sums)
{
    __shared__ double x[ENERGY_TILE], y[ENERGY_TILE], z[ENERGY_TILE];
    __shared__ int32_t kind[ENERGY_TILE];
    const uint32_t tiles = gridDim.x, parts = gridDim.y, thread = threadIdx.x;
    const uint32_t i = blockIdx.x * ENERGY_TILE + thread;
    positions += (uint64_t)blockIdx.z * particles * 3;
    real own[3] = {0, 0, 0};
    for (int d = 0; d < 3 && i < particles; d++) own[d] = positions[3 * (uint64_t)i + d];
    const int present = i < particles && !isnan(own[0]);
    const plugmc_images images = plugmc_images_of_walker(boxes, blockIdx.z);
    const plugmc_site site = plugmc_site_of_species(present ? species[i] : 0);
    plugmc_sums sum;
    plugmc_sums_clear(&sum);

    for (uint32_t ahead = blockIdx.y; ahead <= tiles / 2; ahead += parts) {
        if (2 * ahead == tiles && blockIdx.x >= ahead) break; /* the last one */
        const uint32_t first = (blockIdx.x + ahead) % tiles * ENERGY_TILE;
        const uint32_t left = particles - first;
        const uint32_t end = left < ENERGY_TILE ? left : ENERGY_TILE;
        __syncthreads();
        if (thread < end) {
            const double *r = positions + 3 * (uint64_t)(first + thread);
            x[thread] = r[0];
            y[thread] = r[1];
            z[thread] = r[2];
            kind[thread] = species[first + thread];
        }
        __syncthreads();
        if (!present) continue;
        for (uint32_t j = ahead ? 0 : thread + 1; j < end; j++) {
            if (isnan(x[j])) continue;
            plugmc_sums_add_energy(&sum,
                                   plugmc_separate_at(own[0], own[1], own[2],
                                                      plugmc_separated(own[0] - x[j], own[1] - y[j],
                                                                       own[2] - z[j], images)),
                                   site, plugmc_site_of_species(kind[j]));
        }
    }

    for (int t = 0; t < PLUGMC_ENERGY_TERMS; t++) {
        plugmc_double_sums one = {};
        one.term[t] = sum.term[t];
        const double total = sum_of_block<ENERGY_TILE>(plugmc_double_sums_total(&one, site));
        if (thread == 0)
            sums[(((uint64_t)blockIdx.z * PLUGMC_ENERGY_TERMS + t) * parts + blockIdx.y) * tiles +
                 blockIdx.x] = total;
    }
}
