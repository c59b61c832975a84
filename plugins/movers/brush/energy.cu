/* energy.cu: the pair energy of a configuration in double precision, all pairs once.
 *
 * Row i holds the energies of particle i with all j > i, summed in order of j; the host adds the
 * rows. Block b takes rows b and, counted from the end, b, so that all have the same work. Where several GPUs
 * have the system, each has some of the blocks, from `first` on. */
#define ENERGY_BLOCK 128

struct __align__(4 * sizeof(BRUSH_STORED)) stored_place { BRUSH_STORED x, y, z, species; };

/* images and weight: of the walker, where boxes change and terms are weighted. */
PLUGMC_FN void energy_rows(const stored_place *place, int particles, int block, double *rows,
                           stored_place *tile, plugmc_images images, const double *weight)
{
    const int i = block * ENERGY_BLOCK + threadIdx.x;
    const stored_place here = place[i < particles ? i : particles - 1];
    const plugmc_site a = plugmc_site_of_species((int)here.species);
    plugmc_sums sums;
    plugmc_sums_clear(&sums);
    for (int j0 = block * ENERGY_BLOCK; j0 < particles; j0 += ENERGY_BLOCK) {
        const int mine = j0 + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = place[mine < particles ? mine : particles - 1];
        __syncthreads();
        const int end = particles - j0 < ENERGY_BLOCK ? particles - j0 : ENERGY_BLOCK;
        for (int q = 0; q < end; q++) {
            if (j0 + q <= i) continue;
            const plugmc_site b = plugmc_site_of_species((int)tile[q].species);
            const plugmc_separation r =
                plugmc_separated((real)here.x - (real)tile[q].x, (real)here.y - (real)tile[q].y,
                                 (real)here.z - (real)tile[q].z, images);
            plugmc_sums_add_energy(&sums, r, a, b);
        }
    }
#if PLUGMC_WEIGHTED
    if (i < particles) rows[i] = (double)plugmc_sums_weighted(&sums, a, weight);
#else
    if (i < particles) rows[i] = (double)plugmc_sums_total(&sums, a);
#endif
}

extern "C" __global__ void brush_energy(const stored_place *place, int particles, int padded,
                                        double *rows, const plugmc_box *boxes, const double *weight,
                                        int first)
{
    __shared__ stored_place tile[ENERGY_BLOCK];
    const int blocks = (particles + ENERGY_BLOCK - 1) / ENERGY_BLOCK, w = blockIdx.y;
    const int front = first + blockIdx.x, back = blocks - 1 - front;
    place += (size_t)w * padded;
    rows += (size_t)w * particles;
    weight += (size_t)w * PLUGMC_TERMS;
    const plugmc_images images = plugmc_images_of_walker(boxes, w);
    energy_rows(place, particles, front, rows, tile, images, weight);
    if (back > front) energy_rows(place, particles, back, rows, tile, images, weight);
}
