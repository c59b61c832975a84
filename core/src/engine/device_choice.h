/* On which device a run goes. */
#ifndef PLUGMC_RUN_DEVICE_CHOICE_H
#define PLUGMC_RUN_DEVICE_CHOICE_H

#include "engine/engine.h"

/* Opens the GPU, or says in engine->device.why_no_gpu why it does not. 0 or an exit code. Once plugins are configured. */
int choose_device(engine *);
/* "; about 30 times as many trial moves a second as with 16 threads", where that was the reason to take the GPU; else
 * "". Returns words. */
const char *gain_words(const engine *, char words[160]);
#endif
