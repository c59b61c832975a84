/* Derivatives by free numbers on a GPU, of all walkers at once: sums of what the potentials' texts give
 * (plugmc/free.h). For free_numbers.c. */
#ifndef PLUGMC_FREE_NUMBERS_ON_DEVICE_H
#define PLUGMC_FREE_NUMBERS_ON_DEVICE_H

#include "quantum/free_parts.h"

typedef struct free_device free_device;

/* The text of the kernels; *joined is to be freed. PLUGMC_* code. */
int free_device_text(plugmc_kernel_text *, char **joined);

/* f->device, or NULL where a potential's text gives none, or they are so many that their sums do not fit into the shared
 * memory of a block. host: of whoever knows the GPU, and the state with its particles, as long as f->device is there.
 * PLUGMC_* code, reported. */
int free_device_open(free_numbers *f, const plugmc_host *host, const plugmc_state *);
void free_device_close(free_device *);

/* Sums of a walker, and the first one of part k. */
int64_t free_device_sums(const free_device *);
int64_t free_device_first(const free_device *, int k);

/* For all walkers of a view in device memory, with places [count] or NULL: *values, *slopes [walkers][sums] in host
 * memory until the next call, of O_k and of dE_L/dp_k. PLUGMC_* code, reported. */
int free_device_evaluate(free_device *, const plugmc_view *, const double *drift,
                         const plugmc_nonlocal_place *places, int64_t count, const double **values,
                         const double **slopes);
#endif
