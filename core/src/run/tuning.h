/* Tuning the step of a mover during equilibration. */
#ifndef PLUGMC_RUN_TUNING_H
#define PLUGMC_RUN_TUNING_H

#include "run/simulation.h"

/* The acceptance that the step is tuned to; 0 if it is not tuned. */
double target_acceptance(const simulation *);
/* Moves the step towards the target acceptance, by at most a factor 2. The last time, says if the
 * target is out of reach. counts: since the last time. 0 or an exit code. */
int tune_step(simulation *, plugmc_counts counts, double target, int last);
#endif
