/* rdf.cu: distances of one particle from those after it, the same text on the CPU and on the GPU.
 * Differences are taken in double, distances in float (1e-7 relative, far below a bin), with IEEE
 * operations only: the same counts on both.
 *
 * "Entry" k is a particle by its place in the order of cells. Cell (x, y, z) has the number
 * (z count[1] + y) count[0] + x. Entries are dealt with in blocks, each with a histogram of its own
 * that is then added to the sum: in shared memory on the GPU, in the cache on the CPU.
 */
enum { RDF_BLOCK = 256 };

/* Configurations sorted by cells. Host or device pointers. */
typedef struct rdf_task {
    double length[3];        /* edges of the box */
    double width[3];         /* of a cell */
    const uint32_t *start;   /* [walkers][cells + 1] */
    const uint32_t *order;   /* [walkers][particles] */
    const double *positions; /* [walkers][particles][3] */
    const uint16_t *species; /* [particles] */
    const int32_t *row;      /* [species][species]: histogram of a pair */
    uint32_t particles, cells;
    int32_t count[3];        /* cells in each direction */
    int32_t species_count, rows, bins;
    float reach_square, bins_per_length;
} rdf_task;

PLUGMC_FN int32_t cell_along(double x, double width, int32_t count)
{
    int32_t c = count > 1 ? (int32_t)(x / width) : 0;
    return c < count ? c : count - 1;
}

/* Cells to look at in one direction: all of them if there are one or two, none of them twice. */
PLUGMC_FN int32_t neighbour_cells(int32_t count) { return count < 3 ? count : 3; }

PLUGMC_FN int32_t neighbour_cell(int32_t cell, int32_t number, int32_t count)
{
    int32_t c = count < 3 ? number : cell + number - 1;
    return c < 0 ? c + count : (c >= count ? c - count : c);
}

PLUGMC_FN float nearest_image(double difference, double length)
{
    if (difference > 0.5 * length) return (float)(difference - length);
    return (float)(difference < -0.5 * length ? difference + length : difference);
}

PLUGMC_FN void count_one(uint32_t *counter)
{
#ifdef __CUDACC_RTC__
    atomicAdd(counter, 1u);
#else
    ++*counter;
#endif
}

/* histogram [rows][bins]. With one or two cells along each edge this is a loop over all pairs. */
PLUGMC_FN void count_distances(const rdf_task *t, uint32_t walker, uint32_t k, uint32_t *histogram)
{
    const uint32_t *start = t->start + (uint64_t)walker * (t->cells + 1);
    const uint32_t *order = t->order + (uint64_t)walker * t->particles;
    const double *positions = t->positions + (uint64_t)walker * t->particles * 3;
    const double *here = positions + 3 * (uint64_t)k;
    const double x = here[0], y = here[1], z = here[2];
    const int32_t mixed = t->species_count > 1;
    const int32_t *row = t->row + (mixed ? t->species[order[k]] * t->species_count : 0);
    const int32_t cell_x = cell_along(x, t->width[0], t->count[0]);
    const int32_t cell_y = cell_along(y, t->width[1], t->count[1]);
    const int32_t cell_z = cell_along(z, t->width[2], t->count[2]);
    const int32_t nx = neighbour_cells(t->count[0]), ny = neighbour_cells(t->count[1]),
                  nz = neighbour_cells(t->count[2]);
    for (int32_t i = 0; i < nx * ny * nz; i++) {
        int32_t c = (neighbour_cell(cell_z, i / (nx * ny), t->count[2]) * t->count[1] +
                     neighbour_cell(cell_y, i / nx % ny, t->count[1])) * t->count[0] +
                    neighbour_cell(cell_x, i % nx, t->count[0]);
        uint32_t m = start[c];
        for (m = m > k ? m : k + 1; m < start[c + 1]; m++) {
            const double *there = positions + 3 * (uint64_t)m;
            float dx = nearest_image(there[0] - x, t->length[0]);
            float dy = nearest_image(there[1] - y, t->length[1]);
            float dz = nearest_image(there[2] - z, t->length[2]);
            float square = dx * dx + dy * dy + dz * dz;
            if (square >= t->reach_square) continue;
            int32_t bin = (int32_t)(sqrtf(square) * t->bins_per_length);
            if (bin >= t->bins) continue;
            count_one(histogram + (mixed ? row[t->species[order[m]]] : 0) * t->bins + bin);
        }
    }
}

#ifdef __CUDACC_RTC__
/* One thread an entry; blocks of RDF_BLOCK: x entries, y walkers. counts [walkers][rows][bins],
 * added to. Dynamic shared memory: [rows][bins]. */
extern "C" __global__ void distances(const __grid_constant__ rdf_task task,
                                     unsigned long long *counts)
{
    extern __shared__ uint32_t local[];
    const uint32_t k = blockIdx.x * RDF_BLOCK + threadIdx.x;
    const int32_t size = task.rows * task.bins;
    for (int32_t b = threadIdx.x; b < size; b += RDF_BLOCK) local[b] = 0;
    __syncthreads();
    if (k < task.particles) count_distances(&task, blockIdx.y, k, local);
    __syncthreads();
    counts += (uint64_t)blockIdx.y * size;
    for (int32_t b = threadIdx.x; b < size; b += RDF_BLOCK)
        if (local[b] > 0) atomicAdd(counts + b, (unsigned long long)local[b]);
}
#endif
