/* The Jastrow factors of a QMCPACK input (docs/intro_wavefunction.rst of QMCPACK): elements <jastrow> wherever they
 * stand, one-body and two-body splines and the polynomial of an ion and two electrons. Psi has the factor exp(-J).
 * Numbers as they stand in the file; bohr. What is not supported is refused, never left out. */
#ifndef QMCPACK_JASTROW_H
#define QMCPACK_JASTROW_H

#include <plugmc/everything.h>

enum {
    QMCPACK_MOST_SIZE = 1000,  /* coefficients of a function */
    QMCPACK_MOST_ELEMENTS = 32 /* for which there are functions */
};

/* Coefficients in the file. */
typedef struct qmcpack_values {
    int given;       /* 1: the file has this function */
    int count;       /* 0: the file leaves them to be zeros */
    double *values;  /* [count] */
    double cutoff;   /* rcut; 0: the file leaves it to the cell */
    int fixed;       /* optimize="no" */
    int32_t element; /* atomic number; 0 for pairs */
    char ion[40];    /* as the file names it */
    size_t content, close,
        end; /* bytes of the text where coefficients stand; as those of an element (markup.h) */
    size_t behind; /* where the <correlation> ends */
} qmcpack_values;

/* A spline; `size` coefficients. */
typedef struct qmcpack_spline {
    qmcpack_values at;
    int size;
    double cusp; /* slope at 0, 1/bohr */
} qmcpack_spline;

/* sum gamma_lmn r_i^l r_j^m r_ij^n (r_i - rcut/2)^3 (r_j - rcut/2)^3. */
typedef struct qmcpack_polynomial {
    qmcpack_values at;
    int isize, esize; /* highest l, m and n */
} qmcpack_polynomial;

typedef struct qmcpack_jastrow {
    qmcpack_spline pair[2]; /* of like, of unlike spins */
    int shared;             /* 1: the function of like spins is also that of unlike ones */
    int elements;
    qmcpack_spline one[QMCPACK_MOST_ELEMENTS];
    int three_elements;
    qmcpack_polynomial three[QMCPACK_MOST_ELEMENTS][2]; /* of like, of unlike spins */
    int three_shared[QMCPACK_MOST_ELEMENTS];
} qmcpack_jastrow;

/* Whether a text is XML. */
int qmcpack_is_markup(const char *text);
/* The factors of a text; `path` is for messages. Memory is that of the host. */
int qmcpack_jastrow_parse(const plugmc_host *, const char *path, const char *text,
                          qmcpack_jastrow *out);

/* Coefficients that take the place of those at `at`; or, with `before`, that are put in behind its <correlation>,
 * between the texts `before` and `after`. */
typedef struct qmcpack_change {
    const qmcpack_values *at;
    const double *values; /* [count] */
    int count;
    const char *before, *after;
} qmcpack_change;

/* The text with other coefficients, to be freed; NULL: there is no memory. Everything else stays byte for byte. The
 * changes are put in order. */
char *qmcpack_jastrow_rewrite(const char *text, qmcpack_change *, int count);
#endif
