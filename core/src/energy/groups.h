/* Groups of particles that are displaced all at once: PLUGMC_GROUP_DISPLACED. */
#ifndef PLUGMC_GROUPS_H
#define PLUGMC_GROUPS_H

#include "energy/hamiltonian.h"

/* What is wrong with proposal p, which is a group to be displaced. NULL: nothing. */
const char *displaced_group_is_wrong(const hamiltonian *, const walker_energy *,
                                     const plugmc_changes *, int64_t p);
/* Adds the change of each term to change [terms] and sets *forbidden. Returns a code. */
int group_displaced(const hamiltonian *, walker_energy *, int32_t walker, const plugmc_changes *,
                    int64_t p, double *change, int32_t *forbidden);
/* Moves the group, or leaves it where it is. Returns a code. */
int take_group(const hamiltonian *, walker_energy *, int32_t walker, const plugmc_changes *,
               int64_t p, bool taken);
#endif
