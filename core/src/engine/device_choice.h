/* Whether a run uses the CPU or a GPU. */
#ifndef PLUGMC_RUN_DEVICE_CHOICE_H
#define PLUGMC_RUN_DEVICE_CHOICE_H

#include "engine/engine.h"

/* Opens the GPU, or writes to engine->device.why_no_gpu why it is not used. Call it once the plugins are configured.
 * Returns 0 or an exit code. */
int choose_device(engine *);
/* "; about 30 times as many trial moves a second as with 16 threads" if that was the reason to choose the GPU, else "".
 * Returns `words`. */
const char *gain_words(const engine *, char words[160]);
#endif
