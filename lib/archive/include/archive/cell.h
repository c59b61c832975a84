/* Cells of tables as text, which people open with spreadsheets. */
#ifndef PLUGMC_CELL_H
#define PLUGMC_CELL_H

#include <stdio.h>

/* A text and `end` as one cell of CSV, in quotes where it needs them, and with an apostrophe in front where it begins
 * like a formula and is no number. */
void cell_write(FILE *, const char *text, const char *end);
#endif
