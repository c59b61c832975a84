/* [mover auto]: the fastest mover of single particles that fits. */
#ifndef PLUGMC_MOVER_CHOICE_H
#define PLUGMC_MOVER_CHOICE_H

#include "engine/mover_offers.h"

/* Whether a section leaves its mover to this choice: `plugin`, or the label without that key, is "auto". */
bool is_left_to_choice(const plugin_section *);

/* Replaces the mover of each such section, in config.ini too, by the key `plugin`, so that everything that reads the
 * configuration later finds the mover's name. The choice depends on the input and, with [run] device = auto, on whether
 * there is a GPU; neither on threads nor on processes. Where processes divide a walker among them it is refused. engine->device.choice
 * says what was chosen and why. If the potentials cannot be configured, the sections are left out
 * (device.leaves_out_choice), so that whoever configures the rest finds the errors. Returns 0 or an exit code. */
int choose_movers(engine *);
/* Once the rest is configured without errors: that nothing had to be left out. Returns 0 or an exit code. */
int choice_is_made(const engine *);

/* The offer that is chosen, of those that fit; NULL: none. `device`: DEVICE_*. With DEVICE_AUTO and a mover that a GPU
 * makes clearly faster, `gpu_there` is asked once whether there is one. *on_gpu: it was chosen for a GPU. */
const mover_offer *choose_offer(const mover_offers *, int device, bool (*gpu_there)(void),
                                bool *on_gpu);
#endif
