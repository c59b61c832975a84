/* See orientations.h. */
#include "formats/orientations.h"

#include <math.h>

#define ONE ((double)PLUGMC_QUATERNION_ONE)
/* What plugmc_turn_in_space lets the square of the length be. */
#define LEAST_SQUARE 0.98
#define MOST_SQUARE 1.02

static double square_of(const double q[4])
{
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
}

/* Angles are far shorter than quaternions. */
void quaternion_of(const plugmc_orientation *o, double out[4])
{
    for (int k = 0; k < 4; k++) out[k] = o->part[k] / ONE;
    if (square_of(out) > 0.25) return;
    const double half = o->part[0] * (M_PI / PLUGMC_WHOLE_TURN);
    out[0] = cos(half);
    out[1] = out[2] = 0;
    out[3] = sin(half);
}

bool same_orientation(const double a[4], const double b[4])
{
    const double over_a = 1 / sqrt(square_of(a)), over_b = 1 / sqrt(square_of(b));
    double product = 0, largest = 0;
    for (int k = 0; k < 4; k++) product += a[k] * b[k];
    const double sign = product < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++) largest = fmax(largest, fabs(a[k] * over_a - sign * b[k] * over_b));
    return isfinite(over_a) && isfinite(over_b) && isfinite(product) && largest <= 1e-6;
}

/* Whether a quaternion is one of ours. */
static bool on_lattice(const double q[4], double square)
{
    bool on = square > LEAST_SQUARE && square < MOST_SQUARE;
    for (int k = 0; k < 4; k++) on = on && q[k] * ONE == rint(q[k] * ONE);
    return on;
}

const char *orientation_of_quaternion(const double q[4], int32_t dimension, plugmc_orientation *out)
{
    const double square = square_of(q), length = sqrt(square);
    if (!isfinite(square)) return "is not finite";
    if (!(square > 1e-12)) return "is the quaternion 0, which is no rotation";
    *out = (plugmc_orientation){{0}};
    if (dimension == 2) {
        if (fabs(q[1]) > 1e-5 * length || fabs(q[2]) > 1e-5 * length)
            return "is no rotation about z, but the run is in two dimensions";
        const double angle = 2 * atan2(q[3], q[0]) * (PLUGMC_WHOLE_TURN / (2 * M_PI));
        out->part[0] = (int32_t)((int64_t)rint(angle) & (PLUGMC_WHOLE_TURN - 1));
        return NULL;
    }
    const double scale = on_lattice(q, square) ? ONE : ONE / length;
    for (int k = 0; k < 4; k++) out->part[k] = (int32_t)rint(q[k] * scale);
    return NULL;
}
