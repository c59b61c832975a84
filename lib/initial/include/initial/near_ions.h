/* Initial states of electrons: around the ions that a potential of the run knows. */
#ifndef PLUGMC_NEAR_IONS_H
#define PLUGMC_NEAR_IONS_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* The ions of the first potential with orbitals that tells of some; false: there is none. After prepare of all
 * plugins. */
bool near_ions_find(const plugmc_system *, plugmc_ions *out);
/* Positions [particles][3] of a walker. Each ion gets electrons in proportion to its charge, of all species alike, in
 * a Gaussian of standard deviation `width` (length) in each direction. Non-zero: no memory. */
int near_ions_place(const plugmc_system *, const plugmc_ions *, double width, uint32_t walker,
                    double *positions);

#endif
