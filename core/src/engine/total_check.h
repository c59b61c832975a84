/* Tests many-body terms: their answers for a move, for forces and after accepted moves are compared with their
 * energies of whole configurations. One that gives no forces, or no virial, is refused where somebody asks for them. */
#ifndef PLUGMC_TOTAL_CHECK_H
#define PLUGMC_TOTAL_CHECK_H

#include "engine/engine.h"

/* Whether there is anything to test. On a GPU, where `change` is not used, that is what somebody asks for alone. */
bool totals_are_checked(const engine *);
/* Call it before the movers load the configuration. positions [walkers][particles][3] are in host memory and are not
 * changed. Returns an exit code. */
int check_totals(engine *, const double *positions);
#endif
