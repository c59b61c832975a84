/* The determinants of one spin of an expansion, of one walker: the table method.
 *
 * Of a reference determinant there is the transposed inverse M (slater.h). With B[e][a] the other orbitals at the
 * electrons, T[i][a] = sum_e M[e][i] B[e][a], and a determinant in which orbitals a stand for orbitals i of the reference
 * is det T[i][a] times that (B. K. Clark, M. A. Morales, J. McMinis, J. Kim, G. E. Scuseria, J. Chem. Phys. 135, 244105
 * (2011)). With the other spin as it is, Psi is S = sum_u W_u d_u times the determinants of both references. As Psi is
 * linear in the orbitals of each electron, the ratio of Psi for a move of electron e is a product with one row over all
 * orbitals,
 *
 *     x - T z (those of the reference), z (others),     x = M[e], z = G^T x / S, G = dS/dT
 *
 * (C. Filippi, R. Assaraf, S. Moroni, J. Chem. Phys. 144, 194105 (2016)). A move that is accepted adds x y^T / q to T, y
 * = v_B - v_A T and q = v_A . x, where v are the orbitals there.
 *
 * A determinant that becomes much larger than the reference takes its place: then M and T are made from the orbitals at
 * the electrons, which are kept. */
#ifndef PLUGMC_SPIN_TABLE_H
#define PLUGMC_SPIN_TABLE_H

#include "expansion.h"
#include "slater.h"

/* Each determinant as substitutions of the reference's orbitals: rows and columns of T, ascending, and the sign of the
 * columns' order. */
typedef struct substitutions {
    int32_t determinants, stride;
    int32_t *degree; /* [determinants] */
    int32_t *sign;   /* [determinants] 1 or -1 */
    int32_t *places; /* [determinants][2][stride] rows, columns */
} substitutions;

typedef struct spin_work {
    double *x, *y;         /* [n], [m] */
    double *here;          /* [orbitals] of an electron: the reference's, then the others */
    double *square, *rest; /* [n][n], [n][m] */
    double *row;           /* [length] of electron `row_of` */
    double *rows;          /* [n][length] of all electrons, if rows_known */
    int64_t row_of;        /* -1: of none */
    int rows_known;
} spin_work;

typedef struct spin_table {
    const expansion *whole;
    const expansion_spin *set;
    int32_t spin;
    int is_complex;
    int64_t n, m;             /* electrons, others of the orbitals */
    int64_t pitch;            /* orbitals from one row of values to the next */
    int64_t length;           /* of rows: to the last orbital that occurs */
    struct spin_table *other; /* spin */
    slater reference;
    int32_t chosen;      /* determinant that is the reference; -1: there are no matrices yet */
    int64_t exchanges;   /* references that were replaced while electrons moved */
    int32_t *order;      /* [orbitals] places in set->column: the reference's, then the others */
    substitutions lists; /* from the reference */
    double *values;      /* [n][orbitals] at the electrons, in the order of set->column */
    double *table;       /* T [n][m] */
    double *minors;      /* d [determinants], 1 of the reference */
    double *weights;     /* W [determinants] */
    double *slopes;      /* G [n][m] */
    spin_work work;
    int slopes_known;       /* W, S and G are those of the minors; */
    uint64_t version, seen; /* of its own minors; of the other's that W was made from */
    double complex sum;     /* S */
    double complex ratio;   /* of the move looked at last */
} spin_table;

/* Bytes for both spins of a walker, a multiple of 64; with such memory, slater[2] that are doors to the expansion. */
size_t spin_tables_bytes(const expansion *, int64_t pitch, int is_complex, int64_t block);
void spin_tables_prepare(slater spin[2], void *memory, const expansion *, int64_t pitch,
                         int is_complex, int64_t block);

/* As the functions of slater.h that have these names. */
int spin_table_invert(slater *, const double *values, double *drift);
int spin_table_settle(slater spin[2]);
void spin_table_begin(slater *, int64_t first, int64_t size);
const double *spin_table_row(slater *, int64_t e);
double complex spin_table_ratio(slater *, int64_t e, const double *values);
void spin_table_accept(slater *, int64_t e, const double *values);
void spin_table_end(slater *);
void spin_table_copy(const slater *from, slater *to);
/* Rows of all electrons [n][length], until something moves. */
const double *spin_table_rows(spin_table *);

/* W, S and G as they are now, and S. */
double complex spin_table_sum(spin_table *);

/* For each determinant u, sum_e D_u(orbitals of e replaced by v_e) / D_reference of vectors v [n][pitch], to out
 * [determinants]; work [n][orbitals] and [n][m]. */
void spin_table_along(const spin_table *, const double *vectors, double *work, double *out);
#endif
