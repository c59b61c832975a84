/* Orbitals of Gaussian functions as files give them: what the readers of the formats fill in, and what the rest of the
 * plugin knows of a file. Atomic units.
 *
 * A function is P(x, y, z) sum_k c_k exp(-a_k r^2), r = (x, y, z) from its nucleus, in a shell of functions that share the
 * sum. P of the shell of angular momentum l is, in this order,
 *
 *     cartesian   x^l, x^(l-1) y, x^(l-1) z, x^(l-2) y^2, ...: alphabetically, (l+1)(l+2)/2 of them
 *     spherical   r^l P_l^|m|(cos theta) times sin(|m| phi) for m < 0, cos(m phi) otherwise; m = -l ... l, with the
 *                 associated Legendre polynomials without the sign (-1)^m: y, z, x for l = 1
 *
 * and has no norm: readers put the norm of each function into the coefficients of the orbitals, of each shell into the c_k.
 */
#ifndef GAUSSIAN_MOLECULE_H
#define GAUSSIAN_MOLECULE_H

#include "../../files/hdf5_file.h"

/* Limits on what is believed, far beyond any calculation. */
enum {
    MOST_L = 5,
    MOST_NUCLEI = 10000,
    MOST_SHELLS = 100000,
    MOST_PRIMITIVES = 1000000,
    MOST_FUNCTIONS = 100000,
    MOST_ELECTRONS = 100000,
    MOST_COEFFICIENTS = 1 << 28 /* of a spin */
};

typedef struct gaussian_shell {
    int32_t nucleus, l, cartesian;
    int32_t first, primitives; /* in the list of all primitives */
    int32_t function;          /* the first of the shell */
} gaussian_shell;

/* Orbitals of one spin, in the order in which they are to be occupied. */
typedef struct molecule_spin {
    int32_t orbitals;
    double *real, *imaginary; /* [orbitals][functions]; imaginary may be NULL */
    double *energy;           /* [orbitals] Hartree; or NULL */
} molecule_spin;

/* Of the orbitals of a file that has them in both. */
enum { ORDER_OF_ENERGY, ORDER_OF_LISTS, ORDER_BOTH /* is looked at */ };

typedef struct molecule {
    hdf5_file file;
    const char *format;
    char writer[64]; /* as the file names it; or "" */
    int32_t nuclei;
    int32_t *atomic_number;
    double *charge;        /* [nuclei] that electrons see, elementary charges */
    double (*position)[3]; /* [nuclei] */
    bool periodic;
    double lattice[3][3]; /* vectors as rows */
    double turns[3];      /* psi(r + a_d) = exp(2 pi i turns_d) psi(r) */
    int32_t shells, primitives, functions;
    gaussian_shell *shell;
    double (*primitive)[2]; /* [primitives] exponent, 1/length^2; coefficient */
    bool unrestricted; /* both spins have orbitals of their own; otherwise spin[1] is spin[0] */
    molecule_spin spin[2];
    int32_t electrons[2]; /* of each spin; -1: the file does not say */
    int32_t order;
    /* For readers: where function i of the file is, and the factor of its coefficients. */
    int32_t *function_of;
    double *factor_of;
} molecule;

/* Reads a file of any format. The file is closed in any case. With ORDER_BOTH the caller is the child process that goes
 * first; otherwise it is started. Memory is that of the host. */
int molecule_read(molecule *, const plugmc_host *, const char *path, int32_t order);
/* plugmc_plugin.rehearse. */
int molecule_rehearse(const plugmc_host *, const char *path);

/* ---- For the readers ------------------------------------------------------------------------ */

int read_qmcpack(molecule *);
int read_trexio(molecule *);
/* An input of QMCPACK, XML. */
int read_markup(molecule *);

/* Zeroed memory of the host; NULL is reported. */
void *molecule_take(const molecule *, size_t count, size_t size);
/* Says so; returns the code. */
int molecule_no_memory(const molecule *, size_t bytes);
int32_t functions_of_shell(int32_t l, int32_t cartesian);
/* Place of a function in its shell: of order m; of the exponents of x and y. */
static inline int32_t place_of_m(int32_t l, int32_t m) { return l + m; }
static inline int32_t place_of_powers(int32_t l, int32_t x, int32_t y)
{
    return (l - x) * (l - x + 1) / 2 + (l - x - y);
}
/* What makes the function of order m that of sqrt(4 pi / (2 l + 1)) r^l Y_lm, Y_lm real, with a norm and positive:
 * sqrt(2 (l - |m|)! / (l + |m|)!), without the 2 for m = 0. */
double racah_factor(int32_t l, int32_t m);
/* sqrt of the inverse of the integral of (r^l exp(-a r^2))^2 over r^2 dr. */
double radial_norm(int32_t l, double exponent);
/* Shells and primitives are known: functions are counted, and lists for them taken. */
int molecule_count_functions(molecule *);
/* Coefficients [orbitals][functions] as a file has them are put in order; `what` names them in messages. Rows of `order`;
 * NULL: as they come. */
int molecule_arrange(molecule *, const char *what, const double *raw, int32_t orbitals,
                     const int32_t *order, double **out);
/* A matrix of coefficients in the file, [orbitals][functions], is put in order. Rows of `order`; NULL: as they come. */
int molecule_coefficients(molecule *, const char *path, int32_t orbitals, const int32_t *order,
                          double **out);
#endif
