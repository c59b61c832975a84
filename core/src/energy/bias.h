/* Weights of macrostates (plugmc/macrostates.h): what they add to -ln p, and the books of trials. */
#ifndef PLUGMC_BIAS_H
#define PLUGMC_BIAS_H

#include <stdbool.h>

#include "plugmc/plugin.h"

struct hamiltonian;

/* What is kept of a bin: the columns of plugmc_macrostates.collected, and visits. */
enum { BIAS_COLLECTED = PLUGMC_UP_TRIALS + 1, BIAS_VISITS = BIAS_COLLECTED, BIAS_BOOKS };

typedef struct bias {
    plugmc_macrostates *of; /* NULL: there are no macrostates */
    double *books;          /* [walkers][bins][BIAS_BOOKS]: since they were gathered, on the host */
    bool written;           /* there is something in them */
    double *energy;         /* [walkers]: sum_t m_t U_t as it is, where weights are of energies */
    /* Likewise on the device; 0: never was. */
    plugmc_device_pointer on_device, sums, weight, window, of_count;
    struct plugmc_kernel *gather;
    bool written_on_device;
} bias;

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
int bias_open(struct hamiltonian *, plugmc_macrostates *);
void bias_close(struct hamiltonian *);

/* Whether trials of a mover that changes this can lead from one bin to another. */
bool bias_concerns(const struct hamiltonian *, uint32_t changes);
/* Whether weights are of energies. */
bool bias_is_of_energy(const struct hamiltonian *);
/* Finds that of a walker anew: at the start of a sweep, or before a decision, so that its digits do not hang on
 * where a run is cut. */
void bias_find_energy(struct hamiltonian *, int32_t w);
/* How much x changes by proposal p of walker w, whose energies and `forbidden` are known. */
double bias_change(const struct hamiltonian *, const plugmc_changes *, int32_t w, int64_t p);
bias_step bias_of(const struct hamiltonian *, int32_t w, double change);
/* A trial of walker w: `probability` without weights to be accepted, and whether it was taken. */
void bias_note(struct hamiltonian *, int32_t w, const bias_step *, double probability, bool taken);
/* Into the books of the mover that declared them; a PLUGMC_* code. It is done when that mover acts or is
 * measured, which does not hang on where a run is cut, as the last digits of sums do. */
int bias_gather(struct hamiltonian *, const plugmc_host *);
/* What was not gathered yet, for checkpoints: twice [walkers][bins][BIAS_BOOKS], on the host and on the
 * device. */
size_t bias_books(const struct hamiltonian *);
int bias_read(struct hamiltonian *, const plugmc_host *, double *books);
int bias_write(struct hamiltonian *, const plugmc_host *, const double *books);
#endif
