/* Rigid molecules that come and leave with several trial positions and orientations: plugmc_trial.trial_orientations. */
#ifndef PLUGMC_ENERGY_MOLECULE_TRIALS_H
#define PLUGMC_ENERGY_MOLECULE_TRIALS_H

#include "energy/hamiltonian.h"

/* Whether the trial is of a molecule that comes or leaves, or becomes another; how many places and orientations it has together. */
bool is_molecule_trial(const plugmc_trial *);
int32_t molecule_choices(const plugmc_trial *);

/* An insertion, as c says it for the trial's kind: selects a position and an orientation and puts them into `position` and
 * *orientation, which c->position and c->orientation point to. c->change and c->forbidden are filled in; *delta is the
 * change of -ln p with which the trial is accepted or rejected. Returns a code. */
int molecule_comes_to_one(hamiltonian *, const plugmc_trial *, const plugmc_changes *c,
                          double position[3], plugmc_orientation *orientation, double *delta);
/* A removal, likewise. */
int molecule_leaves_one(hamiltonian *, const plugmc_trial *, const plugmc_changes *c,
                        double *delta);
/* A molecule that becomes another one, likewise; its position is that of the trial. */
int molecule_becomes_one(hamiltonian *, const plugmc_trial *, const plugmc_changes *c,
                         plugmc_orientation *orientation, double *delta);
/* Energies of pairs and fields of the molecule of first site i with all else in walker w as it is, each times what multiplies it in
 * -ln p. */
double molecule_energy(hamiltonian *, int32_t w, int64_t i);
/* Several positions and orientations of proposals that a mover decides by itself (plugmc_choices): whether there are; what is
 * wrong with them, NULL: nothing. */
bool changes_choose(const plugmc_changes *);
const char *choices_are_wrong(const plugmc_changes *);
/* Proposal p, the only one of walker w, with its `delta`. Returns a code. */
int molecule_of_choices(hamiltonian *, const plugmc_changes *, int32_t w, int64_t p);
#endif
