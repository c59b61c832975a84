/* A table of the energy of single particles in the fields of a run: where it is least. In it users see origins, units and
 * signs. */
#ifndef PLUGMC_RUN_FIELD_TABLE_H
#define PLUGMC_RUN_FIELD_TABLE_H

#include <stdio.h>

#include "engine/engine.h"

/* Writes one line for each species, starting with `begin`: the least energy that was found in the box, at random positions
 * and then near the best of them, and its position. The energy is that of sampled fields with their couplings. Writes
 * nothing if there is no field, or with more than 32 species. */
void field_table_write(FILE *, const engine *, const char *begin);
#endif
