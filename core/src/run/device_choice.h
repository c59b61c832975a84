/* On which device a run goes. */
#ifndef PLUGMC_RUN_DEVICE_CHOICE_H
#define PLUGMC_RUN_DEVICE_CHOICE_H

#include "run/simulation.h"

/* Opens the GPU, or says in sim->why_no_gpu why it does not. 0 or an exit code. Once plugins are configured. */
int choose_device(simulation *);
/* "; about 30 times as many trial moves a second as with 16 threads", where that was the reason to take the GPU; else
 * "". Returns words. */
const char *gain_words(const simulation *, char words[160]);
#endif
