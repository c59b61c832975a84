/* subsweep.cu: the sub-sweep where few particles are near a cell: a thread takes one. Its text follows
 * that of trial.cu. */

/* Where a thread takes a cell: the particles near it, one column a thread: its own first, then those
 * of other cells within the range of any point of the cell, in the order of cells and slots.
 * Coordinates are relative to the centre of the cell, which is exact (see above). */
typedef struct cb_near {
    float x[CB_NEAR][CB_COLUMNS], y[CB_NEAR][CB_COLUMNS];
#if DIM == 3
    float z[CB_NEAR][CB_COLUMNS];
#endif
#if PLUGMC_SPECIES > 1
    uint8_t species[CB_NEAR][CB_COLUMNS];
#endif
} cb_near;

/* Sub-sweep number `part` of sweep number `index` of the batch: one thread a cell of the set. id is
 * not read with one species. If there are more than CB_NEAR particles near a cell, its state is of no
 * use; after a change of energy that is not a number, all stay as they are. */
extern "C" __global__ void __launch_bounds__(CB_BLOCK)
    cb_subsweep(uint64_t key, const uint64_t *__restrict__ base, const cb_plan *__restrict__ plans,
                int batch, int index, int part, const cb_walker *__restrict__ walkers,
                cb_vector *coordinate, const uint32_t *__restrict__ id,
                const uint8_t *__restrict__ count, unsigned long long *counts,
                cb_trouble *trouble CB_WINDOW)
{
    const plugmc_seed seed = cb_seed_of(key);
    __shared__ cb_near near;
    const int me = threadIdx.x;
    uint32_t trials = 0, accepted = 0;
    cb_task task;
    int n = 0, own = 0;
    plugmc_wait();
    if ((CB_COLUMNS == CB_BLOCK || threadIdx.x < CB_COLUMNS) &&
        cb_find_task(blockIdx.x * CB_COLUMNS + threadIdx.x, plans, batch, index, part,
                     &task CB_OF_WINDOW)) {
        own = cb_cell(task.x, task.y, task.z);
        n = count[(size_t)task.walker * CELLS + own];
        if (PLUGMC_ENERGY_TERMS > 0 && trouble->lost) n = 0;
    }
    if (n > 0) {
        const int walker = task.walker;
        const cb_walls walls = cb_walls_of(walkers, walker);
        const uint8_t *n_of = count + (size_t)walker * CELLS;
        cb_vector *at = coordinate + (size_t)walker * SLOTS;
        const uint32_t *ids = id + (size_t)walker * SLOTS;
        const uint64_t sweep = *base + index;
        const uint32_t cell = (uint32_t)((task.z * CB_MY + task.y) * CB_MX + task.x);
        const int first = cb_slot(own);
        int m = n; /* entries of this thread's column */

        for (int k = 0; k < n; k++) {
            cb_vector v = at[first + CB_PITCH * k];
            near.x[k][me] = v.x;
            near.y[k][me] = v.y;
#if DIM == 3
            near.z[k][me] = v.z;
#endif
#if PLUGMC_SPECIES > 1
            near.species[k][me] = (uint8_t)cb_species(cb_id(v, ids, first + CB_PITCH * k));
#endif
        }
#pragma unroll 3
        for (int c = 0; c < NEIGHBOURS; c++) {
            const int sx = c % 3 - 1, sy = c / 3 % 3 - 1, sz = DIM == 3 ? c / 9 - 1 : 0;
            if (c == NEIGHBOURS / 2) continue;
            const int place = cb_neighbour(task, c), there = n_of[place], slot = cb_slot(place);
            for (int k0 = 0; k0 < there; k0 += 4) {
                /* four at once, so that their latencies overlap */
                cb_vector v[4];
#pragma unroll
                for (int k = 0; k < 4; k++)
                    v[k] = at[slot + CB_PITCH * (k0 + k < there ? k0 + k : k0)];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const float jx = v[k].x + (float)sx, jy = v[k].y + (float)sy;
                    float jz = 0.0f;
#if DIM == 3
                    jz = v[k].z + (float)sz;
#endif
                    const float square = cb_square_outside(DIM, jx, jy, jz, sx, sy, sz,
                                                           walls.ratio_y, walls.ratio_z);
                    if (k0 + k >= there || !(square < walls.reach)) continue;
                    if (m < CB_NEAR - 1) {
                        near.x[m][me] = jx;
                        near.y[m][me] = jy;
#if DIM == 3
                        near.z[m][me] = jz;
#endif
#if PLUGMC_SPECIES > 1
                        near.species[m][me] =
                            (uint8_t)cb_species(cb_id(v[k], ids, slot + CB_PITCH * (k0 + k)));
#endif
                    }
                    m++;
                }
            }
        }
        if (m > CB_NEAR - 1) {
            trouble->overflow = 2;
            m = CB_NEAR - 1;
        }
        near.x[m][me] = PLUGMC_NOWHERE; /* the loop below takes entries in pairs */
        near.y[m][me] = 0.0f;
#if DIM == 3
        near.z[m][me] = 0.0f;
#endif
#if PLUGMC_SPECIES > 1
        near.species[m][me] = 0;
#endif

#if CB_CAP <= 8
        const uint32_t order = cb_order(seed, sweep, walker, cell, n);
#else
        uint8_t permutation[CB_CAP];
        for (int k = 0; k < CB_CAP; k++) permutation[k] = (uint8_t)k;
        if (CB_SHUFFLE)
            for (int k = n - 1; k > 0; k--) {
                plugmc_random r =
                    plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ORDER, k >> 2);
                uint32_t j = plugmc_below(r.word[k & 3], k + 1);
                uint8_t t = permutation[k];
                permutation[k] = permutation[j];
                permutation[j] = t;
            }
#endif

        const float *step = cb_step_of(walkers, walker);
        const float step_x = step[0], step_y = step[1], step_z = DIM == 3 ? step[2] : 0.0f;
        plugmc_random random, uniform;
        uint64_t moved = 0;
        int turn = 0;
        bool lost = false; /* of this cell */
#if CB_TRIALS <= 8
#pragma unroll
#endif
        for (int t = 0; t < CB_TRIALS; t++) {
#if CB_CAP <= 8
            const int i = (int)((order >> (4 * turn)) & 15u);
#else
            const int i = permutation[turn];
#endif
            turn = turn + 1 == n ? 0 : turn + 1;
            float dx, dy, dz = 0.0f, old_z = 0.0f;
#if DIM == 2
            if ((t & 3) == 0)
                random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t >> 2);
            cb_displacement_2(random.word[t & 3], step_x, step_y, &dx, &dy);
#else
            random = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t);
            cb_displacement_3(random, step_x, step_y, step_z, &dx, &dy, &dz);
            old_z = near.z[i][me];
#endif
#if PLUGMC_SPECIES > 1
            const int a = near.species[i][me];
#else
            const int a = 0;
#endif
            cb_trial trial = cb_begin_trial(near.x[i][me], near.y[i][me], old_z, dx, dy, dz, a);
            near.x[i][me] = PLUGMC_NOWHERE; /* so that it does not meet itself */
            for (int k = 0; k < m; k += 2) {
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float jz = 0.0f;
                    int b = 0;
#if DIM == 3
                    jz = near.z[k + h][me];
#endif
#if PLUGMC_SPECIES > 1
                    b = near.species[k + h][me];
#endif
                    cb_meet(&trial, walls, near.x[k + h][me], near.y[k + h][me], jz, b);
                }
            }
            bool accept = cb_stays(&trial) && !cb_overlaps(&trial, walls);
#if PLUGMC_ENERGY_TERMS > 0
            if ((t & 3) == 0)
                uniform = plugmc_draw(seed, sweep, walker, cell, PLUGMC_PURPOSE_ACCEPT, t >> 2);
            const float change = cb_change(&trial, walkers, walker);
            const bool unknown = !(change > -PLUGMC_NO_RANGE);
            accept =
                accept && !lost &&
                (unknown || plugmc_uniform_float(cb_word(uniform, t)) < cb_probability(change));
            if (accept && unknown) {
                lost = true;
                trouble->lost = sweep + 1;
            }
#endif
            near.x[i][me] = accept ? trial.new_x : trial.old_x;
            if (accept) {
                near.y[i][me] = trial.new_y;
#if DIM == 3
                near.z[i][me] = trial.new_z;
#endif
                moved |= (uint64_t)1 << i;
                accepted++;
            }
        }
        if (cb_is_own(task.y, task.z CB_OF_WINDOW))
            trials = CB_TRIALS;
        else
            accepted = 0;
        for (int k = 0; k < n; k++) {
            if (!(moved >> k & 1)) continue;
            at[first + CB_PITCH * k].x = near.x[k][me];
            at[first + CB_PITCH * k].y = near.y[k][me];
#if DIM == 3
            at[first + CB_PITCH * k].z = near.z[k][me];
#endif
        }
    }
    cb_count_of(walkers, n > 0 ? task.walker : 0, trials, accepted, counts);
}
