/* What a run found: derived numbers and the table printed at its end. */
#ifndef PLUGMC_RESULTS_H
#define PLUGMC_RESULTS_H

#include "records/records.h"

/* Averages, errors and derived numbers from the samples so far, into `output`: before it is written
 * and before the table is printed. */
int find_results(records *);
/* The table of results on stdout; `path`: of the file that has them. */
void print_results(const records *, const char *path);
/* The table alone; where arrays are to be found, in words. */
void print_table(const records *, const char *where);
/* "9.1741(5)": a mean with its error in units of the last digits, and a star behind one that is a
 * lower bound; "10.0810599204 +- 8e-18" where the last digit of the error is beyond those of a
 * double, "1.0e-17 +- 2e-18" where both are far behind the point. Returns text. */
const char *with_error(double mean, double error, bool converged, char text[64]);
#endif
