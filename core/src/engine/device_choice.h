/* Whether a run uses the CPU or a GPU. */
#ifndef PLUGMC_RUN_DEVICE_CHOICE_H
#define PLUGMC_RUN_DEVICE_CHOICE_H

#include "engine/engine.h"

/* Opens the GPU, or writes to engine->device.why_no_gpu why it is not used. Call it once the plugins are configured.
 * Returns 0 or an exit code. */
int choose_device(engine *);
/* How many times as many trial moves a second a GPU makes of the mover that does most of the work, as it says or, where
 * the core makes the moves, as was measured. 0: not known. */
double device_gain(const engine *);
/* Whether [run] device = auto looks for a GPU, at that gain: where it is clear or unknown, or where a mover runs nowhere
 * else. */
bool device_wants_gpu(const engine *, double gain);
/* "; about 30 times as many trial moves a second as with 16 threads" if that was the reason to choose the GPU, else "".
 * Returns `words`. */
const char *gain_words(const engine *, char words[160]);
#endif
