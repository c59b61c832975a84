/* summary.h5: the table of a study for programs. One line of each data set is one point:
 *
 *   point, state            numbers and words
 *   keys/KEY                numbers, or texts where a value is none; attribute unit, "" without one
 *   values/QUANTITY         attribute unit; NaN where a point has nothing
 *   errors/QUANTITY         standard errors; NaN likewise
 *   weight                  with [twists]: of the point's twist in the mean, 1 in all
 *   lower_bounds/QUANTITY   1: the run is too short, and the error is a lower bound
 *   study                   the INI file with the values of all points (one text) */
#ifndef PLUGMC_SCAN_SUMMARY_H
#define PLUGMC_SCAN_SUMMARY_H

#include "table_columns.h"
#include "files.h"

/* An exit code, with the reason in `why`. */
int summary_write(const char *path, const study *, const table_columns *, char why[FILES_WHY]);
#endif
