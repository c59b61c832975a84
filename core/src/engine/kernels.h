/* The GPU sources of a run. */
#ifndef PLUGMC_KERNELS_H
#define PLUGMC_KERNELS_H

#include "engine/engine.h"

/* Calls `each` with every GPU source of plugins that are configured, and of the core beside their moves, in the order of the
 * INI file; `each` returns 0 to go on. Returns what it returned last, or the exit code of what has been reported. Needs no GPU,
 * and may be called before `prepare`. A source that depends on what is only known then can differ from the one that a plugin
 * asks for later. */
int gpu_sources(engine *, int (*each)(void *data, const plugmc_gpu_source *), void *data);

/* Where the run has a GPU: begins to compile all of them, each in a thread, while plugins are prepared. Returns an exit code. */
int compile_gpu_sources(engine *);
#endif
