/* What the reservoirs of a run are, on each rung: for plugins (plugmc/reservoir.h) and as lines for the user. */
#ifndef PLUGMC_RUN_RESERVOIRS_H
#define PLUGMC_RUN_RESERVOIRS_H

#include <stdio.h>

#include "engine/engine.h"
#include "input/reservoir.h"

/* Of a species on a rung. mu is NaN if it has none. */
reservoir reservoir_on(const engine *, int32_t species, int32_t rung);
/* plugmc_reservoirs. */
const void *reservoir_services(void);
/* What is known of a reservoir, in the units of the run. */
enum { RESERVOIR_WORDS = 8 };
typedef struct reservoir_word {
    const char *name;  /* for programs: "activity" */
    const char *words; /* for people, with what stands before: ", mu = kT ln z =" */
    double value;
    char unit[64];
} reservoir_word;
/* Returns how many there are. */
int reservoir_words(const engine *, int32_t species, int32_t rung,
                    reservoir_word out[RESERVOIR_WORDS]);
/* A line for each species with a reservoir and each rung, starting with `begin`: activity, chemical potential and
 * fugacity, and what else is known, in the units of the run. Writes nothing with more than 1,000 lines. */
void reservoirs_write(FILE *, const engine *, const char *begin);
#endif
