/* Energies that are not numbers: who it was, in a run, and whether the initial state has one. */
#ifndef PLUGMC_RUN_NOT_A_NUMBER_H
#define PLUGMC_RUN_NOT_A_NUMBER_H

#include "engine/engine.h"

/* The energies of every sampled potential at these positions, on the host: an error (EXIT_INTERNAL)
 * if one is not a number, and another (EXIT_INPUT) if one is infinite, naming potential and
 * particles. Of pairs without a range only near ones are looked at where there are very many. */
int check_initial_energy(engine *, const double *positions);
/* The same of others: "the initial state" is how messages call them. */
int check_energy(engine *, const double *positions, const char *where);

/* plugmc_host.not_a_number: says which potential and particles it was, in which sweep. */
int host_not_a_number(plugmc_context *, const plugmc_not_a_number *);
#endif
