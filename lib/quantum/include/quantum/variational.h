/* The variational parameters of all sampled potentials of a run side by side (plugmc/wave.h: Parameters), and how they
 * stand in the INI file. */
#ifndef PLUGMC_FREE_NUMBERS_H
#define PLUGMC_FREE_NUMBERS_H

#include "quantum/variational_parts.h"

/* After prepare. `only`: names of the potentials whose parameters vary, separated by commas; NULL: all. An exit code, and a
 * sentence, if there are none, or one that the INI file does not name. */
int variational_find(engine *, const char *only, variational_parameters *out);
void variational_free(variational_parameters *);

/* values [count]; set: in both precisions. Then the movers must take the configuration anew. */
int variational_get(const variational_parameters *, double *values);
int variational_set(const variational_parameters *, const double *values);
/* Whether values [count] are within the limits of their keys. */
bool variational_in_range(const variational_parameters *, const double *values);

/* Number k as people know it, "LABEL.KEY[3]"; to be freed. */
char *variational_name(const variational_parameters *, int64_t k);
/* As sections and keys of an INI file. */
void variational_write(FILE *, const variational_parameters *, const double *values);
/* The same into the INI file of the run, which ini_write then writes. */
int variational_put(const variational_parameters *, ini_file *, const double *values, report *);

/* File number `index` (from 0) that sections name for their parameters: where it is, and its text with the present
 * values (variational_set) in their places, to be freed. *path is NULL behind the last one. */
int variational_file(const variational_parameters *, int index, const char **path, char **text,
                     report *);

/* Of walkers first ... first + n - 1 of a view in host memory, with `threads` threads: O_k and, where `drift`
 * [n][particles][3] is given, the kinetic part of dE_L/dp_k; [n][count], cleared before. */
int variational_derive(const variational_parameters *, const plugmc_view *, int threads,
                       int32_t first, int32_t n, const double *drift, double *derivatives,
                       double *kinetic);
/* Adds the part of nonlocal potentials, sum over places of energy (O_k there - O_k here), to rows of walkers
 * [walkers of the view][count]. */
int variational_visit(const variational_parameters *, const plugmc_view *, int threads,
                      const plugmc_nonlocal_point *, int64_t count, double *energies);

/* Both at once on the GPU, where f->device is: of all walkers of a view in device memory, with drift
 * [walkers][particles][3] and places [count] there, those of an electron side by side (or NULL). O_k and dE_L/dp_k
 * [walkers][count] in host memory, cleared before. */
int variational_derive_there(const variational_parameters *, const plugmc_view *,
                             const double *drift, const plugmc_nonlocal_point *places,
                             int64_t count, double *derivatives, double *energies);
#endif
