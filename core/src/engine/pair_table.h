/* What the pairs of species feel of each other, as the potentials of the run together have it: for people, who see
 * there what mixing rules, tables and parameters have come to. */
#ifndef PLUGMC_RUN_PAIR_TABLE_H
#define PLUGMC_RUN_PAIR_TABLE_H

#include <stdio.h>

#include "engine/engine.h"

/* A line a pair, each behind `begin`: contact distance, where the energy is 0 on its way to the well, where it is
 * least, and how deep; of sampled pair potentials, with their couplings, without waves and meshes. Nothing
 * without a pair potential, or with more than 32 species. */
void pair_table_write(FILE *, const engine *, const char *begin);
#endif
