/* Energies of configurations that are shown, added up anew on the host: nothing is remembered of them. */
#ifndef PLUGMC_ENERGY_ANEW_H
#define PLUGMC_ENERGY_ANEW_H

#include "plugmc/plugin.h"

/* What is shown of all walkers of `host->system`: boxes [walkers], counts [walkers][species], positions
 * [walkers][particles][3]. */
typedef struct shown_configuration {
    const plugmc_box *boxes;
    const int64_t *counts;
    const double *positions;
} shown_configuration;

/* Of every term, sampled or measured, energy [walkers][terms] over kT, or what the term says that it is; a hard core
 * has 0. PLUGMC_* code. */
int energies_anew(const plugmc_host *host, const shown_configuration *, double *energy);
#endif
