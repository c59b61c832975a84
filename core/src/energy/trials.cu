/* trials.cu: swaps that a mover proposes, one after the other in each walker. A block takes a walker:
 * half of its threads meet the neighbours of one particle's place, half those of the other's.
 *
 * Stands behind energies.cu, which gives neighbours in cells, and behind the mover's own text. */

/* Sets up the places from sorted particles: one thread a slot. */
extern "C" __global__ void __launch_bounds__(ENERGIES_THREADS)
    trials_begin(energies_task t, trials_places places)
{
    const uint32_t walker = blockIdx.x / t.tiles,
                   k = blockIdx.x % t.tiles * ENERGIES_THREADS + threadIdx.x;
    const uint64_t row = (uint64_t)walker * t.particles;
    if (k >= t.particles) return;
    const bool sorted = !t.all_pairs && !t.no_pairs;
    const uint32_t i = sorted ? t.order[row + k] : k;
    const double *r = t.positions + 3 * (row + k);
    places.x[row + i] = r[0];
    places.y[row + i] = r[1];
    places.z[row + i] = r[2];
    places.slot[row + i] = k;
    places.order[row + k] = i;
    places.species[row + k] = t.species[row + i];
    places.cell[row + k] =
        sorted ? plugmc_cell_of_entry(t.start + (uint64_t)walker * (t.cells + 1), t.cells, k) : 0;
}

/* Positions [walkers][particles][3] as they are now. */
extern "C" __global__ void __launch_bounds__(ENERGIES_THREADS)
    trials_end(energies_task t, trials_places places, double *positions)
{
    const uint32_t walker = blockIdx.x / t.tiles,
                   i = blockIdx.x % t.tiles * ENERGIES_THREADS + threadIdx.x;
    const uint64_t at = (uint64_t)walker * t.particles + i;
    if (i >= t.particles) return;
    positions[3 * at] = places.x[at];
    positions[3 * at + 1] = places.y[at];
    positions[3 * at + 2] = places.z[at];
}

/* Slots around a place, as a list of ranges; one for each half of the block. */
typedef struct trials_around {
    uint32_t begin[TRIALS_AROUND], before[TRIALS_AROUND + 1]; /* before: entries of ranges before */
    int32_t ranges;
} trials_around;

/* By the first warp of a half, lane by lane. */
PLUGMC_FN void trials_look_around(const energies_task *t, uint32_t walker, uint32_t cell, int lane,
                                  trials_around *out)
{
    uint32_t begin = 0, n = 0;
    int32_t ranges = 1;
    if (t->all_pairs) {
        n = lane == 0 ? t->particles : 0;
    } else if (!t->no_pairs) {
        const uint32_t *start = t->start + (uint64_t)walker * (t->cells + 1);
        const int32_t nx = t->count[0], ny = t->count[1], nz = t->count[2];
        int32_t x0, y0, z0;
        const int32_t x = energies_around(cell % nx, nx, &x0),
                      y = energies_around(cell / nx % ny, ny, &y0),
                      z = energies_around(cell / nx / ny, nz, &z0);
        ranges = x * y * z;
        if (lane < ranges) {
            const uint32_t other = (x0 + lane % x) % nx + nx * ((y0 + lane / x % y) % ny +
                                                                ny * ((z0 + lane / x / y) % nz));
            begin = start[other];
            n = start[other + 1] - begin;
        }
    }
    uint32_t sum = n;
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += below;
    }
    if (lane < ranges) {
        out->begin[lane] = begin;
        out->before[lane] = sum - n;
    }
    if (lane == ranges - 1) {
        out->before[ranges] = sum;
        out->ranges = ranges;
    }
}

/* What happens at one place: `was` goes, `comes` comes; the slots of both are not met. */
typedef struct trials_place {
    double x, y, z;
    int32_t was, comes; /* species */
    uint32_t skip[2];
} trials_place;

/* The share of a thread in the delta of -ln p by the neighbours of a place; returns whether the one
 * that comes overlaps. */
PLUGMC_FN int trials_meet(const energies_task *t, const trials_places *places, uint32_t walker,
                          const trials_place *p, const trials_around *around, uint32_t thread,
                          double *change)
{
    const uint64_t row = (uint64_t)walker * t->particles;
    const plugmc_images images = plugmc_images_of_walker(t->boxes, walker);
    const plugmc_site was = plugmc_site_of_species(p->was),
                      comes = plugmc_site_of_species(p->comes);
    const uint32_t n = around->before[around->ranges];
    plugmc_sums old_sums, new_sums;
    plugmc_double_sums all = {}, gone = {};
    double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {},
                                                    lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    int overlap = 0, range = 0;
    plugmc_sums_clear(&old_sums);
    plugmc_sums_clear(&new_sums);
    for (uint32_t e = thread; e < n; e += TRIALS_THREADS / 2) {
        while (e >= around->before[range + 1]) range++;
        const uint32_t k = around->begin[range] + (e - around->before[range]);
        const double *r = t->positions + 3 * (row + k);
        const int32_t other = places->species[row + k];
        if (k == p->skip[0] || k == p->skip[1]) continue;
        const plugmc_site site = plugmc_site_of_species(other);
        const plugmc_separation s = plugmc_separated(p->x - r[0], p->y - r[1], p->z - r[2], images);
        const plugmc_separation_at there = plugmc_separate_at(p->x, p->y, p->z, s);
        plugmc_sums_add_energy(&old_sums, there, was, site);
        plugmc_sums_add_energy(&new_sums, there, comes, site);
        overlap |= PLUGMC_CONTACTS && s.r2 < plugmc_contact_square(p->comes, other);
    }
    plugmc_sums_empty(&new_sums, &all);
    plugmc_sums_empty(&old_sums, &gone);
    plugmc_double_sums_by_term(&all, comes, energy);
    plugmc_double_sums_by_term(&gone, was, lost);
    if (PLUGMC_FIELDS > 0 && thread == 0) {
        const plugmc_position at = {p->x, p->y, p->z};
        int unused = 0;
        plugmc_fields_by_term(at, comes, &overlap, energy);
        plugmc_fields_by_term(at, was, &unused, lost);
    }
    for (int term = 0; term < PLUGMC_TERMS; term++) change[term] = energy[term] - lost[term];
    return overlap;
}

/* Particles i and j have changed places. */
PLUGMC_FN void trials_swap(const energies_task *t, trials_places *places, uint32_t walker,
                           uint32_t i, uint32_t j)
{
    const uint64_t row = (uint64_t)walker * t->particles;
    const uint32_t si = places->slot[row + i], sj = places->slot[row + j];
    const double x = places->x[row + i], y = places->y[row + i], z = places->z[row + i];
    const int32_t species = places->species[row + si];
    places->x[row + i] = places->x[row + j];
    places->y[row + i] = places->y[row + j];
    places->z[row + i] = places->z[row + j];
    places->x[row + j] = x;
    places->y[row + j] = y;
    places->z[row + j] = z;
    places->slot[row + i] = sj;
    places->slot[row + j] = si;
    places->order[row + si] = j;
    places->order[row + sj] = i;
    places->species[row + si] = places->species[row + sj];
    places->species[row + sj] = species;
}

extern "C" __global__ void __launch_bounds__(TRIALS_THREADS)
    trials_make(energies_task t, trials_places places, trials_call call, const uint8_t *parameters,
                trials_result *results)
{
    __shared__ double room[TRIALS_THREADS];
    __shared__ trials_around around[2];
    const uint32_t walker = blockIdx.x, half = threadIdx.x / (TRIALS_THREADS / 2),
                   thread = threadIdx.x % (TRIALS_THREADS / 2);
    const uint64_t row = (uint64_t)walker * t.particles;
    const double *multipliers = call.multipliers + (uint64_t)walker * call.width;
    trials_result result = results[walker];
    for (uint64_t k = call.begin; k < call.begin + call.count && !result.stopped; k++) {
        plugmc_trial trial = {};
        trial.size = sizeof trial;
        trial.walker = walker;
        trial.seed = call.seed;
        trial.sweep = call.sweep + k / call.a_sweep;
        trial.number = call.from + (uint32_t)(k % call.a_sweep);
        trial.dimension = PLUGMC_DIMENSION;
        trial.particles = t.particles;
        trial.first = call.first;
        trial.x = places.x + row;
        trial.y = places.y + row;
        trial.z = places.z + row;
        trial.step = call.step[walker];
        trial.count = call.counts;
        trial.box = &t.boxes[walker];
        trial.move = call.move;
        trial.molecule = call.molecule;
        result.trials++;
        if (!plugmc_mover::plugmc_propose(parameters, &trial)) continue;
        const uint32_t i = trial.particle, j = trial.other;
        result.sweep = trial.sweep;
        result.particle = i;
        if (trial.kind != PLUGMC_SWAPPED || trial.move != call.move || i >= t.particles ||
            j >= t.particles)
            result.stopped = 2;
        if (result.stopped || i == j) continue;
        const uint32_t si = places.slot[row + i], sj = places.slot[row + j];
        const uint32_t own = half ? j : i, mine = half ? sj : si, his = half ? si : sj;
        const trials_place place = {places.x[row + own],       places.y[row + own],
                                    places.z[row + own],       places.species[row + mine],
                                    places.species[row + his], {si, sj}};
        double change[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1], delta = 0;
        if (thread < 32)
            trials_look_around(&t, walker, places.cell[row + mine], thread, &around[half]);
        __syncthreads();
        const int overlap = trials_meet(&t, &places, walker, &place, &around[half], thread, change);
        for (int term = 0; term < PLUGMC_TERMS; term++)
            if (multipliers[term] != 0) delta += multipliers[term] * change[term];
        const int forbidden = __syncthreads_or(overlap);
        if (forbidden) continue;
        delta = energies_sum(delta, room, TRIALS_THREADS) - trial.log_factor;
        const bool lost = !(delta > -PLUGMC_NO_RANGE);
        const plugmc_random random =
            plugmc_draw(call.seed, trial.sweep, walker, trial.number, PLUGMC_PURPOSE_ACCEPT, 0);
        /* what is not a number goes there, so that it is found */
        const bool taken = lost || delta <= 0 ||
                           plugmc_uniform_double(random.word[0], random.word[1]) < exp(-delta);
        if (lost) result.stopped = 1;
        if (taken && threadIdx.x == 0) trials_swap(&t, &places, walker, i, j);
        result.accepted += taken;
        __syncthreads();
    }
    if (threadIdx.x == 0) results[walker] = result;
}
