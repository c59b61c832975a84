/* The mover of a run borrows the configuration from the core. */
#ifndef PLUGMC_BORROWING_H
#define PLUGMC_BORROWING_H

#include "run/simulation.h"

/* Lets the mover take the configuration, if it is not as this mover gave it last. An exit code. */
int borrowing_take(simulation *);
/* Lets the mover give it back, if it may hold another one than the state. A PLUGMC_* code. */
int borrowing_give(simulation *);
/* Positions [walkers][particles][3] as they are now, on a side, for reading: the mover gives them back
 * first. An exit code. */
int borrowing_positions(simulation *, int side, const double **out);
/* Those on the host, without asking a mover; all of them are for the core to write. Exit codes. */
int borrowing_read(simulation *, const double **out);
int borrowing_write(simulation *, double **out);
#endif
