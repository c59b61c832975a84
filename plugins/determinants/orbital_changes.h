/* How a determinant depends on its orbitals: derivatives of its logarithm by coefficients c_ia of functions that are added to
 * them, phi_i + sum_a c_ia f_a, at c = 0. With A[e][i] the orbitals at the electrons of a spin, F[e][a] the functions and M the
 * transposed inverse of A,
 *
 *     O_ia = Re R_ia,    R_ia = sum_e M[e][i] F[e][a],
 *
 * the ratio of the determinant in which f_a stands for phi_i. With operators h_e = -1/2 lap_e + b_e . grad_e on each electron
 * (b_e: half of the gradient of the energy of the other factors of Psi) and W_ip = sum_e M[e][i] h_e p(r_e) of orbitals and
 * functions p, the derivative of the determinant A + eps h A by eps gives
 *
 *     -1/2 lap O_ia - drift . grad O_ia = Re (W_ia - sum_j W_ij R_ja),    j an orbital,
 *
 * and where electron e goes to where orbitals are u and functions f, q_e being the ratio of the determinants, R_ia changes by
 *
 *     M[e][i] (f_a - sum_j u_j R_ja) / q_e. */
#ifndef PLUGINS_ORBITAL_CHANGES_H
#define PLUGINS_ORBITAL_CHANGES_H

#include "slater.h"

/* One spin of a walker. A row has the n orbitals, then the v functions; real numbers, or complex ones as re, im. */
typedef struct orbital_changes {
    int is_complex;
    int64_t n, v, pitch; /* pitch = n + v */
    slater det;
    void *memory;
    /* [n][pitch], [n][3][pitch], [n][pitch]: the caller fills them, each electron with its orbitals and functions. */
    double *values, *gradients, *laplacians;
    double complex *ratio, *w; /* R [n][v], W [n][pitch] */
} orbital_changes;

int orbital_changes_make(orbital_changes *, int64_t n, int64_t v, int is_complex);
void orbital_changes_free(orbital_changes *);

/* M and R, from values. PLUGMC_ERROR_STATE: the determinant is 0. */
int orbital_changes_find(orbital_changes *);
/* Then, from gradients and Laplacians and the drift [n][3] of Psi: adds the kinetic parts to out [n][v]. */
void orbital_changes_kinetic(orbital_changes *, const double *drift, double *out);
/* Adds Re (q (R there - R)) / Re q to out [n][v] if electron `own` goes to where a row of numbers is; q is the ratio of
 * determinants times `phase`. */
void orbital_changes_there(const orbital_changes *, int64_t own, const double *row,
                           double complex phase, double *out);
/* A number of a row. */
double complex orbital_changes_at(const orbital_changes *, const double *row, int64_t k);

/* Whether the potential with these orbitals has determinants to itself: not in an expansion, of which the derivatives here are
 * not those. A sentence with `what` if not. */
int orbital_changes_alone(const plugmc_host *, const char *what);
/* For codes of these functions: a sentence with `what`. */
int orbital_changes_report(const plugmc_host *, int code, const char *what);

#endif
