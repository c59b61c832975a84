/* Weights of macrostates (plugmc/macrostates.h): what they add to -ln p, and the transition counts of trial moves. */
#ifndef PLUGMC_BIAS_H
#define PLUGMC_BIAS_H

#include "energy/hamiltonian.h"

/* The effect of a trial move on the bin of its walker. */
typedef struct bias_step {
    /* Bins; they may lie outside the range of bins. */
    int64_t before, after;
    /* Change of the weight. */
    double delta;
    /* Change of x. */
    double change;
    /* It leaves the window of the walker, so it must be rejected. */
    bool leads_out;
} bias_step;

/* What is wrong with a declaration; NULL: nothing. */
const char *bias_refused(const plugmc_macrostates *);
/* Allocates memory. Returns a PLUGMC_* code. */
int bias_open(hamiltonian *, plugmc_macrostates *);
void bias_close(hamiltonian *);

/* Whether trials of a mover with these `changes` can lead from one bin to another. */
bool bias_concerns(const hamiltonian *, uint32_t changes);
/* Whether macrostates are bins of the energy. */
bool bias_is_of_energy(const hamiltonian *);
/* Sums the energy of a walker from scratch, at the start of a sweep or before a decision. So its last digits do not
 * depend on where a run was interrupted. */
void bias_find_energy(hamiltonian *, int32_t w);
/* The change of x by proposal p of walker w. The energies and `forbidden` of the proposal must be known. */
double bias_change(const hamiltonian *, const plugmc_changes *, int32_t w, int64_t p);
bias_step bias_of(const hamiltonian *, int32_t w, double change);
/* Counts a trial of walker w. `probability` is that of acceptance without weights; `taken`: it was accepted. */
void bias_note(hamiltonian *, int32_t w, const bias_step *, double probability, bool taken);
/* Adds the counts to those of the mover that declared the macrostates. It is called when that mover acts or is
 * measured. These times do not depend on where a run was interrupted, so neither do the last digits of the sums.
 * Returns a PLUGMC_* code. */
int bias_gather(hamiltonian *, const plugmc_host *);
/* Counts that have not been gathered yet, for checkpoints: two arrays [walkers][bins][BIAS_TRANSITIONS], that of the host and
 * that of the device. */
size_t bias_transitions(const hamiltonian *);
int bias_read(hamiltonian *, const plugmc_host *, double *transitions);
int bias_write(hamiltonian *, const plugmc_host *, const double *transitions);
#endif
