/* What the parts of gaussian_orbitals share. */
#ifndef GAUSSIAN_ORBITALS_H
#define GAUSSIAN_ORBITALS_H

#include "molecule.h"

#include PLUGMC_KERNEL_FILE

enum { CUSP_AUTO, CUSP_YES, CUSP_NO };
/* Beyond this a r^2 a primitive function is 0. exp(-300) is 5e-131: electrons that begin far out still find a gradient. */
enum { LARGEST_EXPONENT = 300 };

typedef struct gaussian_keys {
    const char *file;
    const char *occupied[2];
    const char *cusp_files; /* separated by newlines */
    int64_t beyond;         /* orbitals of each spin that are not occupied */
    plugmc_list valence;
    plugmc_list mixing; /* T: mixing.h */
    real tolerance;
    int32_t cusp;
} gaussian_keys;

/* Kernels of one type of results, and what is on the GPU. */
typedef struct gaussian_gpu {
    plugmc_kernel *values[2], *everything[2]; /* float, double */
    gaussian_tables tables[2];
    gaussian_spin spin[2][2]; /* [type of results][spin] */
} gaussian_gpu;

typedef struct gaussian_orbitals {
    gaussian_keys keys;
    const plugmc_host *host;
    molecule source;
    int32_t electrons[2], wanted[2]; /* of each spin: electrons, orbitals */
    int32_t *occupied[2]; /* [wanted] orbitals of the file, from 0: first those that are occupied */
    int32_t rows;         /* of coefficients */
    gaussian_tables tables;
    gaussian_spin spin[2];
    double *coefficients[2]; /* those of `spin`, to be filled */
    double *mixing;          /* [.] T as they are now */
    int32_t threads;
    char *scratch; /* [threads][scratch_bytes] */
    size_t scratch_bytes;
    gaussian_gpu gpu;
    plugmc_ions ions;
} gaussian_orbitals;

/* Which orbitals each spin occupies: keys occupied_up and occupied_down, else the first ones. */
int gaussian_occupy(gaussian_orbitals *);
/* Warns of orbitals of a molecule that do not have norm 1. */
int gaussian_check_norms(const gaussian_orbitals *);
/* Shells, images and coefficients as evaluation reads them. */
int gaussian_tables_fill(gaussian_orbitals *);
/* Their number, with padding, for spin s. */
size_t gaussian_coefficients(const gaussian_orbitals *, int s);
/* Coefficients anew, when `mixing` has changed. */
void gaussian_fill_coefficients(gaussian_orbitals *);

/* ---- On the CPU: host.c -------------------------------------------------------------------- */

size_t gaussian_scratch_bytes(const gaussian_orbitals *);
void gaussian_on_host(const gaussian_orbitals *, const plugmc_orbital_request *);

/* ---- On the GPU: gpu.c --------------------------------------------------------------------- */

int gaussian_on_device(const gaussian_orbitals *, const plugmc_orbital_request *);
int gaussian_gpu_source(void *instance, const plugmc_host *, int index, plugmc_gpu_source *out);
int gaussian_prepare_gpu(gaussian_orbitals *);

/* ---- Cusps: cusp.c ------------------------------------------------------------------------- */

/* Once the tables are filled. */
int gaussian_prepare_cusps(gaussian_orbitals *);

/* plugmc check. */
int32_t gaussian_describe(const void *instance, int32_t index, char *out, size_t bytes);
#endif
