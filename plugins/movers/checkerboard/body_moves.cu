/* body_moves.cu: trial moves of bodies, for the kernels where lanes of a warp take a cell (bodies.cu), where a block does
 * (crowded_bodies.cu) and where a thread does (round_bodies.cu), and orientations on their way between processes. Its text follows that of trial.cu. */
#define CB_WHOLE_WARP 0xffffffffu

/* What of an orientation is not always 0. */
#if DIM == 2
typedef int32_t cb_parts;
PLUGMC_FN cb_parts cb_parts_of(int4 o) { return o.x; }
PLUGMC_FN int4 cb_orientation_of(cb_parts o) { return make_int4(o, 0, 0, 0); }
#else
typedef int4 cb_parts;
PLUGMC_FN cb_parts cb_parts_of(int4 o) { return o; }
PLUGMC_FN int4 cb_orientation_of(cb_parts o) { return o; }
#endif

/* A body at its place in the cell, now or after a trial move. */
typedef struct cb_body {
    plugmc_placed placed;
    float x, y, z;
} cb_body;

/* Of two bodies, from differences of their coordinates: the square of their distance, in units of the edge of a cell along x, and
 * their separation. */
PLUGMC_FN float cb_square(float dx, float dy, float dz, cb_walls walls)
{
    const float uy = dy * walls.ratio_y;
    float square = fmaf(uy, uy, dx * dx);
#if DIM == 3
    const float uz = dz * walls.ratio_z;
    square = fmaf(uz, uz, square);
#endif
    return square;
}

PLUGMC_FN plugmc_separation cb_separation(float dx, float dy, float dz, cb_walls walls)
{
    plugmc_separation s;
    s.x = dx * walls.scale;
    s.y = dy * walls.ratio_y * walls.scale;
    s.z = DIM == 3 ? dz * walls.ratio_z * walls.scale : 0.0f;
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
}

PLUGMC_FN int4 cb_int4(plugmc_orientation o)
{
    return make_int4(o.part[0], o.part[1], o.part[2], o.part[3]);
}

PLUGMC_FN plugmc_orientation cb_of_int4(int4 o)
{
    const plugmc_orientation orientation = {{o.x, o.y, o.z, o.w}};
    return orientation;
}

/* Displaces or turns b. Returns whether that is possible. */
PLUGMC_FN bool cb_move(cb_body *b, plugmc_random random, bool turns, const float *step,
                       double largest)
{
    float dx, dy, dz = 0.0f;
    if (turns) return plugmc_turn_by(random, DIM, largest, &b->placed.orientation);
#if DIM == 2
    cb_displacement_2(random.word[0], step[0], step[1], &dx, &dy);
#else
    cb_displacement_3(random, step[0], step[1], step[2], &dx, &dy, &dz);
#endif
    b->x += dx;
    b->y += dy;
    b->z += dz;
    return b->x >= -0.5f && b->x < 0.5f && b->y >= -0.5f && b->y < 0.5f &&
           (DIM == 2 || (b->z >= -0.5f && b->z < 0.5f));
}

/* A cell, whose bodies are visited in this order: their slots, as many bits each as a number has room for. */
#if CB_CAP <= 8
typedef uint32_t cb_slots;
#elif CB_CAP <= 16
typedef uint64_t cb_slots;
#endif
typedef struct cb_visit {
    plugmc_seed seed;
    uint64_t sweep;
    uint32_t cell;
    int walker, n;
#if CB_CAP <= 16
    cb_slots order;
#else
    uint8_t order[CB_CAP];
#endif
} cb_visit;

/* A random permutation, by exchanges of k = n - 1, n - 2, ... 1 with partners drawn from 0 ... k. */
PLUGMC_FN void cb_shuffle(cb_visit *v)
{
#if CB_CAP <= 8
    v->order = cb_order(v->seed, v->sweep, v->walker, v->cell, v->n);
#else
#if CB_CAP <= 16
    v->order = 0xfedcba9876543210ull;
#else
    for (int k = 0; k < CB_CAP; k++) v->order[k] = (uint8_t)k;
#endif
    plugmc_random random = {};
    for (int k = v->n - 1; k > 0 && CB_SHUFFLE; k--) {
        if (k == v->n - 1 || (k & 3) == 3)
            random =
                plugmc_draw(v->seed, v->sweep, v->walker, v->cell, PLUGMC_PURPOSE_ORDER, k >> 2);
        const uint32_t j = plugmc_below(cb_word(random, k), k + 1);
#if CB_CAP <= 16
        const cb_slots d = (v->order >> 4 * k ^ v->order >> 4 * j) & 15u;
        v->order ^= d << 4 * k | d << 4 * j;
#else
        const uint8_t t = v->order[k];
        v->order[k] = v->order[j];
        v->order[j] = t;
#endif
    }
#endif
}

PLUGMC_FN int cb_visited(const cb_visit *v, int turn)
{
#if CB_CAP <= 16
    return (int)(v->order >> 4 * turn & 15u);
#else
    return v->order[turn];
#endif
}

#if CB_SPREAD
/* Between the array of orientations and one in the order of slots, of which whole layers go to other processes with the rest of
 * their cells: into it or, `comes`, out of it, once numbers and counts of bodies have come. A thread takes a slot of a layer; y
 * of the grid is the piece. */
extern "C" __global__ void __launch_bounds__(CB_CARRIERS)
    cb_carry(const cb_pieces which, int comes, const cb_vector *coordinate, const uint32_t *id,
             const uint8_t *count, int4 *orientations, cb_parts *in_slots)
{
    const int of_layer = SLOTS / LAYERS, local = blockIdx.x * CB_CARRIERS + threadIdx.x;
    const int slot = which.first[blockIdx.y] * of_layer + local, half = slot / HALF_ROW;
    const int k = slot % HALF_ROW / CB_PITCH, q = slot % CB_PITCH;
    plugmc_wait();
    if (local >= which.layers[blockIdx.y] * of_layer || q >= HX) return;
    if (k >= count[half * CB_PITCH + q]) return;
    const uint32_t number = cb_id(coordinate[slot], id, slot);
    if (comes)
        orientations[number] = cb_orientation_of(in_slots[slot]);
    else
        in_slots[slot] = cb_parts_of(orientations[number]);
}
#endif
