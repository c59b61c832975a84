/* What laws of numbers of particles share: systems with reservoirs, and which numbers a mover reaches. */
#ifndef PLUGMC_VALIDATE_MOVERS_NUMBERS_H
#define PLUGMC_VALIDATE_MOVERS_NUMBERS_H

#include "movers.h"

/* Activities of both species, times the volume of the box. */
extern const double activity_per_volume[2];
/* What may be wrong where numbers are. */
extern const char advice_numbers[];

/* Both species, of which the first `species` exchange particles with reservoirs; a most of 0: as many as there are. */
typedef struct numbers {
    int start[2], most[2];
} numbers;
/* Sections of both species: the first `species` of them have a reservoir. Diameters are `diameter` and 1.4 of it. */
void setting_reservoirs(const subject *, setting *, int species, numbers, double diameter,
                        double volume);

/* How a mover changes numbers, among free particles. */
typedef struct reach {
    /* All changes of numbers are multiples of `step`. `free`: they are not. */
    bool free;
    int step[2];
    /* How many species have reservoirs: as many as the mover has a use for. */
    int reservoirs;
    /* Smaller numbers than these should occur often, and do not. */
    bool bounded;
    int least[2];
    /* The mover looks at who is near, or needs somebody: it is tried beside one that displaces. */
    bool needs_company;
} reach;

/* Two species with forces, at most three particles (movers_mixtures.c). */
void laws_of_mixtures(subject *, const reach *, int dimension);
#endif
