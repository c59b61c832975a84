/* Derivatives by variational parameters on a GPU, of all walkers at once: sums of what the potentials' texts give
 * (plugmc/variational.h). For variational.c. */
#ifndef PLUGMC_FREE_NUMBERS_ON_DEVICE_H
#define PLUGMC_FREE_NUMBERS_ON_DEVICE_H

#include "quantum/variational_parts.h"

typedef struct variational_device variational_device;

/* The text of the kernels; *joined is to be freed. PLUGMC_* code. */
int variational_device_text(plugmc_gpu_source *, char **joined);

/* f->device, or NULL where a potential's text gives none, or they are so many that their sums do not fit into the shared
 * memory of a block. host: of whoever knows the GPU, and the state with its particles, as long as f->device is there.
 * PLUGMC_* code, reported. */
int variational_device_open(variational_parameters *f, const plugmc_host *host,
                            const plugmc_state *);
void variational_device_close(variational_device *);

/* Sums of a walker, and the first one of part k. */
int64_t variational_device_sums(const variational_device *);
int64_t variational_device_first(const variational_device *, int k);

/* For all walkers of a view in device memory, with places [count] or NULL: *values, *slopes [walkers][sums] in host
 * memory until the next call, of O_k and of dE_L/dp_k. PLUGMC_* code, reported. */
int variational_device_evaluate(variational_device *, const plugmc_view *, const double *drift,
                                const plugmc_nonlocal_point *places, int64_t count,
                                const double **values, const double **slopes);
#endif
