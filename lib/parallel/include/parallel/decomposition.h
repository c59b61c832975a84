/* PLUGMC_DOMAIN_DECOMPOSITION: one system over several processes. */
#ifndef PLUGMC_TEAM_SPREAD_H
#define PLUGMC_TEAM_SPREAD_H

#include "gpu/gpu.h"

/* NULL where processes have walkers of their own. It lives as long as the program. */
const plugmc_decomposition *spread_services(void);
/* All, once devices are chosen: how GPUs (NULL: there is none) reach each other. An exit code. */
int spread_begin(gpu *, report *);
/* Before the GPU is closed. */
void spread_end(void);
/* "NCCL 2.28.9", or why it goes by way of the host. */
const char *spread_way(void);
#endif
