/* Occupied orbitals that others are mixed into: phi_i + sum_a T_ia phi_a, with the numbers T of the key `mixing`. Every
 * determinant of orbitals of a basis that is not orthogonal to the first one has this form up to a factor (D. J. Thouless,
 * Nucl. Phys. 21, 225 (1960)), so that T are the variational parameters of its orbitals, whatever T are now. */
#ifndef GAUSSIAN_MIXING_H
#define GAUSSIAN_MIXING_H

#include "gaussian_orbitals.h"

/* Whether `mixing` fits the orbitals; when they are known. */
int mixing_check(const gaussian_orbitals *);
/* No other plugin takes orbitals otherwise than for one determinant a spin; when all are prepared. */
int mixing_prepare(gaussian_orbitals *);
/* Adds to the occupied columns of coefficients of a spin. */
void mixing_add(const gaussian_orbitals *, int spin, double *coefficients);
/* T as variational parameters. */
extern const plugmc_variational mixing_variational;

#endif
