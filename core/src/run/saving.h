/* Writing the output file and the table of scalars, and what becomes of a run whose output cannot
 * be written. */
#ifndef PLUGMC_SAVING_H
#define PLUGMC_SAVING_H

#include "run/simulation.h"

/* Writes sim->output, complete for this moment. Where that fails, the run goes on and tries again
 * at its next checkpoint: a warning, and 0. With `last` there is no next one: the output goes into
 * another file, sim->output_path is that if it could be written, and the exit code EXIT_OUTPUT. */
int save(simulation *, bool last);
#endif
