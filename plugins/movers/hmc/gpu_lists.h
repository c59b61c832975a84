/* Lists of neighbours and cells on the GPU. */
#ifndef PLUGMC_HMC_GPU_LISTS_H
#define PLUGMC_HMC_GPU_LISTS_H

#include "hmc.h"

/* Threads that share the neighbours of a particle: HMC_TEAM of the kernels. */
int hmc_gpu_team(const hmc *, const plugmc_host *);

/* How far neighbours are listed, and how many a thread has room for. */
void hmc_gpu_choose_lists(const hmc *, hmc_task *, int team);

/* Cells for the present boxes, once lists are chosen. */
void hmc_gpu_choose_cells(const hmc *, hmc_task *);

/* As many as there may come to be where boxes change. */
size_t hmc_gpu_most_cells(const hmc *);

#endif
