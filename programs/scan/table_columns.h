/* The columns of the tables: all quantities that any point has, in the order in which they come up. */
#ifndef PLUGMC_SCAN_TABLE_COLUMNS_H
#define PLUGMC_SCAN_TABLE_COLUMNS_H

#include "study.h"

typedef struct table_columns {
    const char **names, **units;
    int count;
    const result **cells; /* [points][count]; NULL where a point has nothing */
} table_columns;

table_columns table_columns_find(const study *);
void table_columns_free(table_columns *);
const char *table_state(enum point_state);
/* A key whose values are all numbers: these, [points]; malloc'ed. NULL: they are texts. */
double *table_numbers(const study *, const scanned_key *);
#endif
