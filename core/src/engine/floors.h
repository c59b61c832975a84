/* Pair energies without a lower bound: no density exp(-U / kT) can be made of them. */
#ifndef PLUGMC_RUN_FLOORS_H
#define PLUGMC_RUN_FLOORS_H

#include "engine/ladder.h"

typedef struct bottomless_pair {
    int32_t rung, a, b; /* species */
    int32_t term;       /* which lowers the energy most */
    double at, energy;  /* length, kT */
} bottomless_pair;

/* Looks at the sum of all sampled pair energies, with their couplings, of each pair of species that can meet, on each
 * rung of the ladder. True with the first that goes to minus infinity. Once potentials are prepared. */
bool floors_find_none(const plugmc_system *, const ladder *, bottomless_pair *);
#endif
