/* Tables of text on the standard output. */
#ifndef PLUGMC_SCAN_PAGE_H
#define PLUGMC_SCAN_PAGE_H

#include <stdio.h>

#include "study.h"

/* Cells of text, [rows][columns], each to be freed. The first row is the head. */
typedef struct page {
    char **cells;
    int64_t rows;
    int columns;
} page;

page page_make(int64_t rows, int columns);
void page_print(const page *);
void page_free(page *);
/* Texts for cells: a copy, and a number with its error. */
char *page_text(const char *text);
/* "9.1741(5)*": the error in units of the last digits, and a star where it is a lower bound. Beyond the
 * digits of a double, or before the point, both are written out. */
char *page_number(const result *);
/* A unit in brackets; empty without one (NULL or ""). A row that is empty is not printed. */
char *page_unit(const char *unit);
/* The same as three cells of CSV, each behind a comma: value, error and star. An error that is not known is empty. */
void page_write_csv(FILE *, const result *);
#endif
