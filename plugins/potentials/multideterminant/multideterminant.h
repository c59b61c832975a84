/* What the files of multideterminant share. */
#ifndef MULTIDETERMINANT_H
#define MULTIDETERMINANT_H

#include "terms.h"

typedef struct multideterminant {
    /* parameters */
    const char *file, *excitations;
    plugmc_list coefficients;
    real cutoff;
    int64_t state;

    const plugmc_host *host;
    const plugmc_term *orbitals; /* of which determinants are made */
    int is_complex;              /* they are */
    int64_t pitch;               /* of rows of their values */
    term_list list;
    double *values; /* [terms] of ascending columns: those of the list times its signs */
    expansion expansion;
} multideterminant;

extern const plugmc_variational multideterminant_variational;

#endif
