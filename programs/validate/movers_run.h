/* A run inside this process, from the text of an INI file: what is tried on a mover. */
#ifndef PLUGMC_VALIDATE_MOVERS_RUN_H
#define PLUGMC_VALIDATE_MOVERS_RUN_H

#include "session/starting.h"

typedef struct run {
    session session;
    report report;
    asked asked;
    output_data found;
    own_locks locks;
    char *text;
    /* Of resumed runs: the output file. */
    char *file;
    /* First error, "" without one. */
    char error[1024];
    int64_t equilibrate;
} run;

/* The configurations of all walkers as they are. Pointers are valid until the next sweep. */
typedef struct snapshot_of_run {
    int32_t walkers, species;
    int64_t capacity;
    /* [species + 1] first particle of each species. */
    const int64_t *first;
    /* [walkers][capacity][3], length; NaN where there is no particle. */
    const double *positions;
    /* [walkers][species] */
    const int64_t *counts;
    const plugmc_box *boxes;
    const int32_t *rungs;
    const double *weights;
    /* NULL: no mover has declared any. */
    const plugmc_macrostates *macrostates;
} snapshot_of_run;

/* Opens a run, up to its first sweep. Returns an exit code, with the reason in run->error. Close it in any case. */
int run_open(run *, const char *ini_text);
/* The same, from the output file of a run. */
int run_resume(run *, const char *path);
/* More sweeps. Returns an exit code. */
int run_sweep(run *, uint64_t sweeps);
/* Writes the checkpoint to [run] output. Returns an exit code. */
int run_checkpoint(run *);
/* Returns an exit code. */
int run_look(run *, snapshot_of_run *);
/* Puts all particles to positions [walkers][capacity][3]. Returns an exit code. */
int run_place(run *, const double *positions);
void run_close(run *);

/* The mover in the section [mover LABEL]. NULL: there is none. */
const mover_slot *run_mover(const run *, const char *label);
/* Counts of a move of that mover, summed over rungs, since the run began or since equilibration ended. */
plugmc_counts run_counts(run *, const mover_slot *, int move);
/* The step on the first rung; 0 without one. */
double run_step(const run *, const mover_slot *, int move);
#endif
