/* How many-body terms change when particles move, come or go. Terms that depend only on boxes and counts are not asked.
 *
 * A term that offers `change` and `settle` keeps track of the configuration itself. For one that offers only `energy`
 * the core does that: it evaluates the whole configuration for each trial move. */
#ifndef PLUGMC_TOTALS_H
#define PLUGMC_TOTALS_H

#include "energy/hamiltonian.h"

/* The configurations for which terms that offer only `energy` were last evaluated. */
typedef struct whole_energies whole_energies;

/* Allocates what terms without `change` need. Returns a PLUGMC_* code. */
int totals_open(hamiltonian *);
void totals_close(hamiltonian *);
/* Starts all terms with the configurations of a view of all walkers in host memory. Returns a code. */
int totals_start(hamiltonian *, const plugmc_host *, const plugmc_view *);

/* Add the change of each term to change [terms]: when particle i of walker w moves to `to`, which is in the box; when
 * particles are inserted and removed. totals_settle has to follow. On failure e->failed_term tells which term failed. */
int totals_displaced(const hamiltonian *, walker_energy *e, int32_t w, int64_t i,
                     const double to[3], double *change);
int totals_insert_remove(const hamiltonian *, walker_energy *e, int32_t w,
                         const plugmc_insert_remove *, double *change);
/* Whether all terms can be asked about several displacements at once; the same, for these. */
bool totals_displace_together(const hamiltonian *);
int totals_displaced_together(const hamiltonian *, walker_energy *e, int32_t w,
                              const plugmc_displacements *, double *change);
/* Whether what was asked last for walker w was accepted. */
int totals_settle(const hamiltonian *, walker_energy *e, int32_t w, int taken);
#endif
