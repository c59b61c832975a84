/* energy.cu: the pair energies of a whole configuration in double precision. Who is not there is at NaN.
 *
 * pair_energies takes all pairs: for potentials without a range, where there are no cells, and for few particles. Particles
 * are taken in tiles of TILE. Tile x sums its pairs with itself and with the next half of the others, in a circle, so that all
 * tiles have the same work; `part` says which of those a block takes. Each pair is met once: where the circle has a tile just
 * opposite, the first of the two takes it. What a thread adds up and the order of it depend on the number of particles and of
 * parts alone, and the sums of the blocks are added on the host: the same energy on every GPU.
 *
 * pair_energies_in_cells (ENERGY_CELLS) takes a particle with those behind it, in the order of cells, in the cells around its
 * own.
 *
 * ENERGY_SIEVE: 1 if all potentials have a range and the box is rectangular. A thread then looks at the particles of a tile in
 * single precision, and evaluates those that may be in range, in the same order: others would add 0.
 */
enum { ENERGY_TILE = 256 };

/* An entry of a tile that a thread meets. */
PLUGMC_FN void energy_meet(plugmc_sums *sum, const real own[3], plugmc_site site, real x, real y,
                           real z, int32_t kind, plugmc_images images)
{
    plugmc_sums_add_energy(
        sum,
        plugmc_separate_at(own[0], own[1], own[2],
                           plugmc_separated(own[0] - x, own[1] - y, own[2] - z, images)),
        site, plugmc_site_of_species(kind));
}

/* The sums of a block, those of a term `stride` numbers behind those of the one before. */
PLUGMC_FN void energy_tell(const plugmc_sums *sum, plugmc_site site, double *sums, uint32_t stride)
{
    for (int t = 0; t < PLUGMC_ENERGY_TERMS; t++) {
        plugmc_double_sums one = {};
        one.term[t] = sum->term[t];
        const double total = sum_of_block<ENERGY_TILE>(plugmc_double_sums_total(&one, site));
        if (threadIdx.x == 0) sums[(uint64_t)t * stride + blockIdx.x] = total;
    }
}

#if ENERGY_SIEVE
/* A coordinate, taken into -L/2 ... L/2: exact to 2^-25 L. */
PLUGMC_FN float energy_folded(real x, plugmc_images images, int axis)
{
    const real f = x * images.inverse_length[axis];
    return (float)((f - plugmc_round(f)) * images.length[axis]);
}

/* The distance of two of them. */
PLUGMC_FN float energy_apart(float a, float b, float length)
{
    const float d = fabsf(a - b);
    return fminf(d, length - d);
}

/* Distances are wrong by less than a millionth of the longest edge; this is the square of what may be in range. */
PLUGMC_FN float energy_most(double range, plugmc_images images)
{
    const double longest = fmax(fmax(images.length[0], images.length[1]), images.length[2]),
                 most = range + 4e-6 * longest;
    return (float)(most * most * (1 + 1e-5));
}
#endif

#if !ENERGY_CELLS

/* One block a tile (x), part (y) and walker (z).
 *   positions [walkers][particles][3]   length
 *   boxes     [walkers]
 *   species   [particles]
 *   range     the longest of all potentials
 *   sums      [walkers][terms][parts][tiles]   out, kT; terms with a pair energy, in their order */
extern "C" __global__ void pair_energies(const double *positions, const plugmc_box *boxes,
                                         const uint16_t *species, uint32_t particles, double range,
                                         double *sums)
{
    __shared__ double x[ENERGY_TILE], y[ENERGY_TILE], z[ENERGY_TILE];
    __shared__ int32_t kind[ENERGY_TILE];
#if ENERGY_SIEVE
    __shared__ float folded[3][ENERGY_TILE];
#endif
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
#if ENERGY_SIEVE
    float at[3], length[3];
    for (int d = 0; d < 3; d++) {
        at[d] = energy_folded(own[d], images, d);
        length[d] = (float)images.length[d];
    }
    const float most = energy_most(range, images);
#endif

    for (uint32_t ahead = blockIdx.y; ahead <= tiles / 2; ahead += parts) {
        if (2 * ahead == tiles && blockIdx.x >= ahead) break; /* the last one */
        const uint32_t first = (blockIdx.x + ahead) % tiles * ENERGY_TILE;
        const uint32_t left = particles - first;
        const uint32_t end = left < ENERGY_TILE ? left : ENERGY_TILE;
        __syncthreads();
#if ENERGY_SIEVE
        for (int d = 0; d < 3; d++) folded[d][thread] = nanf("");
#endif
        if (thread < end) {
            const double *r = positions + 3 * (uint64_t)(first + thread);
            x[thread] = r[0];
            y[thread] = r[1];
            z[thread] = r[2];
            kind[thread] = species[first + thread];
#if ENERGY_SIEVE
            for (int d = 0; d < 3; d++) folded[d][thread] = energy_folded(r[d], images, d);
#endif
        }
        __syncthreads();
        if (!present) continue;
        const uint32_t begin = ahead ? 0 : thread + 1;
#if ENERGY_SIEVE
        uint32_t near[ENERGY_TILE / 32];
        for (uint32_t word = 0; word < ENERGY_TILE / 32; word++) {
            uint32_t bits = 0;
#pragma unroll 8
            for (uint32_t bit = 0; bit < 32; bit++) {
                float square = 0;
#pragma unroll
                for (int d = 0; d < 3; d++) {
                    const float apart = energy_apart(at[d], folded[d][32 * word + bit], length[d]);
                    square = fmaf(apart, apart, square);
                }
                bits |= (square <= most ? 1u : 0u) << bit; /* not of who is at NaN */
            }
            near[word] = 32 * word >= begin        ? bits
                         : 32 * word + 32 <= begin ? 0
                                                   : bits & ~0u << (begin - 32 * word);
        }
        uint32_t word = 0, bits = near[0];
        for (;;) {
            while (!bits && ++word < ENERGY_TILE / 32) bits = near[word];
            if (!bits) break;
            const uint32_t j = 32 * word + (uint32_t)__ffs((int)bits) - 1;
            bits &= bits - 1;
            energy_meet(&sum, own, site, x[j], y[j], z[j], kind[j], images);
        }
#else
        for (uint32_t j = begin; j < end; j++) {
            if (isnan(x[j])) continue;
            energy_meet(&sum, own, site, x[j], y[j], z[j], kind[j], images);
        }
#endif
    }

    energy_tell(&sum, site,
                sums + ((uint64_t)blockIdx.z * PLUGMC_ENERGY_TERMS * parts + blockIdx.y) * tiles,
                parts * tiles);
}
#else

/* Numbers of cells along each direction. */
typedef struct energy_cells {
    int32_t x, y, z;
} energy_cells;

/* Pairs of entry k with those behind it. */
PLUGMC_FN void energy_meet_near(plugmc_sums *sum, const energy_cells *cells, const uint32_t *start,
                                const uint32_t *order, const double *positions,
                                const uint16_t *species, plugmc_images images, uint32_t k,
                                const real own[3], plugmc_site site)
{
    const int32_t nx = cells->x, ny = cells->y, nz = cells->z;
    const uint32_t mine = plugmc_cell_of_entry(start, (uint32_t)(nx * ny * nz), k);
    const int32_t x = (int32_t)(mine % nx), y = (int32_t)(mine / nx % ny),
                  z = (int32_t)(mine / nx / ny);
    const int32_t ax = plugmc_cells_around(nx), ay = plugmc_cells_around(ny),
                  az = plugmc_cells_around(nz);
    for (int32_t i = 0; i < ax * ay * az; i++) {
        const uint32_t other = plugmc_cell_around(x, i % ax, nx) +
                               nx * (plugmc_cell_around(y, i / ax % ay, ny) +
                                     ny * plugmc_cell_around(z, i / (ax * ay), nz));
        const uint32_t begin = start[other], end = start[other + 1];
        for (uint32_t j = begin > k ? begin : k + 1; j < end; j++) {
            const double *r = positions + 3 * (uint64_t)j;
            energy_meet(sum, own, site, r[0], r[1], r[2],
                        PLUGMC_SPECIES == 1 ? 0 : species[order[j]], images);
        }
    }
}

/* A thread a particle; blocks of ENERGY_TILE, of a walker (y), one behind the other (x).
 *   nx ny nz  cells along each direction
 *   start     [walkers][cells + 1], order [walkers][particles], positions [walkers][particles][3]: of plugmc_cells
 *   boxes     [walkers]
 *   species   [particles]
 *   sums      [walkers][terms][blocks]   out, kT; terms with a pair energy, in their order */
extern "C" __global__ void __launch_bounds__(ENERGY_TILE)
    pair_energies_in_cells(int32_t nx, int32_t ny, int32_t nz, const uint32_t *start,
                           const uint32_t *order, const double *positions, const plugmc_box *boxes,
                           const uint16_t *species, uint32_t particles, double *sums)
{
    const uint32_t k = blockIdx.x * ENERGY_TILE + threadIdx.x, walker = blockIdx.y;
    const uint64_t row = (uint64_t)walker * particles;
    const energy_cells cells = {nx, ny, nz};
    const uint32_t all = (uint32_t)(nx * ny * nz);
    start += (uint64_t)walker * (all + 1);
    order += row;
    positions += 3 * row;
    plugmc_sums sum;
    plugmc_sums_clear(&sum);
    plugmc_site site = plugmc_site_of_species(0);
    if (k < start[all]) {
        const double *r = positions + 3 * (uint64_t)k;
        const real own[3] = {r[0], r[1], r[2]};
        site = plugmc_site_of_species(species[order[k]]);
        energy_meet_near(&sum, &cells, start, order, positions, species,
                         plugmc_images_of_walker(boxes, walker), k, own, site);
    }
    energy_tell(&sum, site, sums + (uint64_t)walker * PLUGMC_ENERGY_TERMS * gridDim.x, gridDim.x);
}
#endif
