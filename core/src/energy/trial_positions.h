/* Insertions and removals of one particle with several trial positions (plugmc_trial.trial_positions). */
#ifndef PLUGMC_ENERGY_TRIAL_POSITIONS_H
#define PLUGMC_ENERGY_TRIAL_POSITIONS_H

#include "energy/hamiltonian.h"

typedef struct several_places {
    /* [1][k]: an insertion at each trial position. For a removal: the removed particle at its other trial positions. */
    plugmc_changes changes;
    int32_t particle[PLUGMC_MOST_TRIAL_POSITIONS], species[PLUGMC_MOST_TRIAL_POSITIONS],
        forbidden[PLUGMC_MOST_TRIAL_POSITIONS];
    double place[PLUGMC_MOST_TRIAL_POSITIONS][3], delta[PLUGMC_MOST_TRIAL_POSITIONS];
    plugmc_orientation orientation[PLUGMC_MOST_TRIAL_POSITIONS]; /* of bodies */
} several_places;

/* An insertion: selects a trial position and puts its number in *chosen. *delta is the change of -ln p with which the
 * trial is accepted or rejected. `change` is a buffer [places][terms]. */
int places_to_come(hamiltonian *, const plugmc_trial *, several_places *, double *change,
                   int64_t *chosen, int32_t *forbidden, double *delta);
/* A removal: *delta is the change of -ln p by it. The correction for the trial positions is added. */
int places_to_leave(hamiltonian *, const plugmc_trial *, several_places *, double *change,
                    double *delta);
/* Orientation number j of a trial. It is that of plugmc_draw_orientation with the key of the seed increased as for trial
 * positions. */
plugmc_orientation trial_orientation(const plugmc_trial *, int32_t j);
#endif
