/* Lets observables measure, and records the results.
 *
 * A GPU would be idle while the host waits for a measurement. So observables with PLUGMC_MEASURES_LATER only launch
 * their kernels. Then the next batch of sweeps is launched, and only after that does the host read the results. */
#ifndef PLUGMC_RUN_MEASURING_H
#define PLUGMC_RUN_MEASURING_H

#include "records/records.h"

/* Collective. Measures all observables that are due after production sweep `produced`. If measuring_can_wait, they
 * are only launched. Returns an EXIT_* code, already reported, as the next function does. */
int measuring(records *, uint64_t produced);
/* Records the measurements that have been launched, if there are any. */
int measuring_finish(records *);
/* Whether all observables due then can be launched now and read later, since nothing that they need changes
 * meanwhile. */
bool measuring_can_wait(const records *, uint64_t produced);
#endif
