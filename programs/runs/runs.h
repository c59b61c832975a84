/* Files of runs, as programs that look at them share them. */
#ifndef PLUGMC_RUNS_H
#define PLUGMC_RUNS_H

#include "session/session.h"

/* The file of a run, its plugins opened on the CPU and its samples read. */
typedef struct analysed {
    const char *path;
    session session;
    char *configuration; /* that the run had: effective INI text */
    char *provenance;    /* ... and what made it */
} analysed;

/* To be closed even after an error: an exit code, after a sentence. */
int analysed_open(analysed *, const char *path, report *);
void analysed_close(analysed *);
/* Can the samples of `other` be added to those of `first`? Both are of one configuration, and of different
 * random numbers. */
int analysed_fits(const analysed *first, const analysed *other);
/* A file that plugins (or potentials alone) have read and that was another one in the other run, in words, malloc'ed;
 * NULL: all were the same. */
char *analysed_other_file(const analysed *first, const analysed *other, bool of_potentials);
/* Whether walkers of both have the same random numbers, which are those of the seed and of their number. */
bool analysed_same_chain(const analysed *, const analysed *);

/* Forgets what was measured at or before this sweep (equilibration included). Arrays are kept in blocks of
 * many samples: an observable that has them loses whole blocks. */
int samples_cut(analysed *, int64_t from);
/* Adds the samples of runs[1...] behind those of runs[0], whose walkers go on, as it were, and counts and
 * times as well. What is in no whole block of arrays is left out. */
int samples_join(analysed *runs, int count);
/* Production sweeps that are left of the quantity that has most of them: the first and the last. */
void samples_range(const output_data *, int64_t *first, int64_t *last);
#endif
