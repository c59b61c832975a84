/* Formats that configurations are written in. What cannot be written shows in ferror of the file. */
#ifndef PLUGMC_EXPORT_FORMATS_H
#define PLUGMC_EXPORT_FORMATS_H

#include <stdio.h>

#include "trajectory.h"

/* A file that is being written. */
typedef struct exported {
    const run_file *run;
    FILE *out;
    bool single;   /* positions in single precision alone, where the format has both */
    void *own;     /* the format's */
    int error;     /* errno of a format that does not write to `out` by stdio; 0: none */
    char why[256]; /* what the format cannot hold, a sentence; "": it can */
} exported;

typedef struct format {
    const char *name, *endings[3]; /* of file names */
    void (*begin)(exported *);     /* NULL: nothing to do */
    void (*put)(exported *, const snapshot *);
    void (*end)(exported *); /* NULL: nothing to do; frees what is `own` in any case */
    /* Instead of these: writes what was measured from the first sweep to the last one, without frames, in lines of
     * `block` measurements (0: as many as it chooses). An exit code; *lines: how many. */
    int (*samples)(exported *, int64_t from, int64_t until, int64_t block, int64_t *lines,
                   report *);
} format;

extern const format gsd_format, xyz_format, csv_format, scalar_format, pdb_format, gro_format,
    lammps_format;

#endif
