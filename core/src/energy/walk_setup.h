/* Arguments of walk.cu about rigid molecules and sums over waves. Memory on the device is made once. */
#ifndef PLUGMC_WALK_SETUP_H
#define PLUGMC_WALK_SETUP_H

#include "energy/on_device.h"
#include "energy/walk_task.h"

/* The kind of molecule whose number alone changes; -1: that of the particles of the only species does, or none. */
enum { WALK_SEVERAL_CHANGE = -2 };
int32_t walk_changing(const plugmc_system *);
/* Sets *out, unless there are no waves (on_device_waves). */
int walk_setup_waves(const hamiltonian *, const plugmc_host *, walk_waves *out);
/* Weights of waves in the boxes of walkers, where movers change these. */
typedef struct walk_weights {
    plugmc_box *box; /* [walkers] in which they were found; NULL: none so far */
    double *weight;  /* [walkers][waves] */
} walk_weights;
/* Brings them up to date with the boxes [walkers]. */
int walk_weigh_waves(const hamiltonian *, const plugmc_host *, const plugmc_box *, walk_weights *,
                     const walk_waves *);
/* Sets what the task has of molecules, and *orientations, memory for [walkers][particles] of them, unless there are none. */
int walk_setup_molecules(const hamiltonian *, const plugmc_host *, walk_task *,
                         plugmc_device_pointer *orientations);
#endif
