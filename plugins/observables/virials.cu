/* virials.cu: the virial of all pairs of a configuration, and that of the jumps of their energies, in double
 * precision, from particles sorted by cell. Each pair is met once, by the one of the two that comes first; what a
 * thread adds up and the order of it depend on the configuration alone, and the sums of the blocks
 * are added on the host: the same on every GPU.
 */
enum { VIRIAL_THREADS = 128 };

/* Each pair of entry k with one after it, among the cells around its own: add(entry, separation). */
template <typename call>
static __device__ __forceinline__ void for_all_after(const double *positions, const uint32_t *start,
                                                     plugmc_images images, uint32_t k,
                                                     int32_t count_x, int32_t count_y,
                                                     int32_t count_z, call &&add)
{
    const double *own = positions + 3 * (uint64_t)k;
    const int32_t cell =
        (int32_t)plugmc_cell_of_entry(start, (uint32_t)(count_x * count_y * count_z), k);
    const int32_t nx = plugmc_cells_around(count_x), ny = plugmc_cells_around(count_y),
                  nz = plugmc_cells_around(count_z);
    for (int32_t n = 0; n < nx * ny * nz; n++) {
        const int32_t x = plugmc_cell_around(cell % count_x, n % nx, count_x),
                      y = plugmc_cell_around(cell / count_x % count_y, n / nx % ny, count_y),
                      z = plugmc_cell_around(cell / count_x / count_y, n / (nx * ny), count_z);
        const int32_t c = (z * count_y + y) * count_x + x;
        for (uint32_t j = start[c] > k ? start[c] : k + 1; j < start[c + 1]; j++) {
            const double *r = positions + 3 * (uint64_t)j;
            add(j, plugmc_separated(own[0] - r[0], own[1] - r[1], own[2] - r[2], images));
        }
    }
}

/* Of a block: [3] for it. All threads call it. */
static __device__ void put_sums(const double virial[3], double *sums)
{
    for (int d = 0; d < 3; d++) {
        const double total = sum_of_block<VIRIAL_THREADS>(virial[d]);
        if (threadIdx.x == 0) sums[((uint64_t)blockIdx.y * gridDim.x + blockIdx.x) * 3 + d] = total;
    }
}

/* x: particles; y: walkers. positions, order and start as in plugmc_cells, of count_x, count_y,
 * count_z cells.
 *   boxes   [walkers]
 *   species [particles]
 *   sums    [walkers][blocks][3]   out, kT: -s_d du/ds_d of the pairs of a block */
extern "C" __global__ void pair_virials(const double *positions, const uint32_t *order,
                                        const uint32_t *start, const plugmc_box *boxes,
                                        const uint16_t *species, uint32_t particles,
                                        int32_t count_x, int32_t count_y, int32_t count_z,
                                        double *sums)
{
    const uint32_t k = blockIdx.x * VIRIAL_THREADS + threadIdx.x;
    double virial[3] = {0, 0, 0};
    positions += (uint64_t)blockIdx.y * particles * 3;
    order += (uint64_t)blockIdx.y * particles;
    start += (uint64_t)blockIdx.y * (count_x * count_y * count_z + 1);
    if (k < particles) {
        const plugmc_site a = plugmc_site_of_species(species[order[k]]);
        for_all_after(positions, start, plugmc_images_of_walker(boxes, blockIdx.y), k, count_x,
                      count_y, count_z, [&](uint32_t j, plugmc_separation s) {
                          real energy, first, second;
                          plugmc_pair_derivatives(s, a, plugmc_site_of_species(species[order[j]]),
                                                  &energy, &first, &second);
                          virial[0] -= first * s.x * s.x;
                          virial[1] -= first * s.y * s.y;
                          virial[2] -= first * s.z * s.z;
                      });
    }
    put_sums(virial, sums);
}

/* The same of the jumps of pair energies (jump_windows.h). */
extern "C" __global__ void pair_jumps(const jump_task jumps, const double *positions,
                                      const uint32_t *order, const uint32_t *start,
                                      const plugmc_box *boxes, const uint16_t *species,
                                      uint32_t particles, int32_t count_x, int32_t count_y,
                                      int32_t count_z, double *sums)
{
    const uint32_t k = blockIdx.x * VIRIAL_THREADS + threadIdx.x;
    double virial[3] = {0, 0, 0};
    positions += (uint64_t)blockIdx.y * particles * 3;
    order += (uint64_t)blockIdx.y * particles;
    start += (uint64_t)blockIdx.y * (count_x * count_y * count_z + 1);
    if (k < particles) {
        const int32_t a = species[order[k]];
        const double limit = jump_limit(boxes + blockIdx.y);
        for_all_after(positions, start, plugmc_images_of_walker(boxes, blockIdx.y), k, count_x,
                      count_y, count_z, [&](uint32_t j, plugmc_separation s) {
                          const double one = jump_virial(&jumps, a, species[order[j]], limit, s.r2);
                          if (one == 0) return;
                          virial[0] += one * s.x * s.x / s.r2;
                          virial[1] += one * s.y * s.y / s.r2;
                          virial[2] += one * s.z * s.z / s.r2;
                      });
    }
    put_sums(virial, sums);
}
