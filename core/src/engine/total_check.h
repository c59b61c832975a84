/* Totals on trial: what a potential of whole configurations says of a move, of its own forces and of what
 * was taken, compared with its energies. */
#ifndef PLUGMC_TOTAL_CHECK_H
#define PLUGMC_TOTAL_CHECK_H

#include "engine/engine.h"

/* Whether there is anything to try; not on a GPU, where `change` has no part. */
bool totals_are_checked(const engine *);
/* Before the movers take the configuration: positions [walkers][particles][3], host memory, which are not
 * changed. An exit code. */
int check_totals(engine *, const double *positions);
#endif
