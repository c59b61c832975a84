/* Lattice vectors that are too far from a right angle for nearest images to be found. */
#ifndef SKEW_H
#define SKEW_H

#include <stdbool.h>

#include <plugmc/plugin.h>

/* Whether plugmc_nearest_oblique finds the nearest image of every pair. */
bool finds_nearest_images(const plugmc_box *);
/* The same lattice with the shortest vectors that it has (H. Minkowski). Right-handed if they were. */
void reduce_vectors(double v[3][3]);
#endif
