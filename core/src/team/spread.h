/* plugmc_host.spread: one system over several processes. */
#ifndef PLUGMC_TEAM_SPREAD_H
#define PLUGMC_TEAM_SPREAD_H

#include "plugmc/plugin.h"

/* NULL where processes have walkers of their own. It lives as long as the program. */
const plugmc_spread *spread_services(void);
#endif
