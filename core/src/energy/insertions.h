/* Insertions and removals: of one particle, of a particle that changes its species, of a group, or of a rigid molecule. */
#ifndef PLUGMC_INSERTIONS_H
#define PLUGMC_INSERTIONS_H

#include "energy/hamiltonian.h"

/* Proposal p of such a kind, in the form for plugmc_total.insert_remove. */
typedef struct insertions {
    plugmc_insert_remove of;
    /* They are the sites of a molecule, whose pairs have no energy. The first one has the orientation. */
    bool molecule;
    int32_t species[PLUGMC_MOST_SITES], particle[PLUGMC_MOST_SITES];
    double position[PLUGMC_MOST_SITES][3]; /* wrapped */
    /* Without bodies undefined. */
    plugmc_orientation orientation[PLUGMC_MOST_SITES];
} insertions;
void insertions_make(insertions *, const walker_energy *, const plugmc_changes *, int64_t p);

/* Clears `change` [terms] and adds the change of each term. Returns a code. */
int insertions_change(const hamiltonian *, walker_energy *, int32_t walker, const insertions *,
                      double *change, int32_t *forbidden);
void insertions_take(walker_energy *, const insertions *);
/* The two parts of insertions_change, for rigid molecules with several trial positions. That of pairs and fields returns
 * whether the proposal is forbidden. */
bool insertions_pairs(const hamiltonian *, walker_energy *, const insertions *, double *change);
int insertions_totals(const hamiltonian *, walker_energy *, int32_t walker, const insertions *,
                      double *change);

/* How many particles a proposal inserts, removes or displaces. */
int32_t together(const plugmc_changes *);
/* What is wrong with a group, of any kind, in a walker. NULL: nothing. */
const char *group_is_wrong(const hamiltonian *, const walker_energy *, const plugmc_changes *,
                           int64_t p);
/* Whether a change of this kind, of one particle, has a position. */
bool goes_somewhere(int32_t kind);
/* The change of the number of particles of a species if the proposal is accepted. Also defined if there is no
 * particle to remove. */
int64_t count_change(const hamiltonian *, const plugmc_changes *, int32_t walker, int64_t p,
                     int32_t species);
/* What is wrong with the proposal of a molecule that comes or leaves. NULL: nothing, or nothing is proposed. */
const char *molecule_is_wrong(const hamiltonian *, const walker_energy *, const plugmc_changes *,
                              int64_t p);
#endif
