/* Forces and virials of a many-body term: whether those that somebody asks for are given, and whether forces are
 * differences of energies. */
#ifndef PLUGMC_TOTAL_FORCES_H
#define PLUGMC_TOTAL_FORCES_H

#include "engine/total_examination.h"

/* Who asks many-body terms for PLUGMC_TOTAL_FORCES or PLUGMC_TOTAL_VIRIAL, as "mover NAME"; NULL: nobody. */
const char *who_asks_totals(const engine *, uint32_t what);
/* Energy as it is, to x->before, and forces where it gives them: where nobody needs them a potential may have none, and
 * refuse to be asked. A PLUGMC_* code. */
int examine_energy_and_forces(examination *);
/* That what somebody asks for is given. A term may add nothing, or zeros, where its energy does not depend on positions.
 * Both set *good; a sentence is in x->why where it is false. A PLUGMC_* code. */
int examine_gifts(examination *, bool *good);
/* Forces, with differences of energies of single particles; they are in x->forces. */
int examine_forces(examination *, bool *good);
/* The virial of a term that positions do not change. */
int examine_virial_of_constant(examination *, bool *good);
#endif
