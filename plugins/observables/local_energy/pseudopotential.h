/* Pseudopotentials of ions: a local potential that ends as -Z/r, and what depends on the angular
 * momentum l of an electron around the ion,
 *
 *     semilocal   sum_l dv_l(r) P_l                               (P_l: projection on l)
 *     separable   sum_l sum_ij |beta_i Y_l> D_ij <beta_j Y_l|
 *
 * (the latter of L. Kleinman, D. M. Bylander, Phys. Rev. Lett. 48, 1425 (1982)).
 *
 * Files: UPF version 2 (norm-conserving), QMCPACK's XML, CASINO's tabulated ones, TREXIO's HDF5, which may have several. Hartree
 * and bohr.
 */
#ifndef LOCAL_ENERGY_PSEUDOPOTENTIAL_H
#define LOCAL_ENERGY_PSEUDOPOTENTIAL_H

#include <plugmc/everything.h>

#include "../../files/element_symbols.h"
#include "../../files/markup.h"
#include "formulas.h"

enum { MOST_ATOMIC_NUMBER = 118 };

/* Functions of the distance smaller than `tolerance` (Hartree) are cut off. */
int pseudopotential_read(pseudopotential *, const plugmc_host *, const char *path,
                         double tolerance);

/* Those of all elements of a TREXIO file, at most `most` <= MOST_OF_TREXIO. */
enum { MOST_OF_TREXIO = 16 };
int pseudopotential_is_hdf5(const char *path);
int pseudopotentials_of_trexio(const plugmc_host *, const char *path, double tolerance,
                               pseudopotential *out, int most, int *count);
/* For plugmc_plugin.rehearse: reads such a file. */
int pseudopotentials_rehearse(const plugmc_host *, const char *path);

/* Beyond which it is 0. */
double radial_reach(const radial *);

/* ---- For the readers ------------------------------------------------------------------------- */

/* A file in memory, with a 0 at its end. */
typedef struct file_text {
    const plugmc_host *host;
    const char *path;
    char *text;
} file_text;

/* The spline through n points, those at the end that are below the tolerance left out.
 * Takes copies. */
int radial_make(radial *, const plugmc_host *, int64_t n, const double *r, const double *y,
                double tolerance);

int read_upf(pseudopotential *, const file_text *, double tolerance);
int read_qmcpack(pseudopotential *, const file_text *, double tolerance);
int read_casino(pseudopotential *, const file_text *, double tolerance);

/* "file '...' ..." */
int pseudopotential_fault(const file_text *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The outermost element of a file in XML, as markup_read. */
int pseudopotential_markup(const file_text *, element **outermost);
/* Reads `count` numbers after *at into a new array; where they end is left in *at.
 * NULL, with a message that names `what`, if there are fewer. */
double *read_numbers(const file_text *, const char *what, char **at, int64_t count);
/* Channels from potentials v_l [n] on the grid r, r v_l as the files have them. */
int semilocal_channels(pseudopotential *, const file_text *, int64_t n, const double *r, int count,
                       double *const *r_v, int local, double tolerance);
#endif
