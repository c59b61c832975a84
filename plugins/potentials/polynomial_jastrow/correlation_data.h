/* CASINO's correlation.data: the u, chi and f terms of a Jastrow factor, as its manual and N. D. Drummond, M. D.
 * Towler, R. J. Needs, Phys. Rev. B 70, 235119 (2004) have them. Numbers as they stand in the file, bohr. */
#ifndef CORRELATION_DATA_H
#define CORRELATION_DATA_H

#include "f_form.h"

enum { CORRELATION_MOST_ORDER = 20, CORRELATION_MOST_F = 9 };

/* u, or one set of chi. The file has no coefficient 1, which the slope at 0 decides. */
typedef struct correlation_radial {
    int given, spins, order;
    double cutoff;
    double *values; /* [spins][order]: coefficients 0, 2, 3, ... order */
} correlation_radial;

typedef struct correlation_f {
    int given, spins;
    double cutoff;
    const f_form *form;
    double *values; /* [spins][form->free] gamma_lmn */
} correlation_f;

typedef struct correlation_data {
    int truncation, chi_has_cusp;
    correlation_radial u, chi;
    correlation_f f;
} correlation_data;

/* The wanted sets of chi and f; 0: none of them. What is wrong is said with the line. */
int correlation_data_read(const plugmc_host *, const char *path, int chi_set, int f_set,
                          correlation_data *out);
#endif
