/* Chains that stand still. A series that does not vary looks exact, and a chain in which nothing is accepted has only
 * such series: what is known of its errors is nothing. So the counts of trial moves are looked at, too. */
#ifndef PLUGMC_FROZEN_H
#define PLUGMC_FROZEN_H

#include "archive/output.h"

/* Trial moves that are never accepted in production, or hardly ever: fewer than one in a hundred, and of moves of
 * particles fewer than one sweep makes, of others fewer than 16. Kinds that move particles and change nothing else are looked at together, since one of them is enough. */
typedef struct frozen_moves {
    const move_record *move; /* that with most trials */
    int32_t rungs, first;    /* on how many rungs, and the first of them */
    double trials, accepted; /* there */
} frozen_moves;

/* At most as many as there are kinds of trial moves; to be freed. */
frozen_moves *frozen_find(const output_data *, int *count);
/* "none of the 3.24e+04 trial moves of serial.displacement was accepted in production". Returns text. */
enum { FROZEN_WORDS = 384 };
const char *frozen_words(const frozen_moves *, char text[FROZEN_WORDS]);

/* Are there such moves? Then no error is more than a lower bound. */
bool frozen_any(const output_data *);
/* What they do to the error of a mean, and to whether it is known: that of what does not vary becomes NaN, since it
 * cannot be told whether it is a constant or was never moved. */
void frozen_doubt(double mean, double *error, bool *converged);

/* In how many walkers a series [samples][walkers] keeps its first value to the end, where chance would hardly leave it
 * so: others vary so often that it cannot be, or none varies and they differ. */
int32_t frozen_walkers(const double *series, int64_t samples, int32_t walkers);

#endif
