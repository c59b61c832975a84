/* Which orbitals of a file a determinant is made of. */
#ifndef OCCUPATION_H
#define OCCUPATION_H

#include "orbital_file.h"

/* An orbital of the run: a state of the file, or its complex conjugate, which belongs to -k. */
typedef struct occupied {
    int32_t state;
    int32_t conjugate;
} occupied;

/* How a k point of the file belongs to the simulation cell: by itself, and by time reversal, as -k. */
enum { BY_ITSELF = 1, REVERSED = 2 };

/* The k points of the simulation cell: tile[0] x tile[1] x tile[2] primitive cells, all of whose k
 * points are in the file, if need be by time reversal. */
typedef struct k_set {
    int32_t tile[3];
    double twist[3]; /* turns of the orbitals over the edges of the cell, -1/2 to 1/2 */
    uint8_t *member; /* [k points of the file]: BY_ITSELF | REVERSED, 0: of another twist */
} k_set;

/* tile: three numbers of cells, or all 0 to take what the k points make. twist: three numbers of turns, or
 * NULL to take that of the file, which must have one. */
int find_k_points(const orbital_file *, const int32_t tile[3], const double *twist, k_set *out);

/* The `count` orbitals of lowest eigenvalue of a spin, lowest first. Warns where that cuts a shell
 * of equal eigenvalues. */
int occupy(const orbital_file *, const k_set *, int32_t spin, int64_t count, occupied *out);
#endif
