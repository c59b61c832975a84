/* Results of a run: derived results, and the table printed at the end. */
#ifndef PLUGMC_RESULTS_H
#define PLUGMC_RESULTS_H

#include "records/records.h"

/* Computes averages, errors and derived results from the samples so far, and stores them in `output`. Call it before
 * `output` is written and before the table is printed. */
int find_results(records *);
/* Prints the table of results to stdout. `path` is the file that contains them. */
void print_results(const records *, const char *path);
/* Prints only the table. `where` says in words where arrays can be found. */
void print_table(const records *, const char *where);
/* Formats a mean with its error in units of the last digit: "9.1741(5)". A star follows if the error is a lower
 * bound. If the error is below the last digit of a double: "10.0810599204 +- 8e-18". If both have many zeros after
 * the point: "1.0e-17 +- 2e-18". Returns `text`. */
const char *with_error(double mean, double error, bool converged, char text[64]);
#endif
