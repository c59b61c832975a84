/* Weights of macrostates (plugmc/macrostates.h): what they add to -ln p, and the books of trials. */
#ifndef PLUGMC_BIAS_H
#define PLUGMC_BIAS_H

#include "energy/hamiltonian.h"

/* What a change means for the walker's place among the bins. */
typedef struct bias_step {
    int64_t before, after; /* bins; may be none of those that there are */
    double growth;         /* of the weight */
    double change;         /* of x */
    bool leads_out;        /* of the walker's window: it is to be rejected */
} bias_step;

/* Says what is wrong with a declaration, or NULL. */
const char *bias_refused(const plugmc_macrostates *);
/* Takes memory; a PLUGMC_* code. */
int bias_open(hamiltonian *, plugmc_macrostates *);
void bias_close(hamiltonian *);

/* Whether trials of a mover that changes this can lead from one bin to another. */
bool bias_concerns(const hamiltonian *, uint32_t changes);
/* Whether weights are of energies. */
bool bias_is_of_energy(const hamiltonian *);
/* Finds that of a walker anew: at the start of a sweep, or before a decision, so that its digits do not depend on
 * where a run is cut. */
void bias_find_energy(hamiltonian *, int32_t w);
/* How much x changes by proposal p of walker w, whose energies and `forbidden` are known. */
double bias_change(const hamiltonian *, const plugmc_changes *, int32_t w, int64_t p);
bias_step bias_of(const hamiltonian *, int32_t w, double change);
/* A trial of walker w: `probability` without weights to be accepted, and whether it was taken. */
void bias_note(hamiltonian *, int32_t w, const bias_step *, double probability, bool taken);
/* Into the books of the mover that declared them; a PLUGMC_* code. It is done when that mover acts or is
 * measured, which does not depend on where a run is cut, as the last digits of sums do. */
int bias_gather(hamiltonian *, const plugmc_host *);
/* What was not gathered yet, for checkpoints: twice [walkers][bins][BIAS_BOOKS], on the host and on the
 * device. */
size_t bias_books(const hamiltonian *);
int bias_read(hamiltonian *, const plugmc_host *, double *books);
int bias_write(hamiltonian *, const plugmc_host *, const double *books);
#endif
