/* Which plugins of the search path are movers. */
#ifndef PLUGMC_MOVERS_THERE_H
#define PLUGMC_MOVERS_THERE_H

#include "plugin/search.h"

/* As plugin_list(PLUGMC_MOVER), in a fraction of the time: one child process loads all plugins, instead of one each. It
 * is asked once while the files of the search path keep their names. If it fails on one of them, each gets its own. */
plugin_names movers_there(void);
/* The child: writes the paths of all movers, each with its 0, and one more 0, to a file. An exit code. */
int movers_there_serve(int out);
#endif
