/* half_turns: reflections and half-turns, which a cluster of particles makes. Both are their own inverse, but for the sign of
 * quaternions. */
#ifndef PLUGMC_HALF_TURNS_H
#define PLUGMC_HALF_TURNS_H

#include <plugmc/everything.h>

/* What is done with all particles of a cluster: a reflection at a point, or a half-turn. */
typedef struct symmetry {
    double center[3];
    int32_t axis; /* of space, whose coordinate stays; 3: none */
    int32_t backward;
} symmetry;

/* A half-turn is the product of the quaternion with a unit along its axis. */
static inline void turn_half(const symmetry *how, plugmc_orientation *o)
{
    const int32_t sign = how->backward ? -1 : 1;
    if (how->axis == 3) {
        plugmc_turn_in_plane(o, PLUGMC_WHOLE_TURN / 2);
        return;
    }
    const int k = 1 + how->axis, l = 1 + (how->axis + 1) % 3, m = 1 + (how->axis + 2) % 3;
    const plugmc_orientation from = *o;
    o->part[0] = -sign * from.part[k];
    o->part[k] = sign * from.part[0];
    o->part[l] = -sign * from.part[m];
    o->part[m] = sign * from.part[l];
}

/* Where a particle goes. */
static inline void map_place(const plugmc_box *box, const symmetry *how, const double from[3],
                             double to[3])
{
    for (int d = 0; d < 3; d++)
        to[d] = d == how->axis || d >= box->dimension ? from[d] : 2 * how->center[d] - from[d];
    plugmc_wrap(box, to);
}

#endif
