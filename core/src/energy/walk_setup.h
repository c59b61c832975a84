/* Arguments of walk.cu about rigid molecules and sums over waves. Memory on the device is made once. */
#ifndef PLUGMC_WALK_SETUP_H
#define PLUGMC_WALK_SETUP_H

#include "energy/on_device.h"
#include "energy/walk_task.h"

/* A table of what depends on numbers alone, for all combinations of those that movers may change, in each box where boxes change: the entry of counts [species] is the
 * sum of row (count - fixed), with row = 0 where a count stays or follows from that of another site of the molecule. Fills in row
 * and fixed [species] and returns the number of entries; 0: there would be too many. */
int64_t walk_rows(const plugmc_system *, int64_t *row, int64_t *fixed);
/* Counts [species] of an entry; false: no counts have it, as it is part of a molecule. */
bool walk_counts_of(const plugmc_system *, const int64_t *row, int64_t entry, int64_t *count);
/* Sets *out, unless there are no waves (on_device_waves). */
int walk_setup_waves(const hamiltonian *, const plugmc_host *, walk_waves *out);
/* Sets what the task has of numbers that change, unless nothing depends on them. */
int walk_setup_tables(const hamiltonian *, const plugmc_host *, walk_task *);
/* What depends on boxes alone: tables of numbers, and where movers change boxes the weights of waves. */
typedef struct walk_boxes {
    plugmc_box
        *box; /* [walkers], 1 where boxes stay, for which both were found; NULL: none so far */
    double *weight; /* [walkers][waves] */
    double *table;  /* [walkers][terms][entries]; of one walker where boxes stay */
    int64_t *row;   /* [species] of walk_rows */
} walk_boxes;
/* Brings them up to date with the boxes [walkers]. */
int walk_follow_boxes(const hamiltonian *, const plugmc_host *, const plugmc_box *, walk_boxes *,
                      const walk_task *);
void walk_boxes_free(walk_boxes *);
/* Sets what the task has of molecules, unless there are none. */
int walk_setup_molecules(const hamiltonian *, const plugmc_host *, walk_task *);
#endif
