/* Formats that configurations are written in. What cannot be written shows in ferror of the file. */
#ifndef PLUGMC_EXPORT_FORMATS_H
#define PLUGMC_EXPORT_FORMATS_H

#include <stdio.h>

#include "trajectory.h"

/* A file that is being written. */
typedef struct exported {
    const run_file *run;
    FILE *out;
    bool single; /* positions in single precision alone, where the format has both */
    void *own;   /* the format's */
} exported;

typedef struct format {
    const char *name, *endings[3]; /* of file names */
    void (*begin)(exported *);     /* NULL: nothing to do */
    void (*put)(exported *, const snapshot *);
    void (*end)(exported *); /* NULL: nothing to do; frees what is `own` in any case */
} format;

extern const format gsd_format, xyz_format, csv_format;

#endif
