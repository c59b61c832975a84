/* Observables at an event: they measure, and what they give is recorded.
 *
 * A GPU would have nothing to do while the host waits for what was measured. So those that can (PLUGMC_MEASURES_LATER)
 * only launch what there is to do; the next stretch of sweeps is launched behind it, and only then the
 * host looks at the numbers. */
#ifndef PLUGMC_RUN_MEASURING_H
#define PLUGMC_RUN_MEASURING_H

#include "records/records.h"

/* All: all observables due after production sweep `produced`. Where measuring_can_wait, they have only been
 * launched. EXIT_* code, reported, as the next. */
int measuring(records *, uint64_t produced);
/* Records what has been launched, if anything has. */
int measuring_finish(records *);
/* Whether all that is due then can be launched and looked at later: nothing else that they need changes. */
bool measuring_can_wait(const records *, uint64_t produced);
#endif
