/* The table of twist averages: a line for each combination of the keys that are no twists,
 *
 *     E = sum_t w_t E_t,    error = (sum_t w_t^2 error_t^2)^(1/2),
 *
 * since each twist is a chain of its own; of every scalar and derived number, and of the number of particles, which
 * may differ between twists. */
#ifndef PLUGMC_SCAN_TWIST_TABLE_H
#define PLUGMC_SCAN_TWIST_TABLE_H

#include "table_columns.h"

/* On stdout, and below it which twists are missing. True: every line has its means. */
bool twist_table_print(const study *, const table_columns *);
/* FOLDER/twists.csv. An exit code, after a sentence. */
int twist_table_write(const study *, const table_columns *, report *);
#endif
