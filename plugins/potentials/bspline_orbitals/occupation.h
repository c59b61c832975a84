/* Which orbitals of a file a determinant is made of. */
#ifndef OCCUPATION_H
#define OCCUPATION_H

#include "orbital_file.h"

/* An orbital of the run: a state of the file, or its complex conjugate, which belongs to -k; or the real or imaginary part of
 * either, times the root of 2. */
enum { WHOLE_ORBITAL, REAL_PART, IMAGINARY_PART };
typedef struct occupied {
    int32_t state;
    int32_t conjugate;
    int32_t part;
} occupied;

/* How a k point of the file belongs to the simulation cell: by itself, and by time reversal, as -k. */
enum { BY_ITSELF = 1, REVERSED = 2 };

/* How primitive cells make the simulation cell: its vector d is sum_e tile[d][e] times primitive vector e. */
typedef int32_t tiling[3][3];

/* The k points of the simulation cell: as many as it has primitive cells, |det tile|, all of which are in the file, if
 * need be by time reversal. */
typedef struct k_set {
    tiling tile;
    int64_t cells;
    double twist[3]; /* turns of the orbitals over the edges of the cell, -1/2 to 1/2 */
    uint8_t *member; /* [k points of the file]: BY_ITSELF | REVERSED, 0: of another twist */
} k_set;

/* tile: all 0 to take what the k points make. twist: three numbers of turns, or NULL to take that of the file, which
 * must have one. */
int find_k_points(const orbital_file *, const tiling tile, const double *twist, k_set *out);

/* "2 x 2 x 2" or "(1 0 0, 1 0 1, 1 1 0)". */
enum { TILE_WORDS = 140 };
const char *tile_words(const tiling tile, char words[TILE_WORDS]);
int64_t tile_determinant(const tiling tile);

/* The `count` orbitals of lowest eigenvalue of a spin, lowest first. `whole`: warns where that cuts a shell
 * of equal eigenvalues. */
int occupy(const orbital_file *, const k_set *, int32_t spin, int64_t count, int whole,
           occupied *out);
/* Those of a list; others in place of some of those that `out` has: rules.c. */
int occupy_list(const orbital_file *, const k_set *, int32_t spin, const char *text, int64_t count,
                occupied *out);
int promote(const orbital_file *, const k_set *, int32_t spin, const char *text, int64_t count,
            occupied *out);
/* Whether another k point of the file that is the opposite of k belongs to the cell, too. */
int k_has_opposite(const orbital_file *, const k_set *, int32_t k);
#endif
