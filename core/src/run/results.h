/* What a run found: derived numbers and the table printed at its end. */
#ifndef PLUGMC_RESULTS_H
#define PLUGMC_RESULTS_H

#include "run/simulation.h"

/* Averages, errors and derived numbers from the samples so far, into `output`: before it is written
 * and before the table is printed. */
int find_results(simulation *);
/* The table of results on stdout. */
void print_results(const simulation *);
#endif
