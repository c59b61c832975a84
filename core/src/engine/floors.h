/* Pair energies without a lower bound. For these exp(-U / kT) cannot be normalised to a probability density. */
#ifndef PLUGMC_RUN_FLOORS_H
#define PLUGMC_RUN_FLOORS_H

#include "engine/ladder.h"

typedef struct bottomless_pair {
    int32_t rung, a, b; /* species */
    /* The term that lowers the energy most. */
    int32_t term;
    double at, energy; /* length, kT */
} bottomless_pair;

/* Checks, on each rung of the ladder and for each pair of species that can meet, the sum of all sampled pair
 * energies with their couplings. Returns true and the first pair whose energy goes to minus infinity. Call it once
 * potentials are prepared. */
bool floors_find_none(const plugmc_system *, const ladder *, bottomless_pair *);
#endif
