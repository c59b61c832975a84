/* pair_histogram.cu: distances of pairs, counted in bins: the same text on the CPU and on the GPU.
 *
 * Positions are taken as 32-bit fractions of the box: a difference of two such numbers is exact
 * and, in a periodic box, wraps into the nearest image by itself. From there on distances are
 * float (1e-7 relative, far below a bin), with IEEE operations only: the same counts on both, by
 * either method.
 *
 * A pair counts once for each of its two particles that is a reference: all of them in a periodic
 * box, those far enough from the wall in a sphere. There are two ways to find the pairs: `in_cells`
 * looks at the cells around each particle, which reach as far as the largest distance; `all_pairs`
 * looks at all others, a block of particles at a time. Each block of threads has histograms of its
 * own in shared memory, several copies of them, so that threads of a warp with the same bin do not
 * wait for each other.
 */
enum { PAIR_BLOCK = 256 };

/* Fractions of the box of a walker, and its cells. */
typedef struct pair_scale {
    double to_fixed[3][3], offset[3]; /* fixed[d] = sum_e r[e] to_fixed[e][d] + offset[d] */
    double width[3];                  /* of the cells, length */
    float to_length[3][3];            /* r[e] = sum_d fixed[d] to_length[d][e] */
} pair_scale;

/* Pointers are to host or device memory. A "point" is a particle by its place in the order of
 * cells, or as it is numbered where there are no cells. Cell (x, y, z) has the number (z count[1]
 * + y) count[0] + x. */
typedef struct pair_task {
    const double *positions; /* [walkers][points][3], length */
    const uint32_t *order;   /* [walkers][points]: particle of a point; NULL: its own number */
    const uint32_t *start;   /* [walkers][cells + 1]: first point of a cell */
    const uint16_t *species; /* [particles] */
    const int32_t *row;      /* [species + 1][species + 1]: histogram of a pair; the last: nobody */
    uint32_t *fixed;         /* [walkers][FIXED_PARTS][points] */
    unsigned long long *references; /* [walkers][species] */
    unsigned long long *counts;     /* [walkers][rows][bins], added to */
    const pair_scale *scales;       /* [walkers] */
    pair_scale scale;               /* that of all walkers, if nobody changes boxes */
    double reference_square;        /* of the largest distance of a reference from the centre */
    double origin;                  /* of the cells, length */
    float reach_square, bins_per_length;
    uint32_t points, cells;
    int32_t count[3]; /* cells in each direction */
    int32_t species_count, rows, bins, oblique, periodic;
    int32_t copies, copy_size; /* of the histograms of a block; GPU only */
    plugmc_share share;
} pair_task;

/* How many points there are: cells hold those who are there. */
PLUGMC_FN uint32_t points_present(const pair_task *t, uint32_t walker)
{
    return t->order ? t->start[(uint64_t)walker * (t->cells + 1) + t->cells] : t->points;
}

/* Whether point k is one that this process counts, and its pairs with those after it. */
PLUGMC_FN int point_is_yours(const pair_task *t, uint32_t walker, uint32_t k)
{
    return plugmc_is_yours(&t->share, t->positions + 3 * ((uint64_t)walker * t->points + k));
}

/* The last part is the species, and a bit that says whether the particle is a reference. */
enum { FIXED_X, FIXED_Y, FIXED_Z, FIXED_TAG, FIXED_PARTS };

typedef struct pair_point {
    uint32_t x, y, z, tag;
} pair_point;

PLUGMC_FN uint32_t point_species(uint32_t tag) { return tag & 0x7fffffffu; }
PLUGMC_FN uint32_t is_reference(uint32_t tag) { return tag >> 31; }

/* On a GPU the same numbers for all walkers are constants of the kernel. */
PLUGMC_FN const pair_scale *scale_of(const pair_task *t, uint32_t walker)
{
#if FRAMES_DIFFER
    return t->scales + walker;
#else
    (void)walker;
    return &t->scale;
#endif
}

PLUGMC_FN uint32_t fixed_coordinate(const pair_scale *s, const double *r, int d)
{
    return (uint32_t)(int64_t)(r[0] * s->to_fixed[0][d] + r[1] * s->to_fixed[1][d] +
                               r[2] * s->to_fixed[2][d] + s->offset[d]);
}

PLUGMC_FN pair_point make_point(const pair_task *t, uint32_t walker, uint32_t k)
{
    const uint64_t entry = (uint64_t)walker * t->points + k;
    const double *r = t->positions + 3 * entry;
    const pair_scale *s = scale_of(t, walker);
    pair_point p = {0, 0, 0, (uint32_t)t->species_count};
    if (r[0] != r[0]) return p; /* nobody is there */
    p.x = fixed_coordinate(s, r, 0);
    p.y = fixed_coordinate(s, r, 1);
    p.z = fixed_coordinate(s, r, 2);
    p.tag = t->species[t->order ? t->order[entry] : k];
    if (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= t->reference_square) p.tag |= 0x80000000u;
    return p;
}

PLUGMC_FN void store_point(const pair_task *t, uint32_t walker, uint32_t k, pair_point p)
{
    uint32_t *fixed = t->fixed + (uint64_t)walker * FIXED_PARTS * t->points + k;
    fixed[(uint64_t)FIXED_X * t->points] = p.x;
    fixed[(uint64_t)FIXED_Y * t->points] = p.y;
    fixed[(uint64_t)FIXED_Z * t->points] = p.z;
    fixed[(uint64_t)FIXED_TAG * t->points] = p.tag;
}

PLUGMC_FN pair_point point_at(const pair_task *t, uint32_t walker, uint32_t k)
{
    const uint32_t *fixed = t->fixed + (uint64_t)walker * FIXED_PARTS * t->points + k;
    pair_point p;
    p.x = fixed[(uint64_t)FIXED_X * t->points];
    p.y = fixed[(uint64_t)FIXED_Y * t->points];
    p.z = fixed[(uint64_t)FIXED_Z * t->points];
    p.tag = fixed[(uint64_t)FIXED_TAG * t->points];
    return p;
}

/* Square of the distance. In an oblique box this is the nearest image if it is nearer than half the
 * smallest distance of opposite faces, beyond which nothing is counted. */
PLUGMC_FN float square_between(const pair_scale *s, int32_t oblique, uint32_t ax, uint32_t ay,
                               uint32_t az, uint32_t bx, uint32_t by, uint32_t bz)
{
    const float u = (float)(int32_t)(ax - bx), v = (float)(int32_t)(ay - by),
                w = (float)(int32_t)(az - bz);
    float x = u * s->to_length[0][0], y = v * s->to_length[1][1], z = w * s->to_length[2][2];
    if (oblique) {
        x += v * s->to_length[1][0] + w * s->to_length[2][0];
        y += u * s->to_length[0][1] + w * s->to_length[2][1];
        z += u * s->to_length[0][2] + v * s->to_length[1][2];
    }
    return x * x + y * y + z * z;
}

/* Bin of a distance; t->bins or more if there is none. */
PLUGMC_FN int32_t bin_of(const pair_task *t, float square)
{
    return (int32_t)(sqrtf(square) * t->bins_per_length);
}

PLUGMC_FN void count_more(uint32_t *counter, uint32_t more)
{
#ifdef __CUDACC_RTC__
    atomicAdd(counter, more);
#else
    *counter += more;
#endif
}

/* row: of the histograms of a's species. histograms [rows][bins]. */
PLUGMC_FN void count_pair(const pair_task *t, const pair_scale *s, const int32_t *row, pair_point a,
                          pair_point b, uint32_t *histograms)
{
    const float square = square_between(s, t->oblique, a.x, a.y, a.z, b.x, b.y, b.z);
    if (square >= t->reach_square) return;
    const uint32_t references = is_reference(a.tag) + is_reference(b.tag);
    const int32_t bin = bin_of(t, square);
    if (bin < t->bins && references)
        count_more(histograms + row[point_species(b.tag)] * t->bins + bin, references);
}

PLUGMC_FN const int32_t *rows_of(const pair_task *t, pair_point a)
{
    return t->row + point_species(a.tag) * (uint32_t)(t->species_count + 1);
}

/* ---- Cells ---- */

/* -1: there is none beyond the wall. */
PLUGMC_FN int32_t neighbour_cell(int32_t cell, int32_t number, int32_t count, int32_t periodic)
{
    const int32_t beside = cell + number - 1;
    if (periodic || count < 3) return plugmc_cell_around(cell, number, count);
    return beside < count ? beside : -1;
}

/* Pairs of point k with those after it in the cells around. */
PLUGMC_FN void count_in_cells(const pair_task *t, uint32_t walker, uint32_t k, uint32_t *histograms)
{
    const uint32_t *start = t->start + (uint64_t)walker * (t->cells + 1);
    const double *r = t->positions + 3 * ((uint64_t)walker * t->points + k);
    const pair_point a = point_at(t, walker, k);
    const int32_t *row = rows_of(t, a);
    const pair_scale *s = scale_of(t, walker);
    const int32_t at_x = plugmc_cell_along(r[0] - t->origin, s->width[0], t->count[0]);
    const int32_t at_y = plugmc_cell_along(r[1] - t->origin, s->width[1], t->count[1]);
    const int32_t at_z = plugmc_cell_along(r[2] - t->origin, s->width[2], t->count[2]);
    const int32_t nx = plugmc_cells_around(t->count[0]), ny = plugmc_cells_around(t->count[1]),
                  nz = plugmc_cells_around(t->count[2]);
    for (int32_t i = 0; i < nx * ny * nz; i++) {
        const int32_t x = neighbour_cell(at_x, i % nx, t->count[0], t->periodic);
        const int32_t y = neighbour_cell(at_y, i / nx % ny, t->count[1], t->periodic);
        const int32_t z = neighbour_cell(at_z, i / (nx * ny), t->count[2], t->periodic);
        if (x < 0 || y < 0 || z < 0) continue;
        const int32_t c = (z * t->count[1] + y) * t->count[0] + x;
        uint32_t m = start[c];
        for (m = m > k ? m : k + 1; m < start[c + 1]; m++)
            count_pair(t, s, row, a, point_at(t, walker, m), histograms);
    }
}

#ifdef __CUDACC_RTC__
/* ---- GPU: blocks of PAIR_BLOCK threads ---- */

/* The copy of the histograms that this thread counts into. Dynamic shared memory:
 * [copies][copy_size], where copy_size is odd, so that equal bins lie in different banks. */
PLUGMC_FN uint32_t *own_histograms(const pair_task *t)
{
    extern __shared__ uint32_t histograms[];
    for (int32_t b = threadIdx.x; b < t->copies * t->copy_size; b += PAIR_BLOCK) histograms[b] = 0;
    __syncthreads();
    return histograms + threadIdx.x % t->copies * t->copy_size;
}

PLUGMC_FN void add_histograms(const pair_task *t, uint32_t walker)
{
    extern __shared__ uint32_t histograms[];
    const int32_t size = t->rows * t->bins;
    unsigned long long *counts = t->counts + (uint64_t)walker * size;
    __syncthreads();
    for (int32_t b = threadIdx.x; b < size; b += PAIR_BLOCK) {
        unsigned long long sum = 0;
        for (int32_t c = 0; c < t->copies; c++) sum += histograms[c * t->copy_size + b];
        if (sum > 0) atomicAdd(counts + b, sum);
    }
}

/* One thread a point: x points, y walkers. Counts the references too. */
extern "C" __global__ void place_points(const __grid_constant__ pair_task task)
{
    const uint32_t k = blockIdx.x * PAIR_BLOCK + threadIdx.x, walker = blockIdx.y;
    pair_point p = {0, 0, 0, 0};
    if (k < points_present(&task, walker)) {
        p = make_point(&task, walker, k);
        store_point(&task, walker, k, p);
        if (!point_is_yours(&task, walker, k)) p.tag = 0;
    }
    for (uint32_t s = 0; s < task.species_count; s++) {
        const int found = __syncthreads_count(p.tag == (s | 0x80000000u));
        if (threadIdx.x == 0 && found)
            atomicAdd(task.references + walker * task.species_count + s, (unsigned long long)found);
    }
}

/* One thread a point: x points, y walkers. */
extern "C" __global__ void in_cells(const __grid_constant__ pair_task task)
{
    const uint32_t k = blockIdx.x * PAIR_BLOCK + threadIdx.x;
    uint32_t *histograms = own_histograms(&task);
    if (k < points_present(&task, blockIdx.y) && point_is_yours(&task, blockIdx.y, k))
        count_in_cells(&task, blockIdx.y, k, histograms);
    add_histograms(&task, blockIdx.y);
}

/* A tile is PAIR_BLOCK points. Tile x takes itself and the next half of the others, in a circle,
 * so that all have the same work; y: which of them this block takes; z: walkers. Each pair is met
 * once: where the circle has a tile just opposite, the first of the two takes it. */
extern "C" __global__ void all_pairs(const __grid_constant__ pair_task task)
{
    __shared__ uint4 tile[PAIR_BLOCK];
    const uint32_t tiles = gridDim.x, walker = blockIdx.z;
    const uint32_t k = blockIdx.x * PAIR_BLOCK + threadIdx.x;
    const int present = k < task.points;
    uint32_t *histograms = own_histograms(&task);
    pair_point own = {0, 0, 0, 0};
    if (present) own = point_at(&task, walker, k);
    const int32_t *row = rows_of(&task, own);
    const pair_scale *scale = scale_of(&task, walker);
    for (uint32_t ahead = blockIdx.y; ahead <= tiles / 2; ahead += gridDim.y) {
        if (2 * ahead == tiles && blockIdx.x >= ahead) break; /* the last one */
        const uint32_t first = (blockIdx.x + ahead) % tiles * PAIR_BLOCK;
        const uint32_t left = task.points - first;
        const uint32_t end = left < PAIR_BLOCK ? left : PAIR_BLOCK;
        __syncthreads();
        if (threadIdx.x < end) {
            const pair_point p = point_at(&task, walker, first + threadIdx.x);
            tile[threadIdx.x] = make_uint4(p.x, p.y, p.z, p.tag);
        }
        __syncthreads();
        if (!present) continue;
        for (uint32_t j = ahead ? 0 : threadIdx.x + 1; j < end; j++) {
            const pair_point other = {tile[j].x, tile[j].y, tile[j].z, tile[j].w};
            count_pair(&task, scale, row, own, other, histograms);
        }
    }
    add_histograms(&task, walker);
}
#endif
