/* Orientations of bodies as files have them: quaternions w, x, y, z. */
#ifndef PLUGMC_ORIENTATIONS_H
#define PLUGMC_ORIENTATIONS_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* The quaternion of an orientation in two or three dimensions, in two of half the angle about z. In three it is not
 * normalised, but exact. */
void quaternion_of(const plugmc_orientation *, double out[4]);
/* Whether two quaternions are the same rotation up to rounding to float. */
bool same_orientation(const double a[4], const double b[4]);
/* The orientation of a quaternion of any length; that of quaternion_of comes back exactly. NULL, or what is wrong with
 * it. */
const char *orientation_of_quaternion(const double q[4], int32_t dimension,
                                      plugmc_orientation *out);
#endif
