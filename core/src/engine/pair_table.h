/* A table of the interaction of each pair of species, summed over the potentials of the run. In it users see the effect
 * of mixing rules, tables and parameters. */
#ifndef PLUGMC_RUN_PAIR_TABLE_H
#define PLUGMC_RUN_PAIR_TABLE_H

#include <stdio.h>

#include "engine/engine.h"

/* Writes one line for each pair, starting with `begin`: the contact distance, the distance at which the energy
 * crosses 0 before the well, the position of the minimum, and its depth. The energy is that of sampled pair
 * potentials with their couplings, without waves and meshes. Writes nothing if there is no pair potential, or with
 * more than 32 species. */
void pair_table_write(FILE *, const engine *, const char *begin);
#endif
