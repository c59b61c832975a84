/* variational.cu: derivatives of ln |Psi| and of the local energy by variational parameters, of many walkers. What a pair, or an
 * electron, adds to which sum is the potentials' own text (plugmc/variational.h).
 *
 * A walker is shared by VARIATIONAL_PARTS warps, which take its electrons in turn. Each lane has sums of its own in shared
 * memory, columns [sums][VARIATIONAL_WARP], which are added in a fixed order in the end: results depend neither on when a
 * warp runs nor on the size of a block. */

enum { VARIATIONAL_VALUES, VARIATIONAL_KINETIC, VARIATIONAL_PLACES };

PLUGMC_FN int32_t variational_lane() { return threadIdx.x % VARIATIONAL_WARP; }

PLUGMC_FN plugmc_position variational_position(const double *r)
{
    plugmc_position at;
    at.x = r[0];
    at.y = r[1];
    at.z = r[2];
    return at;
}

PLUGMC_FN void variational_copy(const double *from, double *to)
{
    for (int d = 0; d < 3; d++) to[d] = from[d];
}

/* A warp's part of a walker. */
struct variational_work {
    int32_t walker, part; /* of the task, of the walker */
    const double *r;      /* [particles][3] */
    plugmc_images images;
    plugmc_tally tally; /* of this lane */
};

PLUGMC_FN plugmc_site variational_site(const variational_task &t, int32_t e)
{
    return plugmc_site_of_species(PLUGMC_SPECIES > 1 ? t.species[e] : 0);
}

/* Electron e at a place with electron j. */
PLUGMC_FN void variational_pair(const variational_task &t, const variational_work &w, int32_t e,
                                const double *at, int32_t j)
{
    const double *q = w.r + 3 * j;
    plugmc_pair_variational(
        plugmc_separate_at(at[0], at[1], at[2],
                           plugmc_separated(at[0] - q[0], at[1] - q[1], at[2] - q[2], w.images)),
        variational_site(t, e), variational_site(t, j), w.tally);
}

/* Pairs, each once, and electrons alone. */
PLUGMC_FN void variational_add_walker(const variational_task &t, variational_work &w, bool kinetic)
{
    const double *drift = t.drift + 3 * (int64_t)w.walker * t.particles;
    for (int32_t e = w.part; e < t.particles; e += VARIATIONAL_PARTS) {
        if (kinetic) variational_copy(drift + 3 * e, w.tally.drift_a);
        for (int32_t j = variational_lane(); j < e; j += VARIATIONAL_WARP) {
            if (kinetic) variational_copy(drift + 3 * j, w.tally.drift_b);
            variational_pair(t, w, e, w.r + 3 * e, j);
        }
    }
    for (int d = 0; d < 3; d++) w.tally.drift_b[d] = 0;
    for (int32_t e = w.part * VARIATIONAL_WARP + variational_lane(); e < t.particles;
         e += VARIATIONAL_PARTS * VARIATIONAL_WARP) {
        if (kinetic) variational_copy(drift + 3 * e, w.tally.drift_a);
        plugmc_field_variational(variational_position(w.r + 3 * e), variational_site(t, e),
                                 w.tally);
    }
}

/* Electrons that are tried at places: what they add there, times the energy of the place, less what they add where they
 * are. */
PLUGMC_FN void variational_add_places(const variational_task &t, variational_work &w)
{
    const int32_t *ranges = t.range + 2 * (int64_t)w.walker * t.particles;
    for (int32_t e = w.part; e < t.particles; e += VARIATIONAL_PARTS) {
        const int32_t begin = ranges[2 * e], end = ranges[2 * e + 1];
        const plugmc_site a = variational_site(t, e);
        double all = 0;
        for (int32_t i = begin; i < end; i++) {
            const variational_place *place = t.places + i;
            w.tally.factor = place->energy;
            all += place->energy;
            for (int32_t j = variational_lane(); j < t.particles; j += VARIATIONAL_WARP)
                if (j != e) variational_pair(t, w, e, place->position, j);
        }
        for (int32_t i = begin + variational_lane(); i < end; i += VARIATIONAL_WARP) {
            w.tally.factor = t.places[i].energy;
            plugmc_field_variational(variational_position(t.places[i].position), a, w.tally);
        }
        w.tally.factor = -all;
        for (int32_t j = variational_lane(); j < t.particles && begin < end; j += VARIATIONAL_WARP)
            if (j != e) variational_pair(t, w, e, w.r + 3 * e, j);
    }
    for (int32_t e = w.part * VARIATIONAL_WARP + variational_lane(); e < t.particles;
         e += VARIATIONAL_PARTS * VARIATIONAL_WARP) {
        double all = 0;
        for (int32_t i = ranges[2 * e]; i < ranges[2 * e + 1]; i++) all += t.places[i].energy;
        w.tally.factor = -all;
        if (all != 0)
            plugmc_field_variational(variational_position(w.r + 3 * e), variational_site(t, e),
                                     w.tally);
    }
}

/* A warp a part of a walker: out [walkers][VARIATIONAL_PARTS][sums]. */
PLUGMC_FN void variational_sum(const variational_task &t, int what, double *out)
{
    extern __shared__ double variational_columns[];
    const int32_t warp = threadIdx.x / VARIATIONAL_WARP, warps = blockDim.x / VARIATIONAL_WARP;
    const int64_t number = (int64_t)blockIdx.x * warps + warp;
    if (number >= (int64_t)t.walkers * VARIATIONAL_PARTS) return;
    double *columns = variational_columns + (int64_t)warp * t.sums * VARIATIONAL_WARP,
           *mine = columns + variational_lane();
    for (int32_t k = 0; k < t.sums; k++) mine[k * VARIATIONAL_WARP] = 0;
    variational_work w;
    w.walker = number / VARIATIONAL_PARTS;
    w.part = number % VARIATIONAL_PARTS;
    w.r = t.positions + 3 * (int64_t)(t.first + w.walker) * t.particles;
    w.images = plugmc_images_of_walker(t.boxes, t.first + w.walker);
    w.tally = plugmc_tally();
    w.tally.values = what == VARIATIONAL_KINETIC ? nullptr : mine;
    w.tally.kinetic = what == VARIATIONAL_KINETIC ? mine : nullptr;
    w.tally.stride = VARIATIONAL_WARP;
    w.tally.dimension = PLUGMC_DIMENSION;
    w.tally.factor = 1;
    if (what == VARIATIONAL_PLACES)
        variational_add_places(t, w);
    else
        variational_add_walker(t, w, what == VARIATIONAL_KINETIC);
    __syncwarp();
    for (int32_t k = variational_lane(); k < t.sums; k += VARIATIONAL_WARP) {
        double sum = 0; /* lanes begin at columns of their own: other banks of memory */
        for (int32_t c = 0; c < VARIATIONAL_WARP; c++)
            sum += columns[k * VARIATIONAL_WARP + (c + variational_lane()) % VARIATIONAL_WARP];
        out[number * t.sums + k] = sum;
    }
}

extern "C" __global__ void variational_values(const __grid_constant__ variational_task t,
                                              double *out)
{
    variational_sum(t, VARIATIONAL_VALUES, out);
}

extern "C" __global__ void variational_kinetic(const __grid_constant__ variational_task t,
                                               double *out)
{
    variational_sum(t, VARIATIONAL_KINETIC, out);
}

extern "C" __global__ void variational_places(const __grid_constant__ variational_task t,
                                              double *out)
{
    variational_sum(t, VARIATIONAL_PLACES, out);
}

/* A thread a place: where those of its electron begin and end, in `range`, cleared before. */
extern "C" __global__ void variational_ranges(const __grid_constant__ variational_task t)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= t.place_count) return;
    const variational_place *p = t.places + i;
    const int32_t walker = p->walker - t.first, electron = p->electron;
    const bool begins = i == 0 || p[-1].walker != p->walker || p[-1].electron != electron,
               ends =
                   i + 1 == t.place_count || p[1].walker != p->walker || p[1].electron != electron;
    int32_t *range = t.range + 2 * ((int64_t)walker * t.particles + electron);
    if (begins) range[0] = i;
    if (ends) range[1] = i + 1;
}

/* A thread a sum: parts [walkers][VARIATIONAL_PARTS][sums] are added up, or added to what is there, rows [walkers][sums]. */
extern "C" __global__ void variational_add(const __grid_constant__ variational_task t, int32_t more,
                                           const double *parts, double *rows)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, walker = i / t.sums;
    if (walker >= t.walkers) return;
    double sum = more ? rows[i] : 0;
    for (int32_t part = 0; part < VARIATIONAL_PARTS; part++)
        sum += parts[(walker * VARIATIONAL_PARTS + part) * t.sums + i % t.sums];
    rows[i] = sum;
}
