/* What a run found: derived numbers and the table printed at its end. */
#ifndef PLUGMC_RESULTS_H
#define PLUGMC_RESULTS_H

#include "run/simulation.h"

/* Fills output.derived from the averages so far, with jackknife errors. */
void derive_results(simulation *);
/* The table of results on stdout. */
void print_results(const simulation *);
#endif
