/* load.cu: positions that are on the device into cells, as positions.c and upload_state do it on the host,
 * to the bit. Its text follows that of checkerboard.cu.
 *
 * Particles enter lists of their cells in any order; then each cell puts its own in the order of their
 * numbers. Lists: numbers of particles in the place of slots [walkers][SLOTS], and lengths [walkers][CELLS].
 */

/* Where a particle is, along an axis: its cell, and its place in it. Cells stay as far shifted as the last
 * sweep left them. */
typedef struct cb_along {
    int cell;
    float local;
} cb_along;

PLUGMC_FN cb_along cb_locate(double x, double width, int m, long long origin)
{
    const long long edge = (long long)CB_QUANTA * m;
    const long long at = ((__double2ll_rn(x / width * CB_QUANTA) - origin) % edge + edge) % edge;
    const cb_along along = {(int)(at / CB_QUANTA),
                            (float)(at % CB_QUANTA - CB_QUANTA / 2) * CB_QUANTUM};
    return along;
}

/* Widths of the cells of a walker: widths are of all walkers, unless boxes change. */
PLUGMC_FN double cb_width(const cb_walker *walkers, const double *widths, int walker, int axis)
{
#if PLUGMC_BOX_CHANGES
    return walkers[walker].head.quantum[axis] * CB_QUANTA; /* exact */
#else
    return widths[axis];
#endif
}

/* A thread a particle. */
extern "C" __global__ void cb_enter(const double *positions, long long particles,
                                    const cb_walker *walkers, const double *widths,
                                    const long long *origin, uint32_t *list, uint32_t *length)
{
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int walker = (int)(thread / particles);
    plugmc_wait();
    if (walker >= CB_WALKERS) return;
    const double *at = positions + 3 * thread;
    if (isnan(at[0])) return; /* nobody */
    const int m[3] = {CB_MX, CB_MY, CB_MZ};
    int cell[3] = {0, 0, 0};
    for (int a = 0; a < DIM; a++)
        cell[a] =
            cb_locate(at[a], cb_width(walkers, widths, walker, a), m[a], origin[3 * walker + a])
                .cell;
    const int place = cb_cell(cell[0], cell[1], cell[2]);
    const uint32_t k = atomicAdd(&length[(size_t)walker * CELLS + place], 1u);
    if (k < CB_CAP)
        list[(size_t)walker * SLOTS + cb_slot(place) + CB_PITCH * k] =
            (uint32_t)(thread - walker * particles);
}

/* A thread a cell. *overflow becomes 1 if one has more particles than slots; its cells are of no use
 * then. */
extern "C" __global__ void cb_fill(const double *positions, long long particles,
                                   const cb_walker *walkers, const double *widths,
                                   const long long *origin, const uint32_t *list,
                                   const uint32_t *length, cb_vector *coordinate, uint32_t *id,
                                   uint8_t *count, int *overflow)
{
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int walker = (int)(thread / (CB_MX * ROWS)), cell = (int)(thread % (CB_MX * ROWS));
    plugmc_wait();
    if (walker >= CB_WALKERS) return;
    const int row = cell / CB_MX, place = cb_cell(cell % CB_MX, row % CB_MY, row / CB_MY);
    const size_t first = (size_t)walker * SLOTS + cb_slot(place);
    const uint32_t n = length[(size_t)walker * CELLS + place];
    if (n > CB_CAP) {
        *overflow = 1;
        return;
    }
    count[(size_t)walker * CELLS + place] = (uint8_t)n;
    for (uint32_t k = 0; k < CB_CAP; k++) {
        const size_t from = first + CB_PITCH * k;
        uint32_t number = 0, rank = k; /* empty slots stay where they are */
        float local[3] = {PLUGMC_NOWHERE, 0.0f, 0.0f};
        if (k < n) {
            const int m[3] = {CB_MX, CB_MY, CB_MZ};
            number = list[from];
            rank = 0;
            for (uint32_t j = 0; j < n; j++) rank += list[first + CB_PITCH * j] < number;
            const double *at = positions + 3 * (walker * particles + number);
            for (int a = 0; a < DIM; a++)
                local[a] = cb_locate(at[a], cb_width(walkers, widths, walker, a), m[a],
                                     origin[3 * walker + a])
                               .local;
        }
        const size_t to = first + CB_PITCH * rank;
#if DIM == 3
        coordinate[to] = make_float4(local[0], local[1], local[2], plugmc_float_of_bits(number));
#else
        coordinate[to] = make_float2(local[0], local[1]);
        if (CB_IDS) id[to] = number;
#endif
    }
}

/* A thread a cell: touching becomes 1, of each walker or of all, if two particles overlap as sweeps see
 * it. A pair of cells is looked at from one of them. */
extern "C" __global__ void cb_touch(const cb_walker *walkers, const cb_vector *coordinate,
                                    const uint32_t *id, const uint8_t *count, int *touching,
                                    int each)
{
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    cb_task task;
    task.walker = (int)(thread / (CB_MX * ROWS));
    plugmc_wait();
    if (task.walker >= CB_WALKERS) return;
    const int cell = (int)(thread % (CB_MX * ROWS)), row = cell / CB_MX;
    task.x = cell % CB_MX;
    task.y = row % CB_MY;
    task.z = row / CB_MY;
    const cb_walls walls = cb_walls_of(walkers, task.walker);
    const cb_vector *at = coordinate + (size_t)task.walker * SLOTS;
    const uint32_t *ids = id + (CB_IDS && DIM == 2 ? (size_t)task.walker * SLOTS : 0);
    const uint8_t *n_of = count + (size_t)task.walker * CELLS;
    const int own = cb_cell(task.x, task.y, task.z), first = cb_slot(own), n_own = n_of[own];
    for (int c = NEIGHBOURS / 2; c < NEIGHBOURS; c++) {
        const int sx = c % 3 - 1, sy = c / 3 % 3 - 1;
        const int place = cb_neighbour(task, c), slot = cb_slot(place), n = n_of[place];
        for (int j = 0; j < n; j++) {
            const int other = slot + CB_PITCH * j;
            const cb_vector u = at[other];
            const int b = PLUGMC_SPECIES > 1 ? cb_species(cb_id(u, ids, other)) : 0;
            for (int k = 0; k < (c == NEIGHBOURS / 2 ? j : n_own); k++) {
                const int mine = first + CB_PITCH * k;
                const cb_vector v = at[mine];
                const int kind = PLUGMC_SPECIES > 1 ? cb_species(cb_id(v, ids, mine)) : 0;
                const float ux = (v.x - (float)sx) - u.x,
                            uy = ((v.y - (float)sy) - u.y) * walls.ratio_y;
                float r2 = fmaf(uy, uy, ux * ux);
#if DIM == 3
                const float uz = ((v.z - (float)(c / 9 - 1)) - u.z) * walls.ratio_z;
                r2 = fmaf(uz, uz, r2);
#endif
                if (r2 < cb_contact_of(walls, kind * PLUGMC_SPECIES + b))
                    touching[each * task.walker] = 1;
            }
        }
    }
}
