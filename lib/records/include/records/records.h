/* What is measured while an engine sweeps, and what is written to the output file. */
#ifndef PLUGMC_RECORDS_H
#define PLUGMC_RECORDS_H

#include "archive/output.h"
#include "engine/engine.h"

/* An observable of the run and its measurements so far. */
typedef struct measurement {
    instance *instance;
    int64_t period;
    /* In output_data.quantities: those of the first rung, followed by as many for each other rung. */
    int first_quantity, quantity_count;
    /* In output_data.derived, likewise. */
    int first_derived, derived_count;
    /* Index in output_data.quantities of the weights of its samples. -1: all samples have the same weight. */
    int weight;
    /* Sum of the lengths of its quantities. */
    int64_t width;
    /* [walkers][width]: one sample. */
    double *values;
    /* Factors from the plugin's units to those of the run: [width], and for all derived results. */
    double *scales, *derived_scales;
    int64_t derived_width;
    /* Some of these factors are not 1. */
    bool scaled;
} measurement;

typedef struct records {
    engine *engine;
    measurement *measurements;
    int measurement_count;
    /* Production sweep after which measurements were launched that have not been read yet. 0: none. */
    uint64_t launched;
    output_data output;
    /* `output` has averages: results.h. */
    bool averaged;
    /* Another thread is reading the series of `output`. Until it has finished, arrays that were replaced by larger
     * ones are kept. */
    bool lent;
    double **outgrown;
    int outgrown_count;
} records;

/* Asks all observables, in the order of the file, what they measure. They must be prepared. */
int records_begin(records *);
void records_free(records *);

/* Returns the array of a series, enlarged to `capacity` doubles. NULL: no memory. */
double *records_series(records *, const quantity_record *, int64_t capacity);
/* No thread reads series any more. */
void records_returned(records *);
#endif
