/* The tables of a study: what its points have found, a line for each of them. */
#ifndef PLUGMC_SCAN_TABLES_H
#define PLUGMC_SCAN_TABLES_H

#include "study.h"

/* After a survey with results: prints the table and writes FOLDER/summary.csv and FOLDER/summary.h5,
 * each as a whole; with [twists] the table of twist_table.h as well, *joined: all of its lines have numbers
 * (without such a section, true). Points without results have lines, too. An exit code, after a sentence. */
int tables_make(const study *, bool *joined, report *);
/* The points with their states, on stdout. */
void tables_list(const study *);
#endif
