/* What |Psi|^2 is made of: orbitals of one potential for the determinants, and the pair and field terms sampled beside
 * them (a Jastrow factor), with the electrons as such terms see them. */
#ifndef PLUGMC_WAVE_FUNCTION_H
#define PLUGMC_WAVE_FUNCTION_H

#include <plugmc/everything.h>

#include "expansion.h"

typedef struct wave_function {
    const plugmc_term *orbitals;
    const expansion *sum;   /* of determinants; NULL: one a spin */
    int is_complex;         /* its orbitals are */
    int64_t pitch, numbers; /* orbitals from one row of values to the next; reals of these */
    int64_t most;           /* electrons of a spin */
    int term_count;
    const plugmc_term **terms; /* sampled, with a pair or a field */
    double *charge, *diameter; /* [electrons] */
    int32_t *species;          /* [electrons] */
} wave_function;

/* `sum`, `most`, `is_complex`, `pitch` and `numbers` from `orbitals` and the system; an error if there are too few orbitals,
 * or two expansions. */
int wave_function_measures(wave_function *, const plugmc_host *);
/* The terms, and the electrons. */
int wave_function_terms(wave_function *, const plugmc_host *);
int wave_function_electrons(wave_function *, const plugmc_host *);

/* Energy over kT of electron e at r in a field. */
double wave_function_field(const wave_function *, const plugmc_term *, int64_t e,
                           const double r[3]);
/* Change of -ln |Psi|^2 but for the determinants when electron e of those at x, y, z [electrons] goes to `to`. */
double wave_function_change(const wave_function *, const plugmc_system *, const double *x,
                            const double *y, const double *z, int64_t e, const double to[3]);

#endif
