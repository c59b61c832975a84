/* contact_pairs.cu: histograms of the distances of pairs near contact, one for each pair of species
 * with a hard core. The same text is compiled by the C compiler, as part of pressure.c, and for the
 * GPU: the counts are the same on both.
 *
 * "Entry" k is a particle by its place in the order of cells.
 */
enum { CONTACT_BLOCK = 256 };

/* Configurations sorted by cells, and contact distances. Host or device pointers. */
typedef struct contact_task {
    walker_frames frames;
    double reach;            /* end of the histograms, contact distances */
    double bins_per_contact; /* bins in one contact distance */
    double overlap;          /* contact distances that no pair may be closer than */
    const uint32_t *start;   /* [walkers][cells + 1] */
    const uint32_t *order;   /* [walkers][particles] */
    const double *positions; /* [walkers][particles][3] */
    const uint16_t *species; /* [particles] */
    const double *contact;   /* [species][species], length; 0 without a core */
    const int32_t *slot;     /* [species][species]: number of the histogram */
    uint32_t particles, cells;
    int32_t count[3]; /* cells in each direction */
    int32_t species_count, bins, slots;
} contact_task;

PLUGMC_FN void contact_count(uint32_t *counter)
{
#ifdef __CUDACC_RTC__
    atomicAdd(counter, 1u);
#else
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

/* Distances of entry k of a walker from the entries after it. histogram [slots][bins] of the walker. A
 * distance that rounding has put below contact belongs into the first bin. */
PLUGMC_FN void count_contacts(const contact_task *t, uint32_t walker, uint32_t k,
                              uint32_t *histogram, uint32_t *overlaps)
{
    const uint32_t *start = t->start + (uint64_t)walker * (t->cells + 1);
    const uint32_t *order = t->order + (uint64_t)walker * t->particles;
    const double *positions = t->positions + (uint64_t)walker * t->particles * 3;
    const double *here = positions + 3 * (uint64_t)k;
    const double x = here[0], y = here[1], z = here[2];
    const int32_t row = t->species[order[k]] * t->species_count;
    const walker_frame *frame = frame_of(&t->frames, walker);
    const int32_t cell_x = plugmc_cell_along(x, frame->width[0], t->count[0]);
    const int32_t cell_y = plugmc_cell_along(y, frame->width[1], t->count[1]);
    const int32_t cell_z = plugmc_cell_along(z, frame->width[2], t->count[2]);
    const int32_t nx = plugmc_cells_around(t->count[0]), ny = plugmc_cells_around(t->count[1]),
                  nz = plugmc_cells_around(t->count[2]);
    for (int32_t i = 0; i < nx * ny * nz; i++) {
        const int32_t c = (plugmc_cell_around(cell_z, i / (nx * ny), t->count[2]) * t->count[1] +
                           plugmc_cell_around(cell_y, i / nx % ny, t->count[1])) *
                              t->count[0] +
                          plugmc_cell_around(cell_x, i % nx, t->count[0]);
        uint32_t m = start[c];
        for (m = m > k ? m : k + 1; m < start[c + 1]; m++) {
            const double *there = positions + 3 * (uint64_t)m;
            const double dx = plugmc_nearest_image(there[0] - x, frame->length[0]);
            const double dy = plugmc_nearest_image(there[1] - y, frame->length[1]);
            const double dz = plugmc_nearest_image(there[2] - z, frame->length[2]);
            const double squared = dx * dx + dy * dy + dz * dz;
            const int32_t pair = row + t->species[order[m]];
            const double contact = t->contact[pair], reach = contact * t->reach;
            if (squared >= reach * reach) continue;
            const double beyond = sqrt(squared) / contact - 1;
            const int32_t bin = beyond > 0 ? (int32_t)(beyond * t->bins_per_contact) : 0;
            if (beyond < t->overlap - 1) ++*overlaps;
            if (bin < t->bins) contact_count(histogram + t->slot[pair] * t->bins + bin);
        }
    }
}

#ifdef __CUDACC_RTC__
/* One thread an entry; blocks of CONTACT_BLOCK: x entries, y walkers. histogram
 * [walkers][slots][bins], added to; overlaps: one counter. */
extern "C" __global__ void contact_pairs(const __grid_constant__ contact_task task,
                                         uint32_t *histogram, uint32_t *overlaps)
{
    const uint32_t k = blockIdx.x * CONTACT_BLOCK + threadIdx.x;
    uint32_t hits = 0;
    if (k < task.particles)
        count_contacts(&task, blockIdx.y, k,
                       histogram + (uint64_t)blockIdx.y * task.slots * task.bins, &hits);
    if (hits > 0) atomicAdd(overlaps, hits);
}
#endif
