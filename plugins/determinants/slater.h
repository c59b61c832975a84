/* Slater determinants of one spin of one walker, with the inverse of the matrix of orbitals.
 *
 * A[e][o] = psi_o(r_e) for electrons e and orbitals o, n of each. What is kept is M, the transposed
 * inverse: M[e][o] = (A^-1)[o][e], so that the ratio of determinants when electron e moves to where
 * the orbitals are v is q = sum_o v[o] M[e][o], a product with one row.
 *
 * Accepted moves are delayed (T. McDaniel, E. F. D'Azevedo, Y. W. Li, K. Wong, P. R. C. Kent,
 * J. Chem. Phys. 147, 174107 (2017)), in blocks of electrons that follow each other. With G[i][j] =
 * v_i . M[e_j] for the electrons of the block and C those accepted so far,
 *
 *     q_e = G[e][e] - G[e][C] (G[C][C])^-1 G[C][e],
 *
 * which is the pivot of a Gaussian elimination in G that skips the electrons rejected. One row of G
 * is needed an electron, n * block multiplications, and M itself is touched once a block, by the
 * Woodbury formula as matrix products:
 *
 *     M[j] -= sum_i X[i][j] M[e_i],  G[C][C] X = V_C M^T - (1 where j = e_i).
 *
 * Row j of M for an electron of the block that has not moved yet is that without the last term: M[j] less the sum of
 * X[i][j] M[e_i], where the elimination has left G[C][j] already. Gradients need it.
 *
 * A block of one electron is the formula of J. Sherman and W. J. Morrison, Ann. Math. Stat. 21, 124
 * (1950). Results do not depend on how the moves are evaluated: one at a time or all proposals of a
 * sweep beforehand. */
#ifndef PLUGMC_VMC_SLATER_H
#define PLUGMC_VMC_SLATER_H

#include <complex.h>
#include <stdint.h>

#include <plugmc/everything.h>

typedef struct slater {
    int64_t n;     /* electrons of this spin, and orbitals */
    int64_t pitch; /* orbitals from one row of `values` to the next, as given to the functions */
    struct spin_table
        *sum; /* of an expansion, which then has all but these members and ln_square; or NULL */
    int is_complex;  /* of all arrays named real-or-complex below */
    double *inverse; /* M [n][n], real or complex */
    double
        ln_square; /* ln |det A|^2, block included; of an expansion the sum over both spins is that of Psi */
    double ln_proposed;   /* of another configuration, if one is looked at */
    double complex phase; /* det / |det| of the matrix whose factors were found last */

    int64_t capacity, first, size; /* of the block: most electrons, first one, how many */
    int64_t accepted;
    int64_t *chosen;        /* [capacity] those accepted, in order, counted from `first` */
    double complex *raw;    /* [capacity][capacity] rows of G of those accepted */
    double complex *pivots; /* [capacity][capacity] the same, eliminated */
    double complex *row;    /* [capacity] of the electron at hand */
    double *taken;          /* [capacity][n] orbitals of those accepted, real or complex */
    double *old_rows;       /* [capacity][n] work: rows of M, real or complex */
    double *products;       /* [2][capacity][n] work, real or complex */
    double *changed_row;    /* [n] of M, real or complex */
    double complex *small;  /* [2][capacity][capacity] work */
    double *work;           /* [n][n] work, real or complex */
    int64_t inverting;      /* numbers of the next */
    double *inverting_work; /* [inverting] work of LAPACK, real or complex */
    int *pivot_rows;        /* [n] work */
} slater;

/* The one sampled term with orbitals, which determinants are made of; an error if there is none, or another, or an
 * energy of whole configurations, which is no factor of |Psi|^2 that a move of one electron knows. */
int slater_find_orbitals(const plugmc_host *, const plugmc_term **orbitals);

/* Orbitals from one row of values to the next: as many as either spin has, rounded up to a multiple
 * of 8. An error if `term` has too few for one. */
int slater_pitch(const plugmc_host *, const plugmc_term *term, int64_t *pitch);

/* Orbitals that count in a row: n, or all of an expansion. */
int64_t slater_length(const slater *);

/* Bytes of memory that it needs, a multiple of 64; and with such memory, a determinant of n
 * electrons. */
size_t slater_bytes(int64_t n, int is_complex, int64_t block);
void slater_prepare(slater *, void *memory, int64_t n, int64_t pitch, int is_complex,
                    int64_t block);

/* ln |det|^2 of values [n][pitch]. Returns 0 if the matrix is singular, or not of numbers. */
int slater_determinant(slater *, const double *values, double *ln_square);
/* Takes these electrons: M and ln |det|^2 anew. Returns 0 as above, and then leaves all as it was.
 * *drift, if wanted, is the largest change of an element of M over the largest element. */
int slater_invert(slater *, const double *values, double *drift);

/* Once both spins of a walker are inverted: ln |Psi|^2 and phases of an expansion. Returns 0 if Psi is 0 or not a number.
 * Nothing is to be done without one. */
int slater_settle(slater spin[2]);
/* Takes over all that another walker has. */
void slater_copy(const slater *from, slater *to);

/* Electrons first ... first + size - 1 will move, each at most once, in this order. */
void slater_begin(slater *, int64_t first, int64_t size);
/* Ratio of the determinants if electron e of the block goes to where the orbitals are `values`
 * [n]; then, if that is what happens: */
double complex slater_ratio(slater *, int64_t e, const double *values);
void slater_accept(slater *, int64_t e, const double *values);
/* Row e of M as those accepted in the block so far have made it, where e has not moved yet; [slater_length], until the next
 * call. */
const double *slater_row(slater *, int64_t e);
/* M for the electrons where they are now. */
void slater_end(slater *);

/* sum_o values[o] row[o]; and with row e of M, as it was when the block began. The latter from several threads only after
 * slater_rows, which finds all rows of an expansion, and if nothing has moved since. */
void slater_rows(slater *);
double complex slater_dot(const slater *, const double *row, const double *values);
double complex slater_product(const slater *, int64_t e, const double *values);
#endif
