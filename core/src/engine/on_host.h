/* Movers of a run on a GPU whose trial moves are made on its host. */
#ifndef PLUGMC_RUN_ON_HOST_H
#define PLUGMC_RUN_ON_HOST_H

#include "engine/engine.h"

enum { ON_HOST_WORDS = 512 };

/* "makes its trial moves on the host, not on the GPU: WHY", of mover k, as far as it is known before a sweep; false: on the GPU, or
 * there is none. Call it once the plugins are prepared. */
bool made_on_host(const engine *, int k, char words[ON_HOST_WORDS]);
/* A note that a mover's proposal was not answered by the GPU, once for each mover. */
void note_made_on_host(engine *, mover_slot *, const plugmc_proposal *);
/* Notes of all movers for which it is known before the first sweep. */
void note_all_made_on_host(engine *);
#endif
