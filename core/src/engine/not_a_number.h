/* Energies that are not a number: which potential and particles they come from, and whether the initial state has
 * one. */
#ifndef PLUGMC_RUN_NOT_A_NUMBER_H
#define PLUGMC_RUN_NOT_A_NUMBER_H

#include "engine/engine.h"

/* Computes the energies of every sampled potential at these positions, on the host. It is an error if one is not a
 * number (EXIT_INTERNAL) or infinite (EXIT_INPUT). The message names the potential and the particles. Of a pair
 * potential without a range only near pairs are checked if there are very many pairs. */
int check_initial_energy(engine *, const double *positions);
/* The same, but messages call the positions `where` instead of "the initial state". */
int check_energy(engine *, const double *positions, const char *where);

/* plugmc_host.not_a_number: reports which potential, which particles and which sweep. */
int host_not_a_number(plugmc_context *, const plugmc_not_a_number *);
#endif
