/* What the parts of plugmc analyse share. */
#ifndef PLUGMC_ANALYSIS_H
#define PLUGMC_ANALYSIS_H

#include "run/simulation.h"

/* The file of a run, its plugins opened on the CPU and its samples read. */
typedef struct analysed {
    const char *path;
    simulation sim;
    char *configuration; /* that the run had: effective INI text */
} analysed;

/* To be closed even after an error: an exit code, after a sentence. */
int analysed_open(analysed *, const char *path, report *);
void analysed_close(analysed *);
/* Can the samples of `other` be added to those of `first`? Both are of one configuration, and of different
 * random numbers. */
int analysed_fits(const analysed *first, const analysed *other);

/* Forgets what was measured at or before this sweep (equilibration included). Arrays are kept in blocks of
 * many samples: an observable that has them loses whole blocks. */
int samples_cut(analysed *, int64_t from);
/* Adds the samples of runs[1...] behind those of runs[0], whose walkers go on, as it were, and counts and
 * times as well. What is in no whole block of arrays is left out. */
int samples_join(analysed *runs, int count);
/* Production sweeps that are left of the quantity that has most of them: the first and the last. */
void samples_range(const output_data *, int64_t *first, int64_t *last);

/* Tables of what is common to the runs, with what chance would make of equal ones. */
int compare_runs(const analysed *runs, int count);
/* Of energies that have a variance: its ratio to them, and the efficiency of the run. Nothing is printed where
 * there are none. */
void print_efficiency(const output_data *);
/* One line a scalar or derived number, as CSV. */
void list_numbers(const output_data *);
/* The values of one quantity, OBSERVABLE.NAME, as columns of text. */
int list_values(const output_data *, const char *name, report *);
#endif
