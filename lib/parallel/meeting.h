/* MPI alone: the processes of a run without the watch over them (liveness.h), which uses calls of the team itself. */
#ifndef PLUGMC_PARALLEL_MEETING_H
#define PLUGMC_PARALLEL_MEETING_H

#include "base/report.h"

/* team_join, but nobody is watched yet. */
int team_meet(report *, int code);
/* Leaves MPI; only where team_has_met. */
void team_part(void);
#endif
