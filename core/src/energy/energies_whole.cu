/* energies_whole.cu: the kernels of whole energies, and of other boxes. Stands behind energies.cu; not in the sources of movers, which
 * would compile it anew. */

/* One block a tile of a walker. parts [walkers][terms][tiles]: out; forbidden [walkers]: set to 1 where
 * hard cores overlap or a particle is where it may not be. */
extern "C" __global__ void __launch_bounds__(ENERGIES_THREADS)
    energies_whole(energies_task t, double *parts, int32_t *forbidden)
{
    __shared__ double room[ENERGIES_THREADS];
    const uint32_t walker = blockIdx.x / t.tiles, tile = blockIdx.x % t.tiles;
    const uint32_t thread = tile * ENERGIES_THREADS + threadIdx.x;
    const uint32_t k = thread % t.particles, share = thread / t.particles;
    const uint64_t row = (uint64_t)walker * t.particles;
    double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    if (share < t.shares && !(t.some && isnan(t.positions[3 * (row + k)]))) {
        const energies_probe p =
            energies_probe_of(&t, row, k, plugmc_images_of_walker(t.boxes, walker));
        const plugmc_site site = plugmc_site_of_species(p.species);
        const plugmc_position at = {p.x, p.y, p.z};
        energies_pairs sums = {};
        plugmc_double_sums all = {};
        int outside = 0;
        if (t.all_pairs)
            outside |= energies_half(&t, row, &p, k, share, &sums);
        else if (!t.no_pairs)
            outside |=
                energies_near(&t, t.start + (uint64_t)walker * (t.cells + 1), row, &p, k, &sums);
        plugmc_sums_empty(&sums.pairs, &all);
        plugmc_double_sums_by_term(&all, site, energy);
#if PLUGMC_BODIES
#define ENERGIES_DO(k, t, ns) energy[t] += sums.bodies.term[k];
        PLUGMC_FOR_BODIES(ENERGIES_DO)
#undef ENERGIES_DO
#endif
        if (share == 0) plugmc_fields_by_term(at, site, &outside, energy);
        if (outside) forbidden[walker] = 1;
    }
    for (int term = 0; term < PLUGMC_TERMS; term++) {
        const double sum = energies_sum(energy[term], room, ENERGIES_THREADS);
        if (threadIdx.x == 0)
            parts[((uint64_t)walker * PLUGMC_TERMS + term) * t.tiles + tile] = sum;
    }
}

/* One block a walker and term: energy [walkers][terms]. */
extern "C" __global__ void __launch_bounds__(ENERGIES_SUMMED)
    energies_sum_tiles(uint32_t tiles, const double *parts, double *energy)
{
    __shared__ double room[ENERGIES_SUMMED];
    double mine = 0;
    for (uint32_t k = threadIdx.x; k < tiles; k += ENERGIES_SUMMED)
        mine += parts[(uint64_t)blockIdx.x * tiles + k];
    mine = energies_sum(mine, room, ENERGIES_SUMMED);
    if (threadIdx.x == 0) energy[blockIdx.x] = mine;
}

/* The same fractional coordinates in another box; NaN, where nobody is, stays. */
PLUGMC_FN void energies_stretch(const plugmc_box *old, const plugmc_box *box, const double r[3],
                                double at[3])
{
    for (int d = 0; d < 3; d++) at[d] = d < box->dimension ? 0 : r[d];
    for (int e = 0; e < box->dimension; e++) {
        const double f =
            r[0] * old->inverse[0][e] + r[1] * old->inverse[1][e] + r[2] * old->inverse[2][e];
        for (int d = 0; d < box->dimension; d++) at[d] += f * box->vector[e][d];
    }
    plugmc_wrap(box, at);
}

/* Other boxes [walkers]: places [walkers][particles][3]. Molecules keep their shape and orientation, [walkers][particles], and
 * their first sites go with the box; molecule as in energies_task. */
extern "C" __global__ void energies_rescale(uint32_t particles, uint32_t tiles,
                                            const plugmc_box *from, const plugmc_box *to,
                                            const double *positions, const int32_t *molecule,
                                            const plugmc_molecules *all,
                                            const plugmc_orientation *orientations, double *places)
{
    const uint32_t walker = blockIdx.x / tiles,
                   k = blockIdx.x % tiles * ENERGIES_THREADS + threadIdx.x;
    const uint64_t row = (uint64_t)walker * particles;
    double *at = places + 3 * (row + k);
    if (k >= particles) return;
    if (!molecule || molecule[k] < 0) {
        energies_stretch(from + walker, to + walker, positions + 3 * (row + k), at);
        return;
    }
    int64_t within;
    int32_t site = 0;
    const plugmc_molecule *kind = plugmc_molecule_at(all, molecule[k], &within);
    while (plugmc_site_number(kind, within, site) != (int64_t)k) site++;
    const uint64_t first = row + (uint64_t)plugmc_site_number(kind, within, 0);
    double reference[3];
    energies_stretch(from + walker, to + walker, positions + 3 * first, reference);
    plugmc_place_site(kind, orientations + first, to + walker, reference, site, at);
}

/* Walkers with taken [walkers] 1 get the places and boxes that were proposed. */
extern "C" __global__ void energies_take(uint32_t particles, uint32_t tiles, const int32_t *taken,
                                         const double *places, const plugmc_box *proposed,
                                         double *positions, plugmc_box *boxes)
{
    const uint32_t walker = blockIdx.x / tiles,
                   k = blockIdx.x % tiles * ENERGIES_THREADS + threadIdx.x;
    if (!taken[walker]) return;
    if (k < sizeof(plugmc_box) / sizeof(double))
        ((double *)(boxes + walker))[k] = ((const double *)(proposed + walker))[k];
    if (k >= particles) return;
    const uint64_t at = 3 * ((uint64_t)walker * particles + k);
    for (int d = 0; d < 3; d++) positions[at + d] = places[at + d];
}
