/* PLUGMC_LOCAL_ENERGIES: finds the plugin that computes local energies, and calls it. */
#ifndef PLUGMC_RUN_LOCAL_ENERGIES_H
#define PLUGMC_RUN_LOCAL_ENERGIES_H

#include "plugmc/everything.h"

int local_energies(const plugmc_host *, const plugmc_local_energy_request *);
#endif
