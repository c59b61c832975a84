/* Energies of given configurations, summed from scratch on the host. Nothing is kept between calls. */
#ifndef PLUGMC_ENERGY_ANEW_H
#define PLUGMC_ENERGY_ANEW_H

#include "plugmc/plugin.h"

/* Configurations of all walkers of `host->system`: boxes [walkers], counts [walkers][species], positions
 * [walkers][particles][3], orientations of bodies [walkers][particles], else NULL. */
typedef struct shown_configuration {
    const plugmc_box *boxes;
    const int64_t *counts;
    const double *positions;
    const plugmc_orientation *orientations;
} shown_configuration;

/* energy [walkers][terms] of every term, sampled or measured: in the unit of energy of the potentials, or as the
 * term defines it. A hard core has 0. Returns a PLUGMC_* code. */
int energies_anew(const plugmc_host *host, const shown_configuration *, double *energy);
#endif
