/* CASINO's correlation.data: the u, chi and f terms of a Jastrow factor, as its manual and N. D. Drummond, M. D.
 * Towler, R. J. Needs, Phys. Rev. B 70, 235119 (2004) have them. Numbers as they stand in the file, bohr. */
#ifndef CORRELATION_DATA_H
#define CORRELATION_DATA_H

#include "f_form.h"

enum { CORRELATION_MOST_ORDER = 20, CORRELATION_MOST_F = 9, CORRELATION_MOST_SETS = 32 };

/* Which ions a set is for. */
enum { LABELS_OF_SUPERCELL = 1, LABELS_OF_PRIMITIVE_CELL, LABELS_OF_SPECIES };
typedef struct correlation_ions {
    int labelling, count;
    int32_t *labels; /* [count] from 1; atoms or species */
} correlation_ions;

/* u, or one set of chi. The file has no coefficient 1, which the slope at 0 decides. */
typedef struct correlation_radial {
    int given, spins, order, cusp;
    double cutoff;
    double *values; /* [spins][order]: coefficients 0, 2, 3, ... order */
    correlation_ions ions;
} correlation_radial;

typedef struct correlation_f {
    int given, spins;
    double cutoff;
    const f_form *form;
    double *values; /* [spins][form->free] gamma_lmn */
    correlation_ions ions;
} correlation_f;

typedef struct correlation_data {
    int truncation, chi_sets, f_sets; /* the latter two: largest numbers of sets */
    char title[100];
    correlation_radial u, chi[CORRELATION_MOST_SETS]; /* set n is number n - 1 */
    correlation_f f[CORRELATION_MOST_SETS];
} correlation_data;

/* Whether a text is such a file. */
int correlation_data_is(const char *text);
/* What is wrong is said with the line. */
int correlation_data_parse(const plugmc_host *, const char *path, const char *text,
                           correlation_data *out);
/* The text with the Jastrow factor of `data` in place of its own, to be freed; NULL: there is no memory. */
char *correlation_data_rewrite(const char *text, const correlation_data *data);
#endif
