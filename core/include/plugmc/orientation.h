/* plugmc/orientation.h: orientations of bodies, for C and CUDA C++. Part of plugmc/device.h, so available in every GPU
 * source.
 *
 * Orientations are integers, so that turns lose nothing: a turn and its reverse lead back to the same bits, on the CPU and
 * on a GPU, and all orientations are equally probable. In two dimensions an orientation is an angle. In three
 * dimensions it is a quaternion p; the rotation is that of p / |p|. Its length has no meaning and changes a little with
 * each turn, which docs/bodies.md explains. */
#ifndef PLUGMC_ORIENTATION_H
#define PLUGMC_ORIENTATION_H

typedef struct plugmc_orientation {
    /* Two dimensions: part[0] is the angle in 2^-24 turns, 0 ... 2^24 - 1, and the others are 0. Three dimensions: w, x,
     * y, z of the quaternion, in 2^-30. */
    int32_t part[4];
} plugmc_orientation;

enum { PLUGMC_WHOLE_TURN = 1 << 24, PLUGMC_QUATERNION_ONE = 1 << 30 };

/* The axes of a body in space, unit vectors: its point (u, v, w) is at u x + v y + w z. */
typedef struct plugmc_pose {
    real x[3], y[3], z[3];
} plugmc_pose;

/* A factor by which a distance has to exceed another one to do so in spite of rounding, for expressions of up to some ten
 * products and sums of the size of the larger distance (docs/bodies.md). */
#define PLUGMC_SURELY ((real)1 + (sizeof(real) == 4 ? (real)0x1p-19 : (real)0x1p-46))

/* The body as its author has drawn it. */
PLUGMC_FN plugmc_orientation plugmc_upright(int32_t dimension)
{
    plugmc_orientation o = {{dimension == 2 ? 0 : PLUGMC_QUATERNION_ONE, 0, 0, 0}};
    return o;
}

PLUGMC_FN real plugmc_times_plus(real a, real b, real c)
{
    return sizeof(real) == 4 ? (real)fmaf((float)a, (float)b, (float)c)
                             : (real)fma((double)a, (double)b, (double)c);
}

/* Sine and cosine of an angle in 2^-24 turns, by their series on an eighth of the circle. Absolute error below 1.2e-7 in
 * float, 3e-16 in double. */
PLUGMC_FN void plugmc_sincos_of(int32_t angle, real *sine, real *cosine)
{
    const int32_t quarter = PLUGMC_WHOLE_TURN / 4, quadrant = (angle + quarter / 2) / quarter;
    const real f = (real)(angle - quadrant * quarter) * (real)(1.5707963267948966 / (1 << 22)),
               g = f * f;
    real s = (real)(1.0 / 362880), c = (real)(1.0 / 40320);
    if (sizeof(real) == 8) {
        s = (real)(-1.0 / 1307674368000.0);
        s = plugmc_times_plus(s, g, (real)(1.0 / 6227020800.0));
        s = plugmc_times_plus(s, g, (real)(-1.0 / 39916800.0));
        s = plugmc_times_plus(s, g, (real)(1.0 / 362880));
        c = (real)(1.0 / 20922789888000.0);
        c = plugmc_times_plus(c, g, (real)(-1.0 / 87178291200.0));
        c = plugmc_times_plus(c, g, (real)(1.0 / 479001600.0));
        c = plugmc_times_plus(c, g, (real)(-1.0 / 3628800.0));
        c = plugmc_times_plus(c, g, (real)(1.0 / 40320));
    }
    s = plugmc_times_plus(s, g, (real)(-1.0 / 5040));
    s = plugmc_times_plus(s, g, (real)(1.0 / 120));
    s = plugmc_times_plus(s, g, (real)(-1.0 / 6));
    s = plugmc_times_plus(s * g, f, f);
    c = plugmc_times_plus(c, g, (real)(-1.0 / 720));
    c = plugmc_times_plus(c, g, (real)(1.0 / 24));
    c = plugmc_times_plus(c, g, (real)-0.5);
    c = plugmc_times_plus(c, g, 1);
    const real a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -a : a;
    *cosine = (quadrant + 1) & 2 ? -b : b;
}

PLUGMC_FN plugmc_pose plugmc_pose_of(const plugmc_orientation *o, int32_t dimension)
{
    if (dimension == 2) {
        real s, c;
        plugmc_sincos_of(o->part[0], &s, &c);
        plugmc_pose flat = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
        return flat;
    }
    const real w = (real)o->part[0] * (real)0x1p-30, x = (real)o->part[1] * (real)0x1p-30,
               y = (real)o->part[2] * (real)0x1p-30, z = (real)o->part[3] * (real)0x1p-30;
    const real over = 1 / (w * w + x * x + y * y + z * z), two = 2 * over;
    plugmc_pose pose = {
        {(w * w + x * x - y * y - z * z) * over, (x * y + w * z) * two, (x * z - w * y) * two},
        {(x * y - w * z) * two, (w * w - x * x + y * y - z * z) * over, (y * z + w * x) * two},
        {(x * z + w * y) * two, (y * z - w * x) * two, (w * w - x * x - y * y + z * z) * over}};
    return pose;
}

/* ---- Turns ---------------------------------------------------------------------------------- */

/* The integer nearest to x y / 2^30; of -x it is the negative one. */
PLUGMC_FN int32_t plugmc_product_of_parts(int32_t x, int32_t y)
{
    const int64_t half = 1 << 29, product = (int64_t)x * y;
    return (int32_t)(product < 0 ? -((half - product) >> 30) : (half + product) >> 30);
}

/* Rotates the point (x, y) of the lattice by an angle h, as three shears. Each maps the lattice onto itself, one to one, and
 * the shears of -h undo those of h. tangent is tan(h/2), sine is sin h, both in 2^-30. */
PLUGMC_FN void plugmc_shear_plane(int32_t *x, int32_t *y, int32_t tangent, int32_t sine)
{
    *x -= plugmc_product_of_parts(tangent, *y);
    *y += plugmc_product_of_parts(sine, *x);
    *x -= plugmc_product_of_parts(tangent, *y);
}

/* Turns about axis k (0, 1, 2) of space by 4 atan(tangent / 2^30). Returns 0, and the body must stay as it is, if the
 * square of the quaternion's length leaves (0.98, 1.02). */
PLUGMC_FN int plugmc_turn_in_space(plugmc_orientation *o, int32_t k, int32_t tangent)
{
    const double t = (double)tangent * 0x1p-30, exact = 2 * t / (1 + t * t) * 0x1p30;
    const int32_t sine = (int32_t)rint(exact);
    /* chosen by values: an index that the compiler does not know would put them into a GPU's memory */
    const int32_t x = o->part[1], y = o->part[2], z = o->part[3];
    int32_t w = o->part[0], along = k == 0 ? x : (k == 1 ? y : z),
            second = k == 0 ? y : (k == 1 ? z : x), third = k == 0 ? z : (k == 1 ? x : y);
    double square = 0;
    plugmc_shear_plane(&w, &along, tangent, sine);
    plugmc_shear_plane(&second, &third, tangent, sine);
    o->part[0] = w;
    o->part[1] = k == 0 ? along : (k == 1 ? third : second);
    o->part[2] = k == 0 ? second : (k == 1 ? along : third);
    o->part[3] = k == 0 ? third : (k == 1 ? second : along);
    for (int j = 0; j < 4; j++) square += (double)o->part[j] * (double)o->part[j];
    square *= 0x1p-60;
    return square > 0.98 && square < 1.02;
}

/* Turns in the plane by an angle in 2^-24 turns. */
PLUGMC_FN void plugmc_turn_in_plane(plugmc_orientation *o, int32_t angle)
{
    o->part[0] = (o->part[0] + angle) & (PLUGMC_WHOLE_TURN - 1);
}

/* ---- Random orientations -------------------------------------------------------------------- */

/* The largest of random turns by at most `step` (rad, up to pi), as plugmc_turn_by takes it: in two dimensions the angle
 * in 2^-24 turns; in three tan(step / 4), by its series: step / 4 is at most pi / 4. */
PLUGMC_FN double plugmc_largest_turn(int32_t dimension, double step)
{
    const double q = step / 4, g = q * q;
    if (dimension == 2) return (double)(int32_t)(step * (PLUGMC_WHOLE_TURN / 6.283185307179586));
    const double largest =
        q * (1 + g * (1.0 / 3 + g * (2.0 / 15 + g * (17.0 / 315 + g * (62.0 / 2835)))));
    return largest < 1 ? largest : 1;
}

/* A random turn by these words. In two dimensions the angle is uniform; in three, about one of the axes of space,
 * tan(angle / 4) is. A turn and its reverse are equally probable. Returns 0 if the trial has to be rejected: see
 * plugmc_turn_in_space. */
PLUGMC_FN int plugmc_turn_by(plugmc_random random, int32_t dimension, double largest,
                             plugmc_orientation *o)
{
    const int backward = random.word[1] & 1;
    if (dimension == 2) {
        const int32_t angle = (int32_t)plugmc_below(random.word[0], (uint32_t)largest + 1);
        plugmc_turn_in_plane(o, backward ? -angle : angle);
        return 1;
    }
    const int32_t tangent =
        (int32_t)rint(largest * plugmc_uniform_double(random.word[2], random.word[3]) * 0x1p30);
    return plugmc_turn_in_space(o, (int32_t)plugmc_below(random.word[0], 3),
                                backward ? -tangent : tangent);
}

/* A random turn by at most `step` (rad, up to pi), by draw 0 of PLUGMC_PURPOSE_ORIENTATION. */
PLUGMC_FN int plugmc_draw_turn(plugmc_seed seed, uint64_t sweep, uint32_t walker, uint32_t index,
                               int32_t dimension, double step, plugmc_orientation *o)
{
    const plugmc_random random =
        plugmc_draw(seed, sweep, walker, index, PLUGMC_PURPOSE_ORIENTATION, 0);
    return plugmc_turn_by(random, dimension, plugmc_largest_turn(dimension, step), o);
}

/* An orientation of uniform (Haar) measure. In three dimensions the first of draws 1, 2, ... 127 of
 * PLUGMC_PURPOSE_ORIENTATION that lies in the ball, and not near its centre, gives the direction of the quaternion. */
PLUGMC_FN plugmc_orientation plugmc_draw_orientation(plugmc_seed seed, uint64_t sweep,
                                                     uint32_t walker, uint32_t index,
                                                     int32_t dimension)
{
    plugmc_orientation o = plugmc_upright(dimension);
    for (uint32_t draw = 1; draw < 128; draw++) {
        const plugmc_random random =
            plugmc_draw(seed, sweep, walker, index, PLUGMC_PURPOSE_ORIENTATION, draw);
        double p[4], square = 0;
        if (dimension == 2) {
            o.part[0] = (int32_t)(random.word[0] >> 8);
            return o;
        }
        for (int k = 0; k < 4; k++) {
            p[k] = ((double)random.word[k] + 0.5) * 0x1p-31 - 1;
            square += p[k] * p[k];
        }
        if (square > 1 || square < 0.0625) continue;
        const double scale = 0x1p30 / sqrt(square);
        for (int k = 0; k < 4; k++) o.part[k] = (int32_t)rint(p[k] * scale);
        return o;
    }
    return o;
}

#endif
