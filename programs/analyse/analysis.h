/* What the parts of plugmc analyse share. */
#ifndef PLUGMC_ANALYSIS_H
#define PLUGMC_ANALYSIS_H

#include "runs.h"

/* Tables of what is common to the runs, with what chance would make of equal ones. */
int compare_runs(const analysed *runs, int count);
/* Of energies that have a variance: its ratio to them, and the efficiency of the run. Nothing is printed where
 * there are none. */
void print_efficiency(const output_data *);
/* One line a scalar or derived number, as CSV. */
void list_numbers(const output_data *);
/* The values of one quantity, OBSERVABLE.NAME, as columns of text. */
int list_values(const output_data *, const char *name, report *);
#endif
