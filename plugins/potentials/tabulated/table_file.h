/* A file with a table of two columns, r and u: see table_file.c. */
#ifndef PLUGMC_TABLE_FILE_H
#define PLUGMC_TABLE_FILE_H

#include <plugmc/everything.h>

enum { TABLE_MOST_ROWS = 20000 };

typedef struct table_file {
    int32_t rows; /* 2 ... TABLE_MOST_ROWS */
    double *r;    /* [rows] length: 0 or more, increasing */
    double *u;    /* [rows] energy */
} table_file;

/* Reads `path`. On an error it is said, with the line, and there is nothing to free. */
int table_read(const plugmc_host *host, const char *path, table_file *out);

void table_free(table_file *table);

#endif
