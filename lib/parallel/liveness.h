/* Does everybody still live? MPI waits for a process that is gone for ever, unless the launcher ends the job. So
 * each process holds a connection (TCP) to that of rank 0, which the operating system closes when either is gone,
 * however that came; what is silent for eight seconds because its machine is gone counts as closed. A thread looks
 * at it, tells the others, and ends the process. Signals that tell a run to stop are passed on in the same way. */
#ifndef PLUGMC_TEAM_LIVENESS_H
#define PLUGMC_TEAM_LIVENESS_H

#include <stdint.h>

#include "base/report.h"

/* All; an exit code. Where processes cannot reach each other by TCP, that is said, and nobody is watched. */
int liveness_begin(report *);
/* A word that becomes 1 before this process ends because another one is gone: kernels may be waiting for that one. NULL:
 * no longer. */
void liveness_tells(volatile uint32_t *);
/* This process ends in good order. */
void liveness_end(void);
#endif
