/* Terms of an expansion in determinants as they are read, and what is made of them. */
#ifndef MULTIDETERMINANT_TERMS_H
#define MULTIDETERMINANT_TERMS_H

#include "../../determinants/expansion.h"

enum { MOST_TERMS = 1000000, MOST_ORBITALS = 4096, MOST_STATES = 100 };

/* Of each term the orbitals that it occupies, and its coefficient. Memory is the host's. */
typedef struct term_list {
    int64_t terms;
    int64_t electrons[2];
    int32_t *occupied[2]; /* [terms][electrons] numbers from 0, ascending */
    double *coefficients; /* [terms] as they are given: real parts */
    double *imaginary;    /* [terms] imaginary parts */
    int is_complex;       /* any of them is not 0 */
    double *
        sign; /* [terms] 1, or -1 where columns in the given order have another sign than in ascending one */
} term_list;

/* Room for `terms` terms; PLUGMC_ERROR_MEMORY, reported. */
int term_list_make(term_list *, const plugmc_host *, int64_t terms, const int64_t electrons[2]);

/* The term with the largest coefficient comes first, the others keep their order; all are divided by it, after which
 * is_complex is known. An error,
 * reported, if all are 0. `what` names the list. */
int term_list_put_largest_first(term_list *, const plugmc_host *, const char *what);

/* Different determinants and the orbitals that occur in them; coefficients [terms] are those of ascending columns. Errors:
 * a term that is there twice, or one that differs from the first in too many orbitals. */
int terms_to_expansion(const term_list *, const plugmc_host *, const char *what,
                       double *coefficients, expansion *out);

/* ---- Readers: 0 or a reported code ------------------------------------------------------------- */

/* Words UP/DOWN of substitutions i>a separated by commas, - for none; the first term has no word. */
int terms_read_words(term_list *, const plugmc_host *, const char *words,
                     const int64_t electrons[2]);
/* QMCPACK's files: <detlist> of XML, and MultiDet of HDF5, of which `state` is the number of the excited state, 0: the
 * ground state. Terms with coefficients below the cutoff are left out. */
int terms_read_qmcpack(term_list *, const plugmc_host *, const char *path, int64_t state,
                       double cutoff, const int64_t electrons[2]);
int terms_read_xml(term_list *, const plugmc_host *, const char *path, double cutoff,
                   const int64_t electrons[2]);
int terms_read_hdf5(term_list *, const plugmc_host *, const char *path, int64_t state,
                    double cutoff, const int64_t electrons[2]);
/* As plugmc_plugin.rehearse. */
int terms_rehearse(const plugmc_host *, const char *path);

#endif
