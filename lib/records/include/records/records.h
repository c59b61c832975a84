/* What is measured while an engine sweeps, and what of it goes into the file. */
#ifndef PLUGMC_RECORDS_H
#define PLUGMC_RECORDS_H

#include "archive/output.h"
#include "engine/engine.h"

/* An observable of the run with what it has measured so far. */
typedef struct measurement {
    instance *instance;
    int64_t period;
    /* In output_data.quantities: of the first rung; then as many of the next one. */
    int first_quantity, quantity_count;
    int first_derived, derived_count; /* in output_data.derived, likewise */
    int weight;    /* in output_data.quantities: the weights of its samples; -1: they count alike */
    int64_t width; /* sum of the lengths of its quantities */
    double *values; /* [walkers][width]: one sample */
    /* From what the plugin tells to the units of the run: [width], and of all that is derived. */
    double *scales, *derived_scales;
    int64_t derived_width;
    bool scaled; /* some are not 1 */
} measurement;

typedef struct records {
    engine *engine;
    measurement *measurements;
    int measurement_count;
    /* Production sweep after which they were launched and not looked at yet; 0: none. */
    uint64_t launched;
    output_data output;
    bool averaged; /* the averages in `output` are there: results.h */
    /* Somebody reads the series of `output` in another thread: what is outgrown stays until he is done. */
    bool lent;
    double **outgrown;
    int outgrown_count;
} records;

/* Asks observables that are prepared what they measure, in the order of the file. */
int records_begin(records *);
void records_free(records *);

/* Room for `capacity` numbers of a series. NULL: no memory. */
double *records_series(records *, const quantity_record *, int64_t capacity);
/* Nobody reads series any more. */
void records_returned(records *);
#endif
