/* The output file of an engine, and what happens where room for particles is used up. Exit codes. */
#ifndef PLUGMC_EMBED_AGAIN_H
#define PLUGMC_EMBED_AGAIN_H

#include "handle.h"

/* The file that checkpoints are written to, from here on. */
int again_keep_path(plugmc_engine *, const char *path);
/* All: can it be written, and is it ours alone? */
int again_lock(plugmc_engine *, const origin *);
/* All: what session_advance has left is written, and the engine goes on from that with more room. */
int again_with_more_room(plugmc_engine *);
#endif
