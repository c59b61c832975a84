/* What is known of trial moves: the engine keeps it, the output file has it. */
#ifndef PLUGMC_MOVE_RECORD_H
#define PLUGMC_MOVE_RECORD_H

#include "plugmc/everything.h"

/* A step that was tuned: what was accepted since the time before, and the step from then on. */
typedef struct tuning_record {
    uint64_t sweep;
    int32_t rung;
    double acceptance, step;
} tuning_record;

/* A kind of trial move of one mover. */
typedef struct move_record {
    char *mover, *name, *doc; /* mover: label of its section */
    char *step_unit;          /* NULL: it has no step */
    int32_t rungs;            /* of the ladder; 1: there is none */
    plugmc_counts *counts;    /* [rungs] production so far, or since the step was tuned */
    double *steps;            /* [rungs]; 0 without a step */
    tuning_record *tunings;   /* in the order of sweeps */
    int64_t tuning_count;
    /* PLUGMC_CHANGED_* of its mover; 0: not known, of a file of an earlier version. */
    uint32_t changes;
} move_record;

/* And all that they have. */
void move_records_free(move_record *, int count);
#endif
