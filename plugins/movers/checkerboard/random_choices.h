/* random_choices.h: the random choices of the checkerboard sweep, shared by CPU and GPU, and how
 * coordinates are stored.
 *
 * Coordinates. A particle is stored relative to the centre of its cell, in units of the cell's
 * edges: a multiple of CB_QUANTUM in [-1/2, 1/2). Trial displacements and cell shifts are
 * multiples of CB_QUANTUM too, so every addition and subtraction of coordinates is exact in
 * float, within a cell and across cells: no particle drifts by rounding, none is lost, none
 * comes to overlap by a cell shift, and each trial move has its exact reverse.
 */

#ifndef CHECKERBOARD_RANDOM_CHOICES_H
#define CHECKERBOARD_RANDOM_CHOICES_H

#define CB_QUANTUM 0x1p-23f
#define CB_QUANTA 8388608 /* quanta in a cell edge */

/* Threads of a block that numbers particles, and cells that it numbers. */
#define CB_SCAN 512
#define CB_PART (8 * CB_SCAN)

/* Pairs of a GPU's counters, of trial moves and of accepted ones; the counts are their sums. Warps
 * that add to the same place take turns, and a sub-sweep of a large system has 80,000 such sums. */
#define CB_COUNTERS 1024

/* Cells around a patch of disks that matter for its sweep, along an axis: two for each of the four
 * sub-sweeps and one for the shift. See disks.cu. */
#define CB_AROUND 9

#ifndef CB_BODIES
#define CB_BODIES 0 /* 1: particles are bodies, which also turn */
#endif

/* Kinds of trial moves. */
enum { CB_DISPLACED, CB_TURNED, CB_KINDS = CB_BODIES ? 2 : 1 };

/* Threads that take a cell of bodies, and partial sums of the energies of one of them: of those in its reach, number j adds
 * to sum j modulo this; then neighbouring sums are added, pairs of them, and pairs of pairs. */
#define CB_LANES_IN(dimension) ((dimension) == 2 ? 4 : 8)
#define CB_MOST_LANES 8

/* What a walker does in one sweep. */
typedef struct cb_plan {
    uint8_t set[8];     /* order of the checkerboard sets; bit a of a set: parity along axis a */
    int32_t axis, sign; /* the cells are shifted along axis, in direction sign */
    int32_t quanta;     /* by so many quanta */
    int32_t unused;
} cb_plan;

/* Where the cells of a walker are swept by several processes, what of them a sub-sweep takes: every second layer (a
 * row in two dimensions, a plane in three), or, the shift, one after the other; and which layers belong to this
 * process, where their trials are counted. Behind the last layer of the box comes the first. */
typedef struct cb_window {
    int32_t first, active; /* the first layer that is taken, and how many are */
    int32_t own, owned;    /* the first layer of this process, and how many it has */
} cb_window;

/* Windows of a sweep: of its sub-sweeps, and of the shift. */
enum { CB_OF_SHIFT = 8, CB_WINDOWS };

/* Pieces of neighbouring layers, which do not go on round the box, whose orientations one launch brings into the order of slots
 * or back from it: the first layer of each, and how many there are. */
enum { CB_PIECES = 8, CB_CARRIERS = 256 };
typedef struct cb_pieces {
    int32_t first[CB_PIECES], layers[CB_PIECES];
} cb_pieces;

/* Active layer number k of a window, of m layers in the box. */
PLUGMC_FN int cb_layer(cb_window w, int k, int m)
{
    const int layer = w.first + 2 * k;
    return layer < m ? layer : layer - m;
}

PLUGMC_FN int cb_counts(cb_window w, int layer)
{
    return layer >= w.own && layer < w.own + w.owned;
}

/* What goes wrong on a GPU in a run of sweeps. overflow: 1 if a cell has more particles than slots, 2
 * if more than there is room for are near one. lost: 1 + the sweep in which a trial move's change of
 * energy was not a number. It is accepted, and no other one after it, so that it is found. touching: 1
 * if particles that are taken overlap. */
typedef struct cb_trouble {
    int32_t overflow, touching;
    uint64_t lost;
} cb_trouble;

/* Where walkers differ in temperature, couplings, rung or box: what each has on the device. Multipliers of
 * the energies of all terms come after it, double, and where boxes change squares of contact distances,
 * float, in units of the edge in x. */
typedef struct cb_head {
    double quantum[3]; /* length */
    float step[3];     /* of trial moves, in units of each cell edge */
    int32_t rung;
    float scale, ratio_y, ratio_z,
        reach; /* cell edge in x; of the others to it; square of the range */
#if CB_BODIES
    double turn; /* plugmc_largest_turn of trial rotations */
#endif
} cb_head;

PLUGMC_FN cb_plan cb_make_plan(plugmc_seed seed, uint64_t sweep, uint32_t walker, int dimension,
                               int shuffle, int shift)
{
    cb_plan plan;
    uint32_t word[12];
    for (uint32_t d = 0; d < 3; d++) {
        plugmc_random r = plugmc_draw(seed, sweep, walker, 0, PLUGMC_PURPOSE_SWEEP, d);
        for (int k = 0; k < 4; k++) word[4 * d + k] = r.word[k];
    }
    for (int k = 0; k < 8; k++) plan.set[k] = (uint8_t)k;
    if (shuffle) /* Fisher-Yates */
        for (int k = (1 << dimension) - 1; k > 0; k--) {
            int j = (int)plugmc_below(word[k + 2], (uint32_t)k + 1);
            uint8_t t = plan.set[k];
            plan.set[k] = plan.set[j];
            plan.set[j] = t;
        }
    plan.axis = (int32_t)plugmc_below(word[0], (uint32_t)dimension);
    plan.sign = word[1] >> 31 ? 1 : -1;
    plan.quanta = shift ? (int32_t)plugmc_below(word[2], CB_QUANTA / 2) : 0;
    plan.unused = 0;
    return plan;
}

/* To the nearest quantum, for |x| < 1/2: adding 3/2 leaves no bits below it. */
PLUGMC_FN float cb_round(float x) { return (x + 1.5f) - 1.5f; }

/* Trial number t of a cell uses one random word in two dimensions: 12 bits of angle, and the
 * larger of two numbers of 10 bits as the radius, which falls into the annulus k with a
 * probability in proportion to its area. step: largest displacement in units of each cell edge. */
PLUGMC_FN void cb_displacement_2(uint32_t word, float step_x, float step_y, float *x, float *y)
{
    float sine, cosine;
    uint32_t a = word & 0x3ffu, b = (word >> 10) & 0x3ffu, k = a > b ? a : b;
    /* numbers in [1, 2) with these bits: cheaper than converting integers */
    float r = plugmc_float_of_bits(0x3f800000u | k << 13) - (1.0f - 0x1p-11f);
    float t = plugmc_float_of_bits(0x3f800000u | (word >> 20) << 11) - 1.0f;
    plugmc_sincos_turn(t, &sine, &cosine);
    *x = cb_round(r * cosine * step_x);
    *y = cb_round(r * sine * step_y);
}

/* In three dimensions a block of four: 16 bits of azimuth, 16 of height, and the largest of
 * three numbers of 21 bits, which is distributed as the cube root of one. */
PLUGMC_FN void cb_displacement_3(plugmc_random w, float step_x, float step_y, float step_z,
                                 float *x, float *y, float *z)
{
    float sine, cosine;
    uint32_t a = w.word[1] >> 11, b = w.word[2] >> 11, c = w.word[3] >> 11;
    uint32_t m = a > b ? a : b;
    m = m > c ? m : c;
    float r = ((float)m + 0.5f) * 0x1p-21f;
    float height = ((float)(w.word[0] & 0xffffu) + 0.5f) * 0x1p-15f - 1.0f;
    float across = sqrtf(1.0f - height * height);
    plugmc_sincos_turn((float)(w.word[0] >> 16) * 0x1p-16f, &sine, &cosine);
    *x = cb_round(r * across * cosine * step_x);
    *y = cb_round(r * across * sine * step_y);
    *z = cb_round(r * height * step_z);
}

/* How far a coordinate of a particle in the next cell on `side` (-1, 0, 1) is beyond the edge of the
 * cell in the middle, in units of the edge in x. */
PLUGMC_FN float cb_outside(float x, int side, float ratio)
{
    const float beyond = fmaf((float)side, x, -0.5f); /* exact */
    return beyond > 0.0f ? beyond * ratio : 0.0f;
}

/* Particles near a cell are those for which the square of the distance from it is below the square of
 * the range. In cells with many of them the order in which energies are added depends on who is
 * near, so CPU and GPU round these squares alike. */
PLUGMC_FN float cb_square_outside(int dimension, float x, float y, float z, int side_x, int side_y,
                                  int side_z, float ratio_y, float ratio_z)
{
    const float ex = cb_outside(x, side_x, 1.0f), ey = cb_outside(y, side_y, ratio_y);
    const float square = fmaf(ey, ey, ex * ex);
    if (dimension == 2) return square;
    const float ez = cb_outside(z, side_z, ratio_z);
    return fmaf(ez, ez, square);
}

/* Whom a trial move looks at, where many particles are near a cell. Their coordinates are kept once more in bytes, of which a
 * GPU compares three at a time: cb_bytes_an_edge of them make the edge in x, and nobody on the list is further out than
 * byte 1 or 254. The energies that are added, and their order, depend on who is looked at, so CPU and GPU round alike. */
PLUGMC_FN float cb_bytes_an_edge(float reach, float ratio_y, float ratio_z)
{
    const float widest = ratio_y > ratio_z ? ratio_y : ratio_z;
    return 126.0f / (0.5f * (widest > 1.0f ? widest : 1.0f) + sqrtf(reach));
}

PLUGMC_FN uint32_t cb_byte(float x, float ratio, float an_edge)
{
    return (uint32_t)(x * ratio * an_edge + 128.0f);
}

/* The largest square of a distance in bytes, from the middle between the old and the new position, at which a particle may be in
 * range of either. Bytes are cut off: the difference of two is wrong by less than 1, a distance by less than 3^(1/2). */
PLUGMC_FN uint32_t cb_most_bytes(float reach, float ratio_y, float ratio_z, float an_edge, float dx,
                                 float dy, float dz)
{
    const float y = dy * ratio_y, z = dz * ratio_z;
    const float half = 0.5f * sqrtf(fmaf(z, z, fmaf(y, y, dx * dx)));
    const float most = (sqrtf(reach) + half) * an_edge + 1.75f;
    return (uint32_t)(most * most);
}

#endif
